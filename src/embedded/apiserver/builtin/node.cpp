// Nodes: https://kubernetes.io/docs/concepts/architecture/nodes/
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/object_condition.h"
#include "api/printing/table.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/kinds.h"

namespace berth::apiserver {
namespace {

constexpr std::string_view kNotReadyTaint = "node.kubernetes.io/not-ready";
constexpr std::string_view kRolePrefix = "node-role.kubernetes.io/";

// allocatable defaults to capacity.
Result<void> finish_decoding_node(Json& object) {
  const JsonObject capacity = object_at(object, {"status", "capacity"});
  if (!capacity.empty() && object_at(object, {"status", "allocatable"}).empty()) {
    ensure_path(object, {"status", "allocatable"}) = capacity;
  }
  return {};
}

// A new node gets no pods until the node controller has seen it ready.
void add_not_ready_taint(Json& object) {
  Json& taints = ensure_path(object, {"spec", "taints"});
  if (!taints.is_array()) taints = JsonArray();
  for (const auto& taint : taints.get_array()) {
    if (string_at(taint, {"key"}) == kNotReadyTaint && string_at(taint, {"effect"}) == "NoSchedule") return;
  }
  taints.get_array().push_back(JsonObject{{"key", Json(kNotReadyTaint)}, {"effect", "NoSchedule"}});
}

void prepare_update_node(Json& object, const Json& old, std::string_view subresource, const Lookup&) {
  std::string_view kept = subresource == "status" ? "spec" : "status";
  object.as_object()[kept] = member_or_null(old, kept);
}

void check_amounts(const Json& object, FieldErrors& errors) {
  for (std::string_view list : {"capacity", "allocatable"}) {
    for (const auto& member : object_at(object, {"status", list})) {
      if (!view(member.value().as_string()).starts_with('-')) continue;
      errors.push_back(api::invalid_value(api::key_path(api::field_path("status", list), member.key()), member.value(),
                                          "must be greater than or equal to 0"));
    }
  }
}

// Error paths of taints begin with metadata, as in kube-apiserver.
FieldErrors validate_node(const Json& object, const Lookup&) {
  FieldErrors errors;
  const JsonArray& taints = array_at(object, {"spec", "taints"});
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < taints.size(); ++i) {
    std::string path = api::index_path("metadata.taints", i);
    if (check_required(taints[i], "key", path, errors))
      check_text(taints[i], "key", path, api::check_qualified_name, errors);
    check_text(taints[i], "value", path, api::check_label_value, errors);
    check_enum(taints[i], "effect", path, {"NoSchedule", "PreferNoSchedule", "NoExecute"}, true, errors);
    if (!seen.emplace(string_at(taints[i], {"key"}), string_at(taints[i], {"effect"})).second) {
      errors.push_back(api::duplicate(path, taints[i]));
    }
  }
  check_amounts(object, errors);
  return errors;
}

FieldErrors validate_update_node(const Json& object, const Json& old, std::string_view subresource) {
  FieldErrors errors;
  if (subresource == "status") {
    check_amounts(object, errors);
    return errors;
  }
  const Json &spec = member_or_null(object, "spec"), &old_spec = member_or_null(old, "spec");
  auto once_set = [&](std::string_view key, std::string_view why) {
    const Json* before = find(old_spec, key);
    if (before != nullptr && !same_member(spec, old_spec, key)) {
      errors.push_back(api::forbidden_field(api::field_path("spec", key), why));
    }
  };
  once_set("podCIDRs", "node updates may not change podCIDR except from \"\" to valid");
  once_set("providerID", "node updates may not change providerID except from \"\" to valid");
  return errors;
}

std::string status_cell_node(const Json& object) {
  const Json* ready = api::object_condition(object, "Ready");
  std::string text = ready == nullptr ? "Unknown" : string_at(*ready, {"status"}) == "True" ? "Ready" : "NotReady";
  if (bool_at(object, {"spec", "unschedulable"})) text += ",SchedulingDisabled";
  return text;
}

std::string roles_cell(const Json& object) {
  std::set<std::string_view> roles;
  for (const auto& label : object_at(object, {"metadata", "labels"})) {
    std::string_view key = label.key();
    std::string_view value = label.value().is_string() ? view(label.value().get_string()) : std::string_view();
    if (key.starts_with(kRolePrefix) && key.size() > kRolePrefix.size()) roles.insert(key.substr(kRolePrefix.size()));
    if (key == "kubernetes.io/role" && !value.empty()) roles.insert(value);
  }
  return roles.empty() ? "<none>" : fmt::format("{}", fmt::join(roles, ","));
}

std::string address_cell(const Json& object, std::string_view type) {
  for (const auto& address : array_at(object, {"status", "addresses"})) {
    if (string_at(address, {"type"}) == type) return std::string(string_at(address, {"address"}));
  }
  return "<none>";
}

JsonArray cells_node(const Json& object, Time now) {
  auto info = [&](std::string_view key) {
    std::string_view text = string_at(object, {"status", "nodeInfo", key});
    return Json(text.empty() ? "<unknown>" : text);
  };
  return {Json(status_cell_node(object)),
          Json(roles_cell(object)),
          Json(api::age_of(object, now)),
          Json(string_at(object, {"status", "nodeInfo", "kubeletVersion"})),
          Json(address_cell(object, "InternalIP")),
          Json(address_cell(object, "ExternalIP")),
          info("osImage"),
          info("kernelVersion"),
          info("containerRuntimeVersion")};
}

}  // namespace

ResourceInfo node_resource() {
  ResourceInfo info = make_kind({"", "v1", "nodes", "Node", "node", {"no"}, {}}, "Node", finish_decoding_node);
  info.namespaced = false;
  info.has_status = true;
  info.strategy.counts_generation = false;
  info.columns = {api::text_column("Status", "Whether the node is ready and takes pods."),
                  api::text_column("Roles", "Roles by the node's labels."),
                  api::text_column("Age", "Time since the creation."),
                  api::text_column("Version", "Version of the node's agent."),
                  api::text_column("Internal-IP", "Address inside of the cluster.", 1),
                  api::text_column("External-IP", "Address outside of the cluster.", 1),
                  api::text_column("OS-Image", "Operating system.", 1),
                  api::text_column("Kernel-Version", "Version of the kernel.", 1),
                  api::text_column("Container-Runtime", "Name and version of the container runtime.", 1)};
  info.strategy.status_kept_on_create = true;
  info.strategy.prepare_create = [](Json& object, const Lookup&) { add_not_ready_taint(object); };
  info.strategy.prepare_update = prepare_update_node;
  info.strategy.validate = validate_node;
  info.strategy.validate_update = validate_update_node;
  info.strategy.cells = cells_node;
  info.strategy.selectable_fields = {"spec.unschedulable"};
  info.strategy.field = [](const Json& object, std::string_view field) -> std::optional<std::string> {
    if (field != "spec.unschedulable") return std::nullopt;
    return bool_at(object, {"spec", "unschedulable"}) ? "true" : "false";
  };
  return info;
}

}  // namespace berth::apiserver
