// Balanced placement (TASBalancedPlacement): a preferred request that needs several domains gets about the
// same from each of as few as there can be (kueue.md 4.8).
#pragma once

#include "engine/topology/choose.h"

namespace berth::engine::topology {

// Empty when there is no balanced way; then the usual one counts.
Shares place_balanced(const Counts& counts, const Wanted& wanted, bool with_leader, std::int32_t pods,
                      const Chooser& chooser);

}  // namespace berth::engine::topology
