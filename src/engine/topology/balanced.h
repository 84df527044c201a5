// Balanced placement (TASBalancedPlacement, KEP-2724): a preferred request whose pods fit below one parent of the
// requested level is spread in about equal parts over as few domains as possible.
//
// The balanced level is the one below the requested level, or the requested level when it is the lowest. When slices
// are requested on the requested level itself and that is not the lowest, there is nothing to balance.
#pragma once

#include "engine/topology/choose.h"

namespace berth::engine::topology {

// Returns the leaves with their pods; empty when no balanced placement exists, then the normal placement applies.
Shares place_balanced(const View& view, const Counts& counts, const Wanted& wanted, bool with_leader, std::int32_t pods,
                      const Chooser& chooser);

}  // namespace berth::engine::topology
