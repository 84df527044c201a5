// Namespaces: https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/
#include <algorithm>

#include "api/printing/table.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/kinds.h"

namespace berth::apiserver {
namespace {

constexpr std::string_view kFinalizer = "kubernetes";

// Every namespace has its own name as a label, so that label selectors can select it.
Result<void> finish_decoding_namespace(Json& object) {
  std::string name(string_at(object, {"metadata", "name"}));
  if (!name.empty()) ensure_path(object, {"metadata", "labels", "kubernetes.io/metadata.name"}) = name;
  return {};
}

void prepare_create_namespace(Json& object, const Lookup&) {
  object.as_object()["status"] = JsonObject{{"phase", "Active"}};
  Json& finalizers = ensure_path(object, {"spec", "finalizers"});
  if (!finalizers.is_array()) finalizers = JsonArray();
  auto& list = finalizers.get_array();
  bool has = std::any_of(list.begin(), list.end(),
                         [](const Json& f) { return f.is_string() && view(f.get_string()) == kFinalizer; });
  if (!has) list.push_back(Json(kFinalizer));
}

// The spec contains only the finalizers, and only the finalize subresource changes them.
void prepare_update_namespace(Json& object, const Json& old, std::string_view subresource, const Lookup&) {
  if (subresource == "finalize") return;
  object.as_object()["spec"] = member_or_null(old, "spec");
  if (subresource != "status") object.as_object()["status"] = member_or_null(old, "status");
}

FieldErrors validate_namespace(const Json& object, const Lookup&) {
  FieldErrors errors;
  const JsonArray& finalizers = array_at(object, {"spec", "finalizers"});
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    std::string_view name = finalizers[i].is_string() ? view(finalizers[i].get_string()) : std::string_view();
    if (std::string broken = api::check_qualified_name(name); !broken.empty()) {
      errors.push_back(api::invalid_value(api::index_path("spec.finalizers", i), finalizers[i], broken));
    }
  }
  return errors;
}

FieldErrors validate_update_namespace(const Json& object, const Json&, std::string_view subresource) {
  FieldErrors errors;
  if (subresource != "status") return errors;
  bool deleting = find_path(object, {"metadata", "deletionTimestamp"}) != nullptr;
  std::string_view phase = string_at(object, {"status", "phase"}), expected = deleting ? "Terminating" : "Active";
  if (!phase.empty() && phase != expected) {
    errors.push_back(api::invalid_value("status.Phase", *find_path(object, {"status", "phase"}),
                                        deleting ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
                                                 : "may only be 'Active' if `deletionTimestamp` is empty"));
  }
  return errors;
}

}  // namespace

ResourceInfo namespace_resource() {
  ResourceInfo info =
      make_kind({"", "v1", "namespaces", "Namespace", "namespace", {"ns"}, {}}, "Namespace", finish_decoding_namespace);
  info.namespaced = false;
  info.has_status = true;
  info.extra_subresources = {"finalize"};
  info.verbs = {"create", "delete", "get", "list", "patch", "update", "watch"};
  info.strategy.counts_generation = false;
  info.columns = {api::text_column("Status", "Active or Terminating."),
                  api::text_column("Age", "Time since the creation.")};
  info.strategy.prepare_create = prepare_create_namespace;
  info.strategy.prepare_update = prepare_update_namespace;
  info.strategy.validate = validate_namespace;
  info.strategy.validate_update = validate_update_namespace;
  info.strategy.cells = [](const Json& object, Time now) {
    return JsonArray{Json(string_at(object, {"status", "phase"})), Json(api::age_of(object, now))};
  };
  info.strategy.selectable_fields = {"status.phase"};
  info.strategy.field = field_paths(info.strategy.selectable_fields);
  return info;
}

}  // namespace berth::apiserver
