#include "api/kueue/reclaimable_pods.h"

#include <algorithm>

namespace berth::api::kueue {

std::int32_t reclaimable_of(const std::vector<ReclaimablePod>& pods, std::string_view pod_set) {
  const auto it = std::ranges::find(pods, pod_set, &ReclaimablePod::name);
  return it == pods.end() ? 0 : it->count;
}

std::vector<ReclaimablePod> not_less(std::vector<ReclaimablePod> reported, const std::vector<ReclaimablePod>& before) {
  for (const auto& one : before) {
    const auto it = std::ranges::find(reported, one.name, &ReclaimablePod::name);
    if (it == reported.end()) {
      reported.push_back(one);
    } else {
      it->count = std::max(it->count, one.count);
    }
  }
  return reported;
}

const ReclaimablePod* first_less(const std::vector<ReclaimablePod>& reported,
                                 const std::vector<ReclaimablePod>& before) {
  const auto it = std::ranges::find_if(
      before, [&](const ReclaimablePod& one) { return reclaimable_of(reported, one.name) < one.count; });
  return it == before.end() ? nullptr : &*it;
}

}  // namespace berth::api::kueue
