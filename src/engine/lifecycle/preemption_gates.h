// Preemption gates (KEP-8303): a workload with a gate that is not open makes nobody give way. The spec names
// the gates, the status has their positions, which others change.
#pragma once

#include <string>
#include <string_view>

#include "engine/lifecycle/moves.h"

namespace berth::engine::lifecycle {

// Whether some gate of the spec is not open.
bool preemption_gated(const Workload& workload);
// ". Workload requires preemption, but it's gated by: a, b": the gates that are not open, as the message of
// QuotaReserved=False ends.
std::string preemption_gated_text(const Workload& workload);

// Whether the status has exactly the gates of the spec.
bool lists_gates(const Workload& workload);
// A gate without a position is closed; a position without a gate is dropped.
Result<Change> sync_gates(const Workload& workload, Time now);

// Parts of other moves. An evicted workload has to be let through anew.
void close_gates(WorkloadStatus& status, Time now);
// BlockedOnPreemptionGates=True; and False with this reason, if it was True.
void block(WorkloadStatus& status, const Workload& workload, Time now);
void unblock(WorkloadStatus& status, const Workload& workload, std::string_view reason, Time now);

}  // namespace berth::engine::lifecycle
