// What an engine answers about queues and workloads.
#include <map>
#include <utility>

#include "api/meta.h"
#include "base/assert.h"
#include "engine/engine_impl.h"

namespace berth::engine {

namespace {

// Workloads of one local queue have the same relative order in the cluster queue: so only the position of the first
// one of a page must be looked up.
std::vector<PendingWorkload> page(const Scheduler& scheduler, const TrackedWorkloads& workloads,
                                  std::string_view cluster_queue, std::size_t offset, std::size_t limit) {
  std::vector<PendingWorkload> out;
  std::map<std::string_view, std::size_t> next;  // by local queue
  for (const WorkloadId id : scheduler.pending_page(cluster_queue, offset, limit)) {
    const Tracked* t = workloads.find(id);
    BERTH_INVARIANT(t != nullptr);
    auto it = next.find(t->local_queue);
    if (it == next.end()) it = next.emplace(t->local_queue, scheduler.pending_position(id)->in_local_queue).first;
    out.push_back({t->base, offset + out.size(), it->second++});
  }
  return out;
}

std::vector<PendingWorkload> page(const Scheduler& scheduler, const TrackedWorkloads& workloads,
                                  std::string_view cluster_queue, std::string_view local_queue, std::size_t offset,
                                  std::size_t limit) {
  std::vector<PendingWorkload> out;
  for (const WorkloadId id : scheduler.pending_page(cluster_queue, local_queue, offset, limit)) {
    const Tracked* t = workloads.find(id);
    BERTH_INVARIANT(t != nullptr);
    out.push_back({t->base, scheduler.pending_position(id)->in_cluster_queue, offset + out.size()});
  }
  return out;
}

std::vector<QuotaNodeId> queues_below(const Ledger& ledger, QuotaNodeId cohort) {
  std::vector<QuotaNodeId> out;
  std::vector<QuotaNodeId> nodes{cohort};
  while (!nodes.empty()) {
    const QuotaNodeId node = nodes.back();
    nodes.pop_back();
    if (ledger.is_cluster_queue(node)) out.push_back(node);
    nodes.insert(nodes.end(), ledger.children(node).begin(), ledger.children(node).end());
  }
  return out;
}

}  // namespace

std::optional<ClusterQueueStatus> Engine::cluster_queue_status(std::string_view name) const {
  return impl_->reports.cluster_queue(name);
}

std::optional<LocalQueueStatus> Engine::local_queue_status(std::string_view ns, std::string_view name) const {
  return impl_->reports.local_queue(api::object_key(ns, name));
}

std::optional<CohortStatus> Engine::cohort_status(std::string_view name) const { return impl_->reports.cohort(name); }

PendingCounts Engine::pending_counts(std::string_view cluster_queue) const {
  return impl_->census.pending(cluster_queue);
}

std::optional<QueueCensus> Engine::cluster_queue_census(std::string_view name) const {
  return impl_->census.of_cluster_queue(name);
}

std::optional<QueueCensus> Engine::local_queue_census(std::string_view ns, std::string_view name) const {
  return impl_->census.of_local_queue(api::object_key(ns, name));
}

void Engine::for_each_standing(const std::function<void(const WorkloadStanding&)>& visit) const {
  impl_->census.for_each_standing(visit);
}

std::size_t Engine::names_kept() const { return impl_->scheduler.names().size(); }

std::optional<std::vector<PendingWorkload>> Engine::pending_in_cluster_queue(std::string_view name, std::size_t offset,
                                                                             std::size_t limit) const {
  if (impl_->facts.registries.cluster_queue(name) == nullptr) return std::nullopt;
  return page(impl_->scheduler, impl_->workloads, name, offset, limit);
}

std::optional<std::vector<PendingWorkload>> Engine::pending_in_local_queue(std::string_view ns, std::string_view name,
                                                                           std::size_t offset,
                                                                           std::size_t limit) const {
  const std::string key = api::object_key(ns, name);
  const auto* queue = impl_->facts.registries.local_queue(key);
  if (queue == nullptr) return std::nullopt;
  return page(impl_->scheduler, impl_->workloads, queue->cluster_queue, key, offset, limit);
}

bool Engine::holds_quota(std::string_view ns, std::string_view workload) const {
  const Tracked* t = std::as_const(impl_->workloads).find(api::object_key(ns, workload));
  return t != nullptr && holding_status(*t) != nullptr;
}

std::optional<PendingPosition> Engine::pending_position(std::string_view ns, std::string_view workload) const {
  const Tracked* t = std::as_const(impl_->workloads).find(api::object_key(ns, workload));
  const auto position = t == nullptr ? std::nullopt : impl_->scheduler.pending_position(t->id);
  if (!position) return std::nullopt;
  return PendingPosition{t->cluster_queue, position->in_cluster_queue, position->in_local_queue};
}

std::vector<std::string> Engine::cohorts_above(std::string_view cluster_queue) const {
  const Ledger& ledger = impl_->scheduler.ledger();
  std::vector<std::string> out;
  const QuotaNodeId queue = ledger.find_cluster_queue(cluster_queue);
  for (QuotaNodeId node = queue.valid() ? ledger.parent(queue) : QuotaNodeId(); node.valid();
       node = ledger.parent(node))
    out.push_back(ledger.name(node));
  return out;
}

std::map<std::string, CohortPlace> Engine::cohorts() const {
  const Ledger& ledger = impl_->scheduler.ledger();
  std::map<std::string, CohortPlace> out;
  ledger.for_each_node([&](QuotaNodeId node) {
    if (ledger.is_cluster_queue(node) || ledger.in_cycle(node)) return;
    const QuotaNodeId parent = ledger.parent(node);
    out[ledger.name(node)] = {parent.valid() ? ledger.name(parent) : std::string(), ledger.name(ledger.root(node))};
  });
  return out;
}

bool Engine::evaluated() const { return impl_->scheduler.evaluated(); }

std::vector<SubtreeQuota> Engine::cohort_quotas(std::string_view cohort) const {
  const Ledger& ledger = impl_->scheduler.ledger();
  const Names& names = impl_->scheduler.names();
  std::vector<SubtreeQuota> out;
  const QuotaNodeId node = ledger.find_cohort(cohort);
  const std::vector<QuotaNodeId> queues = node.valid() ? queues_below(ledger, node) : std::vector<QuotaNodeId>();
  for (std::size_t i = 0; node.valid() && i < names.pairs(); ++i) {
    const FlavorResourceId id(i);
    const Amount quota = ledger.subtree_quota(node, id);
    Amount reserved;
    for (const QuotaNodeId queue : queues) reserved += ledger.usage(queue, id);
    if (quota == Amount() && reserved == Amount()) continue;
    out.push_back({names.name(names.flavor_of(id)), names.name(names.resource_of(id)), quota, reserved});
  }
  return out;
}

std::vector<HeldQuota> Engine::held_quotas() const {
  std::vector<HeldQuota> out;
  impl_->workloads.for_each([&](const Tracked& t) {
    const auto* holding = holding_status(t);
    if (holding == nullptr) return;
    HeldQuota claim{*t.now, holding->admission->cluster_queue, {}};
    for (const auto& held : amounts_held(*holding->admission, *t.now, impl_->facts.options))
      claim.amounts[held.resource] += held.amount;
    out.push_back(std::move(claim));
  });
  return out;
}

}  // namespace berth::engine
