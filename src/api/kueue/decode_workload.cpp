// Reading Workloads.
#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string_view>

#include "api/core/pod_amounts.h"
#include "api/kueue/topology_assignment.h"
#include "api/kueue/types.h"

namespace berth::api::kueue {
namespace {

// A number of pods, or of other things that are counted: never negative.
std::int32_t count_or(const Json& value, std::string_view key, std::int32_t otherwise) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(int_at(value, {key}, otherwise), 0, kMost));
}

std::string text_at(const Json& value, std::initializer_list<std::string_view> keys) {
  return std::string(string_at(value, keys));
}

StringMap strings_at(const Json& value, std::string_view key) {
  const Json* member = find(value, key);
  return member ? decode_string_map(*member) : StringMap();
}

std::string name_or_main(const Json& value) { return std::string(string_at(value, {"name"}, "main")); }

Result<ResourceList> resources_at(const Json& value, std::string_view key, const std::string& path) {
  const Json* member = find(value, key);
  if (!member) return ResourceList();
  auto list = decode_resource_list(*member);
  if (!list) return fail(path + "." + std::string(key) + "." + list.error().message);
  return at_least_zero(std::move(*list));
}

PodSet decode_pod_set(const Json& value, const TemplateKeeper& keep) {
  PodSet pod_set;
  pod_set.name = name_or_main(value);
  const Json* pod_template = find(value, "template");
  pod_set.template_ = keep(pod_template ? *pod_template : Json(JsonObject()));
  pod_set.count = count_or(value, "count", 1);
  if (optional_int32_at(value, {"minCount"})) pod_set.min_count = count_or(value, "minCount", 0);
  const Json* topology = find(value, "topologyRequest");
  if (topology && topology->is_object()) pod_set.topology_request = decode_topology_request(*topology);
  return pod_set;
}

DelayedTopology decode_delayed(std::string_view text) {
  if (text == "Pending") return DelayedTopology::kPending;
  return text == "Ready" ? DelayedTopology::kReady : DelayedTopology::kNone;
}

Result<Admission> decode_admission(const Json& value) {
  Admission admission;
  admission.cluster_queue = string_at(value, {"clusterQueue"});
  for (const Json& one : array_at(value, {"podSetAssignments"})) {
    PodSetAssignment assignment;
    assignment.name = name_or_main(one);
    assignment.flavors = strings_at(one, "flavors");
    const std::string path =
        "status.admission.podSetAssignments[" + std::to_string(admission.pod_set_assignments.size()) + "]";
    auto usage = resources_at(one, "resourceUsage", path);
    if (!usage) return tl::unexpected(usage.error());
    assignment.resource_usage = std::move(*usage);
    assignment.count = count_or(one, "count", 0);
    if (const Json* places = find(one, "topologyAssignment"); places && places->is_object()) {
      auto decoded = decode_topology_assignment(*places);
      if (!decoded) return fail(path + ".topologyAssignment." + decoded.error().message);
      assignment.topology_assignment = std::make_shared<const TopologyAssignment>(std::move(*decoded));
    }
    assignment.delayed_topology = decode_delayed(string_at(one, {"delayedTopologyRequest"}));
    admission.pod_set_assignments.push_back(std::move(assignment));
  }
  return admission;
}

Result<CheckState> decode_check_state(std::string_view text) {
  if (text == "Pending" || text.empty()) return CheckState::kPending;
  if (text == "Ready") return CheckState::kReady;
  if (text == "Retry") return CheckState::kRetry;
  if (text == "Rejected") return CheckState::kRejected;
  return fail("unsupported state \"" + std::string(text) + "\"");
}

PodSetUpdate decode_update(const Json& value) {
  PodSetUpdate update;
  update.name = string_at(value, {"name"});
  update.labels = strings_at(value, "labels");
  update.annotations = strings_at(value, "annotations");
  update.node_selector = strings_at(value, "nodeSelector");
  if (const Json* tolerations = find(value, "tolerations")) update.tolerations = decode_tolerations(*tolerations);
  return update;
}

Result<AdmissionCheckState> decode_check(const Json& value) {
  AdmissionCheckState check;
  check.name = string_at(value, {"name"});
  const auto state = decode_check_state(string_at(value, {"state"}));
  if (!state) return fail("status.admissionChecks[" + check.name + "].state: " + state.error().message);
  check.state = *state;
  check.last_transition = parse_time(string_at(value, {"lastTransitionTime"})).value_or(Time{});
  check.message = string_at(value, {"message"});
  check.requeue_after_seconds = optional_int32_at(value, {"requeueAfterSeconds"});
  check.retry_count = optional_int32_at(value, {"retryCount"});
  for (const Json& update : array_at(value, {"podSetUpdates"})) check.pod_set_updates.push_back(decode_update(update));
  return check;
}

std::optional<RequeueState> decode_requeue_state(const Json& status) {
  const Json* value = find(status, "requeueState");
  if (!value || !value->is_object()) return std::nullopt;
  RequeueState state;
  state.count = optional_int32_at(*value, {"count"});
  if (const auto at = parse_time(string_at(*value, {"requeueAt"}))) state.requeue_at = *at;
  return state;
}

bool has_others(const Json* value, std::initializer_list<std::string_view> known) {
  return value != nullptr && value->is_object() && std::ranges::any_of(value->get_object(), [&](const auto& member) {
           return std::ranges::find(known, std::string_view(member.key().data(), member.key().size())) == known.end();
         });
}

// Whether the status has fields that are not decoded below. Does not look inside lists: a patch replaces these as a
// whole.
// Whether an assignment is not written as Berth writes it: no validation lets an update write it so while quota is
// held.
bool has_odd_assignments(const Json& status) {
  const auto is_empty = [](const Json* map) { return map != nullptr && map->is_object() && map->get_object().empty(); };
  return std::ranges::any_of(array_at(status, {"admission", "podSetAssignments"}), [&](const Json& one) {
    return is_empty(find(one, "flavors")) || is_empty(find(one, "resourceUsage")) || find(one, "count") == nullptr;
  });
}

bool has_more(const Json& status) {
  return has_others(&status, {"conditions", "admission", "requeueState", "reclaimablePods", "admissionChecks",
                              "resourceRequests", "accumulatedPastExecutionTimeSeconds", "schedulingStats",
                              "unhealthyNodes", "preemptionGates", "clusterName", "nominatedClusterNames"}) ||
         has_others(find(status, "admission"), {"clusterQueue", "podSetAssignments"}) || has_odd_assignments(status) ||
         has_others(find(status, "requeueState"), {"count", "requeueAt"}) ||
         has_others(find(status, "schedulingStats"), {"evictions"});
}

Result<WorkloadStatus> decode_status(const Json& value) {
  WorkloadStatus status;
  status.has_more = has_more(value);
  if (const Json* conditions = find(value, "conditions")) status.conditions = decode_conditions(*conditions);
  if (const Json* admission = find(value, "admission"); admission && admission->is_object()) {
    auto decoded = decode_admission(*admission);
    if (!decoded) return tl::unexpected(decoded.error());
    // Without a cluster queue it is no admission.
    if (!decoded->cluster_queue.empty()) status.admission = std::move(*decoded);
  }
  status.requeue_state = decode_requeue_state(value);
  for (const Json& pod : array_at(value, {"reclaimablePods"}))
    status.reclaimable_pods.push_back({text_at(pod, {"name"}), count_or(pod, "count", 0)});
  for (const Json& check : array_at(value, {"admissionChecks"})) {
    auto decoded = decode_check(check);
    if (!decoded) return tl::unexpected(decoded.error());
    status.admission_checks.push_back(std::move(*decoded));
  }
  for (const Json& request : array_at(value, {"resourceRequests"})) {
    const std::string name = text_at(request, {"name"});
    auto resources = resources_at(request, "resources", "status.resourceRequests[" + name + "]");
    if (!resources) return tl::unexpected(resources.error());
    status.resource_requests.push_back({name, std::move(*resources)});
  }
  status.accumulated_past_execution_time_seconds = optional_int32_at(value, {"accumulatedPastExecutionTimeSeconds"});
  for (const Json& eviction : array_at(value, {"schedulingStats", "evictions"}))
    status.evictions.push_back(
        {text_at(eviction, {"reason"}), text_at(eviction, {"underlyingCause"}), count_or(eviction, "count", 0)});
  for (const Json& node : array_at(value, {"unhealthyNodes"}))
    status.unhealthy_nodes.push_back(text_at(node, {"name"}));
  for (const Json& gate : array_at(value, {"preemptionGates"}))
    status.preemption_gates.push_back({text_at(gate, {"name"}), string_at(gate, {"position"}) == "Open",
                                       parse_time(string_at(gate, {"lastTransitionTime"})).value_or(Time{})});
  status.cluster_name = text_at(value, {"clusterName"});
  for (const Json& name : array_at(value, {"nominatedClusterNames"})) {
    if (name.is_string()) status.nominated_cluster_names.emplace_back(view(name.get_string()));
  }
  return status;
}

}  // namespace

TopologyRequest decode_topology_request(const Json& value) {
  TopologyRequest request;
  const auto optional_text = [&](std::string_view key) -> std::optional<std::string> {
    const Json* member = find(value, key);
    if (!member || !member->is_string()) return std::nullopt;
    return std::string(member->as_string());
  };
  request.required = optional_text("required");
  request.preferred = optional_text("preferred");
  if (const Json* flag = find(value, "unconstrained"); flag && flag->is_bool()) request.unconstrained = flag->as_bool();
  request.pod_index_label = text_at(value, {"podIndexLabel"});
  request.sub_group_index_label = text_at(value, {"subGroupIndexLabel"});
  request.sub_group_count = optional_int32_at(value, {"subGroupCount"});
  request.pod_set_group_name = text_at(value, {"podSetGroupName"});
  request.slice_required_topology = text_at(value, {"podSetSliceRequiredTopology"});
  request.slice_size = optional_int32_at(value, {"podSetSliceSize"});
  for (const Json& layer : array_at(value, {"podsetSliceRequiredTopologyConstraints"}))
    request.slice_constraints.push_back({text_at(layer, {"topology"}), count_or(layer, "size", 1)});
  return request;
}

JsonPtr copy_template(const Json& pod_template) { return std::make_shared<const Json>(pod_template); }

Result<Workload> decode_workload(const Json& object, const TemplateKeeper& keep) {
  Workload workload;
  workload.meta = decode_meta(object);
  for (const Json& pod_set : array_at(object, {"spec", "podSets"}))
    workload.pod_sets.push_back(decode_pod_set(pod_set, keep));
  workload.queue_name = string_at(object, {"spec", "queueName"});
  if (const Json* ref = find_path(object, {"spec", "priorityClassRef"}); ref && ref->is_object())
    workload.priority_class_ref =
        PriorityClassRef{text_at(*ref, {"group"}), text_at(*ref, {"kind"}), text_at(*ref, {"name"})};
  workload.priority = static_cast<std::int32_t>(int_at(object, {"spec", "priority"}));
  workload.active = bool_at(object, {"spec", "active"}, true);
  workload.maximum_execution_time_seconds = optional_int32_at(object, {"spec", "maximumExecutionTimeSeconds"});
  for (const Json& gate : array_at(object, {"spec", "preemptionGates"}))
    workload.preemption_gates.push_back(text_at(gate, {"name"}));
  if (const Json* status = find(object, "status")) {
    auto decoded = decode_status(*status);
    if (!decoded) return fail("Workload " + object_key(workload.meta) + ": " + decoded.error().message);
    workload.status = std::move(*decoded);
  }
  return workload;
}

}  // namespace berth::api::kueue
