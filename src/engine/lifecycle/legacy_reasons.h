// The coarse reasons for "not admitted" that Kueue used before 0.19 (gate UnadmittedWorkloadsObservability off).
#pragma once

#include <string_view>

#include "engine/lifecycle/moves.h"

namespace berth::engine::lifecycle {

// Maps a reason of QuotaReserved=False to Inadmissible, Waiting or Pending; returns any other reason unchanged.
std::string_view legacy_reason(std::string_view reason);

// Replaces the reasons of QuotaReserved=False and Admitted=False in the change's conditions, and of warnings in its
// events. Removes Admitted=False unless the workload had an Admitted condition before. `before`: the status that the
// change starts from.
void report_legacy_reasons(Change& change, const WorkloadStatus& before);

}  // namespace berth::engine::lifecycle
