#include <algorithm>

#include "api/core/pod_resources.h"
#include "api/core/validation.h"
#include "api/kueue/names.h"
#include "api/kueue/validation/workload.h"
#include "api/kueue/validation/workload_parts.h"

namespace berth::api::kueue {
namespace {

// Whether `now` equals `old` except for smaller counts: the change when an elastic job scales down.
bool only_shrinks(const JsonArray& now, const JsonArray& old) {
  return std::equal(now.begin(), now.end(), old.begin(), old.end(), [](const Json& a, const Json& b) {
    if (int_at(a, {"count"}, 1) > int_at(b, {"count"}, 1)) return false;
    Json same_count = a;
    ensure_path(same_count, {"count"}) = int_at(b, {"count"}, 1);
    Json other = b;
    ensure_path(other, {"count"}) = int_at(b, {"count"}, 1);
    return json_equal(same_count, other);
  });
}

void check_pod_sets(const Json& object, const Json& old, FieldErrors& errors) {
  if (!is_condition_true(old, "QuotaReserved")) return;
  if (is_elastic(old) && only_shrinks(array_at(object, {"spec", "podSets"}), array_at(old, {"spec", "podSets"})))
    return;
  check_unchanged(find_path(object, {"spec", "podSets"}), find_path(old, {"spec", "podSets"}), "spec.podSets", errors);
}

// Equal amounts may be written in several ways: "3000000000" and "3G".
void write_amounts_alike(Json& assignment) {
  Json* usage = assignment.is_object() ? assignment.as_object().if_contains("resourceUsage") : nullptr;
  if (usage == nullptr || !usage->is_object()) return;
  for (auto& member : usage->get_object()) {
    if (const auto amount = decode_quantity(member.value()))
      member.value() = Quantity::of_nano(amount->nano_value()).to_string();
  }
}

// What of an admission must not change: topologyAssignment and delayedTopologyRequest may, and so may the notation of
// amounts.
Json fixed_part(const Json& admission) {
  Json copy = admission;
  JsonObject* object = copy.if_object();
  Json* assignments = object == nullptr ? nullptr : object->if_contains("podSetAssignments");
  if (assignments == nullptr || !assignments->is_array()) return copy;
  for (Json& assignment : assignments->get_array()) {
    for (const std::string_view key : {"topologyAssignment", "delayedTopologyRequest"}) erase_path(assignment, {key});
    write_amounts_alike(assignment);
  }
  return copy;
}

void check_admission(const Json& object, const Json& old, FieldErrors& errors) {
  const Json* now = find_path(object, {"status", "admission"});
  const Json* before = find_path(old, {"status", "admission"});
  if (!now || now->is_null() || !before || before->is_null()) return;  // set or cleared
  if (!json_equal(fixed_part(*now), fixed_part(*before)))
    errors.push_back(invalid_value("status.admission", *now, "field is immutable"));
}

bool equal_at(const Json& object, const Json& old, std::initializer_list<std::string_view> path) {
  const Json *now = find_path(object, path), *before = find_path(old, path);
  return now && before ? json_equal(*now, *before) : now == before;
}
bool same_status(const Json& object, const Json& old, std::string_view key) {
  return equal_at(object, old, {"status", key});
}

void check_reclaimable_pods(const Json& object, const Json& old, FieldErrors& errors) {
  const bool reserved = is_condition_true(object, "QuotaReserved") && is_condition_true(old, "QuotaReserved");
  if (!reserved || is_elastic(old)) return;
  if (same_status(object, old, "reclaimablePods")) return;
  const JsonArray& now = array_at(object, {"status", "reclaimablePods"});
  for (const Json& before : array_at(old, {"status", "reclaimablePods"})) {
    const std::string_view name = pod_set_name(before);
    const std::string path = key_path("status.reclaimablePods", name);
    const Json* same = find_pod_set(now, name);
    const std::int64_t least = int_at(before, {"count"});
    if (!same) {
      errors.push_back(required(path, "cannot be removed"));
    } else if (const std::int64_t count = int_at(*same, {"count"}); count < least) {
      errors.push_back(invalid_value(path + ".count", count, "cannot be less than " + std::to_string(least)));
    }
  }
}

void check_pod_set_updates(const Json& object, const Json& old, FieldErrors& errors) {
  if (same_status(object, old, "admissionChecks")) return;
  const JsonArray& now = array_at(object, {"status", "admissionChecks"});
  for (const Json& before : array_at(old, {"status", "admissionChecks"})) {
    const auto same = std::find_if(now.begin(), now.end(), [&](const Json& check) {
      return string_at(check, {"name"}) == string_at(before, {"name"});
    });
    if (same == now.end()) continue;
    if (string_at(before, {"state"}) != "Ready" || string_at(*same, {"state"}) != "Ready") continue;
    const std::string path = index_path("status.admissionChecks", static_cast<std::size_t>(same - now.begin()));
    check_unchanged(find(*same, "podSetUpdates"), find(before, "podSetUpdates"), path + ".podSetUpdates", errors);
  }
}

void check_cluster_name(const Json& object, const Json& old, FieldErrors& errors) {
  const std::string_view name = string_at(object, {"status", "clusterName"});
  if (name.empty() || !string_at(old, {"status", "clusterName"}).empty()) return;
  if (find_path(object, {"metadata", "annotations", kSliceReplacementFor}))
    return;  // it has the cluster of the slice that it replaces
  const JsonArray& nominated = array_at(old, {"status", "nominatedClusterNames"});
  const bool known = std::any_of(nominated.begin(), nominated.end(),
                                 [&](const Json& one) { return one.is_string() && view(one.get_string()) == name; });
  if (!known)
    errors.push_back(invalid_value("status.clusterName", Json(name), "must be one of the nominatedClusterNames"));
}

}  // namespace

FieldErrors validate_workload_update(const Json& object, const Json& old, const WorkloadRules& rules) {
  // An old invalid value, from before the gate was on, must not block updates of other fields.
  const std::initializer_list<std::string_view> boost{"metadata", "annotations", kPriorityBoost};
  const bool boosted_anew = string_at(object, boost) != string_at(old, boost);
  FieldErrors errors = validate_workload(object, {.priority_boost = rules.priority_boost && boosted_anew,
                                                  .pods_are_new = !equal_at(object, old, {"spec", "podSets"}),
                                                  .admission_is_new = !equal_at(object, old, {"status", "admission"})});
  check_pod_sets(object, old, errors);
  check_admission(object, old, errors);
  check_reclaimable_pods(object, old, errors);
  check_pod_set_updates(object, old, errors);
  check_cluster_name(object, old, errors);
  return errors;
}

}  // namespace berth::api::kueue
