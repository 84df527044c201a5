#include "controller/shared_templates.h"

#include <algorithm>
#include <utility>

namespace berth::controller {
namespace {

constexpr std::size_t kRequests = 16;

bool is_empty_object(const Json& value) { return value.is_object() && value.as_object().empty(); }

// The spec when the document is a pod template with this spec and empty metadata, else null.
const Json* only_spec(const Json& document) {
  if (!document.is_object() || document.as_object().size() != 2) return nullptr;
  const Json* metadata = find(document, "metadata");
  return metadata != nullptr && is_empty_object(*metadata) ? find(document, "spec") : nullptr;
}

std::size_t hash_of(const Json& document) {
  const Json* spec = only_spec(document);
  return std::hash<Json>()(spec == nullptr ? document : *spec);
}

}  // namespace

JsonPtr SharedTemplates::find_or_make(std::size_t hash, const std::function<bool(const Json&)>& equals,
                                      const std::function<Json()>& make) {
  auto& known = by_hash_[hash];
  if (auto shared = known.lock(); shared && equals(*shared)) return shared;
  auto copy = std::make_shared<const Json>(make());
  if (known.expired()) known = copy;
  if (by_hash_.size() > look_at_) forget_unused();
  return copy;
}

JsonPtr SharedTemplates::share(const Json& document) {
  return find_or_make(
      hash_of(document), [&](const Json& other) { return other == document; }, [&] { return document; });
}

JsonPtr SharedTemplates::share_spec(const Json& spec) {
  return find_or_make(
      std::hash<Json>()(spec),
      [&](const Json& other) {
        const Json* known = only_spec(other);
        return known != nullptr && *known == spec;
      },
      [&] { return Json(JsonObject{{"metadata", JsonObject()}, {"spec", spec}}); });
}

void SharedTemplates::share_requests(api::kueue::Workload& workload) {
  for (auto& pod_set : workload.pod_sets) {
    Request& request = pod_set.topology_request;
    if (!request) continue;
    if (const auto known = std::ranges::find(requests_, request); known != requests_.end()) {
      request = *known;
    } else if (requests_.size() < kRequests) {
      requests_.push_back(request);
    } else {
      requests_[next_request_++ % kRequests] = request;
    }
  }
}

void SharedTemplates::forget_unused() {
  std::erase_if(by_hash_, [](const auto& entry) { return entry.second.expired(); });
  look_at_ = std::max<std::size_t>(64, 2 * by_hash_.size());
}

}  // namespace berth::controller
