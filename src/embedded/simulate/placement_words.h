// Describes where a workload is placed, in words: "b1-r1 (64 pods on 32 nodes)". Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/kueue/types.h"

namespace berth::simulate {

// Returns the rack of a hostname; empty when it is not known.
using RackOf = std::function<std::string(std::string_view hostname)>;

// "b1-r1, b1-r2 (64 pods on 32 nodes each), b1-r3 (8 pods on 4 nodes)". A domain whose rack is not known is named by
// itself. Empty when the workload has no topology assignment.
std::string describe_places(const api::kueue::Workload& workload, const RackOf& rack_of);

// "2 pods from b1-r1-n5 to b1-r1-n33"; empty when no pod moves.
std::string describe_move(const api::kueue::Workload& before, const api::kueue::Workload& now);

}  // namespace berth::simulate
