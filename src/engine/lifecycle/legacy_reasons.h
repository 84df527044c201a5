// Why a workload is not admitted, in the few words that Kueue had before 0.19 (gate
// UnadmittedWorkloadsObservability off).
#pragma once

#include <string_view>

#include "engine/lifecycle/moves.h"

namespace berth::engine::lifecycle {

// Of QuotaReserved=False: Inadmissible, Waiting or Pending for the causes; others stay as they are.
std::string_view legacy_reason(std::string_view reason);

// Rewrites what the change says about QuotaReserved and Admitted, in conditions and events. Admitted=False is
// only there for what was admitted before. `before`: the status that the change starts from.
void tell_legacy_reasons(Change& change, const WorkloadStatus& before);

}  // namespace berth::engine::lifecycle
