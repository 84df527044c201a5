// The v1beta2 form of a TopologyAssignment: values that runs of domains share are written once (KEP-2724).
#pragma once

#include "api/kueue/types.h"
#include "base/json.h"
#include "base/result.h"

namespace berth::api::kueue {

// Writes one slice for all domains; when hostname is the only level, also tries one slice for each common prefix of
// hostnames and takes the smaller text. Keeps the order of the domains. The same domains always give the same bytes.
// The schema allows 1000 slices of 100,000 domains each; the API server refuses more.
Json encode_topology_assignment(const TopologyAssignment& assignment);

// Reads every valid form. Errors name the path below the assignment: "slices[1].podCounts: ...". Reads at most
// kMaxDomains domains, because a short text can name very many.
inline constexpr std::size_t kMaxDomains = 1'000'000;
Result<TopologyAssignment> decode_topology_assignment(const Json& value);

}  // namespace berth::api::kueue
