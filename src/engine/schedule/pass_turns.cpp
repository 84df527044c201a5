// Workloads that lose to what is held for others, so that those behind them in their queues get a turn.
#include "engine/schedule/pass.h"

namespace berth::engine {

// Nothing moves, so what is held for others stays held, and those who lost to it would lose again. In BestEffortFIFO
// queues the next one gets its turn.
bool Pass::let_others_try() {
  for (Entry* entry : beaten_) {
    if (entry->queue->config.strict()) continue;
    entry->queue->pending.park(entry->workload, {}, kWaitingForQuota);
    if (aside_.empty()) moved_after_ = false;
    aside_.push_back(entry->workload);
    moved_ = true;
  }
  return moved_;
}

// After the turns of others. If these were admitted or preempt, those who lost may win now: who would borrow more than
// before comes later, so it does not hold quota before them any more. Ends when nobody moves any more.
bool Pass::try_those_aside() {
  if (aside_.empty() || !moved_after_) return false;
  end_turns_of_others();
  aside_.clear();
  live_ = all_;
  return true;
}

void Pass::end_turns_of_others() {
  for (const WorkloadId each : aside_) state_.queue(state_.slots[each].queue)->pending.wake(each);
}

}  // namespace berth::engine
