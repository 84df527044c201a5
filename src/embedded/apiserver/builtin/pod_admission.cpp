#include "embedded/apiserver/builtin/pod_admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_set>

#include "api/resources.h"
#include "api/status.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/limit_range.h"

namespace berth::apiserver {
namespace {

constexpr std::int64_t kDefaultTolerationSeconds = 300;

struct Priority {
  std::string class_name;
  std::int64_t value = 0;
  std::string preemption_policy = "PreemptLowerPriority";
};

Priority priority_of(const Json& priority_class) {
  return {std::string(string_at(priority_class, {"metadata", "name"})), int_at(priority_class, {"value"}),
          std::string(string_at(priority_class, {"preemptionPolicy"}, "PreemptLowerPriority"))};
}

// The priority of pods without a class: the global default; if there are several, the one with the lowest value.
Priority default_priority(const Lookup& lookup) {
  Priority found;
  for (const auto& priority_class : lookup.list(api::kPriorityClasses, "")) {
    if (!bool_at(*priority_class, {"globalDefault"})) continue;
    Priority candidate = priority_of(*priority_class);
    if (found.class_name.empty() ||
        std::tie(candidate.value, candidate.class_name) < std::tie(found.value, found.class_name)) {
      found = candidate;
    }
  }
  return found;
}

// nullopt when the pod names a class that does not exist.
std::optional<Priority> resolve_priority(const Json& pod, const Lookup& lookup) {
  std::string_view name = string_at(pod, {"spec", "priorityClassName"});
  if (name.empty()) return default_priority(lookup);
  if (JsonPtr found = lookup.get(api::kPriorityClasses, "", name)) return priority_of(*found);
  if (name == "system-node-critical") return Priority{std::string(name), 2'000'001'000, "PreemptLowerPriority"};
  if (name == "system-cluster-critical") return Priority{std::string(name), 2'000'000'000, "PreemptLowerPriority"};
  return std::nullopt;
}

void fill_priority(Json& spec, const Json& pod, const Lookup& lookup) {
  auto priority = resolve_priority(pod, lookup);
  if (!priority) return;
  JsonObject& members = spec.as_object();
  if (!priority->class_name.empty()) members["priorityClassName"] = priority->class_name;
  if (!members.contains("priority")) members["priority"] = priority->value;
  if (!members.contains("preemptionPolicy")) members["preemptionPolicy"] = priority->preemption_policy;
}

bool tolerates(const Json& toleration, std::string_view key) {
  std::string_view own = string_at(toleration, {"key"}), effect = string_at(toleration, {"effect"});
  return (own.empty() || own == key) && (effect.empty() || effect == "NoExecute");
}

void apply_runtime_class(Json& spec, const Lookup& lookup) {
  std::string_view name = string_at(spec, {"runtimeClassName"});
  if (name.empty()) return;
  JsonPtr runtime = lookup.get(api::kRuntimeClasses, "", name);
  if (!runtime) return;
  const JsonObject& overhead = object_at(*runtime, {"overhead", "podFixed"});
  if (!overhead.empty() && find(spec, "overhead") == nullptr) spec.as_object()["overhead"] = overhead;
  for (const auto& label : object_at(*runtime, {"scheduling", "nodeSelector"})) {
    Json& selector = ensure_path(spec, {"nodeSelector"});
    if (!selector.is_object()) selector = JsonObject();
    if (!selector.get_object().contains(label.key())) selector.get_object()[label.key()] = label.value();
  }
  const JsonArray& added = array_at(*runtime, {"scheduling", "tolerations"});
  if (added.empty()) return;
  Json& list = ensure_path(spec, {"tolerations"});
  if (!list.is_array()) list = JsonArray();
  std::unordered_set<std::string> own;
  for (const Json& toleration : list.get_array()) own.insert(canonical_json(toleration));
  for (const Json& toleration : added) {
    if (own.insert(canonical_json(toleration)).second) list.get_array().push_back(toleration);
  }
}

std::optional<std::string> priority_refusal(const Json& pod, const Lookup& lookup) {
  auto priority = resolve_priority(pod, lookup);
  if (!priority)
    return fmt::format("no PriorityClass with name {} was found", string_at(pod, {"spec", "priorityClassName"}));
  auto own = optional_int_at(pod, {"spec", "priority"});
  if (own && *own != priority->value) {
    return fmt::format(
        "the integer value of priority ({}) must not be provided in pod spec; priority admission controller "
        "computed {} from the given PriorityClass name",
        *own, priority->value);
  }
  std::string_view policy = string_at(pod, {"spec", "preemptionPolicy"}, priority->preemption_policy);
  if (policy != priority->preemption_policy) {
    return fmt::format(
        "the string value of PreemptionPolicy ({}) must not be provided in pod spec; priority admission "
        "controller computed {} from the given PriorityClass name",
        policy, priority->preemption_policy);
  }
  return std::nullopt;
}

std::optional<std::string> runtime_refusal(const Json& pod, const Lookup& lookup) {
  std::string_view name = string_at(pod, {"spec", "runtimeClassName"});
  JsonPtr runtime = name.empty() ? nullptr : lookup.get(api::kRuntimeClasses, "", name);
  if (!name.empty() && !runtime) return fmt::format("pod rejected: RuntimeClass \"{}\" not found", name);
  const Json* overhead = find_path(pod, {"spec", "overhead"});
  if (overhead == nullptr) return std::nullopt;
  const Json* expected = runtime ? find_path(*runtime, {"overhead", "podFixed"}) : nullptr;
  if (expected == nullptr) return "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
  if (!json_equal(*overhead, *expected)) {
    return "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
  }
  return std::nullopt;
}

std::optional<std::string> limit_refusal(const Json& pod, const Lookup& lookup) {
  auto broken = broken_limits(pod, lookup);
  if (broken.empty()) return std::nullopt;
  return broken.size() == 1 ? broken.front() : fmt::format("[{}]", fmt::join(broken, ", "));
}

}  // namespace

void add_default_tolerations(Json& pod) {
  Json& list = ensure_path(pod, {"spec", "tolerations"});
  if (!list.is_array()) list = JsonArray();
  auto& tolerations = list.get_array();
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    if (std::any_of(tolerations.begin(), tolerations.end(), [&](const Json& t) { return tolerates(t, key); })) continue;
    tolerations.push_back(JsonObject{{"key", key},
                                     {"operator", "Exists"},
                                     {"effect", "NoExecute"},
                                     {"tolerationSeconds", kDefaultTolerationSeconds}});
  }
}

void complete_new_pod(Json& pod, const Lookup& lookup) {
  Json& spec = ensure_path(pod, {"spec"});
  if (!spec.is_object()) spec = JsonObject();
  apply_limit_range_defaults(pod, lookup);
  fill_priority(spec, pod, lookup);
  add_default_tolerations(pod);
  apply_runtime_class(spec, lookup);
}

std::optional<api::RestResponse> refuse_new_pod(const Json& pod, const Lookup& lookup) {
  for (auto refusal : {priority_refusal, runtime_refusal, limit_refusal}) {
    if (auto why = refusal(pod, lookup)) return api::forbidden(api::kPods, string_at(pod, {"metadata", "name"}), *why);
  }
  return std::nullopt;
}

}  // namespace berth::apiserver
