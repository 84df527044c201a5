#include "api/kueue/pod_rules.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

#include "api/core/pod_amounts.h"
#include "api/core/pod_phase.h"
#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "api/kueue/pod_shape.h"
#include "api/kueue/ready_times.h"
#include "api/kueue/topology_annotations.h"
#include "api/kueue/topology_spreading.h"
#include "api/kueue/types.h"
#include "api/owners.h"

namespace berth::api::kueue {
namespace {

constexpr std::string_view kTrue = "true";
constexpr std::string_view kMirrorPod = "kubernetes.io/config.mirror";  // an annotation
// Annotations with the PodGroup of a pod.
constexpr std::string_view kVolcanoGroups[] = {"scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name"};

struct GroupTotal {
  std::errc error = {};
  std::int32_t pods = 0;
};

GroupTotal read_total(std::string_view text) {
  GroupTotal total;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), total.pods);
  total.error = error;
  if (error == std::errc() && end != text.data() + text.size()) total.error = std::errc::invalid_argument;
  return total;
}

const Json* annotation_at(const Json& pod, std::string_view key) {
  return find_path(pod, {"metadata", "annotations", key});
}

// Pods that are never queued by the general rules.
bool is_left_alone(const Json& pod) {
  if (annotation_at(pod, kMirrorPod) != nullptr) return true;
  if (!label_of(pod, kQueueLabel).empty()) return false;
  return std::ranges::any_of(kVolcanoGroups, [&](std::string_view key) { return !annotation_of(pod, key).empty(); });
}

// The value at the path, as an array.
JsonArray& array_made(Json& pod, std::initializer_list<std::string_view> path) {
  Json& value = ensure_path(pod, path);
  if (!value.is_array()) value = JsonArray();
  return value.get_array();
}

void add_pod_finalizer(Json& pod) {
  JsonArray& finalizers = array_made(pod, {"metadata", "finalizers"});
  const bool has = std::ranges::any_of(
      finalizers, [](const Json& f) { return f.is_string() && view(f.get_string()) == kPodFinalizer; });
  if (!has) finalizers.emplace_back(kPodFinalizer);
}

void add_scheduling_gate(Json& pod, std::string_view name) {
  if (has_scheduling_gate(pod, name)) return;
  array_made(pod, {"spec", "schedulingGates"}).push_back(JsonObject{{"name", name}});
}

// The ungater reads the index from one label; the user may keep it in another one.
void copy_pod_index(Json& pod) {
  const std::string_view from = annotation_of(pod, kPodGroupPodIndexLabel);
  if (from.empty()) return;
  const std::string index(label_of(pod, from));
  if (!index.empty()) ensure_path(pod, {"metadata", "labels", kPodGroupPodIndex}) = Json(index);
}

// --- Checks.

bool claims_to_be_managed(const Json& pod) {
  return find_path(pod, {"metadata", "labels", kManagedLabel}) != nullptr || !label_of(pod, kQueueLabel).empty() ||
         !pod_group_name(pod).empty() || annotation_at(pod, kPodGroupTotalCount) != nullptr;
}

// Whether the rules concern the pod at all.
bool is_judged(const Json& pod, const JobContext& context) {
  if (!context.namespace_managed || context.ancestor_managed) return false;
  return claims_to_be_managed(pod) || is_managed_pod(pod, context);
}

void check_managed_label(const Json& pod, FieldErrors& errors) {
  if (find_path(pod, {"metadata", "labels", kManagedLabel}) != nullptr && label_of(pod, kManagedLabel) != kTrue)
    errors.push_back(forbidden_field(label_field(kManagedLabel), "managed label value can only be 'true'"));
}

bool named_by_annotation(const Json& pod, const JobContext& context) {
  return context.labels.identifier_annotations && !annotation_of(pod, kPodGroupName).empty();
}
std::string group_name_field(bool by_annotation) {
  return by_annotation ? annotation_field(kPodGroupName) : label_field(kPodGroupName);
}

void check_group_total(const Json& total, FieldErrors& errors) {
  const std::string path = annotation_field(kPodGroupTotalCount);
  const std::string_view text = total.is_string() ? view(total.get_string()) : std::string_view();
  const GroupTotal read = read_total(text);
  if (read.error == std::errc::result_out_of_range) {
    errors.push_back(invalid_value(path, total, "must be an integer from 1 to 2147483647"));
  } else if (read.error != std::errc()) {
    errors.push_back(invalid_value(path, total, "must be an integer"));
  } else if (read.pods < 1) {
    errors.push_back(invalid_value(path, total,
                                   "incorrect annotation value '" + std::string(kPodGroupTotalCount) + "=" +
                                       std::string(text) + "': group total count should be greater than zero"));
  }
}

void check_pod_group(const Json& pod, const JobContext& context, FieldErrors& errors) {
  const std::string_view name = pod_group_name(pod, context.labels.identifier_annotations);
  const bool by_annotation = named_by_annotation(pod, context);
  const Json* total = annotation_at(pod, kPodGroupTotalCount);
  if (name.empty() && total == nullptr) return;
  if (!name.empty()) {
    if (const std::string broken = check_dns_subdomain(name); !broken.empty())
      errors.push_back(invalid_value(group_name_field(by_annotation), Json(name), broken));
  }
  if (name.empty() || total == nullptr) {
    errors.push_back(required(name.empty() ? group_name_field(false) : annotation_field(kPodGroupTotalCount),
                              "both the '" + std::string(kPodGroupTotalCount) + "' annotation and the '" +
                                  std::string(kPodGroupName) + "' " + (by_annotation ? "annotation" : "label") +
                                  " should be set"));
    return;
  }
  check_group_total(*total, errors);
}

// The prebuilt workload of a group has the name of the group.
void check_prebuilt_of_group(const Json& pod, const JobContext& context, FieldErrors& errors) {
  const std::string_view group = pod_group_name(pod, context.labels.identifier_annotations);
  if (group.empty()) return;
  const std::string_view by_annotation =
      context.labels.identifier_annotations ? annotation_of(pod, kPrebuiltWorkload) : std::string_view();
  const std::string_view name = by_annotation.empty() ? label_of(pod, kPrebuiltWorkload) : by_annotation;
  if (name.empty() || name == group) return;
  errors.push_back(
      invalid_value(by_annotation.empty() ? label_field(kPrebuiltWorkload) : annotation_field(kPrebuiltWorkload),
                    Json(name), "prebuilt workload and pod group should be equal"));
}

// The role of a pod becomes the name of a pod set.
void check_role(const Json& pod, FieldErrors& errors) {
  const std::string_view role = annotation_of(pod, kRoleHash);
  if (role.empty()) return;
  if (const std::string broken = check_dns_label(role); !broken.empty())
    errors.push_back(invalid_value(annotation_field(kRoleHash), Json(role), broken));
}

void check_pod_topology(const Json& pod, const JobContext& context, FieldErrors& errors) {
  // How many pods of a group have this role is not known yet.
  std::optional<std::int64_t> count;
  if (pod_group_name(pod, context.labels.identifier_annotations).empty()) count = 1;
  check_topology_annotations(object_at(pod, {"metadata", "annotations"}), count, "metadata.annotations", errors);
}

void check_pod_flag(const Json& pod, const Json* old, const JobContext& context, FieldErrors& errors) {
  const JsonObject* before = old == nullptr ? nullptr : &object_at(*old, {"metadata", "annotations"});
  const JsonObject& now = object_at(pod, {"metadata", "annotations"});
  if (context.labels.refuse_false_unconstrained) check_unconstrained_flag(now, before, "metadata.annotations", errors);
  if (context.labels.check_spreading) check_topology_spreading(now, before, "metadata.annotations", errors);
}

// In the order of Kueue's webhook.
void check_pod(const Json& pod, const JobContext& context, FieldErrors& errors) {
  check_managed_label(pod, errors);
  check_pod_group(pod, context, errors);
  check_prebuilt_of_group(pod, context, errors);
  check_role(pod, errors);
  check_pod_topology(pod, context, errors);
}

void check_group_name_update(const Json& pod, const Json& old, const JobContext& context, FieldErrors& errors) {
  const std::string_view now = pod_group_name(pod, context.labels.identifier_annotations);
  const std::string_view before = pod_group_name(old, context.labels.identifier_annotations);
  if (now == before) return;
  // A pod whose owner suspends it gets its group later.
  if (before.empty() && !suspending_owner(old).empty() && has_scheduling_gate(old, kAdmissionGate)) return;
  const bool by_annotation = named_by_annotation(pod, context) || (now.empty() && named_by_annotation(old, context));
  errors.push_back(invalid_value(group_name_field(by_annotation), Json(now), kImmutableField));
}

void check_retriable_update(const Json& pod, const Json& old, FieldErrors& errors) {
  if (annotation_of(old, kRetriableInGroup) == "false" && annotation_of(pod, kRetriableInGroup) != "false")
    errors.push_back(
        forbidden_field(annotation_field(kRetriableInGroup), "unretriable pod group can't be converted to retriable"));
}

bool same_labels_and_annotations(const Json& pod, const Json& old) {
  return object_at(pod, {"metadata", "labels"}) == object_at(old, {"metadata", "labels"}) &&
         object_at(pod, {"metadata", "annotations"}) == object_at(old, {"metadata", "annotations"});
}

// A pod that waits at its gate or has ended does not run.
bool waits_or_ended(const Json& pod) { return pod_ended(pod) || has_scheduling_gate(pod, kAdmissionGate); }

}  // namespace

std::string_view pod_group_name(const Json& pod, bool identifier_annotations) {
  if (identifier_annotations) {
    if (const auto name = annotation_of(pod, kPodGroupName); !name.empty()) return name;
  }
  return label_of(pod, kPodGroupName);
}

std::optional<std::int32_t> pod_group_total_count(const Json& pod) {
  const GroupTotal total = read_total(annotation_of(pod, kPodGroupTotalCount));
  if (total.error != std::errc() || total.pods < 1) return std::nullopt;
  return total.pods;
}

bool has_scheduling_gate(const Json& pod, std::string_view name) {
  return std::ranges::any_of(array_at(pod, {"spec", "schedulingGates"}),
                             [&](const Json& gate) { return string_at(gate, {"name"}) == name; });
}

std::string_view suspending_owner(const Json& pod) {
  const std::string_view framework = annotation_of(pod, kPodSuspendingParent);
  if (framework == kDeploymentFramework) return {};
  return controller_of(pod) == nullptr ? std::string_view() : framework;
}

bool is_managed_pod(const Json& pod, const JobContext& context) {
  if (is_left_alone(pod) || !context.namespace_managed || context.ancestor_managed) return false;
  return context.owner_queues || is_managed(pod, context);
}

bool defaults_pod(const Json& pod, const JobContext& context) {
  if (is_managed_pod(pod, context)) return true;
  return context.default_queue_exists && !is_left_alone(pod) && context.namespace_managed && !context.ancestor_managed;
}

void default_pod(Json& pod, const JobContext& context) {
  if (!defaults_pod(pod, context)) return;
  if (!context.owner_queues) take_defaults(pod, context);
  ensure_path(pod, {"metadata", "labels", kManagedLabel}) = Json(kTrue);
  copy_pod_index(pod);
  // An owner that queues its pods says which role they have.
  if (annotation_of(pod, kRoleHash).empty() && !context.owner_queues) {
    const Json* spec = find(pod, "spec");
    ensure_path(pod, {"metadata", "annotations", kRoleHash}) = role_hash(spec == nullptr ? Json() : *spec);
  }
  // The owner of a pod that has a suspending parent answers for it.
  if (annotation_at(pod, kPodSuspendingParent) == nullptr) add_pod_finalizer(pod);
  add_scheduling_gate(pod, kAdmissionGate);
  add_scheduling_gate(pod, kTopologyGate);
}

FieldErrors validate_pod(const Json& pod, const JobContext& context) {
  FieldErrors errors;
  if (!is_judged(pod, context)) return errors;
  check_job_labels(pod, context.labels, errors);
  check_ready_times(pod, context.labels, errors);
  check_no_elastic_job(pod, "/v1, Kind=Pod", errors);
  check_admission_gates(pod, errors);
  check_pod(pod, context, errors);
  check_pod_flag(pod, nullptr, context, errors);
  if (const Json* spec = find(pod, "spec")) check_pod_amounts(*spec, "spec", errors);
  return errors;
}

FieldErrors validate_pod_update(const Json& pod, const Json& old, const JobContext& context) {
  FieldErrors errors;
  if (same_labels_and_annotations(pod, old)) return errors;
  if (!is_judged(pod, context) && !is_judged(old, context)) return errors;
  const bool gates_edited = annotation_of(pod, kAdmissionGatedBy) != annotation_of(old, kAdmissionGatedBy);
  check_job_labels(pod, context.labels, errors);
  check_no_elastic_job(pod, "/v1, Kind=Pod", errors);
  if (gates_edited) check_admission_gates(pod, errors);
  check_job_labels_update(
      {pod, old, waits_or_ended(pod), waits_or_ended(old), context.default_queue_exists, context.labels}, errors);
  if (gates_edited) check_admission_gates_update(pod, old, errors);
  check_pod(pod, context, errors);
  check_pod_flag(pod, &old, context, errors);
  check_group_name_update(pod, old, context, errors);
  check_retriable_update(pod, old, errors);
  return errors;
}

}  // namespace berth::api::kueue
