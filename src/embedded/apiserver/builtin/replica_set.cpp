// ReplicaSets: defaults, validation and table rows.
// https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/
#include "api/printing/table.h"
#include "embedded/apiserver/builtin/apps_validation.h"
#include "embedded/apiserver/builtin/kinds.h"
#include "embedded/apiserver/builtin/pod_defaults.h"

namespace berth::apiserver {
namespace {

FieldErrors validate_replica_set(const Json& object, const Lookup&) {
  FieldErrors errors;
  const Json& spec = member_or_null(object, "spec");
  for (std::string_view key : {"replicas", "minReadySeconds"}) check_non_negative(spec, key, "spec", errors);
  validate_serving_pods(spec, member_or_null(spec, "template"), {"deployment", "ReplicaSet"}, errors);
  return errors;
}

FieldErrors validate_replica_set_update(const Json& object, const Json& old, std::string_view subresource) {
  FieldErrors errors;
  if (subresource == "status") {
    validate_replica_counts(object,
                            {"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas",
                             "observedGeneration", "terminatingReplicas"},
                            {"fullyLabeledReplicas", "readyReplicas", "availableReplicas"}, "readyReplicas", errors);
  } else {
    check_immutable(member_or_null(object, "spec"), member_or_null(old, "spec"), "selector", "spec", errors);
  }
  return errors;
}

JsonArray cells_replica_set(const Json& object, Time now) {
  const JsonArray& containers = array_at(object, {"spec", "template", "spec", "containers"});
  return {int_at(object, {"spec", "replicas"}),
          int_at(object, {"status", "replicas"}),
          int_at(object, {"status", "readyReplicas"}),
          Json(api::age_of(object, now)),
          Json(api::join_field(containers, "name")),
          Json(api::join_field(containers, "image")),
          Json(api::selector_text(find_path(object, {"spec", "selector"})))};
}

}  // namespace

ResourceInfo replica_set_resource() {
  ResourceInfo info = make_kind({"apps", "v1", "replicasets", "ReplicaSet", "replicaset", {"rs"}, {"all"}},
                                "ReplicaSet", [](Json& object) -> Result<void> {
                                  default_pod_spec(ensure_path(object, {"spec", "template", "spec"}));
                                  return {};
                                });
  separate_status(info);
  serve_scale(info);
  info.columns = {api::text_column("Desired", "Pods that are wanted."),
                  api::text_column("Current", "Pods that there are."),
                  api::text_column("Ready", "Pods that are ready."),
                  api::text_column("Age", "Time since the creation."),
                  api::text_column("Containers", "Names of the containers.", 1),
                  api::text_column("Images", "Images of the containers.", 1),
                  api::text_column("Selector", "Labels of the replica set's pods.", 1)};
  info.strategy.validate = validate_replica_set;
  info.strategy.validate_update = validate_replica_set_update;
  info.strategy.cells = cells_replica_set;
  return info;
}

}  // namespace berth::apiserver
