// The status of a PodGroup that tells its users what was decided: its phase, and why it waits.
#pragma once

#include <string>
#include <string_view>

#include "api/kueue/types.h"
#include "api/volcano/types.h"
#include "base/time.h"
#include "volcano/group_workloads.h"

namespace berth::volcano {

inline constexpr std::string_view kUnschedulable = "Unschedulable";        // a type of conditions
inline constexpr std::string_view kQueueTakesNoWork = "QueueTakesNoWork";  // reasons of it
inline constexpr std::string_view kMisconfigured = "Misconfigured";        // its pods claim devices

// Whether a group in this phase waits for quota.
bool waits(api::volcano::PodGroupPhase phase);

// `obstacle`: why the queue admits nothing, or that pods claim devices; empty: neither. `minimum`: the status of the
// workload of the minimum, null when there is none. `now`: in whole seconds.
api::volcano::PodGroupStatus status_by_duty(const api::volcano::PodGroup& group, const GroupDuty& duty,
                                            const std::string& obstacle, const api::kueue::WorkloadStatus* minimum,
                                            Time now);

}  // namespace berth::volcano
