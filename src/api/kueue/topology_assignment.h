// The v1beta2 form of a TopologyAssignment: runs of domains that share values are written once (KEP-2724).
#pragma once

#include "api/kueue/types.h"
#include "base/json.h"
#include "base/result.h"

namespace berth::api::kueue {

// The smaller of one slice for all domains and one slice for each common prefix of hostnames, the latter for the
// hostname level only. The same domains always give the same bytes.
Json encode_topology_assignment(const TopologyAssignment& assignment);

// Reads every valid form. Errors name the path below the assignment: "slices[1].podCounts: ...".
Result<TopologyAssignment> decode_topology_assignment(const Json& value);

}  // namespace berth::api::kueue
