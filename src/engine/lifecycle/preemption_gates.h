// Preemption gates (KEP-8303): a workload with a closed gate preempts nothing. The spec names the gates; the status
// has their positions, which other clients change.
#pragma once

#include <string>
#include <string_view>

#include "engine/lifecycle/moves.h"

namespace berth::engine::lifecycle {

// Whether any gate of the spec is not open.
bool preemption_gated(const WorkloadRef& workload);
// The end of the message of QuotaReserved=False, which lists the closed gates:
// ". Workload requires preemption, but it's gated by: a, b".
std::string preemption_gated_text(const WorkloadRef& workload);

// Whether the status lists exactly the gates of the spec, in order.
bool lists_gates(const WorkloadRef& workload);
// Makes the status list the gates of the spec. A new gate is closed; a gate that the spec does not name is removed.
Result<Change> sync_gates(const WorkloadRef& workload, Time now);

// Parts of other moves. An eviction closes all gates: they must be opened again.
void close_gates(WorkloadStatus& status, Time now);
// block() sets BlockedOnPreemptionGates=True; unblock() sets it to False with this reason, if it was True.
void block(WorkloadStatus& status, const WorkloadRef& workload, Time now);
void unblock(WorkloadStatus& status, const WorkloadRef& workload, std::string_view reason, Time now);

}  // namespace berth::engine::lifecycle
