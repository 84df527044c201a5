// When the history of preemptions is forgotten, workloads that spared others are evaluated again.
#include <utility>

#include "engine/schedule/scheduler_impl.h"

namespace berth::engine {

void Scheduler::Impl::forget_precedence(NodeId queue) {
  if (!state.precedence.empty()) wake_spared(state.precedence.forget(state.ledger.root(queue)));
}

void Scheduler::Impl::forget_precedence_if_configured() {
  if (std::exchange(precedence_of, state.ledger.configuration()) == state.ledger.configuration()) return;
  wake_spared(state.precedence.forget_all());
}

void Scheduler::Impl::wake_spared(const std::vector<WorkloadId>& workloads) {
  for (const WorkloadId each : workloads) {
    if (!state.slots.known(each)) continue;  // a copy without its tree
    Slot& slot = state.slots[each];
    slot.has_precedents = false;
    if (slot.place != Slot::Place::kQueued) continue;
    Queue& queue = *state.queue(slot.queue);
    queue.pending.wake(each);
    mark(queue);
  }
}

}  // namespace berth::engine
