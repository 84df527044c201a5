// Roles and bindings: defaults and validation. Authorization is in embedded/apiserver/http/roles.h.
#include <fmt/format.h>

#include <algorithm>

#include "api/printing/table.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/kinds.h"

namespace berth::apiserver {
namespace {

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";

// Default apiGroup of subjects: rbac.authorization.k8s.io for users and groups, core for service accounts.
Result<void> finish_binding(Json& object) {
  Json* subjects = object.as_object().if_contains("subjects");
  if (subjects == nullptr || !subjects->is_array()) return {};
  for (Json& subject : subjects->get_array()) {
    std::string_view kind = string_at(subject, {"kind"});
    if (subject.is_object() && string_at(subject, {"apiGroup"}).empty() && (kind == "User" || kind == "Group")) {
      subject.get_object()["apiGroup"] = kGroup;
    }
  }
  return {};
}

void validate_rule(const Json& rule, const std::string& path, bool namespaced, FieldErrors& errors) {
  check_required(rule, "verbs", path, errors);
  const bool has_paths = !array_at(rule, {"nonResourceURLs"}).empty();
  if (has_paths && namespaced) {
    errors.push_back(api::invalid_value(path + ".nonResourceURLs", member_or_null(rule, "nonResourceURLs"),
                                        "namespaced rules cannot apply to non-resource URLs"));
  }
  const bool has_resources = !array_at(rule, {"resources"}).empty();
  if (has_paths &&
      (has_resources || !array_at(rule, {"apiGroups"}).empty() || !array_at(rule, {"resourceNames"}).empty())) {
    errors.push_back(api::invalid_value(path + ".nonResourceURLs", member_or_null(rule, "nonResourceURLs"),
                                        "rules cannot apply to both regular resources and non-resource URLs"));
  }
  if (has_paths) return;
  if (array_at(rule, {"apiGroups"}).empty())
    errors.push_back(api::required(path + ".apiGroups", "resource rules must supply at least one api group"));
  if (!has_resources)
    errors.push_back(api::required(path + ".resources", "resource rules must supply at least one resource"));
}

FieldErrors validate_rules(const Json& object, bool namespaced) {
  FieldErrors errors;
  const JsonArray& rules = array_at(object, {"rules"});
  for (std::size_t i = 0; i < rules.size(); ++i)
    validate_rule(rules[i], api::index_path("rules", i), namespaced, errors);
  const JsonArray& selectors = array_at(object, {"aggregationRule", "clusterRoleSelectors"});
  if (find(object, "aggregationRule") != nullptr && selectors.empty()) {
    errors.push_back(api::required("aggregationRule.clusterRoleSelectors",
                                   "at least one clusterRoleSelector required if aggregationRule is non-nil"));
  }
  for (std::size_t i = 0; i < selectors.size(); ++i) {
    check_label_selector(selectors[i], api::index_path("aggregationRule.clusterRoleSelectors", i), errors);
  }
  return errors;
}

void validate_subject(const Json& subject, const std::string& path, bool namespaced, FieldErrors& errors) {
  check_required(subject, "name", path, errors);
  std::string_view kind = string_at(subject, {"kind"});
  std::string_view group = string_at(subject, {"apiGroup"});
  if (kind == "ServiceAccount") {
    check_text(subject, "name", path, api::check_dns_subdomain, errors);
    if (!group.empty()) errors.push_back(api::not_supported(path + ".apiGroup", Json(group), {""}));
    if (!namespaced) check_required(subject, "namespace", path, errors);
  } else if (kind == "User" || kind == "Group") {
    if (group != kGroup) errors.push_back(api::not_supported(path + ".apiGroup", Json(group), {kGroup}));
  } else {
    errors.push_back(api::not_supported(path + ".kind", Json(kind), {"Group", "ServiceAccount", "User"}));
  }
}

FieldErrors validate_binding(const Json& object, bool namespaced) {
  FieldErrors errors;
  const Json& role = member_or_null(object, "roleRef");
  if (std::string_view group = string_at(role, {"apiGroup"}); group != kGroup)
    errors.push_back(api::not_supported("roleRef.apiGroup", Json(group), {kGroup}));
  if (namespaced) {
    check_enum(role, "kind", "roleRef", {"ClusterRole", "Role"}, true, errors);
  } else {
    check_enum(role, "kind", "roleRef", {"ClusterRole"}, true, errors);
  }
  check_required(role, "name", "roleRef", errors);
  const JsonArray& subjects = array_at(object, {"subjects"});
  for (std::size_t i = 0; i < subjects.size(); ++i)
    validate_subject(subjects[i], api::index_path("subjects", i), namespaced, errors);
  return errors;
}

ResourceInfo role_kind(KindNames names, bool namespaced) {
  const std::string type = names.kind;
  ResourceInfo info = make_kind(std::move(names), type);
  info.namespaced = namespaced;
  info.strategy.counts_generation = false;
  info.columns = {api::text_column("Created At", "When the role was created.")};
  info.strategy.validate = [namespaced](const Json& object, const Lookup&) {
    return validate_rules(object, namespaced);
  };
  info.strategy.cells = [](const Json& object, Time) {
    return JsonArray{Json(string_at(object, {"metadata", "creationTimestamp"}))};
  };
  return info;
}

ResourceInfo binding_kind(KindNames names, bool namespaced) {
  const std::string type = names.kind;
  ResourceInfo info = make_kind(std::move(names), type, finish_binding);
  info.namespaced = namespaced;
  info.strategy.counts_generation = false;
  info.columns = {api::text_column("Role", "The role."), api::text_column("Age", "Time since the creation.")};
  info.strategy.validate = [namespaced](const Json& object, const Lookup&) {
    return validate_binding(object, namespaced);
  };
  info.strategy.validate_update = [](const Json& object, const Json& old, std::string_view) {
    FieldErrors errors;
    if (!same_member(object, old, "roleRef")) {
      errors.push_back(api::invalid_value("roleRef", member_or_null(object, "roleRef"), "cannot change roleRef"));
    }
    return errors;
  };
  info.strategy.cells = [](const Json& object, Time now) {
    return JsonArray{
        Json(fmt::format("{}/{}", string_at(object, {"roleRef", "kind"}), string_at(object, {"roleRef", "name"}))),
        Json(api::age_of(object, now))};
  };
  return info;
}

}  // namespace

ResourceInfo role_resource() { return role_kind({std::string(kGroup), "v1", "roles", "Role", "role", {}, {}}, true); }

ResourceInfo cluster_role_resource() {
  return role_kind({std::string(kGroup), "v1", "clusterroles", "ClusterRole", "clusterrole", {}, {}}, false);
}

ResourceInfo role_binding_resource() {
  return binding_kind({std::string(kGroup), "v1", "rolebindings", "RoleBinding", "rolebinding", {}, {}}, true);
}

ResourceInfo cluster_role_binding_resource() {
  return binding_kind(
      {std::string(kGroup), "v1", "clusterrolebindings", "ClusterRoleBinding", "clusterrolebinding", {}, {}}, false);
}

}  // namespace berth::apiserver
