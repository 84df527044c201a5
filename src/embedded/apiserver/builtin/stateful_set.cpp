// StatefulSets: defaults, validation and table rows.
// https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "api/printing/table.h"
#include "embedded/apiserver/builtin/apps_validation.h"
#include "embedded/apiserver/builtin/kinds.h"
#include "embedded/apiserver/builtin/pod_defaults.h"
#include "embedded/apiserver/builtin/pod_resources.h"

namespace berth::apiserver {
namespace {

constexpr std::string_view kMayChange[] = {"replicas",
                                           "ordinals",
                                           "template",
                                           "updateStrategy",
                                           "revisionHistoryLimit",
                                           "persistentVolumeClaimRetentionPolicy",
                                           "minReadySeconds"};

Result<void> finish_decoding_stateful_set(Json& object) {
  if (string_at(object, {"spec", "updateStrategy", "type"}) == "RollingUpdate") {
    Json& bounds = ensure_path(object, {"spec", "updateStrategy", "rollingUpdate"});
    if (!bounds.is_object()) bounds = JsonObject();
    if (find(bounds, "partition") == nullptr) bounds.get_object()["partition"] = 0;
    bounds.get_object().erase("maxUnavailable");
  }
  if (Json* claims = ensure_path(object, {"spec"}).as_object().if_contains("volumeClaimTemplates");
      claims != nullptr && claims->is_array()) {
    for (Json& claim : claims->get_array()) {
      if (!claim.is_object()) continue;
      claim.get_object()["apiVersion"] = "v1";
      claim.get_object()["kind"] = "PersistentVolumeClaim";
    }
  }
  default_pod_spec(ensure_path(object, {"spec", "template", "spec"}));
  return {};
}

void validate_update_strategy(const Json& spec, FieldErrors& errors) {
  const std::string path = "spec.updateStrategy";
  const Json& strategy = member_or_null(spec, "updateStrategy");
  const std::string_view type = string_at(strategy, {"type"});
  const Json* bounds = find(strategy, "rollingUpdate");
  if (type == "RollingUpdate") {
    if (bounds != nullptr) check_non_negative(*bounds, "partition", path + ".rollingUpdate", errors);
  } else if (type == "OnDelete") {
    if (bounds != nullptr) {
      errors.push_back(
          api::invalid_value(path + ".rollingUpdate", *bounds, "only allowed for updateStrategy 'RollingUpdate'"));
    }
  } else {
    errors.push_back(api::invalid_value(path, strategy, "must be 'RollingUpdate' or 'OnDelete'"));
  }
}

void validate_claim_templates(const Json& spec, FieldErrors& errors) {
  const JsonArray& claims = array_at(spec, {"volumeClaimTemplates"});
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const std::string path = api::index_path("spec.volumeClaimTemplates", i) + ".spec";
    const JsonArray& modes = array_at(claims[i], {"spec", "accessModes"});
    if (modes.empty()) errors.push_back(api::required(path + ".accessModes", "at least 1 access mode is required"));
    for (const Json& mode : modes) {
      constexpr std::string_view kModes[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"};
      const std::string_view text = mode.is_string() ? view(mode.get_string()) : std::string_view();
      if (std::find(std::begin(kModes), std::end(kModes), text) == std::end(kModes)) {
        errors.push_back(api::not_supported(path + ".accessModes", mode, {std::begin(kModes), std::end(kModes)}));
      }
    }
    const Json* storage = find_path(claims[i], {"spec", "resources", "requests", "storage"});
    if (storage == nullptr) {
      errors.push_back(api::required(path + ".resources[storage]", ""));
    } else if (const auto size = quantity_of(*storage); size && size->sign() <= 0) {
      errors.push_back(api::invalid_value(path + ".resources[storage]", *storage, "must be greater than zero"));
    }
  }
}

// The template with a volume for each claim, as the pods will have it: containers may mount them.
Json template_with_claims(const Json& spec) {
  Json out = member_or_null(spec, "template");
  const JsonArray& claims = array_at(spec, {"volumeClaimTemplates"});
  if (claims.empty()) return out;
  JsonArray volumes;
  std::unordered_set<std::string_view> claimed;
  for (const Json& claim : claims) {
    const std::string_view name = string_at(claim, {"metadata", "name"});
    claimed.insert(name);
    volumes.push_back(JsonObject{{"name", name}, {"persistentVolumeClaim", JsonObject{{"claimName", name}}}});
  }
  for (const Json& volume : array_at(out, {"spec", "volumes"})) {
    if (!claimed.contains(string_at(volume, {"name"}))) volumes.push_back(volume);
  }
  ensure_path(out, {"spec", "volumes"}) = std::move(volumes);
  return out;
}

FieldErrors validate_stateful_set(const Json& object, const Lookup&) {
  FieldErrors errors;
  const Json& spec = member_or_null(object, "spec");
  const std::string_view policy = string_at(spec, {"podManagementPolicy"});
  if (policy != "OrderedReady" && policy != "Parallel") {
    errors.push_back(api::invalid_value("spec.podManagementPolicy", member_or_null(spec, "podManagementPolicy"),
                                        "must be 'OrderedReady' or 'Parallel'"));
  }
  validate_update_strategy(spec, errors);
  if (const Json* retention = find(spec, "persistentVolumeClaimRetentionPolicy")) {
    for (std::string_view key : {"whenDeleted", "whenScaled"})
      check_enum(*retention, key, "spec.persistentVolumeClaimRetentionPolicy", {"Retain", "Delete"}, true, errors);
  }
  for (std::string_view key : {"replicas", "minReadySeconds"}) check_non_negative(spec, key, "spec", errors);
  check_non_negative(member_or_null(spec, "ordinals"), "start", "spec.ordinals", errors);
  check_text(spec, "serviceName", "spec", api::check_dns_label, errors);
  validate_claim_templates(spec, errors);
  validate_serving_pods(spec, template_with_claims(spec), {"statefulset", "StatefulSet"}, errors);
  return errors;
}

void validate_stateful_set_spec_update(const Json& object, const Json& old, FieldErrors& errors) {
  Json now = member_or_null(object, "spec"), before = member_or_null(old, "spec");
  for (Json* spec : {&now, &before}) {
    for (std::string_view key : kMayChange) {
      if (spec->is_object()) spec->get_object().erase(key);
    }
  }
  if (json_equal(now, before)) return;
  errors.push_back(api::forbidden_field(
      "spec",
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
      "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"));
}

FieldErrors validate_stateful_set_update(const Json& object, const Json& old, std::string_view subresource) {
  FieldErrors errors;
  if (subresource == "status") {
    validate_replica_counts(object,
                            {"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas",
                             "observedGeneration", "collisionCount"},
                            {"readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"},
                            "status.readyReplicas", errors);
    validate_collision_count(object, old, errors);
  } else {
    validate_stateful_set_spec_update(object, old, errors);
  }
  return errors;
}

JsonArray cells_stateful_set(const Json& object, Time now) {
  const JsonArray& containers = array_at(object, {"spec", "template", "spec", "containers"});
  return {Json(fmt::format("{}/{}", int_at(object, {"status", "readyReplicas"}), int_at(object, {"spec", "replicas"}))),
          Json(api::age_of(object, now)), Json(api::join_field(containers, "name")),
          Json(api::join_field(containers, "image"))};
}

}  // namespace

ResourceInfo stateful_set_resource() {
  ResourceInfo info = make_kind({"apps", "v1", "statefulsets", "StatefulSet", "statefulset", {"sts"}, {"all"}},
                                "StatefulSet", finish_decoding_stateful_set);
  separate_status(info);
  serve_scale(info);
  info.columns = {api::text_column("Ready", "Ready pods of those wanted."),
                  api::text_column("Age", "Time since the creation."),
                  api::text_column("Containers", "Names of the containers.", 1),
                  api::text_column("Images", "Images of the containers.", 1)};
  info.strategy.validate = validate_stateful_set;
  info.strategy.validate_update = validate_stateful_set_update;
  info.strategy.cells = cells_stateful_set;
  return info;
}

}  // namespace berth::apiserver
