#include "embedded/cluster/shared/owned_pods.h"

#include <utility>

#include "embedded/cluster/shared/pod_writes.h"

namespace berth::cluster {

void OwnedPods::pod_changed(const JsonPtr& old, const JsonPtr& now) {
  if (const Json* owner = old ? owner_of_(*old) : nullptr) {
    if (const auto at = keys_.find(string_at(*owner, {"uid"})); at != keys_.end()) {
      at->second.erase(pod_key(*old));
      if (at->second.empty()) keys_.erase(at);
    }
  }
  if (const Json* owner = now ? owner_of_(*now) : nullptr)
    keys_[std::string(string_at(*owner, {"uid"}))].insert(pod_key(*now));
}

std::vector<JsonPtr> OwnedPods::of(std::string_view uid) {
  std::set<std::string> keys;
  if (const auto at = keys_.find(uid); at != keys_.end()) keys = at->second;
  for (auto& key : pods_.unseen()) keys.insert(std::move(key));
  std::vector<JsonPtr> out;
  for (const auto& key : keys) {
    JsonPtr pod = pods_.get(key);
    const Json* owner = pod ? owner_of_(*pod) : nullptr;
    if (owner != nullptr && string_at(*owner, {"uid"}) == uid) out.push_back(std::move(pod));
  }
  return out;
}

}  // namespace berth::cluster
