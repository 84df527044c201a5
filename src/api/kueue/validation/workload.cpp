#include "api/kueue/validation/workload.h"

#include <algorithm>
#include <limits>

#include "api/core/pod_amounts.h"
#include "api/core/validation.h"
#include "api/kueue/names.h"
#include "api/kueue/priority_boost.h"
#include "api/kueue/topology_assignment.h"
#include "api/kueue/validation/workload_parts.h"
#include "base/amount.h"

namespace berth::api::kueue {
namespace {

void check_template(const Json& pod_set, const std::string& path, FieldErrors& errors) {
  const Json* pod_template = find(pod_set, "template");
  if (!pod_template) return;
  check_labels(object_at(*pod_template, {"metadata", "labels"}), path + ".metadata.labels", errors);
  check_annotations(object_at(*pod_template, {"metadata", "annotations"}), path + ".metadata.annotations", errors);
}

// A pod set must have at most one mode, and its slices at most one form.
void check_topology_modes(const Json& request, const std::string& path, FieldErrors& errors) {
  const int modes = (string_at(request, {"required"}).empty() ? 0 : 1) +
                    (string_at(request, {"preferred"}).empty() ? 0 : 1) + (bool_at(request, {"unconstrained"}) ? 1 : 0);
  if (modes > 1)
    errors.push_back(
        invalid_without_value(path, "must not contain more than one of required, preferred and unconstrained"));
  if (array_at(request, {"podsetSliceRequiredTopologyConstraints"}).empty()) return;
  for (const std::string_view key : {"podSetSliceRequiredTopology", "podSetSliceSize"}) {
    if (find(request, key))
      errors.push_back(forbidden_field(path + ".podsetSliceRequiredTopologyConstraints",
                                       "may not be set together with " + std::string(key)));
  }
}

void check_topology_request(const Json& pod_set, const std::string& path, FieldErrors& errors) {
  const Json* request = find(pod_set, "topologyRequest");
  if (!request) return;
  check_topology_modes(*request, path, errors);
  const bool has_topology = !string_at(*request, {"podSetSliceRequiredTopology"}).empty();
  const auto size = optional_int_at(*request, {"podSetSliceSize"});
  if (has_topology && !size)
    errors.push_back(required(path + ".podSetSliceSize", "must be set together with podSetSliceRequiredTopology"));
  if (!has_topology && size)
    errors.push_back(required(path + ".podSetSliceRequiredTopology", "must be set together with podSetSliceSize"));
  if (size && *size <= 0) errors.push_back(invalid_value(path + ".podSetSliceSize", *size, "must be greater than 0"));
  const JsonArray& constraints = array_at(*request, {"podsetSliceRequiredTopologyConstraints"});
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const auto layer = optional_int_at(constraints[i], {"size"});
    if (layer && *layer <= 0)
      errors.push_back(invalid_value(index_path(path + ".podsetSliceRequiredTopologyConstraints", i) + ".size", *layer,
                                     "must be greater than 0"));
  }
}

void check_pod_sets(const Json& object, FieldErrors& errors) {
  const JsonArray& pod_sets = array_at(object, {"spec", "podSets"});
  std::int64_t variable = 0;
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    const std::string path = index_path("spec.podSets", i);
    check_template(pod_sets[i], path + ".template", errors);
    check_topology_request(pod_sets[i], path + ".topologyRequest", errors);
    if (!optional_int_at(pod_sets[i], {"minCount"})) continue;
    ++variable;
    if (is_elastic(object)) errors.push_back(forbidden_field(path + ".minCount", "cannot be used with an elastic job"));
  }
  if (variable > 1) errors.push_back(invalid_value("spec.podSets", variable, "at most one podSet can use minCount"));
}

void check_assignment(const Json& assignment, const JsonArray& pod_sets, const std::string& path, FieldErrors& errors) {
  const std::string_view name = pod_set_name(assignment);
  if (!find_pod_set(pod_sets, name)) errors.push_back(not_found_field(path + ".name", Json(name)));
  if (const Json* places = find(assignment, "topologyAssignment"); places && places->is_object()) {
    if (const auto read = decode_topology_assignment(*places); !read)
      errors.push_back(invalid_without_value(path + ".topologyAssignment", read.error().message));
  }
  const std::int64_t count = int_at(assignment, {"count"});
  if (count <= 0) return;
  for (const auto& member : object_at(assignment, {"resourceUsage"})) {
    const std::string_view resource(member.key().data(), member.key().size());
    const auto quantity = decode_quantity(member.value());
    const std::int64_t amount = quantity ? to_amount(resource, *quantity).count() : 0;
    // The largest amount stands for all that are larger.
    if (amount != std::numeric_limits<std::int64_t>::max() && amount % count != 0)
      errors.push_back(invalid_value(key_path(path + ".resourceUsage", resource), member.value(),
                                     "is not a multiple of " + std::to_string(count)));
  }
}

void check_admission(const Json& object, FieldErrors& errors) {
  if (!is_condition_true(object, "QuotaReserved")) return;
  const Json* admission = find_path(object, {"status", "admission"});
  if (!admission || !admission->is_object()) {
    errors.push_back(required("status.admission", "must be set while the QuotaReserved condition is True"));
    return;
  }
  const JsonArray& pod_sets = array_at(object, {"spec", "podSets"});
  const JsonArray& assignments = array_at(*admission, {"podSetAssignments"});
  const std::string path = "status.admission.podSetAssignments";
  if (assignments.size() != pod_sets.size())
    errors.push_back(invalid_without_value(path, "must have the same number of podSets as the spec"));
  for (std::size_t i = 0; i < assignments.size(); ++i)
    check_assignment(assignments[i], pod_sets, index_path(path, i), errors);
}

std::vector<std::string_view> names_of(const JsonArray& pod_sets) {
  std::vector<std::string_view> names;
  for (const Json& pod_set : pod_sets) names.push_back(pod_set_name(pod_set));
  return names;
}

void check_reclaimable_pods(const Json& object, FieldErrors& errors) {
  const JsonArray& pod_sets = array_at(object, {"spec", "podSets"});
  for (const Json& pods : array_at(object, {"status", "reclaimablePods"})) {
    const std::string_view name = string_at(pods, {"name"});
    const std::string path = key_path("status.reclaimablePods", name);
    const Json* pod_set = find_pod_set(pod_sets, name);
    if (!pod_set) {
      errors.push_back(not_supported(path + ".name", Json(name), names_of(pod_sets)));
      continue;
    }
    const std::int64_t limit = int_at(*pod_set, {"count"}, 1);
    const std::int64_t count = int_at(pods, {"count"});
    if (count < 0) errors.push_back(invalid_value(path + ".count", count, "must be greater than or equal to 0"));
    if (count > limit)
      errors.push_back(invalid_value(path + ".count", count, "should be less or equal to " + std::to_string(limit)));
  }
}

void check_pod_set_updates(const Json& object, FieldErrors& errors) {
  const JsonArray& pod_sets = array_at(object, {"spec", "podSets"});
  const JsonArray& checks = array_at(object, {"status", "admissionChecks"});
  for (std::size_t c = 0; c < checks.size(); ++c) {
    const JsonArray& updates = array_at(checks[c], {"podSetUpdates"});
    for (std::size_t i = 0; i < updates.size(); ++i) {
      const std::string path = index_path(index_path("status.admissionChecks", c) + ".podSetUpdates", i);
      const std::string_view name = string_at(updates[i], {"name"});
      if (!find_pod_set(pod_sets, name))
        errors.push_back(not_supported(path + ".name", Json(name), names_of(pod_sets)));
      check_labels(object_at(updates[i], {"labels"}), path + ".labels", errors);
      check_annotations(object_at(updates[i], {"annotations"}), path + ".annotations", errors);
      check_labels(object_at(updates[i], {"nodeSelector"}), path + ".nodeSelector", errors);
      check_tolerations(array_at(updates[i], {"tolerations"}), path + ".tolerations", errors);
    }
  }
}

}  // namespace

std::string_view pod_set_name(const Json& value) { return string_at(value, {"name"}, "main"); }

const Json* find_pod_set(const JsonArray& pod_sets, std::string_view name) {
  const auto it =
      std::find_if(pod_sets.begin(), pod_sets.end(), [&](const Json& p) { return pod_set_name(p) == name; });
  return it == pod_sets.end() ? nullptr : &*it;
}

bool is_condition_true(const Json& workload, std::string_view type) {
  for (const Json& condition : array_at(workload, {"status", "conditions"}))
    if (string_at(condition, {"type"}) == type) return string_at(condition, {"status"}) == "True";
  return false;
}

bool is_elastic(const Json& workload) {
  return string_at(workload, {"metadata", "annotations", kElasticJob}) == "true";
}

namespace {

// What the pods request. Amounts stand in many places of a template.
void check_requested(const Json& object, FieldErrors& errors) {
  const JsonArray& pod_sets = array_at(object, {"spec", "podSets"});
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    if (const Json* spec = find_path(pod_sets[i], {"template", "spec"}))
      check_pod_amounts(*spec, index_path("spec.podSets", i) + ".template.spec", errors);
  }
}

// What an admission gives.
void check_used(const Json& object, FieldErrors& errors) {
  const JsonArray& assignments = array_at(object, {"status", "admission", "podSetAssignments"});
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    for (const auto& member : object_at(assignments[i], {"resourceUsage"})) {
      const std::string_view resource(member.key().data(), member.key().size());
      const std::string path = index_path("status.admission.podSetAssignments", i) + ".resourceUsage";
      const auto quantity = decode_quantity(member.value());
      if (quantity && quantity->sign() < 0)
        errors.push_back(invalid_value(key_path(path, resource), member.value(), "must be greater than or equal to 0"));
    }
  }
}

void check_priority_boost(const Json& object, FieldErrors& errors) {
  const Json* value = find_path(object, {"metadata", "annotations", kPriorityBoost});
  if (value == nullptr || !value->is_string() || parse_priority_boost(view(value->get_string()))) return;
  errors.push_back(invalid_value("metadata.annotations[" + std::string(kPriorityBoost) + "]", *value,
                                 "must be a valid signed integer"));
}

}  // namespace

FieldErrors validate_workload(const Json& object, const WorkloadRules& rules) {
  FieldErrors errors;
  if (rules.priority_boost) check_priority_boost(object, errors);
  check_pod_sets(object, errors);
  check_admission(object, errors);
  check_reclaimable_pods(object, errors);
  check_pod_set_updates(object, errors);
  if (rules.pods_are_new) check_requested(object, errors);
  if (rules.admission_is_new) check_used(object, errors);
  return errors;
}

}  // namespace berth::api::kueue
