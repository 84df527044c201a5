#include <fmt/format.h>

#include <set>
#include <utility>

#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/pod_validation.h"

namespace berth::apiserver {
namespace {

using api::field_path;
using api::index_path;

void check_requirement(const Json& requirement, const std::string& path, FieldErrors& errors) {
  std::string_view op = string_at(requirement, {"operator"});
  const JsonArray& values = array_at(requirement, {"values"});
  if (op == "In" || op == "NotIn") {
    if (values.empty()) {
      errors.push_back(api::required(path + ".values", "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.empty()) {
      errors.push_back(
          api::forbidden_field(path + ".values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else if (op == "Gt" || op == "Lt") {
    if (values.size() != 1) {
      errors.push_back(
          api::required(path + ".values", "must be specified single value when `operator` is 'Lt' or 'Gt'"));
    }
  } else {
    errors.push_back(api::invalid_value(path + ".operator", member_or_null(requirement, "operator"),
                                        "not a valid selector operator"));
  }
}

void check_node_term(const Json& term, const std::string& path, FieldErrors& errors) {
  const JsonArray& expressions = array_at(term, {"matchExpressions"});
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    std::string at = index_path(path + ".matchExpressions", i);
    check_requirement(expressions[i], at, errors);
    if (std::string broken = api::check_qualified_name(string_at(expressions[i], {"key"})); !broken.empty()) {
      errors.push_back(api::invalid_value(at + ".key", member_or_null(expressions[i], "key"), broken));
    }
  }
  const JsonArray& fields = array_at(term, {"matchFields"});
  for (std::size_t i = 0; i < fields.size(); ++i) {
    std::string at = index_path(path + ".matchFields", i);
    if (string_at(fields[i], {"key"}) != "metadata.name") {
      errors.push_back(
          api::invalid_value(at + ".key", member_or_null(fields[i], "key"), "not a valid field selector key"));
    }
    if (array_at(fields[i], {"values"}).size() != 1) {
      errors.push_back(api::required(
          at + ".values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
    }
  }
}

void check_weight(const Json& owner, const std::string& path, FieldErrors& errors) {
  std::int64_t weight = int_at(owner, {"weight"});
  if (weight < 1 || weight > 100)
    errors.push_back(api::invalid_value(path + ".weight", weight, "must be in the range 1-100"));
}

void check_node_affinity(const Json& affinity, const std::string& path, FieldErrors& errors) {
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  if (const Json* selector = find(affinity, kRequired)) {
    std::string at = field_path(path, kRequired) + ".nodeSelectorTerms";
    const JsonArray& terms = array_at(*selector, {"nodeSelectorTerms"});
    if (terms.empty()) errors.push_back(api::required(at, "must have at least one node selector term"));
    for (std::size_t i = 0; i < terms.size(); ++i) check_node_term(terms[i], index_path(at, i), errors);
  }
  const JsonArray& preferred = array_at(affinity, {kPreferred});
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    std::string at = index_path(field_path(path, kPreferred), i);
    check_weight(preferred[i], at, errors);
    check_node_term(member_or_null(preferred[i], "preference"), at + ".preference", errors);
  }
}

void check_pod_term(const Json& term, const std::string& path, FieldErrors& errors) {
  if (const Json* selector = find(term, "labelSelector"))
    check_label_selector(*selector, path + ".labelSelector", errors);
  if (const Json* selector = find(term, "namespaceSelector"))
    check_label_selector(*selector, path + ".namespaceSelector", errors);
  if (string_at(term, {"topologyKey"}).empty()) {
    errors.push_back(api::required(path + ".topologyKey", "can not be empty"));
  } else {
    check_text(term, "topologyKey", path, api::check_qualified_name, errors);
  }
}

void check_pod_affinity(const Json& affinity, const std::string& path, FieldErrors& errors) {
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  const JsonArray& required = array_at(affinity, {kRequired});
  for (std::size_t i = 0; i < required.size(); ++i) {
    check_pod_term(required[i], index_path(field_path(path, kRequired), i), errors);
  }
  const JsonArray& preferred = array_at(affinity, {kPreferred});
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    std::string at = index_path(field_path(path, kPreferred), i);
    check_weight(preferred[i], at, errors);
    check_pod_term(member_or_null(preferred[i], "podAffinityTerm"), at + ".podAffinityTerm", errors);
  }
}

void check_spread(const Json& spec, const std::string& path, FieldErrors& errors) {
  const JsonArray& constraints = array_at(spec, {"topologySpreadConstraints"});
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    std::string at = index_path(field_path(path, "topologySpreadConstraints"), i);
    const Json& constraint = constraints[i];
    if (std::int64_t skew = int_at(constraint, {"maxSkew"}); skew <= 0) {
      errors.push_back(api::invalid_value(at + ".maxSkew", skew, "must be greater than zero"));
    }
    if (string_at(constraint, {"topologyKey"}).empty()) {
      errors.push_back(api::required(at + ".topologyKey", "can not be empty"));
    } else {
      check_text(constraint, "topologyKey", at, api::check_qualified_name, errors);
    }
    check_enum(constraint, "whenUnsatisfiable", at, {"DoNotSchedule", "ScheduleAnyway"}, true, errors);
    if (!seen.emplace(string_at(constraint, {"topologyKey"}), string_at(constraint, {"whenUnsatisfiable"})).second) {
      errors.push_back(api::duplicate(fmt::format("{}.{{topologyKey, whenUnsatisfiable}}", at),
                                      Json(fmt::format("{{{}, {}}}", string_at(constraint, {"topologyKey"}),
                                                       string_at(constraint, {"whenUnsatisfiable"})))));
    }
    if (auto domains = optional_int_at(constraint, {"minDomains"}); domains && *domains <= 0) {
      errors.push_back(api::invalid_value(at + ".minDomains", *domains, "must be greater than zero"));
    }
    check_enum(constraint, "nodeAffinityPolicy", at, {"Honor", "Ignore"}, false, errors);
    check_enum(constraint, "nodeTaintsPolicy", at, {"Honor", "Ignore"}, false, errors);
    if (const Json* selector = find(constraint, "labelSelector"))
      check_label_selector(*selector, at + ".labelSelector", errors);
  }
}

void check_gates(const Json& spec, const std::string& path, FieldErrors& errors) {
  const JsonArray& gates = array_at(spec, {"schedulingGates"});
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < gates.size(); ++i) {
    std::string at = index_path(field_path(path, "schedulingGates"), i);
    std::string_view name = string_at(gates[i], {"name"});
    if (std::string broken = api::check_qualified_name(name); !broken.empty()) {
      errors.push_back(api::invalid_value(at, Json(name), broken));
    }
    if (!seen.insert(name).second) errors.push_back(api::duplicate(at, Json(name)));
  }
  if (!gates.empty() && !string_at(spec, {"nodeName"}).empty()) {
    errors.push_back(api::forbidden_field(field_path(path, "nodeName"),
                                          "cannot be set until all schedulingGates have been cleared"));
  }
}

}  // namespace

void validate_toleration(const Json& toleration, const std::string& path, FieldErrors& errors) {
  std::string_view key = string_at(toleration, {"key"}), op = string_at(toleration, {"operator"});
  std::string_view value = string_at(toleration, {"value"}), effect = string_at(toleration, {"effect"});
  check_text(toleration, "key", path, api::check_qualified_name, errors);
  if (key.empty() && op != "Exists") {
    errors.push_back(api::invalid_value(
        path + ".operator", Json(op),
        "operator must be Exists when `key` is empty, which means \"match all values and all keys\""));
  }
  if (find(toleration, "tolerationSeconds") != nullptr && effect != "NoExecute") {
    errors.push_back(api::invalid_value(path + ".effect", Json(effect),
                                        "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  if (op.empty() || op == "Equal") {
    if (std::string broken = api::check_label_value(value); !broken.empty()) {
      errors.push_back(api::invalid_value(path + ".operator", Json(value), broken));
    }
  } else if (op == "Exists") {
    if (!value.empty()) {
      errors.push_back(
          api::invalid_value(path + ".operator", toleration, "value must be empty when `operator` is 'Exists'"));
    }
  } else if (op != "Lt" && op != "Gt") {
    errors.push_back(api::not_supported(path + ".operator", Json(op), {"Equal", "Exists", "Lt", "Gt"}));
  }
  check_enum(toleration, "effect", path, {"NoSchedule", "PreferNoSchedule", "NoExecute"}, false, errors);
}

void validate_placement(const Json& spec, const std::string& path, FieldErrors& errors) {
  if (const Json* affinity = find(spec, "affinity")) {
    std::string at = field_path(path, "affinity");
    if (const Json* node = find(*affinity, "nodeAffinity")) check_node_affinity(*node, at + ".nodeAffinity", errors);
    if (const Json* pod = find(*affinity, "podAffinity")) check_pod_affinity(*pod, at + ".podAffinity", errors);
    if (const Json* pod = find(*affinity, "podAntiAffinity")) check_pod_affinity(*pod, at + ".podAntiAffinity", errors);
  }
  const JsonArray& tolerations = array_at(spec, {"tolerations"});
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    validate_toleration(tolerations[i], index_path(field_path(path, "tolerations"), i), errors);
  }
  check_spread(spec, path, errors);
  check_gates(spec, path, errors);
}

}  // namespace berth::apiserver
