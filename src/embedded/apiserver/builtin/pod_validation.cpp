#include "embedded/apiserver/builtin/pod_validation.h"

#include <fmt/format.h>

#include <limits>
#include <set>

#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/pod_resources.h"

namespace berth::apiserver {
namespace {

using api::field_path;

void validate_policies(const Json& spec, const std::string& path, FieldErrors& errors) {
  check_enum(spec, "restartPolicy", path, {"Always", "OnFailure", "Never"}, true, errors);
  check_enum(spec, "dnsPolicy", path, {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"}, true, errors);
  check_enum(spec, "preemptionPolicy", path, {"PreemptLowerPriority", "Never"}, false, errors);
  check_non_negative(spec, "terminationGracePeriodSeconds", path, errors);
  auto deadline = optional_int_at(spec, {"activeDeadlineSeconds"});
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (deadline && (*deadline < 1 || *deadline > kMost)) {
    errors.push_back(api::invalid_value(field_path(path, "activeDeadlineSeconds"), *deadline,
                                        fmt::format("must be between 1 and {}, inclusive", kMost)));
  }
  if (string_at(spec, {"dnsPolicy"}) == "None" && array_at(spec, {"dnsConfig", "nameservers"}).empty()) {
    errors.push_back(api::required(field_path(path, "dnsConfig.nameservers"),
                                   "must provide at least one DNS nameserver when `dnsPolicy` is None"));
  }
  if (const Json* os = find(spec, "os"))
    check_enum(*os, "name", field_path(path, "os"), {"linux", "windows"}, true, errors);
}

void validate_names(const Json& spec, const std::string& path, FieldErrors& errors) {
  check_text(spec, "serviceAccountName", path, api::check_dns_subdomain, errors);
  check_text(spec, "nodeName", path, api::check_dns_subdomain, errors);
  check_text(spec, "priorityClassName", path, api::check_dns_subdomain, errors);
  check_text(spec, "runtimeClassName", path, api::check_dns_subdomain, errors);
  check_text(spec, "hostname", path, api::check_dns_label, errors);
  check_text(spec, "subdomain", path, api::check_dns_label, errors);
  check_text(spec, "hostnameOverride", path, api::check_dns_subdomain, errors);
  check_text(spec, "schedulerName", path, api::check_qualified_name, errors);
  for (std::string_view list : {"imagePullSecrets"}) {
    const JsonArray& members = array_at(spec, {list});
    for (std::size_t i = 0; i < members.size(); ++i) {
      check_required(members[i], "name", api::index_path(field_path(path, list), i), errors);
    }
  }
  const JsonArray& gates = array_at(spec, {"readinessGates"});
  for (std::size_t i = 0; i < gates.size(); ++i) {
    std::string at = api::index_path(field_path(path, "readinessGates"), i);
    if (check_required(gates[i], "conditionType", at, errors)) {
      check_text(gates[i], "conditionType", at, api::check_qualified_name, errors);
    }
  }
}

void validate_claims(const Json& spec, const std::string& path, FieldErrors& errors) {
  const JsonArray& claims = array_at(spec, {"resourceClaims"});
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    std::string at = api::index_path(field_path(path, "resourceClaims"), i);
    if (check_required(claims[i], "name", at, errors)) {
      check_text(claims[i], "name", at, api::check_dns_label, errors);
      if (!seen.insert(string_at(claims[i], {"name"})).second) {
        errors.push_back(api::duplicate(at + ".name", member_or_null(claims[i], "name")));
      }
    }
    bool by_name = find(claims[i], "resourceClaimName") != nullptr;
    bool by_template = find(claims[i], "resourceClaimTemplateName") != nullptr;
    if (by_name == by_template) {
      errors.push_back(api::invalid_value(
          at, claims[i],
          by_name ? "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
                  : "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"));
    }
  }
}

void validate_overhead(const Json& spec, const std::string& path, FieldErrors& errors) {
  for (const auto& member : object_at(spec, {"overhead"})) {
    auto quantity = quantity_of(member.value());
    if (quantity && quantity->sign() < 0) {
      errors.push_back(api::invalid_value(api::key_path(field_path(path, "overhead"), member.key()), member.value(),
                                          "must be greater than or equal to 0"));
    }
  }
}

}  // namespace

void validate_pod_spec(const Json& spec, const std::string& path, FieldErrors& errors) {
  validate_volumes(spec, path, errors);
  validate_containers(spec, path, errors);
  validate_policies(spec, path, errors);
  validate_names(spec, path, errors);
  validate_claims(spec, path, errors);
  validate_overhead(spec, path, errors);
  if (const Json* resources = find(spec, "resources"))
    validate_resources(*resources, field_path(path, "resources"), errors);
  check_labels(object_at(spec, {"nodeSelector"}), field_path(path, "nodeSelector"), errors);
  validate_placement(spec, path, errors);
}

void validate_pod_template(const Json& pod_template, const std::string& path, FieldErrors& errors) {
  check_labels(object_at(pod_template, {"metadata", "labels"}), field_path(path, "labels"), errors);
  for (const auto& annotation : object_at(pod_template, {"metadata", "annotations"})) {
    if (std::string broken = api::check_qualified_name(annotation.key()); !broken.empty()) {
      errors.push_back(api::invalid_value(field_path(path, "annotations"), Json(annotation.key()), broken));
    }
  }
  validate_pod_spec(member_or_null(pod_template, "spec"), field_path(path, "spec"), errors);
  if (!array_at(pod_template, {"spec", "ephemeralContainers"}).empty()) {
    errors.push_back(api::forbidden_field(field_path(path, "spec.ephemeralContainers"),
                                          "ephemeral containers not allowed in pod template"));
  }
}

}  // namespace berth::apiserver
