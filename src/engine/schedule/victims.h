// Decides the evictions of a preemption.
#pragma once

#include "engine/schedule/state.h"

namespace berth::engine {

// Adds a Preempt decision for every target that is not evicted yet; returns true when there was one. The targets
// count as evicted from now on and hold their quota and places until they are released.
bool order_evictions(SchedulerState& state, WorkloadId preemptor, const std::vector<Target>& targets, Decisions& out);

// ". Pending the preemption of 2 workload(s)": the end of the preemptor's message.
std::string pending_preemption(std::size_t victims);

}  // namespace berth::engine
