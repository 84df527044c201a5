// The scheduler and the machine room: what its changes wake, and who holds which places.
#include <algorithm>

#include "engine/schedule/scheduler_impl.h"

namespace berth::engine {
namespace {

bool same_assignment(const api::kueue::TopologyAssignmentPtr& a, const api::kueue::TopologyAssignmentPtr& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

bool same_places(const StatedPlaces& a, const StatedPlaces& b) {
  return a.flavor == b.flavor && a.per_pod == b.per_pod && same_assignment(a.assignment, b.assignment);
}

}  // namespace

// Which levels there are is compiled into plans.
void Scheduler::Impl::topology_changed(std::string_view name) {
  for (FlavorId flavor : state.flavors.with_topology(name)) flavors_changed(flavor);
}

void Scheduler::set_topology(const api::kueue::Topology& topology) {
  if (impl_->state.places.set_topology(topology)) impl_->topology_changed(topology.meta.name);
}

void Scheduler::remove_topology(std::string_view name) {
  if (impl_->state.places.remove_topology(name)) impl_->topology_changed(name);
}

// What gets freer by nodes and pods is told by take_reliefs().
void Scheduler::set_node(const api::Node& node) { impl_->state.places.set_node(node); }
void Scheduler::remove_node(std::string_view name) { impl_->state.places.remove_node(name); }
void Scheduler::set_pod(const api::PodPlacement& pod) { impl_->state.places.set_pod(pod); }
void Scheduler::remove_pod(std::string_view uid) { impl_->state.places.remove_pod(uid); }

// Nodes do not belong to a tree of cohorts: who found no place may wait in any.
void Scheduler::Impl::relieve_room(FlavorId flavor) {
  for (NodeId node : rooms) {
    Queue& queue = *state.queue(node);
    if (queue.pending.size() == 0 || std::ranges::find(queue.rooms, flavor) == queue.rooms.end()) continue;
    queue.pending.wake_place(flavor);
    if (const NodeId root = state.ledger.root(node); root.valid())
      state.tree(root).releases = ++state.counter;
    if (queue.pending.head().valid()) mark(queue);
  }
}

// The roots of the trees whose workloads may want the same places, by id: a pass goes over all of them
// together, or one tree's least important workload would take what the most important one of another tree
// waits for.
std::vector<NodeId> Scheduler::Impl::room_trees() const {
  std::vector<NodeId> roots;
  for (NodeId node : rooms) {
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
    stated.push_back({each.flavor, amounts_of(each.per_pod, state.names), each.assignment});
  }
  if (std::ranges::equal(stated, slot.places, same_places)) return;
  if (stated.empty()) {
    state.places.give_back(workload);
  } else {
    state.places.take_stated(workload, slot.key, stated);
  }
  slot.places = std::move(stated);
}

}  // namespace berth::engine
