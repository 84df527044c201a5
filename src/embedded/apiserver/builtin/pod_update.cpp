#include "embedded/apiserver/builtin/pod_update.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "embedded/apiserver/builtin/checks.h"

namespace berth::apiserver {
namespace {

using api::index_path;

constexpr std::string_view kOnlyThese =
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

using Texts = std::unordered_set<std::string>;

// The values as texts, which are equal when the values are.
Texts texts_of(const JsonArray& list) {
  Texts out;
  for (const Json& value : list) out.insert(canonical_json(value));
  return out;
}

void check_gates(const Json& spec, const Json& old_spec, FieldErrors& errors) {
  const JsonArray& gates = array_at(spec, {"schedulingGates"});
  const Texts old_gates = texts_of(array_at(old_spec, {"schedulingGates"}));
  for (std::size_t i = 0; i < gates.size(); ++i) {
    if (old_gates.contains(canonical_json(gates[i]))) continue;
    errors.push_back(api::forbidden_field(
        index_path("spec.schedulingGates", i) + ".name",
        fmt::format("only deletion is allowed, but found new scheduling gate '{}'", string_at(gates[i], {"name"}))));
  }
}

bool check_counts(const Json& spec, const Json& old_spec, FieldErrors& errors) {
  bool same = true;
  for (const char* list : {"containers", "initContainers"}) {
    if (array_at(spec, {list}).size() == array_at(old_spec, {list}).size()) continue;
    errors.push_back(
        api::forbidden_field(api::field_path("spec", list), "pod updates may not add or remove containers"));
    same = false;
  }
  return same;
}

void check_deadline(const Json& spec, const Json& old_spec, FieldErrors& errors) {
  auto now = optional_int_at(spec, {"activeDeadlineSeconds"}),
       before = optional_int_at(old_spec, {"activeDeadlineSeconds"});
  if (!before || now == before) return;
  if (!now) {
    errors.push_back(api::invalid_value("spec.activeDeadlineSeconds", nullptr,
                                        "must not update from a positive integer to nil value"));
  } else if (*now > *before) {
    errors.push_back(
        api::invalid_value("spec.activeDeadlineSeconds", *now, "must be less than or equal to previous value"));
  }
}

// All old tolerations must remain; only their tolerationSeconds may change.
void check_tolerations(const Json& spec, const Json& old_spec, FieldErrors& errors) {
  const auto without_seconds = [](JsonArray tolerations) {
    for (Json& toleration : tolerations) {
      if (toleration.is_object()) toleration.get_object().erase("tolerationSeconds");
    }
    return texts_of(tolerations);
  };
  const Texts now = without_seconds(array_at(spec, {"tolerations"}));
  const Texts before = without_seconds(array_at(old_spec, {"tolerations"}));
  if (std::ranges::all_of(before, [&](const std::string& toleration) { return now.contains(toleration); })) return;
  errors.push_back(
      api::forbidden_field("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds"));
}

void check_selector_additions(const Json& spec, const Json& old_spec, FieldErrors& errors) {
  const JsonObject& now = object_at(spec, {"nodeSelector"});
  for (const auto& label : object_at(old_spec, {"nodeSelector"})) {
    const Json* value = now.if_contains(label.key());
    if (value != nullptr && json_equal(*value, label.value())) continue;
    errors.push_back(api::invalid_value("spec.nodeSelector", member_or_null(spec, "nodeSelector"),
                                        "only additions to spec.nodeSelector are allowed (no mutations or deletions)"));
    return;
  }
}

bool is_prefix(const JsonArray& before, const JsonArray& now) {
  return before.size() <= now.size() && std::equal(before.begin(), before.end(), now.begin(), json_equal);
}

// Each required term may get additional requirements. If there was no term, any terms may be added.
void check_affinity_additions(const Json& spec, const Json& old_spec, FieldErrors& errors) {
  const std::initializer_list<std::string_view> terms_at = {
      "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"};
  const JsonArray &before = array_at(old_spec, terms_at), &now = array_at(spec, terms_at);
  if (before.empty()) return;
  const std::string path =
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  if (before.size() != now.size()) {
    errors.push_back(
        api::invalid_value(path, Json(now), "no additions/deletions to non-empty NodeSelectorTerms list are allowed"));
    return;
  }
  for (std::size_t i = 0; i < now.size(); ++i) {
    bool narrower = is_prefix(array_at(before[i], {"matchExpressions"}), array_at(now[i], {"matchExpressions"})) &&
                    is_prefix(array_at(before[i], {"matchFields"}), array_at(now[i], {"matchFields"}));
    if (!narrower) {
      errors.push_back(
          api::invalid_value(index_path(path, i), now[i], "only additions are allowed (no mutations or deletions)"));
    }
  }
}

// The new spec, with all mutable parts replaced by the old ones.
Json with_mutable_parts_of(const Json& spec, const Json& old_spec, bool gated) {
  Json result = spec;
  for (std::string_view list : {"containers", "initContainers"}) {
    Json* containers = result.as_object().if_contains(list);
    const JsonArray& old_containers = array_at(old_spec, {list});
    if (containers == nullptr || !containers->is_array()) continue;
    for (std::size_t i = 0; i < containers->get_array().size() && i < old_containers.size(); ++i) {
      copy_member(containers->get_array()[i], old_containers[i], "image");
    }
  }
  for (std::string_view key : {"activeDeadlineSeconds", "tolerations", "schedulingGates"})
    copy_member(result, old_spec, key);
  if (int_at(old_spec, {"terminationGracePeriodSeconds"}) < 0 && int_at(spec, {"terminationGracePeriodSeconds"}) == 1) {
    copy_member(result, old_spec, "terminationGracePeriodSeconds");
  }
  if (gated) {
    copy_member(result, old_spec, "nodeSelector");
    const Json* old_node = find_path(old_spec, {"affinity", "nodeAffinity"});
    if (old_node != nullptr) {
      ensure_path(result, {"affinity", "nodeAffinity"}) = *old_node;
    } else {
      erase_path(result, {"affinity", "nodeAffinity"});
    }
    if (find(old_spec, "affinity") == nullptr && object_at(result, {"affinity"}).empty())
      result.as_object().erase("affinity");
  }
  return result;
}

std::vector<std::string> changed_members(const Json& a, const Json& b) {
  std::set<std::string> names;
  for (const Json* object : {&a, &b}) {
    for (const auto& member : object->as_object()) {
      std::string_view key = member.key();
      if (!same_member(a, b, key)) names.insert(fmt::format("spec.{}", key));
    }
  }
  return {names.begin(), names.end()};
}

bool ended_for_good(const Json& status, std::string_view restart_policy) {
  const Json* terminated = find_path(status, {"state", "terminated"});
  return terminated != nullptr && (restart_policy == "Never" || int_at(*terminated, {"exitCode"}) == 0);
}

}  // namespace

void validate_pod_update(const Json& pod, const Json& old, FieldErrors& errors) {
  const Json &spec = member_or_null(pod, "spec"), &old_spec = member_or_null(old, "spec");
  if (!spec.is_object() || !old_spec.is_object()) return;
  check_gates(spec, old_spec, errors);
  if (!check_counts(spec, old_spec, errors)) return;
  check_deadline(spec, old_spec, errors);
  check_tolerations(spec, old_spec, errors);
  const bool gated = !array_at(old_spec, {"schedulingGates"}).empty();
  if (gated) {
    check_selector_additions(spec, old_spec, errors);
    check_affinity_additions(spec, old_spec, errors);
  }
  Json rest = with_mutable_parts_of(spec, old_spec, gated);
  if (!json_equal(rest, old_spec)) {
    errors.push_back(api::forbidden_field(
        "spec", fmt::format("{}\nchanged: {}", kOnlyThese, fmt::join(changed_members(rest, old_spec), ", "))));
  }
}

void validate_pod_status_update(const Json& pod, const Json& old, FieldErrors& errors) {
  std::string_view policy = string_at(old, {"spec", "restartPolicy"});
  if (policy == "Always") return;
  std::unordered_set<std::string_view> ended;
  for (const auto& before : array_at(old, {"status", "containerStatuses"})) {
    if (ended_for_good(before, policy)) ended.insert(string_at(before, {"name"}));
  }
  const JsonArray& now = array_at(pod, {"status", "containerStatuses"});
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (!ended.contains(string_at(now[i], {"name"}))) continue;
    if (find_path(now[i], {"state", "terminated"}) != nullptr) continue;
    errors.push_back(api::forbidden_field(index_path("status.containerStatuses", i) + ".state",
                                          "may not be transitioned to non-terminated state"));
  }
}

}  // namespace berth::apiserver
