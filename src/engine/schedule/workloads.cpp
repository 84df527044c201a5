// The life of a workload in the scheduler: it waits in a queue, holds quota, or neither.
#include "base/assert.h"
#include "engine/schedule/scheduler_impl.h"

namespace berth::engine {

WorkloadId Scheduler::enter(std::string_view uid, std::string_view job_uid, std::string_view key) {
  return impl_->state.slots.enter(uid, job_uid, key.empty() ? uid : key);
}

void Scheduler::leave(WorkloadId workload) {
  SchedulerState& state = impl_->state;
  if (!state.slots.known(workload)) return;
  Slot& slot = state.slots[workload];
  if (slot.queue.valid()) impl_->forget_precedence(slot.queue);
  withdraw(workload);
  release(workload);
  if (slot.shape.valid()) state.shapes.release(slot.shape);
  if (slot.local_queue.valid()) state.local_queues.release(slot.local_queue);
  state.slots.leave(workload);
}

void Scheduler::Impl::leave_queue(WorkloadId workload) {
  Slot& slot = state.slots[workload];
  Queue& queue = *state.queue(slot.queue);
  if (slot.not_before) backoffs.erase({*slot.not_before, workload});
  slot.not_before.reset();
  slot.scan.reset();
  queue.pending.erase(workload);
  mark(queue);  // workloads behind it, or preempted for it, may continue
}

void Scheduler::Impl::leave_claim(WorkloadId workload) {
  Slot& slot = state.slots[workload];
  Queue& queue = *state.queue(slot.queue);
  queue.holders.erase(slot, workload);
  state.ledger.give_back(workload);
  if (!slot.places.empty()) state.places.give_back(workload);
  slot.places.clear();
  slot.place = Slot::Place::kNone;
  slot.evicted = false;
  state.discharge(slot);
  set_pods_ready(slot, true);
  drop_if_unused(queue);
}

void Scheduler::Impl::set_pods_ready(Slot& holder, bool ready) {
  const bool blocked = state.admission_blocked();
  state.set_pods_ready(holder, ready);
  if (!blocked || state.admission_blocked()) return;
  for (auto& queue : state.queues) {
    if (queue != nullptr && queue->pending.head().valid()) mark(*queue);
  }
}

void Scheduler::Impl::place(WorkloadId workload) {
  Slot& slot = state.slots[workload];
  Queue& queue = *state.queue(slot.queue);
  if (slot.on_hold || slot.not_before) {
    queue.pending.put_aside(workload);
    if (!slot.on_hold) backoffs.emplace(*slot.not_before, workload);
    return;
  }
  push(workload);
  mark(queue);
}

void Scheduler::Impl::push(WorkloadId workload) {
  Queue& queue = *state.queue(state.slots[workload].queue);
  queue.pending.push(workload, queue.config.age_decides());
}

bool Scheduler::Impl::submitted_through(const Slot& slot, std::string_view local_queue) const {
  return slot.local_queue.valid() ? state.local_queues[slot.local_queue] == local_queue : local_queue.empty();
}

void Scheduler::Impl::submit_through(Slot& slot, std::string_view local_queue) {
  if (submitted_through(slot, local_queue)) return;
  if (slot.local_queue.valid()) state.local_queues.release(slot.local_queue);
  slot.local_queue = local_queue.empty() ? LocalQueueId() : state.local_queues.acquire(local_queue);
}

bool Scheduler::submit(WorkloadId workload, const Pending& pending, bool anew) {
  SchedulerState& state = impl_->state;
  Slot& slot = state.slots[workload];
  BERTH_INVARIANT(slot.place != Slot::Place::kHolder);
  if (slot.place == Slot::Place::kHolder) release(workload);
  ShapeId shape = state.shapes.acquire(pending.pod_sets, state.names);
  Queue& queue = impl_->queue_of(pending.cluster_queue);
  bool waits = slot.place != Slot::Place::kNone;
  const bool requests_the_same = waits && slot.queue == queue.node && slot.shape == shape;
  const bool replaces_the_same = slot.replaces ? pending.replaces && slot.replaces->what == *pending.replaces &&
                                                     state.slots[pending.replaces->of].who == slot.replaces->who
                                               : !pending.replaces;
  // A reported verdict stays valid for all members of its class.
  const bool knows = requests_the_same && !anew && slot.priority == pending.priority &&
                     slot.barrier == pending.barrier && slot.preemption_gated == pending.preemption_gated &&
                     replaces_the_same;
  const bool same = knows && slot.queued_at == pending.queued_at && slot.not_before == pending.not_before &&
                    slot.on_hold == pending.on_hold && impl_->submitted_through(slot, pending.local_queue);
  const bool preempted_for = requests_the_same && queue.pending.preempted_for(workload);
  const bool sticky = requests_the_same && queue.pending.sticky(workload);
  if (slot.has_precedents && (slot.queue != queue.node || slot.shape != shape || slot.priority != pending.priority))
    impl_->forget_precedence(slot.queue);
  if (slot.shape.valid()) state.shapes.release(slot.shape);
  slot.shape = shape;
  slot.labels = pending.labels;
  if (same) return slot.reported != 0;
  QuotaNodeId former = waits ? slot.queue : QuotaNodeId();
  if (waits) impl_->leave_queue(workload);
  slot.queue = queue.node;
  slot.priority = pending.priority;
  slot.queued_at = pending.queued_at;
  slot.barrier = pending.barrier;
  slot.not_before = pending.not_before;
  slot.on_hold = pending.on_hold;
  slot.preemption_gated = pending.preemption_gated;
  slot.replaces.reset();
  if (pending.replaces) slot.replaces = Slot::Replaces{state.slots[pending.replaces->of].who, *pending.replaces};
  impl_->submit_through(slot, pending.local_queue);
  if (!knows) {
    slot.reported = 0;
    slot.reported_reason.clear();
  }
  impl_->place(workload);
  if (preempted_for && slot.place == Slot::Place::kQueued) {
    sticky ? queue.pending.set_sticky(workload) : queue.pending.set_preempted_for(workload);
  }
  if (former.valid() && former != queue.node) impl_->drop_if_unused(*state.queue(former));
  return slot.reported != 0;
}

void Scheduler::withdraw(WorkloadId workload) {
  if (!impl_->state.slots.known(workload)) return;
  const Slot& slot = impl_->state.slots[workload];
  if (slot.has_precedents && slot.place != Slot::Place::kHolder) impl_->forget_precedence(slot.queue);
  if (!pending(workload)) return;
  impl_->leave_queue(workload);
  impl_->drop_if_unused(*impl_->state.queue(impl_->state.slots[workload].queue));
}

void Scheduler::hold(WorkloadId workload, const Holding& holding) {
  SchedulerState& state = impl_->state;
  Slot& slot = state.slots[workload];
  Usage usage;
  for (const auto& each : holding.amounts) {
    FlavorResourceId id = state.names.pair(state.names.flavor(each.flavor), state.names.resource(each.resource));
    usage.push_back({id, each.amount});
  }
  tidy(usage);
  withdraw(workload);
  Queue& queue = impl_->queue_of(holding.cluster_queue);
  const Claim* claim = state.ledger.claim(workload);
  if (slot.place == Slot::Place::kHolder && slot.queue != queue.node) {
    impl_->forget_precedence(slot.queue);
    impl_->leave_claim(workload);
    claim = nullptr;
  }
  if (slot.place == Slot::Place::kHolder) {
    queue.holders.erase(slot, workload);
    // The eviction failed or was reverted: workloads that wait for it choose victims again.
    if (slot.evicted && !holding.evicted) impl_->mark(queue);
    // Not this scheduler's preemption: somebody else evicts it, or reverted the eviction.
    if (slot.evicted != holding.evicted) impl_->forget_precedence(queue.node);
    // Workloads that could not preempt it may be able to now.
    if (holding.priority < slot.priority || holding.queued_at > slot.queued_at) {
      impl_->forget_precedence(queue.node);
      impl_->wake_tree(queue);
    }
  }
  slot.place = Slot::Place::kHolder;
  slot.queue = queue.node;
  slot.priority = holding.priority;
  slot.queued_at = holding.queued_at;
  slot.reserved_at = holding.reserved_at;
  slot.evicted = holding.evicted;
  impl_->set_pods_ready(slot, holding.pods_ready);
  queue.holders.insert(slot, workload);
  if (claim == nullptr || claim->usage != usage) {
    if (claim != nullptr) {
      impl_->forget_precedence(queue.node);
    } else {
      state.precedence.note_admitted(state.ledger.root(queue.node), workload);
    }
    state.ledger.take(workload, queue.node, std::move(usage));
    state.note_taken(queue.node, state.ledger.claim(workload)->usage);
  }
  if (state.book.on()) {
    if (const auto use = impl_->adopted.find(slot.who->uid); use != impl_->adopted.end()) {
      slot.use = use->second;
      impl_->adopted.erase(use);
    }
    if (!holding.local_queue.empty()) impl_->submit_through(slot, holding.local_queue);
    state.charge(slot, state.ledger.claim(workload)->usage, holding.used_since);
  }
  impl_->hold_places(workload, holding);
}

void Scheduler::release(WorkloadId workload) {
  if (!holds(workload)) return;
  const Slot& slot = impl_->state.slots[workload];
  if (!slot.evicted) impl_->forget_precedence(slot.queue);
  impl_->leave_claim(workload);
}

}  // namespace berth::engine
