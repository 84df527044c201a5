#include "controller/shared_templates.h"

#include <algorithm>
#include <functional>

namespace berth::controller {

void SharedTemplates::share(api::kueue::Workload& workload) {
  for (auto& pod_set : workload.pod_sets) {
    auto& known = by_hash_[std::hash<std::string>()(to_string(*pod_set.template_))];
    const auto shared = known.lock();
    if (!shared) {
      known = pod_set.template_;
    } else if (*shared == *pod_set.template_) {
      pod_set.template_ = shared;
    }
  }
  if (by_hash_.size() > look_at_) forget_unused();
}

void SharedTemplates::forget_unused() {
  std::erase_if(by_hash_, [](const auto& entry) { return entry.second.expired(); });
  look_at_ = std::max<std::size_t>(64, 2 * by_hash_.size());
}

}  // namespace berth::controller
