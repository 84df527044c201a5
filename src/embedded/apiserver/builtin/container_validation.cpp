#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/pod_resources.h"
#include "embedded/apiserver/builtin/pod_validation.h"

namespace berth::apiserver {
namespace {

using api::field_path;
using api::index_path;

bool is_huge_page(std::string_view name) { return name.starts_with("hugepages-"); }
bool is_native(std::string_view name) {
  return name.find('/') == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos;
}
bool is_extended(std::string_view name) { return !is_native(name) && !name.starts_with("requests."); }

// Checks the names and quantities of a resource list.
void check_resource_list(const JsonObject& list, const std::string& path, FieldErrors& errors) {
  std::map<std::string_view, const Json*> sorted;
  for (const auto& member : list) sorted.emplace(member.key(), &member.value());
  for (const auto& [name, value] : sorted) {
    std::string at = api::key_path(path, name);
    if (name.find('/') == std::string_view::npos) {
      bool standard = name == "cpu" || name == "memory" || name == "ephemeral-storage" || is_huge_page(name);
      if (!standard) {
        errors.push_back(api::invalid_value(at, Json(name), "must be a standard resource type or fully qualified"));
      }
    } else if (std::string broken = api::check_qualified_name(name); !broken.empty()) {
      errors.push_back(api::invalid_value(at, Json(name), broken));
    }
    auto quantity = quantity_of(*value);
    if (!quantity) continue;
    if (quantity->sign() < 0) {
      errors.push_back(api::invalid_value(at, *value, "must be greater than or equal to 0"));
    } else if (is_extended(name) && Quantity::of(quantity->value()) != *quantity) {
      errors.push_back(api::invalid_value(at, *value, "must be an integer"));
    }
  }
}

void check_requests_against_limits(const JsonObject& requests, const JsonObject& limits, const std::string& path,
                                   FieldErrors& errors) {
  std::map<std::string_view, const Json*> sorted;
  for (const auto& member : requests) sorted.emplace(member.key(), &member.value());
  for (const auto& [name, value] : sorted) {
    bool may_overcommit = is_native(name) && !is_huge_page(name);
    const Json* limit_value = limits.if_contains(name);
    if (limit_value == nullptr) {
      if (!may_overcommit) {
        errors.push_back(
            api::required(field_path(path, "limits"), "Limit must be set for non overcommitable resources"));
      }
      continue;
    }
    auto request = quantity_of(*value), limit = quantity_of(*limit_value);
    if (!request || !limit) continue;
    std::string at = field_path(path, "requests");
    if (!may_overcommit && *request != *limit) {
      errors.push_back(
          api::invalid_value(at, *value, fmt::format("must be equal to {} limit of {}", name, limit->to_string())));
    } else if (*request > *limit) {
      errors.push_back(api::invalid_value(
          at, *value, fmt::format("must be less than or equal to {} limit of {}", name, limit->to_string())));
    }
  }
}

void check_ports(const Json& container, const std::string& path, FieldErrors& errors) {
  const JsonArray& ports = array_at(container, {"ports"});
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    std::string at = index_path(field_path(path, "ports"), i);
    std::string_view name = string_at(ports[i], {"name"});
    if (!name.empty() && !names.insert(name).second) {
      errors.push_back(api::duplicate(at + ".name", member_or_null(ports[i], "name")));
    }
    std::int64_t port = int_at(ports[i], {"containerPort"}), host_port = int_at(ports[i], {"hostPort"});
    if (port == 0) {
      errors.push_back(api::required(at + ".containerPort", ""));
    } else {
      check_port(port, at + ".containerPort", errors);
    }
    if (host_port != 0) check_port(host_port, at + ".hostPort", errors);
    check_enum(ports[i], "protocol", at, {"SCTP", "TCP", "UDP"}, true, errors);
  }
}

// Environment variable names: printable ASCII without '='.
bool is_variable_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~' && c != '='; });
}

void check_value_source(const Json& variable, const std::string& path, FieldErrors& errors) {
  const Json* source = find(variable, "valueFrom");
  if (source == nullptr) return;
  std::string at = field_path(path, "valueFrom");
  std::size_t kinds = 0;
  for (std::string_view kind : {"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"}) {
    kinds += find(*source, kind) != nullptr ? 1 : 0;
  }
  if (kinds == 0) {
    errors.push_back(api::invalid_value(at, "",
                                        "must specify one of: `fieldRef`, `resourceFieldRef`, "
                                        "`configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"));
  } else if (kinds > 1) {
    errors.push_back(api::invalid_value(at, "", "may not have more than one field specified at a time"));
  } else if (!string_at(variable, {"value"}).empty()) {
    errors.push_back(api::invalid_value(at, "", "may not be specified when `value` is not empty"));
  }
  for (std::string_view kind : {"configMapKeyRef", "secretKeyRef"}) {
    const Json* reference = find(*source, kind);
    if (reference == nullptr) continue;
    check_required(*reference, "name", field_path(at, kind), errors);
    check_required(*reference, "key", field_path(at, kind), errors);
  }
  if (const Json* reference = find(*source, "fieldRef"))
    check_required(*reference, "fieldPath", field_path(at, "fieldRef"), errors);
  if (const Json* reference = find(*source, "resourceFieldRef")) {
    check_required(*reference, "resource", field_path(at, "resourceFieldRef"), errors);
  }
}

void check_environment(const Json& container, const std::string& path, FieldErrors& errors) {
  const JsonArray& variables = array_at(container, {"env"});
  for (std::size_t i = 0; i < variables.size(); ++i) {
    std::string at = index_path(field_path(path, "env"), i);
    if (check_required(variables[i], "name", at, errors) && !is_variable_name(string_at(variables[i], {"name"}))) {
      errors.push_back(
          api::invalid_value(at + ".name", member_or_null(variables[i], "name"),
                             "a valid environment variable name must consist only of printable ASCII characters "
                             "other than '='"));
    }
    check_value_source(variables[i], at, errors);
  }
  const JsonArray& sources = array_at(container, {"envFrom"});
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::string at = index_path(field_path(path, "envFrom"), i);
    bool map = find(sources[i], "configMapRef") != nullptr, secret = find(sources[i], "secretRef") != nullptr;
    if (map == secret) {
      errors.push_back(api::invalid_value(at, "",
                                          map ? "may not have more than one field specified at a time"
                                              : "must specify one of: `configMapRef` or `secretRef`"));
    }
    if (map) check_required(*find(sources[i], "configMapRef"), "name", at + ".configMapRef", errors);
    if (secret) check_required(*find(sources[i], "secretRef"), "name", at + ".secretRef", errors);
  }
}

void check_mounts(const Json& container, const std::set<std::string_view>& volumes, const std::string& path,
                  FieldErrors& errors) {
  const JsonArray& mounts = array_at(container, {"volumeMounts"});
  std::set<std::string_view> places;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    std::string at = index_path(field_path(path, "volumeMounts"), i);
    if (check_required(mounts[i], "name", at, errors) && !volumes.contains(string_at(mounts[i], {"name"}))) {
      errors.push_back(api::not_found_field(at + ".name", member_or_null(mounts[i], "name")));
    }
    if (check_required(mounts[i], "mountPath", at, errors) &&
        !places.insert(string_at(mounts[i], {"mountPath"})).second) {
      errors.push_back(api::invalid_value(at + ".mountPath", member_or_null(mounts[i], "mountPath"), "must be unique"));
    }
  }
  const JsonArray& devices = array_at(container, {"volumeDevices"});
  for (std::size_t i = 0; i < devices.size(); ++i) {
    std::string at = index_path(field_path(path, "volumeDevices"), i);
    if (check_required(devices[i], "name", at, errors) && !volumes.contains(string_at(devices[i], {"name"}))) {
      errors.push_back(api::not_found_field(at + ".name", member_or_null(devices[i], "name")));
    }
    check_required(devices[i], "devicePath", at, errors);
  }
}

void check_port_of_action(const Json& action, const std::string& path, FieldErrors& errors) {
  const Json* port = find(action, "port");
  if (port != nullptr && port->is_int64()) check_port(port->get_int64(), path + ".port", errors);
  if (port == nullptr || (port->is_string() && port->get_string().empty())) {
    errors.push_back(api::invalid_value(path + ".port", "", "must be at least 1 character"));
  }
}

// Checks that a probe or lifecycle hook has exactly one action.
void check_handler(const Json& owner, const std::string& path, std::initializer_list<std::string_view> kinds,
                   FieldErrors& errors) {
  std::size_t count = 0;
  for (std::string_view kind : kinds) {
    const Json* action = find(owner, kind);
    if (action == nullptr) continue;
    std::string at = field_path(path, kind);
    if (++count > 1) {
      errors.push_back(api::forbidden_field(at, "may not specify more than 1 handler type"));
      continue;
    }
    if (kind == "exec") check_required(*action, "command", at, errors);
    if (kind == "httpGet") {
      check_required(*action, "path", at, errors);
      check_port_of_action(*action, at, errors);
      check_enum(*action, "scheme", at, {"HTTP", "HTTPS"}, false, errors);
    }
    if (kind == "tcpSocket") check_port_of_action(*action, at, errors);
    if (kind == "grpc") check_port(int_at(*action, {"port"}), at + ".port", errors);
  }
  if (count == 0) errors.push_back(api::required(path, "must specify a handler type"));
}

void check_probes(const Json& container, const std::string& path, FieldErrors& errors) {
  for (std::string_view name : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const Json* probe = find(container, name);
    if (probe == nullptr) continue;
    std::string at = field_path(path, name);
    check_handler(*probe, at, {"exec", "httpGet", "tcpSocket", "grpc"}, errors);
    for (std::string_view number :
         {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"}) {
      check_non_negative(*probe, number, at, errors);
    }
    if (name != "readinessProbe" && int_at(*probe, {"successThreshold"}, 1) != 1) {
      errors.push_back(api::invalid_value(at + ".successThreshold", int_at(*probe, {"successThreshold"}), "must be 1"));
    }
  }
  for (std::string_view hook : {"postStart", "preStop"}) {
    const Json* action = find_path(container, {"lifecycle", hook});
    if (action == nullptr) continue;
    check_handler(*action, field_path(field_path(path, "lifecycle"), hook), {"exec", "httpGet", "tcpSocket", "sleep"},
                  errors);
  }
}

void check_security(const Json& container, const std::string& path, FieldErrors& errors) {
  const Json* security = find(container, "securityContext");
  if (security == nullptr) return;
  std::string at = field_path(path, "securityContext");
  for (std::string_view id : {"runAsUser", "runAsGroup"}) {
    auto value = optional_int_at(*security, {id});
    if (value && (*value < 0 || *value > 2147483647)) {
      errors.push_back(api::invalid_value(field_path(at, id), *value, "must be between 0 and 2147483647, inclusive"));
    }
  }
  bool no_escalation =
      find(*security, "allowPrivilegeEscalation") != nullptr && !bool_at(*security, {"allowPrivilegeEscalation"});
  if (no_escalation && bool_at(*security, {"privileged"})) {
    errors.push_back(
        api::invalid_value(at, *security, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"));
  }
}

void check_container(const Json& container, const std::set<std::string_view>& volumes,
                     const std::set<std::string_view>& claims, const std::string& path, FieldErrors& errors) {
  if (check_required(container, "name", path, errors))
    check_text(container, "name", path, api::check_dns_label, errors);
  if (check_required(container, "image", path, errors)) {
    std::string_view image = string_at(container, {"image"});
    if (image.front() == ' ' || image.back() == ' ') {
      errors.push_back(api::invalid_value(path + ".image", member_or_null(container, "image"),
                                          "must not have leading or trailing whitespace"));
    }
  }
  check_enum(container, "terminationMessagePolicy", path, {"FallbackToLogsOnError", "File"}, true, errors);
  check_enum(container, "imagePullPolicy", path, {"Always", "IfNotPresent", "Never"}, true, errors);
  check_ports(container, path, errors);
  check_environment(container, path, errors);
  check_mounts(container, volumes, path, errors);
  check_probes(container, path, errors);
  check_security(container, path, errors);
  std::string at = field_path(path, "resources");
  validate_resources(member_or_null(container, "resources"), at, errors);
  const JsonArray& used = array_at(container, {"resources", "claims"});
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (claims.contains(string_at(used[i], {"name"}))) continue;
    errors.push_back(api::not_found_field(index_path(at + ".claims", i), member_or_null(used[i], "name")));
  }
}

std::set<std::string_view> names_of(const Json& spec, std::string_view list) {
  std::set<std::string_view> names;
  for (const auto& member : array_at(spec, {list})) names.insert(string_at(member, {"name"}));
  return names;
}

}  // namespace

void validate_resources(const Json& resources, const std::string& path, FieldErrors& errors) {
  const JsonObject &limits = object_at(resources, {"limits"}), &requests = object_at(resources, {"requests"});
  check_resource_list(limits, field_path(path, "limits"), errors);
  check_resource_list(requests, field_path(path, "requests"), errors);
  check_requests_against_limits(requests, limits, path, errors);
  bool huge = false, cpu_or_memory = false;
  for (const JsonObject* list : {&limits, &requests}) {
    for (const auto& member : *list) {
      std::string_view name = member.key();
      huge = huge || is_huge_page(name);
      cpu_or_memory = cpu_or_memory || name == "cpu" || name == "memory";
    }
  }
  if (huge && !cpu_or_memory) errors.push_back(api::forbidden_field(path, "HugePages require cpu or memory"));
}

void validate_containers(const Json& spec, const std::string& path, FieldErrors& errors) {
  const auto volumes = names_of(spec, "volumes"), claims = names_of(spec, "resourceClaims");
  std::set<std::string_view> names;
  for (std::string_view list : {"containers", "initContainers", "ephemeralContainers"}) {
    const JsonArray& containers = array_at(spec, {list});
    if (containers.empty() && list == "containers") errors.push_back(api::required(field_path(path, list), ""));
    for (std::size_t i = 0; i < containers.size(); ++i) {
      std::string at = index_path(field_path(path, list), i);
      check_container(containers[i], volumes, claims, at, errors);
      std::string_view name = string_at(containers[i], {"name"});
      if (!name.empty() && !names.insert(name).second) {
        errors.push_back(api::duplicate(at + ".name", member_or_null(containers[i], "name")));
      }
      if (list == "initContainers")
        check_enum(containers[i], "restartPolicy", at, {"Always", "OnFailure", "Never"}, false, errors);
    }
  }
}

}  // namespace berth::apiserver
