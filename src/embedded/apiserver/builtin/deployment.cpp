// Deployments: defaults, validation and table rows.
// https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/deployment-v1/
#include <fmt/format.h>

#include "api/printing/table.h"
#include "embedded/apiserver/builtin/apps_validation.h"
#include "embedded/apiserver/builtin/kinds.h"
#include "embedded/apiserver/builtin/pod_defaults.h"

namespace berth::apiserver {
namespace {

constexpr std::string_view kDefaultShare = "25%";  // of the pods, in a rolling update

Result<void> finish_decoding_deployment(Json& object) {
  if (string_at(object, {"spec", "strategy", "type"}) == "RollingUpdate") {
    Json& bounds = ensure_path(object, {"spec", "strategy", "rollingUpdate"});
    if (!bounds.is_object()) bounds = JsonObject();
    for (std::string_view key : {"maxUnavailable", "maxSurge"}) {
      if (find(bounds, key) == nullptr) bounds.get_object()[key] = kDefaultShare;
    }
  }
  default_pod_spec(ensure_path(object, {"spec", "template", "spec"}));
  return {};
}

bool is_none(const Json& bounds, std::string_view key) {
  const Json& value = member_or_null(bounds, key);
  return value.is_null() || (value.is_int64() && value.get_int64() == 0) ||
         (value.is_string() && value.get_string() == "0%");
}

void validate_strategy(const Json& strategy, FieldErrors& errors) {
  check_enum(strategy, "type", "spec.strategy", {"Recreate", "RollingUpdate"}, true, errors);
  const Json* bounds = find(strategy, "rollingUpdate");
  if (bounds == nullptr) return;
  const std::string path = "spec.strategy.rollingUpdate";
  if (string_at(strategy, {"type"}) == "Recreate") {
    errors.push_back(api::forbidden_field(path, "may not be specified when strategy `type` is 'Recreate'"));
    return;
  }
  check_share(*bounds, "maxUnavailable", path, errors);
  check_share(*bounds, "maxSurge", path, errors);
  if (is_none(*bounds, "maxUnavailable") && is_none(*bounds, "maxSurge")) {
    errors.push_back(api::invalid_value(path + ".maxUnavailable", member_or_null(*bounds, "maxUnavailable"),
                                        "may not be 0 when `maxSurge` is 0"));
  }
}

FieldErrors validate_deployment(const Json& object, const Lookup&) {
  FieldErrors errors;
  const Json& spec = member_or_null(object, "spec");
  for (std::string_view key : {"replicas", "minReadySeconds", "revisionHistoryLimit"})
    check_non_negative(spec, key, "spec", errors);
  validate_serving_pods(spec, member_or_null(spec, "template"), {"deployment", "ReplicaSet"}, errors);
  validate_strategy(member_or_null(spec, "strategy"), errors);
  auto deadline = optional_int_at(spec, {"progressDeadlineSeconds"});
  if (deadline && *deadline <= int_at(spec, {"minReadySeconds"})) {
    errors.push_back(
        api::invalid_value("spec.progressDeadlineSeconds", *deadline, "must be greater than minReadySeconds"));
  }
  return errors;
}

FieldErrors validate_deployment_update(const Json& object, const Json& old, std::string_view subresource) {
  FieldErrors errors;
  if (subresource == "status") {
    validate_replica_counts(object,
                            {"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
                             "unavailableReplicas", "terminatingReplicas", "collisionCount"},
                            {"updatedReplicas", "readyReplicas", "availableReplicas"}, "readyReplicas", errors);
    validate_collision_count(object, old, errors);
  } else {
    check_immutable(member_or_null(object, "spec"), member_or_null(old, "spec"), "selector", "spec", errors);
  }
  return errors;
}

JsonArray cells_deployment(const Json& object, Time now) {
  const JsonArray& containers = array_at(object, {"spec", "template", "spec", "containers"});
  auto count = [&](std::string_view key) { return int_at(object, {"status", key}); };
  return {Json(fmt::format("{}/{}", count("readyReplicas"), int_at(object, {"spec", "replicas"}))),
          count("updatedReplicas"),
          count("availableReplicas"),
          Json(api::age_of(object, now)),
          Json(api::join_field(containers, "name")),
          Json(api::join_field(containers, "image")),
          Json(api::selector_text(find_path(object, {"spec", "selector"})))};
}

}  // namespace

ResourceInfo deployment_resource() {
  ResourceInfo info = make_kind({"apps", "v1", "deployments", "Deployment", "deployment", {"deploy"}, {"all"}},
                                "Deployment", finish_decoding_deployment);
  separate_status(info);
  serve_scale(info);
  info.columns = {api::text_column("Ready", "Ready pods of those wanted."),
                  api::text_column("Up-to-date", "Pods of the present template."),
                  api::text_column("Available", "Pods that have been ready for long enough."),
                  api::text_column("Age", "Time since the creation."),
                  api::text_column("Containers", "Names of the containers.", 1),
                  api::text_column("Images", "Images of the containers.", 1),
                  api::text_column("Selector", "Labels of the deployment's pods.", 1)};
  info.strategy.validate = validate_deployment;
  info.strategy.validate_update = validate_deployment_update;
  info.strategy.cells = cells_deployment;
  return info;
}

}  // namespace berth::apiserver
