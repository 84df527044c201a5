// When the history of preemptions is forgotten, workloads that spared others are evaluated again. After a restart it is
// recalled from their messages.
#include <utility>

#include "engine/schedule/scheduler_impl.h"

namespace berth::engine {

void Scheduler::Impl::forget_precedence(QuotaNodeId queue) {
  if (!state.precedence.empty()) wake_protected(state.precedence.forget(state.ledger.root(queue)));
}

void Scheduler::Impl::forget_precedence_if_configured() {
  if (std::exchange(precedence_of, state.ledger.configuration()) == state.ledger.configuration()) return;
  wake_protected(state.precedence.forget_all());
}

void Scheduler::Impl::wake_protected(const std::vector<WorkloadId>& workloads) {
  for (const WorkloadId each : workloads) {
    if (!state.slots.known(each)) continue;  // a copy without its tree
    Slot& slot = state.slots[each];
    slot.has_precedents = false;
    slot.chosen.reset();
    if (slot.place != Slot::Place::kQueued) continue;
    Queue& queue = *state.queue(slot.queue);
    queue.pending.wake(each);
    mark(queue);
  }
}

void Scheduler::recall_protected(WorkloadId workload, std::span<const WorkloadId> protected_victims) {
  SchedulerState& state = impl_->state;
  if (!pending(workload)) return;
  impl_->forget_precedence_if_configured();  // the present configuration is the one that the message is about
  const QuotaNodeId root = state.ledger.root(state.slots[workload].queue);
  for (const WorkloadId other : protected_victims) {
    if (!state.slots.known(other) || other == workload) continue;
    const QuotaNodeId its_queue = state.slots[other].queue;
    if (!its_queue.valid() || state.ledger.root(its_queue) != root) continue;
    state.precedence.recall(root, workload, other);
    for (const WorkloadId each : {workload, other}) {
      state.slots[each].has_precedents = true;
      if (pending(each)) state.queue(state.slots[each].queue)->pending.stand_alone(each);
    }
  }
}

}  // namespace berth::engine
