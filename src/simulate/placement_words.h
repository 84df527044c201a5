// Where a workload was placed, in words for people: "b1-r1 (64 pods on 32 nodes)". Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/kueue/types.h"

namespace berth::simulate {

// The rack of a host; empty when it is not known.
using RackOf = std::function<std::string(std::string_view hostname)>;

// "b1-r1, b1-r2 (64 pods on 32 nodes each), b1-r3 (8 pods on 4 nodes)"; domains that are no hosts by their
// own names. Empty without places.
std::string describe_places(const api::kueue::Workload& workload, const RackOf& rack_of);

// "2 pods from b1-r1-n5 to b1-r1-n33"; empty when no pod has to go elsewhere.
std::string describe_move(const api::kueue::Workload& before, const api::kueue::Workload& now);

}  // namespace berth::simulate
