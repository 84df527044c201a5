// Tells the victims of a preemption to go.
#pragma once

#include "engine/schedule/state.h"

namespace berth::engine {

// Decides Preempt for every target that is not on its way out already; true when there was one. They count as
// evicted from now on and hold what they hold until released.
bool order_evictions(SchedulerState& state, WorkloadId preemptor, const std::vector<Target>& targets, Decisions& out);

// ". Pending the preemption of 2 workload(s)": how the message of who waits for them ends.
std::string pending_preemption(std::size_t victims);

}  // namespace berth::engine
