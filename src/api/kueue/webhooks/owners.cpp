#include "api/kueue/webhooks/owners.h"

#include <memory>

#include "api/kueue/types.h"
#include "api/owners.h"
#include "api/resources.h"

namespace berth::api::kueue {
namespace {

bool is_kind(const Json& owner, const GroupVersionResource& resource, std::string_view kind) {
  const std::string_view version = string_at(owner, {"apiVersion"});
  const std::size_t slash = version.find('/');
  const std::string_view group = slash == std::string_view::npos ? std::string_view() : version.substr(0, slash);
  return group == resource.group && string_at(owner, {"kind"}) == kind;
}

// The resource of a managed kind; null when the owner is of no such kind.
const GroupVersionResource* managed_resource_of(const Json& owner, const AdmissionPolicy& policy) {
  if (policy.manage_jobs && is_kind(owner, kJobs, "Job")) return &kJobs;
  for (const auto& kind : policy.kinds) {
    if (kind.managed && is_kind(owner, kind.resource, kind.kind)) return &kind.resource;
  }
  return nullptr;
}

// The controller of an object, if it is of a managed kind.
struct KnownOwner {
  const Json* reference = nullptr;                 // null: it has no such owner
  const GroupVersionResource* resource = nullptr;  // of the owner
  JsonPtr object;                                  // null: it is not known
};

KnownOwner managed_kind_owner(const Json& object, const AdmissionContext& admission) {
  KnownOwner owner;
  const Json* reference = controller_of(object);
  owner.resource = reference == nullptr ? nullptr : managed_resource_of(*reference, admission.policy);
  if (owner.resource == nullptr) return owner;
  owner.reference = reference;
  owner.object =
      admission.get(*owner.resource, string_at(object, {"metadata", "namespace"}), string_at(*reference, {"name"}));
  // Another object of the same name is not the owner.
  if (owner.object && string_at(*owner.object, {"metadata", "uid"}) != string_at(*reference, {"uid"}))
    owner.object = nullptr;
  return owner;
}

}  // namespace

bool is_controlled_by(const Json& object, const GroupVersionResource& resource, std::string_view kind) {
  const Json* owner = controller_of(object);
  return owner != nullptr && is_kind(*owner, resource, kind);
}

ManagedAncestor managed_ancestor(const Json& object, const AdmissionContext& admission) {
  ManagedAncestor found;
  KnownOwner owner = managed_kind_owner(object, admission);
  for (int i = 0; owner.object != nullptr; ++i) {
    if (i == kMaxOwners) {
      found.too_deep = true;
      break;
    }
    if (admission.policy.manage_jobs_without_queue_name || !label_of(*owner.object, kQueueLabel).empty()) {
      found.job = owner.object;
      found.resource = *owner.resource;
    }
    const JsonPtr below = owner.object;  // `owner` is replaced
    owner = managed_kind_owner(*below, admission);
  }
  return found;
}

std::optional<UnknownOwner> unknown_owner(const Json& object, const AdmissionContext& admission) {
  const std::string ns(string_at(object, {"metadata", "namespace"}));
  JsonPtr last;  // keeps what the references point into
  for (int i = 0; i <= kMaxOwners; ++i) {
    const KnownOwner owner = managed_kind_owner(last ? *last : object, admission);
    if (owner.reference == nullptr) return std::nullopt;
    if (owner.object == nullptr)
      return UnknownOwner{*owner.resource, ns, std::string(string_at(*owner.reference, {"name"})),
                          std::string(string_at(*owner.reference, {"uid"}))};
    last = owner.object;
  }
  return std::nullopt;
}

RestRequest request_for(const UnknownOwner& owner) {
  RestRequest request;
  request.verb = Verb::kList;
  request.resource = owner.resource;
  request.ns = owner.ns;
  request.field_selector = "metadata.name=" + owner.name;
  return request;
}

std::optional<JsonPtr> owner_in(const UnknownOwner& owner, const RestResponse& response) {
  constexpr int kForbidden = 403, kNotFound = 404;
  if (!response.ok() && response.code != kForbidden && response.code != kNotFound) return std::nullopt;
  for (const Json& item : array_at(response.body, {"items"})) {
    if (string_at(item, {"metadata", "uid"}) == owner.uid) return std::make_shared<const Json>(item);
  }
  return JsonPtr();
}

}  // namespace berth::api::kueue
