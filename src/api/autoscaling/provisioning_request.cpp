#include "api/autoscaling/provisioning_request.h"

#include <utility>

namespace berth::api::autoscaling {

ProvisioningRequest decode_provisioning_request(const Json& object) {
  ProvisioningRequest request;
  request.meta = decode_meta(object);
  for (const Json& pod_set : array_at(object, {"spec", "podSets"})) {
    request.pod_sets.push_back({std::string(string_at(pod_set, {"podTemplateRef", "name"})),
                                static_cast<std::int32_t>(int_at(pod_set, {"count"}))});
  }
  request.class_name = string_at(object, {"spec", "provisioningClassName"});
  if (const Json* parameters = find_path(object, {"spec", "parameters"}))
    request.parameters = decode_string_map(*parameters);
  if (const Json* conditions = find_path(object, {"status", "conditions"}))
    request.conditions = decode_conditions(*conditions);
  if (const Json* details = find_path(object, {"status", "provisioningClassDetails"}))
    request.details = decode_string_map(*details);
  return request;
}

Json encode_provisioning_request(const ProvisioningRequest& request) {
  JsonArray pod_sets;
  for (const auto& pod_set : request.pod_sets) {
    pod_sets.push_back(
        JsonObject{{"podTemplateRef", JsonObject{{"name", pod_set.pod_template}}}, {"count", pod_set.count}});
  }
  JsonObject spec{{"podSets", std::move(pod_sets)}, {"provisioningClassName", request.class_name}};
  if (!request.parameters.empty()) spec["parameters"] = encode_string_map(request.parameters);
  return JsonObject{{"apiVersion", kApiVersion},
                    {"kind", kProvisioningRequestKind},
                    {"metadata", encode_meta(request.meta)},
                    {"spec", std::move(spec)}};
}

}  // namespace berth::api::autoscaling
