// The owners of jobs and pods that may be queued instead of them. See managed_ancestor() in admission.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/kueue/webhooks/admission.h"

namespace berth::api::kueue {

// Whether an object of this kind controls the object.
bool is_controlled_by(const Json& object, const GroupVersionResource& resource, std::string_view kind);

// An owner of a managed kind that `admission.get` does not have: a cache may be late, so only the API server can tell
// whether it exists.
struct UnknownOwner {
  GroupVersionResource resource;
  std::string ns, name, uid;
};
// Of several, the lowest. nullopt: every owner that counts is known.
std::optional<UnknownOwner> unknown_owner(const Json& object, const AdmissionContext& admission);
// A request for the owner: a list with at most this object, which needs no other permission than the caches do.
RestRequest request_for(const UnknownOwner& owner);
// What the answer to it says. The pointer is null when there is no such object, or when Berth may not read its kind:
// then no cache ever has it, and it counts as if it did not exist. nullopt: nobody knows.
std::optional<JsonPtr> owner_in(const UnknownOwner& owner, const RestResponse& response);

}  // namespace berth::api::kueue
