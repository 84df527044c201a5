// The scheduler and the topology ledger: what changes of nodes and topologies wake, and which places workloads hold.
#include <algorithm>

#include "engine/schedule/scheduler_impl.h"

namespace berth::engine {
namespace {

bool same_assignment(const api::kueue::TopologyAssignmentPtr& a, const api::kueue::TopologyAssignmentPtr& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

bool same_stated_places(const StatedPlaces& a, const StatedPlaces& b) {
  return a.flavor == b.flavor && a.per_pod == b.per_pod && same_assignment(a.assignment, b.assignment);
}

}  // namespace

// Plans contain the levels of topologies, so they must be recompiled.
void Scheduler::Impl::topology_changed(std::string_view name) {
  for (FlavorId flavor : state.flavors.with_topology(name)) flavors_changed(flavor);
}

void Scheduler::set_topology(const api::kueue::Topology& topology) {
  if (!impl_->state.places.set_topology(topology)) return;
  ++impl_->state.node_changes;
  impl_->topology_changed(topology.meta.name);
}

void Scheduler::remove_topology(std::string_view name) {
  if (!impl_->state.places.remove_topology(name)) return;
  ++impl_->state.node_changes;
  impl_->topology_changed(name);
}

// Capacity that becomes free on nodes is reported by Places::take_reliefs().
void Scheduler::set_node(const api::Node& node) {
  if (impl_->state.places.set_node(node)) ++impl_->state.node_changes;
}
void Scheduler::remove_node(std::string_view name) {
  if (impl_->state.places.remove_node(name)) ++impl_->state.node_changes;
}
void Scheduler::set_node_devices(std::string_view node, const api::ResourceList& devices) {
  if (impl_->state.places.set_devices(node, devices)) ++impl_->state.node_changes;
}
void Scheduler::set_taken_devices(const api::kueue::PodPlacement& claim) {
  impl_->state.places.set_taken_devices(claim);
}
void Scheduler::set_pod(const api::kueue::PodPlacement& pod) { impl_->state.places.set_pod(pod); }
void Scheduler::remove_pod(std::string_view uid) { impl_->state.places.remove_pod(uid); }

// Nodes do not belong to one tree of cohorts: workloads that found no place may wait in any tree.
void Scheduler::Impl::relieve_nodes(FlavorId flavor) {
  for (QuotaNodeId node : topology_queues) {
    Queue& queue = *state.queue(node);
    if (queue.pending.size() == 0 || std::ranges::find(queue.topology_flavors, flavor) == queue.topology_flavors.end())
      continue;
    queue.pending.wake_place(flavor);
    if (const QuotaNodeId root = state.ledger.root(node); root.valid()) state.tree(root).releases = ++state.counter;
    if (queue.pending.head().valid()) mark(queue);
  }
}

// The roots of the trees whose workloads may compete for the same places, by id. One pass must process all of them:
// otherwise the least important workload of one tree could take places that the most important workload of another
// tree waits for.
std::vector<QuotaNodeId> Scheduler::Impl::trees_with_topology() const {
  std::vector<QuotaNodeId> roots;
  for (QuotaNodeId node : topology_queues) {
    if (!state.ledger.in_cycle(node)) roots.push_back(state.ledger.root(node));
  }
  std::sort(roots.begin(), roots.end());
  roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
  return roots;
}

void Scheduler::Impl::hold_places(WorkloadId workload, const Holding& holding) {
  Slot& slot = state.slots[workload];
  if (holding.places.empty() && slot.places.empty()) return;
  std::vector<StatedPlaces> stated;
  for (const auto& each : holding.places) {
    if (each.assignment == nullptr || each.assignment->domains.empty()) continue;
    stated.push_back({each.flavor, amounts_of(each.per_pod, state.names), each.assignment, each.unit});
  }
  const bool relabelled = slot.labels && holding.labels && *slot.labels != *holding.labels;
  slot.labels = holding.labels;
  if (!relabelled && std::ranges::equal(stated, slot.places, same_stated_places)) return;
  if (stated.empty()) {
    state.places.give_back(workload);
  } else {
    state.places.take_stated(workload, slot.who->key, stated, slot.labels);
  }
  slot.places = std::move(stated);
}

}  // namespace berth::engine
