// The v1beta2 form of a TopologyAssignment: runs of domains that share values are written once (KEP-2724).
#pragma once

#include "api/kueue/types.h"
#include "base/json.h"
#include "base/result.h"

namespace berth::api::kueue {

// The smaller of one slice for all domains and one slice for each common prefix of hostnames, the latter for the
// hostname level only. The order of the domains is kept. The same domains always give the same bytes. The schema
// allows 1000 slices of 100,000 domains each; more than that cannot be written and the API server refuses it.
Json encode_topology_assignment(const TopologyAssignment& assignment);

// Reads every valid form. Errors name the path below the assignment: "slices[1].podCounts: ...". No more than
// kMaxDomains are read: a short text can name very many.
inline constexpr std::size_t kMaxDomains = 1'000'000;
Result<TopologyAssignment> decode_topology_assignment(const Json& value);

}  // namespace berth::api::kueue
