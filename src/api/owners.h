// The controlling owner of an object: at most one owner reference says `controller: true`.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/
#pragma once

#include <algorithm>
#include <string_view>

#include "api/meta.h"
#include "base/json.h"

namespace berth::api {

// Null: none controls it.
inline const OwnerReference* controller_of(const ObjectMeta& meta) {
  const auto found = std::ranges::find(meta.owners, true, &OwnerReference::controller);
  return found == meta.owners.end() ? nullptr : &*found;
}

// The same of an object as the API server sends it.
inline const Json* controller_of(const Json& object) {
  for (const Json& owner : array_at(object, {"metadata", "ownerReferences"})) {
    if (bool_at(owner, {"controller"})) return &owner;
  }
  return nullptr;
}

}  // namespace berth::api
