// The counts of pods that are done (KEP-78, status.reclaimablePods), by pod set.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "api/kueue/types.h"

namespace berth::api::kueue {

// 0 when the pod set is not listed.
std::int32_t reclaimable_of(const std::vector<ReclaimablePod>& pods, std::string_view pod_set);
// What `reported` says, but of no pod set less than `before` says.
std::vector<ReclaimablePod> not_less(std::vector<ReclaimablePod> reported, const std::vector<ReclaimablePod>& before);
// The first pod set of which `reported` says less than `before`; null: there is none.
const ReclaimablePod* first_less(const std::vector<ReclaimablePod>& reported,
                                 const std::vector<ReclaimablePod>& before);

}  // namespace berth::api::kueue
