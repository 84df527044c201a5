// Dynamic resource allocation (resource.k8s.io/v1): claims, templates of claims, classes and slices. Defaulted,
// validated and stored. https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
#include "api/printing/table.h"
#include "api/resources.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/device_validation.h"
#include "embedded/apiserver/builtin/kinds.h"

namespace berth::apiserver {
namespace {

KindNames names_of(const api::GroupVersionResource& resource, std::string kind, std::string singular) {
  return {resource.group, resource.version, resource.resource, std::move(kind), std::move(singular), {}, {}};
}

// ExactCount without a number means one device.
void default_count(Json& request) {
  if (!request.is_object() || string_at(request, {"allocationMode"}) != "ExactCount") return;
  if (int_at(request, {"count"}) == 0) request.get_object()["count"] = 1;
}

void default_claim(Json& owner, std::initializer_list<std::string_view> path) {
  Json& requests = ensure_path(owner, path);
  if (!requests.is_array()) return;
  for (Json& request : requests.get_array()) {
    if (!request.is_object()) continue;
    if (Json* exactly = request.get_object().if_contains("exactly")) default_count(*exactly);
    Json* alternatives = request.get_object().if_contains("firstAvailable");
    if (alternatives == nullptr || !alternatives->is_array()) continue;
    for (Json& each : alternatives->get_array()) default_count(each);
  }
}

bool has_requests(const Json& object, std::initializer_list<std::string_view> path) {
  return !array_at(object, path).empty();
}

}  // namespace

ResourceInfo resource_claim_resource() {
  ResourceInfo info = make_kind(names_of(api::kResourceClaims, "ResourceClaim", "resourceclaim"), "ResourceClaimObject",
                                [](Json& object) -> Result<void> {
                                  if (has_requests(object, {"spec", "devices", "requests"}))
                                    default_claim(object, {"spec", "devices", "requests"});
                                  return {};
                                });
  separate_status(info);
  info.columns = {api::text_column("State", "Whether devices are allocated, and who may use them."),
                  api::text_column("Age", "Time since the creation.")};
  info.strategy.validate = validate_resource_claim;
  info.strategy.validate_update = validate_resource_claim_update;
  info.strategy.admit = admit_admin_access;
  info.strategy.cells = [](const Json& object, Time now) {
    return JsonArray{Json(claim_state(object)), Json(api::age_of(object, now))};
  };
  return info;
}

ResourceInfo resource_claim_template_resource() {
  ResourceInfo info =
      make_kind(names_of(api::kResourceClaimTemplates, "ResourceClaimTemplate", "resourceclaimtemplate"),
                "ResourceClaimTemplate", [](Json& object) -> Result<void> {
                  if (has_requests(object, {"spec", "spec", "devices", "requests"}))
                    default_claim(object, {"spec", "spec", "devices", "requests"});
                  return {};
                });
  info.strategy.counts_generation = false;
  info.columns = {api::text_column("Age", "Time since the creation.")};
  info.strategy.validate = validate_resource_claim_template;
  info.strategy.validate_update = [](const Json& object, const Json& old, std::string_view) {
    FieldErrors errors;
    check_immutable(object, old, "spec", "", errors);
    return errors;
  };
  info.strategy.admit = admit_admin_access;
  info.strategy.cells = [](const Json& object, Time now) { return JsonArray{Json(api::age_of(object, now))}; };
  return info;
}

ResourceInfo device_class_resource() {
  ResourceInfo info = make_kind(names_of(api::kDeviceClasses, "DeviceClass", "deviceclass"), "DeviceClass");
  info.namespaced = false;
  info.columns = {api::text_column("Age", "Time since the creation.")};
  info.strategy.validate = validate_device_class;
  info.strategy.cells = [](const Json& object, Time now) { return JsonArray{Json(api::age_of(object, now))}; };
  return info;
}

ResourceInfo resource_slice_resource() {
  ResourceInfo info = make_kind(names_of(api::kResourceSlices, "ResourceSlice", "resourceslice"), "ResourceSlice");
  info.namespaced = false;
  info.columns = {api::text_column("Node", "The one node that has the devices."),
                  api::text_column("Driver", "The driver that publishes them."),
                  api::text_column("Pool", "The pool to which they belong."),
                  api::text_column("Age", "Time since the creation.")};
  info.strategy.validate = validate_resource_slice;
  info.strategy.validate_update = validate_resource_slice_update;
  info.strategy.field = field_paths({"spec.nodeName", "spec.driver"});
  info.strategy.selectable_fields = {"spec.nodeName", "spec.driver"};
  info.strategy.cells = [](const Json& object, Time now) {
    return JsonArray{Json(string_at(object, {"spec", "nodeName"})), Json(string_at(object, {"spec", "driver"})),
                     Json(string_at(object, {"spec", "pool", "name"})), Json(api::age_of(object, now))};
  };
  return info;
}

}  // namespace berth::apiserver
