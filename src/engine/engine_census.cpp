// Counts and sums by queue, checked; and the cohorts above a queue, for metrics.
#include "engine/engine_impl.h"
#include "engine/lifecycle/words.h"

namespace berth::engine {

namespace {

std::string reason_when_false(const api::kueue::WorkloadStatus& status, std::string_view type,
                              std::string_view otherwise) {
  const auto* condition = api::find_condition(status.conditions, type);
  return std::string(condition != nullptr && !condition->status ? std::string_view(condition->reason) : otherwise);
}

// Without quota: NoReservation and the reason of QuotaReserved=False. With quota: the reason of Admitted=False alone.
QueueCensus::Why why_unadmitted(const api::kueue::WorkloadStatus& status) {
  using namespace lifecycle;
  if (api::is_true(status.conditions, api::kueue::kQuotaReserved))
    return {reason_when_false(status, api::kueue::kAdmitted, reason::kUnsatisfiedChecks), ""};
  return {std::string(reason::kNoReservation),
          reason_when_false(status, api::kueue::kQuotaReserved, reason::kPendingEvaluation)};
}

}  // namespace

std::optional<QueueCensus::Why> Engine::Impl::why_of(const Tracked& t) const {
  const auto& status = t.now->status;
  if (!options.unadmitted_observability || api::is_true(status.conditions, api::kueue::kFinished) ||
      api::is_true(status.conditions, api::kueue::kAdmitted))
    return std::nullopt;
  return why_unadmitted(status);
}

void Engine::Impl::recount(Tracked& t) { workloads.count(t, why_of(t)); }

std::optional<QueueCensus> Engine::cluster_queue_census(std::string_view name) const {
  if (impl_->registries.cluster_queue(name) == nullptr) return std::nullopt;
  QueueCensus out{pending_counts(name), impl_->workloads.counts_of_cluster_queue(name), {}};
  for (const auto& [resource, total] : impl_->workloads.asked_in_cluster_queue(name))
    out.requested.emplace(resource, to_amount(total.sum));
  const OverlapCounts overlaps = impl_->scheduler.overlap_counts(name);
  out.overlaps = {overlaps.skips, overlaps.new_targets, overlaps.deferred_fit, overlaps.skipped};
  if (impl_->options.scheduling_equivalence_hashing) {
    const auto classes = impl_->scheduler.class_counts(name);
    out.classes = {classes.active, classes.inadmissible};
  }
  return out;
}

std::optional<QueueCensus> Engine::local_queue_census(std::string_view ns, std::string_view name) const {
  const std::string key = api::object_key(ns, name);
  const auto* queue = impl_->registries.local_queue(key);
  if (queue == nullptr) return std::nullopt;
  const std::size_t all = impl_->scheduler.pending_count(queue->cluster_queue, key);
  const std::size_t inadmissible = impl_->scheduler.inadmissible_count(queue->cluster_queue, key);
  return QueueCensus{{all - inadmissible, inadmissible}, impl_->workloads.counts_of_local_queue(key), {}};
}

void Engine::for_each_standing(const std::function<void(const WorkloadStanding&)>& visit) const {
  impl_->workloads.for_each_in_any_order([&](const Tracked& t) {
    WorkloadStanding standing{*t.now, t.cluster_queue, t.local_queue};
    standing.reserving = t.held.has_value();
    standing.admitted = standing.reserving && t.held->admitted;
    standing.inadmissible = impl_->scheduler.inadmissible(t.id);
    standing.active = !standing.inadmissible && impl_->scheduler.pending(t.id);
    visit(standing);
  });
}

// What queues hold, summed anew.
std::vector<std::string> Engine::Impl::check_held() const {
  HeldSums of_local, of_cluster;
  AskedSums asked;
  workloads.for_each([&](const Tracked& t) {
    if (t.waits_for) asked.add(t.cluster_queue, t.waits_for->pod_sets);
    const auto* holding = holding_status(t);
    if (holding == nullptr) return;
    const HeldAmounts held{amounts_held(*holding->admission, *t.now),
                           api::is_true(holding->conditions, api::kueue::kAdmitted)};
    of_local.add(t.local_queue, held);
    of_cluster.add(t.cluster_queue, held);
  });
  std::vector<std::string> broken;
  if (workloads.any_marked()) return broken;
  for (const auto& [name, queue] : registries.cluster_queues) {
    if (!HeldSums::same(workloads.held_in_cluster_queue(name), of_cluster.of(name)))
      broken.push_back("ClusterQueue " + name + ": the sums of what its workloads hold are wrong");
    if (workloads.asked_in_cluster_queue(name) != asked.of(name))
      broken.push_back("ClusterQueue " + name + ": the sums of what its workloads request are wrong");
  }
  for (const auto& [key, queue] : registries.local_queues) {
    if (!HeldSums::same(workloads.held_in_local_queue(key), of_local.of(key)))
      broken.push_back("LocalQueue " + key + ": the sums of what its workloads hold are wrong");
  }
  return broken;
}

// The counts, compared with fresh ones.
std::vector<std::string> Engine::Impl::check_census() const {
  std::map<std::string, TrackedWorkloads::Counts> of_local, of_cluster;
  workloads.for_each([&](const Tracked& t) {
    const auto why = why_of(t);
    if (!why) return;
    ++of_local[t.local_queue][*why];
    ++of_cluster[t.cluster_queue][*why];
  });
  std::vector<std::string> broken;
  for (const auto& [name, queue] : registries.cluster_queues) {
    if (workloads.counts_of_cluster_queue(name) != of_cluster[name])
      broken.push_back("ClusterQueue " + name + ": the counts of its unadmitted workloads are wrong");
  }
  for (const auto& [key, queue] : registries.local_queues) {
    if (workloads.counts_of_local_queue(key) != of_local[key])
      broken.push_back("LocalQueue " + key + ": the counts of its unadmitted workloads are wrong");
  }
  return broken;
}

// Of each cluster queue: what its workloads count as, against its counts.
std::vector<std::string> Engine::Impl::check_standings() const {
  std::map<std::string_view, PendingCounts> pending;
  std::map<std::string_view, std::pair<std::int32_t, std::int32_t>> holders;
  workloads.for_each_in_any_order([&](const Tracked& t) {
    const bool inadmissible = scheduler.inadmissible(t.id);
    pending[t.cluster_queue].inadmissible += inadmissible ? 1 : 0;
    pending[t.cluster_queue].active += !inadmissible && scheduler.pending(t.id) ? 1 : 0;
    holders[t.cluster_queue].first += t.held ? 1 : 0;
    holders[t.cluster_queue].second += t.held && t.held->admitted ? 1 : 0;
  });
  std::vector<std::string> broken;
  if (workloads.any_marked()) return broken;
  for (const auto& [name, queue] : registries.cluster_queues) {
    const std::size_t all = scheduler.pending_count(name), inadmissible = scheduler.inadmissible_count(name);
    const auto& held = workloads.held_in_cluster_queue(name);
    if (pending[name].inadmissible != inadmissible || pending[name].active != all - inadmissible ||
        holders[name] != std::pair(held.reserving, held.admitted))
      broken.push_back("ClusterQueue " + name + ": what its workloads count as differs from its counts");
  }
  return broken;
}

std::vector<std::string> Engine::cohorts_above(std::string_view cluster_queue) const {
  const Ledger& ledger = impl_->scheduler.ledger();
  std::vector<std::string> out;
  const NodeId queue = ledger.find_cluster_queue(cluster_queue);
  for (NodeId node = queue.valid() ? ledger.parent(queue) : NodeId(); node.valid(); node = ledger.parent(node))
    out.push_back(ledger.name(node));
  return out;
}

std::vector<SubtreeQuota> Engine::cohort_quotas(std::string_view cohort) const {
  const Ledger& ledger = impl_->scheduler.ledger();
  const Names& names = impl_->scheduler.names();
  std::vector<SubtreeQuota> out;
  const NodeId node = ledger.find_cohort(cohort);
  for (std::size_t i = 0; node.valid() && i < names.pairs(); ++i) {
    const FlavorResourceId id(i);
    const Amount quota = ledger.subtree_quota(node, id), reserved = ledger.usage(node, id);
    if (quota == Amount() && reserved == Amount()) continue;
    out.push_back({names.name(names.flavor_of(id)), names.name(names.resource_of(id)), quota, reserved});
  }
  return out;
}

}  // namespace berth::engine
