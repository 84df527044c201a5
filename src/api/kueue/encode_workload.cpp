// Writing Workloads.
#include "api/kueue/check_state.h"
#include "api/kueue/topology_assignment.h"
#include "api/kueue/types.h"

namespace berth::api::kueue {
namespace {

JsonObject encode_pod_set(const PodSet& pod_set) {
  JsonObject out;
  out["name"] = pod_set.name;
  out["count"] = pod_set.count;
  if (pod_set.min_count) out["minCount"] = *pod_set.min_count;
  if (pod_set.topology_request) out["topologyRequest"] = encode_topology_request(*pod_set.topology_request);
  out["template"] = pod_set.template_ ? *pod_set.template_ : Json(JsonObject());
  return out;
}

JsonObject encode_admission(const Admission& admission) {
  JsonArray assignments;
  for (const PodSetAssignment& assignment : admission.pod_set_assignments) {
    JsonObject one;
    one["name"] = assignment.name;
    if (!assignment.flavors.empty()) one["flavors"] = encode_string_map(assignment.flavors);
    if (!assignment.resource_usage.empty()) one["resourceUsage"] = encode_resource_list(assignment.resource_usage);
    one["count"] = assignment.count;
    if (assignment.topology_assignment)
      one["topologyAssignment"] = encode_topology_assignment(*assignment.topology_assignment);
    if (assignment.delayed_topology != DelayedTopology::kNone)
      one["delayedTopologyRequest"] = assignment.delayed_topology == DelayedTopology::kPending ? "Pending" : "Ready";
    assignments.push_back(std::move(one));
  }
  return JsonObject{{"clusterQueue", admission.cluster_queue}, {"podSetAssignments", std::move(assignments)}};
}

JsonObject encode_update(const PodSetUpdate& update) {
  JsonObject out;
  out["name"] = update.name;
  if (!update.labels.empty()) out["labels"] = encode_string_map(update.labels);
  if (!update.annotations.empty()) out["annotations"] = encode_string_map(update.annotations);
  if (!update.node_selector.empty()) out["nodeSelector"] = encode_string_map(update.node_selector);
  if (!update.tolerations.empty()) out["tolerations"] = encode_tolerations(update.tolerations);
  return out;
}

JsonObject encode_check(const AdmissionCheckState& check) {
  JsonObject out;
  out["name"] = check.name;
  out["state"] = name_of(check.state);
  out["lastTransitionTime"] = format_time(check.last_transition);
  out["message"] = check.message;
  if (check.requeue_after_seconds) out["requeueAfterSeconds"] = *check.requeue_after_seconds;
  if (check.retry_count) out["retryCount"] = *check.retry_count;
  if (!check.pod_set_updates.empty()) {
    JsonArray updates;
    for (const PodSetUpdate& update : check.pod_set_updates) updates.push_back(encode_update(update));
    out["podSetUpdates"] = std::move(updates);
  }
  return out;
}

// Writes a list under `key`; leaves out an empty list.
template <typename T, typename Encode>
void put_list(JsonObject& out, std::string_view key, const std::vector<T>& values, Encode encode) {
  if (values.empty()) return;
  JsonArray array;
  for (const T& value : values) array.push_back(encode(value));
  out[boost::json::string_view(key.data(), key.size())] = std::move(array);
}

}  // namespace

Json encode_workload_status(const WorkloadStatus& status) {
  JsonObject out;
  if (!status.conditions.empty()) out["conditions"] = encode_conditions(status.conditions);
  if (status.admission) out["admission"] = encode_admission(*status.admission);
  if (status.requeue_state) {
    JsonObject state;
    if (status.requeue_state->count) state["count"] = *status.requeue_state->count;
    if (status.requeue_state->requeue_at) state["requeueAt"] = format_time(*status.requeue_state->requeue_at);
    out["requeueState"] = std::move(state);
  }
  put_list(out, "reclaimablePods", status.reclaimable_pods,
           [](const ReclaimablePod& pod) { return JsonObject{{"name", pod.name}, {"count", pod.count}}; });
  put_list(out, "admissionChecks", status.admission_checks, encode_check);
  put_list(out, "resourceRequests", status.resource_requests, [](const PodSetRequest& request) {
    return JsonObject{{"name", request.name}, {"resources", encode_resource_list(request.resources)}};
  });
  if (status.accumulated_past_execution_time_seconds)
    out["accumulatedPastExecutionTimeSeconds"] = *status.accumulated_past_execution_time_seconds;
  if (!status.evictions.empty()) {
    JsonObject stats;
    put_list(stats, "evictions", status.evictions, [](const EvictionCount& e) {
      return JsonObject{{"reason", e.reason}, {"underlyingCause", e.underlying_cause}, {"count", e.count}};
    });
    out["schedulingStats"] = std::move(stats);
  }
  put_list(out, "unhealthyNodes", status.unhealthy_nodes,
           [](const std::string& node) { return JsonObject{{"name", node}}; });
  put_list(out, "preemptionGates", status.preemption_gates, [](const PreemptionGate& gate) {
    return JsonObject{{"name", gate.name},
                      {"position", gate.open ? "Open" : "Closed"},
                      {"lastTransitionTime", format_time(gate.last_transition)}};
  });
  if (!status.cluster_name.empty()) out["clusterName"] = status.cluster_name;
  put_list(out, "nominatedClusterNames", status.nominated_cluster_names,
           [](const std::string& name) { return Json(name); });
  return out;
}

Json encode_topology_request(const TopologyRequest& request) {
  JsonObject out;
  if (request.required) out["required"] = *request.required;
  if (request.preferred) out["preferred"] = *request.preferred;
  if (request.unconstrained) out["unconstrained"] = *request.unconstrained;
  if (!request.pod_index_label.empty()) out["podIndexLabel"] = request.pod_index_label;
  if (!request.sub_group_index_label.empty()) out["subGroupIndexLabel"] = request.sub_group_index_label;
  if (request.sub_group_count) out["subGroupCount"] = *request.sub_group_count;
  if (!request.pod_set_group_name.empty()) out["podSetGroupName"] = request.pod_set_group_name;
  if (!request.slice_required_topology.empty()) out["podSetSliceRequiredTopology"] = request.slice_required_topology;
  if (request.slice_size) out["podSetSliceSize"] = *request.slice_size;
  put_list(out, "podsetSliceRequiredTopologyConstraints", request.slice_constraints,
           [](const SliceLayer& layer) { return JsonObject{{"topology", layer.topology}, {"size", layer.size}}; });
  return out;
}

bool PodSetAssignment::operator==(const PodSetAssignment& other) const {
  const bool same_places =
      topology_assignment == other.topology_assignment ||
      (topology_assignment && other.topology_assignment && *topology_assignment == *other.topology_assignment);
  return same_places && delayed_topology == other.delayed_topology && name == other.name && flavors == other.flavors &&
         resource_usage == other.resource_usage && count == other.count;
}

Json encode_workload(const Workload& workload) {
  JsonObject spec;
  put_list(spec, "podSets", workload.pod_sets, encode_pod_set);
  if (!workload.queue_name.empty()) spec["queueName"] = workload.queue_name;
  if (const auto& ref = workload.priority_class_ref)
    spec["priorityClassRef"] = JsonObject{{"group", ref->group}, {"kind", ref->kind}, {"name", ref->name}};
  spec["priority"] = workload.priority;
  spec["active"] = workload.active;
  if (workload.maximum_execution_time_seconds)
    spec["maximumExecutionTimeSeconds"] = *workload.maximum_execution_time_seconds;
  put_list(spec, "preemptionGates", workload.preemption_gates,
           [](const std::string& gate) { return JsonObject{{"name", gate}}; });
  JsonObject out;
  out["apiVersion"] = std::string(kGroup) + "/" + std::string(kVersion);
  out["kind"] = "Workload";
  out["metadata"] = encode_meta(workload.meta);
  out["spec"] = std::move(spec);
  // A status that had only unknown fields is empty too.
  if (Json status = encode_workload_status(workload.status); !status.as_object().empty())
    out["status"] = std::move(status);
  return out;
}

}  // namespace berth::api::kueue
