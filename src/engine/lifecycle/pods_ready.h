// Timeouts for the pods of an admitted workload (KEP-349 waitForPodsReady, KEP-1282 requeuing back-off), and what
// follows them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "api/config/policies.h"
#include "engine/lifecycle/moves.h"

namespace berth::engine::lifecycle {

using api::config::WaitForPodsReady;

// Whether it matters that the pods of the workload are ready: everywhere, or because it asks for times of its own.
bool waits_for_pods_ready(const WorkloadRef& workload, const WaitForPodsReady& wait);

// When the pods take too long: from admission until all have nodes (scheduling.h) or until they are first ready, or
// from the loss of a pod until all are ready again. nullopt: no timeout runs.
std::optional<Time> pods_ready_deadline(const WorkloadRef& workload, const WaitForPodsReady& wait);

// The n-th back-off, from 1: backoffBaseSeconds doubled each time, at most backoffMaxSeconds. Kueue adds a random
// part of up to 0.01 %; that is less than the whole seconds of status.requeueState.requeueAt.
std::chrono::seconds requeue_pause(std::int32_t n, const WaitForPodsReady& wait);

// Evicts for `why` and sets the time at which the workload may be queued again. When it was requeued as often as
// allowed (backoffLimitCount), marks it for deactivation instead.
Result<Change> evict_for_later(const WorkloadRef& workload, Eviction why, const WaitForPodsReady& wait, Time now);

// evict_for_later() with reason PodsReadyTimeout: the pods were not ready in time.
Result<Change> time_out(const WorkloadRef& workload, const WaitForPodsReady& wait, Time now);

}  // namespace berth::engine::lifecycle
