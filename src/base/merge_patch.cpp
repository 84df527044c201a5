#include "base/merge_patch.h"

namespace berth {

Json apply_merge_patch(const Json& object, const Json& patch) {
  if (!patch.is_object()) return patch;
  Json result = object.is_object() ? object : Json(JsonObject());
  JsonObject& members = result.as_object();
  for (const auto& [key, change] : patch.as_object()) {
    if (change.is_null()) {
      members.erase(key);
    } else {
      const Json* present = members.if_contains(key);
      Json merged = apply_merge_patch(present != nullptr ? *present : Json(), change);
      members[key] = std::move(merged);
    }
  }
  return result;
}

Json make_merge_patch(const Json& from, const Json& to) {
  if (!from.is_object() || !to.is_object()) return to;
  JsonObject patch;
  for (const auto& [key, old] : from.as_object()) {
    const Json* now = to.as_object().if_contains(key);
    if (now == nullptr || now->is_null()) {
      patch[key] = nullptr;
    } else if (!json_equal(old, *now)) {
      patch[key] = make_merge_patch(old, *now);
    }
  }
  for (const auto& [key, now] : to.as_object()) {
    if (!from.as_object().contains(key) && !now.is_null()) patch[key] = now;
  }
  return patch;
}

}  // namespace berth
