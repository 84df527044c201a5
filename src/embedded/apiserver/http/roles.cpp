#include "embedded/apiserver/http/roles.h"

#include <algorithm>
#include <string>

#include "api/selector.h"
#include "embedded/apiserver/http/server_rules.h"

namespace berth::apiserver::http {
namespace {

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";
constexpr int kMaxAggregation = 8;  // nesting depth of aggregated roles, so that a cycle ends

api::GroupVersionResource rbac(std::string_view resource) { return {std::string(kGroup), "v1", std::string(resource)}; }

bool lists(const Json& rule, std::string_view member, std::string_view value) {
  const JsonArray& values = array_at(rule, {member});
  return std::any_of(values.begin(), values.end(), [&](const Json& one) {
    return one.is_string() && (view(one.get_string()) == value || view(one.get_string()) == "*");
  });
}

bool lists_path(const Json& rule, std::string_view path) {
  const JsonArray& values = array_at(rule, {"nonResourceURLs"});
  return std::any_of(values.begin(), values.end(), [&](const Json& one) {
    if (!one.is_string()) return false;
    std::string_view pattern = view(one.get_string());
    if (!pattern.ends_with('*')) return pattern == path;
    while (pattern.ends_with('*')) pattern.remove_suffix(1);
    return path.starts_with(pattern);
  });
}

bool lists_name(const Json& rule, std::string_view name) {
  const JsonArray& names = array_at(rule, {"resourceNames"});
  if (names.empty()) return true;
  return std::any_of(names.begin(), names.end(),
                     [&](const Json& one) { return one.is_string() && view(one.get_string()) == name; });
}

bool is_subject(const Json& subject, const api::User& user, std::string_view binding_ns) {
  std::string_view kind = string_at(subject, {"kind"}), name = string_at(subject, {"name"});
  if (kind == "User") return user.name == name;
  if (kind == "Group") return std::find(user.groups.begin(), user.groups.end(), name) != user.groups.end();
  if (kind != "ServiceAccount") return false;
  std::string_view ns = string_at(subject, {"namespace"});
  if (ns.empty()) ns = binding_ns;
  return !ns.empty() && user.name == "system:serviceaccount:" + std::string(ns) + ":" + std::string(name);
}

bool binds(const Json& binding, const api::User& user) {
  const JsonArray& subjects = array_at(binding, {"subjects"});
  return std::any_of(subjects.begin(), subjects.end(), [&](const Json& subject) {
    return is_subject(subject, user, string_at(binding, {"metadata", "namespace"}));
  });
}

void add_rules(const Json& role, std::vector<Json>& rules) {
  for (const Json& rule : array_at(role, {"rules"})) rules.push_back(rule);
}

void add_cluster_role(const Json& role, const Lookup& objects, int depth, std::vector<Json>& rules) {
  const JsonArray& selectors = array_at(role, {"aggregationRule", "clusterRoleSelectors"});
  if (selectors.empty()) return add_rules(role, rules);
  if (depth >= kMaxAggregation) return;
  for (const JsonPtr& other : objects.list(rbac("clusterroles"), "")) {
    if (string_at(*other, {"metadata", "name"}) == string_at(role, {"metadata", "name"})) continue;
    const bool selected = std::any_of(selectors.begin(), selectors.end(), [&](const Json& selector) {
      auto parsed = api::LabelSelector::from_json(selector);
      return parsed && parsed->matches(object_at(*other, {"metadata", "labels"}));
    });
    if (selected) add_cluster_role(*other, objects, depth + 1, rules);
  }
}

void add_bound(const Json& binding, std::string_view ns, const Lookup& objects, std::vector<Json>& rules) {
  std::string_view name = string_at(binding, {"roleRef", "name"});
  if (string_at(binding, {"roleRef", "kind"}) == "ClusterRole") {
    if (const JsonPtr role = objects.get(rbac("clusterroles"), "", name)) add_cluster_role(*role, objects, 0, rules);
  } else if (const JsonPtr role = objects.get(rbac("roles"), ns, name)) {
    add_rules(*role, rules);
  }
}

}  // namespace

std::vector<Json> rules_of(const api::User& user, std::string_view ns, const Lookup& objects) {
  std::vector<Json> rules;
  if (!objects.list || !objects.get) return rules;
  for (const JsonPtr& binding : objects.list(rbac("clusterrolebindings"), "")) {
    if (binds(*binding, user)) add_bound(*binding, "", objects, rules);
  }
  if (ns.empty()) return rules;
  for (const JsonPtr& binding : objects.list(rbac("rolebindings"), ns)) {
    if (binds(*binding, user)) add_bound(*binding, ns, objects, rules);
  }
  return rules;
}

bool covers(const Json& rule, const Action& action) {
  if (!lists(rule, "verbs", action.verb)) return false;
  if (action.resource.resource.empty()) return lists_path(rule, action.path);
  if (!lists(rule, "apiGroups", action.resource.group) || !lists_name(rule, action.name)) return false;
  if (action.subresource.empty()) return lists(rule, "resources", action.resource.resource);
  return lists(rule, "resources", action.resource.resource + "/" + action.subresource) ||
         lists(rule, "resources", "*/" + action.subresource);
}

bool may(const api::User& user, const Action& action, const Lookup& objects) {
  const auto covered = [&](const Json& rule) { return covers(rule, action); };
  if (is_in(user, kMastersGroup) || std::ranges::any_of(server_rules(user), covered)) return true;
  const bool reads = action.verb == "get" || action.verb == "list" || action.verb == "watch";
  if (action.resource.group == kGroup && !reads) return false;
  return std::ranges::any_of(rules_of(user, action.ns, objects), covered);
}

std::string name_selected(std::string_view field_selector) {
  const auto fields = api::parse_field_selector(field_selector);
  if (!fields) return {};
  for (const api::FieldRequirement& field : *fields) {
    if (field.field != "metadata.name" || !field.equal) continue;
    // A name that no path can have is the name of no object.
    const bool may_be_name =
        field.value != "." && field.value != ".." && field.value.find_first_of("/%") == std::string::npos;
    return may_be_name ? field.value : std::string();
  }
  return {};
}

}  // namespace berth::apiserver::http
