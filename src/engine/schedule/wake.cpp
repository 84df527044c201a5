// What wakes pending workloads: capacity that got free, and quota that was lent.
#include <algorithm>
#include <tuple>

#include "engine/schedule/scheduler_impl.h"

namespace berth::engine {

void Scheduler::Impl::mark(Queue& queue) {
  if (queue.dirty) return;
  queue.dirty = true;
  dirty.push_back(queue.node);
}

void Scheduler::Impl::wake_queue(Queue& queue) {
  queue.pending.wake_all();
  mark(queue);
}

void Scheduler::Impl::wake_tree(Queue& queue) {
  if (!state.ledger.in_cycle(queue.node)) relieve(state.ledger.root(queue.node), FlavorResourceId());
}

// Everything below a node where capacity got free may be worth another evaluation; of parked classes, only those that
// lacked this.
void Scheduler::Impl::relieve(QuotaNodeId node, FlavorResourceId id) {
  if (Queue* queue = state.queue(node); queue != nullptr && queue->pending.size() > 0) {
    auto may_fit = [&](const Lack& lack, ShapeId shape) { return state.may_help(*queue, lack, shape); };
    if (!id.valid()) {
      queue->pending.wake_all();
    } else {
      queue->pending.wake(id, may_fit);
      // Whatever got free, shares of pending workloads here may be smaller now.
      if (state.options.fair_sharing.enabled && queue->config.reclaims())
        queue->pending.wake_for_victims(FlavorResourceId());
    }
    if (queue->pending.head().valid()) mark(*queue);
  }
  for (QuotaNodeId child : state.ledger.children(node)) {
    if (state.ledger.parent(child) == node) relieve(child, id);
  }
}

// Workloads that may reclaim and lack what others borrowed search victims again; with fair sharing, whatever they
// lack.
void Scheduler::Impl::tempt(QuotaNodeId node, const Borrowing& borrowing) {
  if (Queue* queue = state.queue(node); queue != nullptr && queue->config.reclaims() && queue->pending.size() > 0) {
    const FlavorResourceId id = state.options.fair_sharing.enabled ? FlavorResourceId() : borrowing.id;
    queue->pending.wake_for_victims(id, borrowing.number);
    if (queue->pending.head().valid())
      mark(*queue);  // even if nothing was parked: the head of a StrictFIFO queue that reserves quota
  }
  for (QuotaNodeId child : state.ledger.children(node)) {
    if (state.ledger.parent(child) == node) tempt(child, borrowing);
  }
}

void Scheduler::Impl::absorb_borrowings() {
  if (state.borrowings.empty()) return;
  std::vector<Borrowing> borrowings = std::exchange(state.borrowings, {});
  // Keep only the latest of equal borrowings.
  const auto order = [](const Borrowing& a, const Borrowing& b) {
    return std::tuple(a.among, a.id, b.number) < std::tuple(b.among, b.id, a.number);
  };
  const auto same = [](const Borrowing& a, const Borrowing& b) { return a.among == b.among && a.id == b.id; };
  std::sort(borrowings.begin(), borrowings.end(), order);
  borrowings.erase(std::unique(borrowings.begin(), borrowings.end(), same), borrowings.end());
  for (const Borrowing& borrowing : borrowings) {
    if (borrowing.among.valid())
      tempt(borrowing.among, borrowing);  // invalid in a tree with a cycle: nothing is evaluated there
  }
}

// Workloads that may reclaim and were short of something else search victims again when a flavor-resource that they
// want is not free any more.
void Scheduler::Impl::tighten(QuotaNodeId node, FlavorResourceId id) {
  if (Queue* queue = state.queue(node); queue != nullptr && queue->config.reclaims() && queue->pending.size() > 0) {
    const bool woke = queue->pending.wake_where_taken(id, state.ledger.available(node, id));
    if (woke && queue->pending.head().valid()) mark(*queue);
  }
  for (QuotaNodeId child : state.ledger.children(node)) {
    if (state.ledger.parent(child) == node) tighten(child, id);
  }
}

void Scheduler::Impl::absorb_taken() {
  for (const Taken& each : std::exchange(state.taken, {})) tighten(each.root, each.id);
}

void Scheduler::Impl::absorb_reliefs() {
  std::vector<Relief> reliefs = state.ledger.take_reliefs();
  auto order = [](const Relief& a, const Relief& b) { return std::pair(a.node, a.id) < std::pair(b.node, b.id); };
  std::sort(reliefs.begin(), reliefs.end(), order);
  reliefs.erase(std::unique(reliefs.begin(), reliefs.end()), reliefs.end());
  for (const Relief& relief : reliefs) {
    QuotaNodeId root = state.ledger.root(relief.node);
    if (root.valid()) state.tree(root).releases = ++state.counter;
    relieve(relief.node, relief.id);
  }
  for (FlavorId flavor : state.places.take_reliefs()) relieve_nodes(flavor);
  absorb_borrowings();
  absorb_taken();
}

}  // namespace berth::engine
