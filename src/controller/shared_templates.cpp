#include "controller/shared_templates.h"

#include <algorithm>
#include <functional>

namespace berth::controller {

JsonPtr SharedTemplates::share(const Json& pod_template) {
  auto& known = by_hash_[std::hash<Json>()(pod_template)];
  if (const auto shared = known.lock(); shared && *shared == pod_template) return shared;
  auto copy = std::make_shared<const Json>(pod_template);
  if (known.expired()) known = copy;
  if (by_hash_.size() > look_at_) forget_unused();
  return copy;
}

void SharedTemplates::forget_unused() {
  std::erase_if(by_hash_, [](const auto& entry) { return entry.second.expired(); });
  look_at_ = std::max<std::size_t>(64, 2 * by_hash_.size());
}

}  // namespace berth::controller
