// Counts of unadmitted workloads, and the cohorts above a queue: for metrics.
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

QueueCensus Engine::Impl::census(const TrackedWorkloads::Set& members) const {
  QueueCensus out;
  if (!options.unadmitted_observability) return out;
  for (const Tracked* t : members) {
    const auto& conditions = t->now->status.conditions;
    if (!api::is_true(conditions, api::kueue::kFinished) && !api::is_true(conditions, api::kueue::kAdmitted))
      ++out.unadmitted[why_unadmitted(t->now->status)];
  }
  return out;
}

std::optional<QueueCensus> Engine::cluster_queue_census(std::string_view name) const {
  if (impl_->registries.cluster_queue(name) == nullptr) return std::nullopt;
  QueueCensus out = impl_->census(impl_->workloads.in_cluster_queue(name));
  out.pending = pending_counts(name);
  return out;
}

std::optional<QueueCensus> Engine::local_queue_census(std::string_view ns, std::string_view name) const {
  const std::string key = api::object_key(ns, name);
  if (impl_->registries.local_queue(key) == nullptr) return std::nullopt;
  const auto& members = impl_->workloads.in_local_queue(key);
  QueueCensus out = impl_->census(members);
  for (const Tracked* t : members) {
    if (impl_->scheduler.pending(t->id))
      ++(impl_->scheduler.inadmissible(t->id) ? out.pending.inadmissible : out.pending.active);
  }
  return out;
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
