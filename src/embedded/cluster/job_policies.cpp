#include "embedded/cluster/job_policies.h"
#include "api/object_condition.h"

#include <algorithm>

namespace berth::cluster {
namespace {

std::string pod_name(const JobPod& pod) {
  return std::string(string_at(*pod.object, {"metadata", "namespace"})) + "/" + pod.name;
}

bool contains_number(const JsonArray& values, std::int64_t number) {
  return std::any_of(values.begin(), values.end(), [&](const Json& value) {
    return value.is_int64() ? value.get_int64() == number
                            : value.is_uint64() && static_cast<std::int64_t>(value.get_uint64()) == number;
  });
}

// Describes the match as in Kubernetes' message; empty when the rule does not match.
std::string match_exit_codes(const Json& rule, const JobPod& pod) {
  const Json* codes = find(rule, "onExitCodes");
  if (codes == nullptr) return {};
  const auto container = string_at(*codes, {"containerName"});
  const bool in = string_at(*codes, {"operator"}) == "In";
  for (std::string_view list : {"containerStatuses", "initContainerStatuses"}) {
    for (const auto& status : array_at(*pod.object, {"status", list})) {
      const auto name = string_at(status, {"name"});
      if (!container.empty() && container != name) continue;
      const auto code = optional_int_at(status, {"state", "terminated", "exitCode"});
      if (!code || *code == 0 || contains_number(array_at(*codes, {"values"}), *code) != in) continue;
      return "Container " + std::string(name) + " for pod " + pod_name(pod) + " failed with exit code " +
             std::to_string(*code);
    }
  }
  return {};
}

std::string match_conditions(const Json& rule, const JobPod& pod) {
  for (const auto& pattern : array_at(rule, {"onPodConditions"})) {
    const auto type = string_at(pattern, {"type"});
    const Json* condition = api::object_condition(*pod.object, type);
    if (condition != nullptr && string_at(*condition, {"status"}) == string_at(pattern, {"status"}, "True"))
      return "Pod " + pod_name(pod) + " has condition " + std::string(type);
  }
  return {};
}

}  // namespace

FailureVerdict judge_failure(const Json& job, const JobPod& pod) {
  if (pod.phase != "Failed") return {};
  int index = -1;
  for (const auto& rule : array_at(job, {"spec", "podFailurePolicy", "rules"})) {
    ++index;
    std::string match = match_exit_codes(rule, pod);
    if (match.empty()) match = match_conditions(rule, pod);
    if (match.empty()) continue;
    const auto action = string_at(rule, {"action"});
    if (action == "Ignore") return {FailureAction::kIgnore, {}};
    if (action == "FailIndex") return {FailureAction::kFailIndex, {}};
    if (action == "Count") return {};
    if (action == "FailJob") {
      return {FailureAction::kFailJob, match + " matching FailJob rule at index " + std::to_string(index)};
    }
  }
  return {};
}

std::optional<std::string> success_policy_met(const Json& job, const IndexSet& succeeded, std::int64_t completions) {
  int index = -1;
  for (const auto& rule : array_at(job, {"spec", "successPolicy", "rules"})) {
    ++index;
    const auto wanted_count = optional_int_at(rule, {"succeededCount"});
    const Json* wanted = find(rule, "succeededIndexes");
    std::int64_t have = succeeded.count();
    std::int64_t need = wanted_count.value_or(completions);
    if (wanted != nullptr && wanted->is_string()) {
      const auto set = IndexSet::parse(view(wanted->get_string()), completions);
      have = 0;
      for (std::int64_t i = 0; i < completions; ++i) have += set.contains(i) && succeeded.contains(i) ? 1 : 0;
      need = wanted_count.value_or(set.count());
    } else if (!wanted_count) {
      continue;
    }
    if (have >= need) return "Matched rules at index " + std::to_string(index);
  }
  return std::nullopt;
}

}  // namespace berth::cluster
