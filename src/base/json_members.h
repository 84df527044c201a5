// Removing several members of a JSON object at once.
#pragma once

#include <algorithm>
#include <utility>

#include "base/json.h"

namespace berth {

// Removes the members for which `goes` holds, in one pass; it is asked once per member, in their order. The other
// members keep their order, which erase() would change; stable_erase() takes time for all members that follow, at every
// call.
template <typename Goes>
void erase_members_if(JsonObject& object, const Goes& goes) {
  auto member = std::find_if(object.begin(), object.end(), goes);
  if (member == object.end()) return;
  JsonObject kept;
  kept.reserve(object.size());
  for (auto before = object.begin(); before != member; ++before)
    kept.emplace(before->key(), std::move(before->value()));
  for (++member; member != object.end(); ++member) {
    if (!goes(*member)) kept.emplace(member->key(), std::move(member->value()));
  }
  object = std::move(kept);
}

}  // namespace berth
