// Balanced placement (TASBalancedPlacement, KEP-2724 "Balanced placement"): the pods of a preferred request
// that fits below one parent of the requested level go in about equal parts to as few domains as there can
// be.
//
// The balanced level is the one below the requested level, or the requested level when it is the lowest.
// Where slices are asked for on the requested level itself, and that is not the lowest, there is nothing to
// balance.
#pragma once

#include "engine/topology/choose.h"

namespace berth::engine::topology {

// Empty when there is no balanced way; then the usual one counts.
Shares place_balanced(const View& view, const Counts& counts, const Wanted& wanted, bool with_leader,
                      std::int32_t pods, const Chooser& chooser);

}  // namespace berth::engine::topology
