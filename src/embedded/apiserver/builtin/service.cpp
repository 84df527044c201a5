// Services: defaulted, validated and stored. The embedded server allocates no cluster IPs.
// https://kubernetes.io/docs/reference/kubernetes-api/service-resources/service-v1/
#include <fmt/format.h>

#include <set>

#include "api/printing/table.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/kinds.h"

namespace berth::apiserver {
namespace {

constexpr std::int64_t kAffinitySeconds = 10'800;

void set_if_absent(JsonObject& object, std::string_view key, Json value) {
  if (!object.contains(key)) object[key] = std::move(value);
}

Result<void> finish_decoding_service(Json& object) {
  Json& spec = ensure_path(object, {"spec"});
  if (!spec.is_object()) return {};
  JsonObject& members = spec.get_object();
  const std::string type(string_at(spec, {"type"}));
  if (type != "ExternalName") set_if_absent(members, "internalTrafficPolicy", "Cluster");
  if (type == "NodePort" || type == "LoadBalancer") set_if_absent(members, "externalTrafficPolicy", "Cluster");
  if (type == "LoadBalancer") set_if_absent(members, "allocateLoadBalancerNodePorts", true);
  if (string_at(spec, {"sessionAffinity"}) == "ClientIP" &&
      find_path(spec, {"sessionAffinityConfig", "clientIP", "timeoutSeconds"}) == nullptr) {
    ensure_path(spec, {"sessionAffinityConfig", "clientIP", "timeoutSeconds"}) = kAffinitySeconds;
  }
  Json* ports = members.if_contains("ports");
  if (ports == nullptr || !ports->is_array()) return {};
  for (Json& port : ports->get_array()) {
    if (port.is_object() && find(port, "targetPort") == nullptr && int_at(port, {"port"}) != 0)
      port.get_object()["targetPort"] = int_at(port, {"port"});
  }
  return {};
}

void validate_target(const Json& port, const std::string& path, FieldErrors& errors) {
  const Json& target = member_or_null(port, "targetPort");
  if (target.is_int64()) check_port(target.get_int64(), path + ".targetPort", errors);
  check_text(port, "targetPort", path, api::check_dns_label, errors);
}

void validate_ports(const Json& spec, FieldErrors& errors) {
  const JsonArray& ports = array_at(spec, {"ports"});
  const bool headless = string_at(spec, {"clusterIP"}) == "None";
  if (ports.empty() && !headless && string_at(spec, {"type"}) != "ExternalName")
    errors.push_back(api::required("spec.ports", ""));
  std::set<std::string_view> names;
  std::set<std::pair<std::string_view, std::int64_t>> numbers;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::string path = api::index_path("spec.ports", i);
    check_port(int_at(ports[i], {"port"}), path + ".port", errors);
    check_enum(ports[i], "protocol", path, {"SCTP", "TCP", "UDP"}, true, errors);
    validate_target(ports[i], path, errors);
    std::string_view name = string_at(ports[i], {"name"});
    if (ports.size() > 1) check_required(ports[i], "name", path, errors);
    check_text(ports[i], "name", path, api::check_dns_label, errors);
    if (!name.empty() && !names.insert(name).second) errors.push_back(api::duplicate(path + ".name", Json(name)));
    if (!numbers.emplace(string_at(ports[i], {"protocol"}), int_at(ports[i], {"port"})).second)
      errors.push_back(api::duplicate(path, ports[i]));
  }
}

FieldErrors validate_service(const Json& object, const Lookup&) {
  FieldErrors errors;
  const Json& spec = member_or_null(object, "spec");
  check_enum(spec, "type", "spec", {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"}, true, errors);
  check_enum(spec, "sessionAffinity", "spec", {"ClientIP", "None"}, true, errors);
  check_enum(spec, "internalTrafficPolicy", "spec", {"Cluster", "Local"}, false, errors);
  check_enum(spec, "externalTrafficPolicy", "spec", {"Cluster", "Local"}, false, errors);
  check_enum(spec, "ipFamilyPolicy", "spec", {"PreferDualStack", "RequireDualStack", "SingleStack"}, false, errors);
  check_labels(object_at(spec, {"selector"}), "spec.selector", errors);
  validate_ports(spec, errors);
  if (string_at(spec, {"type"}) == "ExternalName" && check_required(spec, "externalName", "spec", errors))
    check_text(spec, "externalName", "spec", api::check_dns_subdomain, errors);
  return errors;
}

std::string ports_cell(const Json& object) {
  std::string text;
  for (const Json& port : array_at(object, {"spec", "ports"})) {
    if (!text.empty()) text += ',';
    text += std::to_string(int_at(port, {"port"}));
    if (std::int64_t node = int_at(port, {"nodePort"}); node != 0) text += fmt::format(":{}", node);
    text += fmt::format("/{}", string_at(port, {"protocol"}));
  }
  return text.empty() ? "<none>" : text;
}

JsonArray cells_service(const Json& object, Time now) {
  auto text = [&](std::string_view key) {
    std::string_view value = string_at(object, {"spec", key});
    return Json(value.empty() ? "<none>" : value);
  };
  const bool elsewhere = string_at(object, {"spec", "type"}) == "ExternalName";
  return {text("type"),
          text("clusterIP"),
          elsewhere ? text("externalName") : Json("<none>"),
          Json(ports_cell(object)),
          Json(api::age_of(object, now)),
          Json(api::labels_text(object_at(object, {"spec", "selector"})))};
}

}  // namespace

ResourceInfo service_resource() {
  ResourceInfo info =
      make_kind({"", "v1", "services", "Service", "service", {"svc"}, {"all"}}, "Service", finish_decoding_service);
  separate_status(info);
  info.strategy.counts_generation = false;
  info.columns = {api::text_column("Type", "How the service is reached."),
                  api::text_column("Cluster-IP", "Address in the cluster."),
                  api::text_column("External-IP", "Name or address outside of the cluster."),
                  api::text_column("Port(s)", "The ports."),
                  api::text_column("Age", "Time since the creation."),
                  api::text_column("Selector", "Labels of the service's pods.", 1)};
  info.strategy.validate = validate_service;
  info.strategy.cells = cells_service;
  info.strategy.selectable_fields = {"spec.clusterIP", "spec.type"};
  info.strategy.field = field_paths(info.strategy.selectable_fields);
  return info;
}

}  // namespace berth::apiserver
