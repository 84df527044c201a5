#include "embedded/apiserver/builtin/job_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "api/selector.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/pod_validation.h"

namespace berth::apiserver {
namespace {

constexpr std::int64_t kMaxIndexes = 100'000;
constexpr std::int64_t kMaxParallelismOfManyIndexes = 10'000;
constexpr std::size_t kMaxFailureRules = 20, kMaxExitCodes = 255, kMaxConditionPatterns = 20, kMaxSuccessRules = 20;
constexpr std::size_t kMaxManagedBy = 63;

void check_has_label(const Json& job, std::string_view key, std::string_view expected, FieldErrors& errors) {
  const JsonObject& labels = object_at(job, {"spec", "template", "metadata", "labels"});
  const Json* value = labels.if_contains(key);
  if (value == nullptr) {
    errors.push_back(api::required("spec.template.metadata.labels", fmt::format("must be '{}'", expected)));
  } else if (!value->is_string() || view(value->get_string()) != expected) {
    errors.push_back(
        api::invalid_value("spec.template.metadata.labels", Json(labels), fmt::format("must be '{}'", expected)));
  }
}

void validate_generated_selector(const Json& job, FieldErrors& errors) {
  if (bool_at(job, {"spec", "manualSelector"})) return;
  const Json* selector = find_path(job, {"spec", "selector"});
  if (selector == nullptr) return;
  std::string_view uid = string_at(job, {"metadata", "uid"}), name = string_at(job, {"metadata", "name"});
  JsonObject expected;
  for (std::string_view key : {kLegacyControllerUidLabel, kControllerUidLabel}) {
    check_has_label(job, key, uid, errors);
    expected[key] = uid;
  }
  for (std::string_view key : {kLegacyJobNameLabel, kJobNameLabel}) {
    check_has_label(job, key, name, errors);
    expected[key] = name;
  }
  auto parsed = api::LabelSelector::from_json(*selector);
  if (parsed && !parsed->matches(expected)) {
    errors.push_back(api::invalid_value("spec.selector", *selector, "`selector` not auto-generated"));
  }
}

void validate_selector(const Json& spec, FieldErrors& errors) {
  const Json* selector = find(spec, "selector");
  if (selector == nullptr) {
    errors.push_back(api::required("spec.selector", ""));
    return;
  }
  check_label_selector(*selector, "spec.selector", errors);
  auto parsed = api::LabelSelector::from_json(*selector);
  const JsonObject& labels = object_at(spec, {"template", "metadata", "labels"});
  if (parsed && !parsed->matches(labels)) {
    errors.push_back(api::invalid_value("spec.template.metadata.labels", Json(labels),
                                        "`selector` does not match template `labels`"));
  }
}

void validate_mode(const Json& spec, FieldErrors& errors) {
  check_enum(spec, "completionMode", "spec", {"Indexed", "NonIndexed"}, false, errors);
  const bool indexed = string_at(spec, {"completionMode"}) == "Indexed";
  auto completions = optional_int_at(spec, {"completions"});
  std::int64_t parallelism = int_at(spec, {"parallelism"});
  if (indexed) {
    if (!completions) errors.push_back(api::required("spec.completions", "when completion mode is Indexed"));
    if (parallelism > kMaxIndexes) {
      errors.push_back(api::invalid_value(
          "spec.parallelism", parallelism,
          fmt::format("must be less than or equal to {} when completion mode is Indexed", kMaxIndexes)));
    }
    if (completions && *completions > kMaxIndexes && find(spec, "maxFailedIndexes") == nullptr &&
        find(spec, "backoffLimitPerIndex") != nullptr) {
      errors.push_back(api::required("spec.maxFailedIndexes",
                                     fmt::format("must be specified when completions is above {}", kMaxIndexes)));
    }
    if (completions && *completions > kMaxIndexes && parallelism > kMaxParallelismOfManyIndexes &&
        find(spec, "backoffLimitPerIndex") != nullptr) {
      errors.push_back(api::invalid_value("spec.parallelism", parallelism,
                                          fmt::format("must be less than or equal to {} when completions are "
                                                      "above {} and used with backoff limit per index",
                                                      kMaxParallelismOfManyIndexes, kMaxIndexes)));
    }
  }
  for (std::string_view key : {"backoffLimitPerIndex", "maxFailedIndexes"}) {
    auto value = optional_int_at(spec, {key});
    if (value && !indexed) {
      errors.push_back(api::invalid_value(api::field_path("spec", key), *value, "requires indexed completion mode"));
    }
  }
  auto max_failed = optional_int_at(spec, {"maxFailedIndexes"});
  if (max_failed && find(spec, "backoffLimitPerIndex") == nullptr) {
    errors.push_back(api::required("spec.backoffLimitPerIndex", "when maxFailedIndexes is specified"));
  }
  if (max_failed && completions && *max_failed > *completions) {
    errors.push_back(
        api::invalid_value("spec.maxFailedIndexes", *max_failed, "must be less than or equal to completions"));
  }
}

using Names = std::set<std::string_view>;

void validate_exit_codes(const Json& rule, const Names& containers, const std::string& path, FieldErrors& errors) {
  const Json* codes = find(rule, "onExitCodes");
  if (codes == nullptr) return;
  std::string at = path + ".onExitCodes";
  check_enum(*codes, "operator", at, {"In", "NotIn"}, true, errors);
  const JsonArray& values = array_at(*codes, {"values"});
  if (values.empty())
    errors.push_back(api::invalid_value(at + ".values", Json(values), "at least one value is required"));
  if (values.size() > kMaxExitCodes) errors.push_back(api::too_many(at + ".values", values.size(), kMaxExitCodes));
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::int64_t code = values[i].is_int64() ? values[i].get_int64() : 0;
    if (code == 0 && string_at(*codes, {"operator"}) == "In") {
      errors.push_back(api::invalid_value(api::index_path(at + ".values", i), 0, "must not be 0 for the In operator"));
    }
    if (!seen.insert(code).second) errors.push_back(api::duplicate(api::index_path(at + ".values", i), values[i]));
  }
  std::string_view name = string_at(*codes, {"containerName"});
  if (!name.empty() && !containers.contains(name)) {
    errors.push_back(api::invalid_value(at + ".containerName", Json(name),
                                        "must be one of the container or initContainer names in the pod template"));
  }
}

void validate_failure_policy(const Json& spec, FieldErrors& errors) {
  const Json* policy = find(spec, "podFailurePolicy");
  if (policy == nullptr) return;
  const std::string path = "spec.podFailurePolicy";
  const JsonArray& rules = array_at(*policy, {"rules"});
  if (rules.size() > kMaxFailureRules) errors.push_back(api::too_many(path + ".rules", rules.size(), kMaxFailureRules));
  if (string_at(spec, {"template", "spec", "restartPolicy"}) != "Never") {
    errors.push_back(
        api::invalid_value("spec.template.spec.restartPolicy",
                           member_or_null(member_or_null(member_or_null(spec, "template"), "spec"), "restartPolicy"),
                           "only \"Never\" is supported when podFailurePolicy is specified"));
  }
  Names containers;
  for (std::string_view list : {"containers", "initContainers"}) {
    for (const Json& container : array_at(spec, {"template", "spec", list}))
      containers.insert(string_at(container, {"name"}));
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    std::string at = api::index_path(path + ".rules", i);
    check_enum(rules[i], "action", at, {"Count", "FailIndex", "FailJob", "Ignore"}, true, errors);
    if (string_at(rules[i], {"action"}) == "FailIndex" && find(spec, "backoffLimitPerIndex") == nullptr) {
      errors.push_back(api::invalid_value(at + ".action", "FailIndex", "requires the backoffLimitPerIndex to be set"));
    }
    const JsonArray& patterns = array_at(rules[i], {"onPodConditions"});
    bool by_code = find(rules[i], "onExitCodes") != nullptr;
    if (by_code == !patterns.empty()) {
      errors.push_back(api::invalid_value(at, rules[i],
                                          by_code ? "specifying both OnExitCodes and OnPodConditions is not supported"
                                                  : "specifying one of OnExitCodes and OnPodConditions is required"));
    }
    validate_exit_codes(rules[i], containers, at, errors);
    if (patterns.size() > kMaxConditionPatterns) {
      errors.push_back(api::too_many(at + ".onPodConditions", patterns.size(), kMaxConditionPatterns));
    }
    for (std::size_t k = 0; k < patterns.size(); ++k) {
      std::string pattern = api::index_path(at + ".onPodConditions", k);
      if (check_required(patterns[k], "type", pattern, errors)) {
        check_text(patterns[k], "type", pattern, api::check_qualified_name, errors);
      }
      check_enum(patterns[k], "status", pattern, {"False", "True", "Unknown"}, true, errors);
    }
  }
}

void validate_success_policy(const Json& spec, FieldErrors& errors) {
  const Json* policy = find(spec, "successPolicy");
  if (policy == nullptr) return;
  const std::string path = "spec.successPolicy";
  if (string_at(spec, {"completionMode"}) != "Indexed") {
    errors.push_back(api::invalid_value(path, *policy, "requires indexed completion mode"));
    return;
  }
  const JsonArray& rules = array_at(*policy, {"rules"});
  if (rules.empty())
    errors.push_back(
        api::required(path + ".rules", "at least one rules must be specified when the successPolicy is specified"));
  if (rules.size() > kMaxSuccessRules) errors.push_back(api::too_many(path + ".rules", rules.size(), kMaxSuccessRules));
  std::int64_t completions = int_at(spec, {"completions"});
  for (std::size_t i = 0; i < rules.size(); ++i) {
    std::string at = api::index_path(path + ".rules", i);
    auto count = optional_int_at(rules[i], {"succeededCount"});
    if (!count && find(rules[i], "succeededIndexes") == nullptr) {
      errors.push_back(api::required(at, "at least one of succeededCount or succeededIndexes must be specified"));
    }
    check_non_negative(rules[i], "succeededCount", at, errors);
    if (count && *count > completions) {
      errors.push_back(api::invalid_value(
          at + ".succeededCount", *count,
          fmt::format("must be less than or equal to {} (the number of specified completions)", completions)));
    }
  }
}

void validate_managed_by(const Json& spec, FieldErrors& errors) {
  std::string_view name = string_at(spec, {"managedBy"});
  if (find(spec, "managedBy") == nullptr) return;
  const Json& value = member_or_null(spec, "managedBy");
  if (name.size() > kMaxManagedBy) errors.push_back(api::too_long("spec.managedBy", kMaxManagedBy));
  std::size_t slash = name.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == name.size()) {
    errors.push_back(
        api::invalid_value("spec.managedBy", value, "must be a domain-prefixed path (such as \"acme.io/foo\")"));
  } else if (std::string broken = api::check_dns_subdomain(name.substr(0, slash)); !broken.empty()) {
    errors.push_back(api::invalid_value("spec.managedBy", value, broken));
  }
}

void validate_job_spec(const Json& spec, FieldErrors& errors) {
  for (std::string_view key : {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
                               "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"}) {
    check_non_negative(spec, key, "spec", errors);
  }
  validate_mode(spec, errors);
  validate_failure_policy(spec, errors);
  validate_success_policy(spec, errors);
  validate_managed_by(spec, errors);
  check_enum(spec, "podReplacementPolicy", "spec", {"Failed", "TerminatingOrFailed"}, false, errors);
  if (find(spec, "podFailurePolicy") != nullptr && string_at(spec, {"podReplacementPolicy"}, "Failed") != "Failed") {
    errors.push_back(
        api::not_supported("spec.podReplacementPolicy", member_or_null(spec, "podReplacementPolicy"), {"Failed"}));
  }
  const Json& pod_template = member_or_null(spec, "template");
  validate_pod_template(pod_template, "spec.template", errors);
  std::string_view restart = string_at(pod_template, {"spec", "restartPolicy"});
  if (restart == "Always") {
    errors.push_back(api::required("spec.template.spec.restartPolicy", "valid values: \"OnFailure\", \"Never\""));
  }
}

// Elastic Indexed Jobs: completions and parallelism may change together.
bool is_elastic_change(const Json& spec, const Json& old_spec) {
  return string_at(spec, {"completionMode"}) == "Indexed" && find(spec, "completions") != nullptr &&
         find(old_spec, "completions") != nullptr &&
         same_member(spec, Json{{"completions", member_or_null(spec, "parallelism")}}, "completions");
}

// While a Job is suspended and has no start time, the placement, labels and resources of its pod template may change.
bool may_change_template(const Json& old) {
  return bool_at(old, {"spec", "suspend"}) && find_path(old, {"status", "startTime"}) == nullptr;
}

// The new template, with the mutable parts replaced by those of the old one.
Json with_placement_of(Json pod_template, const Json& old_template) {
  const Json &old_meta = member_or_null(old_template, "metadata"), &old_spec = member_or_null(old_template, "spec");
  Json& metadata = ensure_path(pod_template, {"metadata"});
  for (std::string_view key : {"labels", "annotations"}) copy_member(metadata, old_meta, key);
  Json& spec = ensure_path(pod_template, {"spec"});
  for (std::string_view key : {"nodeSelector", "tolerations", "schedulingGates", "affinity"})
    copy_member(spec, old_spec, key);
  for (std::string_view list : {"containers", "initContainers"}) {
    Json* containers = spec.is_object() ? spec.get_object().if_contains(list) : nullptr;
    const JsonArray& old_containers = array_at(old_spec, {list});
    if (containers == nullptr || !containers->is_array()) continue;
    for (std::size_t i = 0; i < containers->get_array().size() && i < old_containers.size(); ++i) {
      copy_member(containers->get_array()[i], old_containers[i], "resources");
    }
  }
  return pod_template;
}

// In affinity, only nodeAffinity may change.
bool other_affinity_changed(const Json& pod_template, const Json& old_template) {
  auto rest = [](const Json& t) {
    JsonObject affinity = object_at(t, {"spec", "affinity"});
    affinity.erase("nodeAffinity");
    return Json(std::move(affinity));
  };
  return !json_equal(rest(pod_template), rest(old_template));
}

void validate_template_update(const Json& job, const Json& old, FieldErrors& errors) {
  const Json& now = member_or_null(member_or_null(job, "spec"), "template");
  const Json& before = member_or_null(member_or_null(old, "spec"), "template");
  if (json_equal(now, before)) return;
  if (!may_change_template(old)) {
    errors.push_back(api::invalid_value("spec.template", now, "field is immutable"));
    return;
  }
  if (!json_equal(with_placement_of(now, before), before) || other_affinity_changed(now, before)) {
    errors.push_back(api::invalid_value("spec.template.spec", member_or_null(now, "spec"), "field is immutable"));
  }
}

}  // namespace

void validate_job(const Json& job, FieldErrors& errors) {
  validate_generated_selector(job, errors);
  const Json& spec = member_or_null(job, "spec");
  validate_job_spec(spec, errors);
  validate_selector(spec, errors);
}

void validate_job_update(const Json& job, const Json& old, FieldErrors& errors) {
  const Json &spec = member_or_null(job, "spec"), &old_spec = member_or_null(old, "spec");
  if (!is_elastic_change(spec, old_spec)) check_immutable(spec, old_spec, "completions", "spec", errors);
  check_immutable(spec, old_spec, "selector", "spec", errors);
  validate_template_update(job, old, errors);
  for (std::string_view key :
       {"completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"}) {
    check_immutable(spec, old_spec, key, "spec", errors);
  }
}

}  // namespace berth::apiserver
