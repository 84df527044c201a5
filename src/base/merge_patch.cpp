#include "base/merge_patch.h"

#include "base/json_members.h"

namespace berth {
namespace {

void merge_into(Json& target, const Json& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = JsonObject();
  auto& object = target.get_object();
  erase_members_if(object, [&patch](const auto& member) {
    const Json* value = patch.get_object().if_contains(member.key());
    return value != nullptr && value->is_null();
  });
  for (const auto& [key, value] : patch.get_object()) {
    if (!value.is_null()) merge_into(object[key], value);
  }
}

}  // namespace

Json apply_merge_patch(const Json& object, const Json& patch) {
  Json out = object;
  merge_into(out, patch);
  return out;
}

Json make_merge_patch(const Json& from, const Json& to) {
  if (!from.is_object() || !to.is_object()) return to;
  JsonObject patch;
  for (const auto& [key, value] : from.get_object()) {
    if (!to.get_object().contains(key)) patch[key] = nullptr;
  }
  for (const auto& [key, value] : to.get_object()) {
    const Json* old = from.get_object().if_contains(key);
    if (old == nullptr) {
      patch[key] = value;
    } else if (!json_equal(*old, value)) {
      patch[key] = make_merge_patch(*old, value);
    }
  }
  return patch;
}

}  // namespace berth
