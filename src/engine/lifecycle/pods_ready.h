// Waiting for the pods of an admitted workload (KEP-349, KEP-1282; kueue.md 3.9, Appendix B): how long, and what follows when it
// was too long.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "api/config/policies.h"
#include "engine/lifecycle/moves.h"

namespace berth::engine::lifecycle {

using api::config::WaitForPodsReady;

// When its pods will have kept it waiting for too long: from the admission until they are ready first, from the loss of one until
// they are again. None: nobody waits for them.
std::optional<Time> pods_ready_deadline(const Workload& workload, const WaitForPodsReady& wait);

// The n-th pause before it may be queued again, from 1. Kueue adds up to a ten-thousandth at random, which is less than the whole
// seconds that status.requeueState.requeueAt can tell apart.
std::chrono::seconds requeue_pause(std::int32_t n, const WaitForPodsReady& wait);

// Evicts for `why`, with the time at which the workload may be queued again; or marks it for deactivation when it came back as often
// as it may.
Result<Change> evict_for_later(const Workload& workload, Eviction why, const WaitForPodsReady& wait, Time now);

// Its pods were not ready in time: evicted, with the time at which it may be queued again; or marked for deactivation when it came
// back as often as it may.
Result<Change> time_out(const Workload& workload, const WaitForPodsReady& wait, Time now);

}  // namespace berth::engine::lifecycle
