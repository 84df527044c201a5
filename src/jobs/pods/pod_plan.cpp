#include "jobs/pods/pod_plan.h"

#include <algorithm>
#include <utility>

#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "api/kueue/pod_rules.h"
#include "api/kueue/topology_annotations.h"
#include "base/merge_patch.h"
#include "jobs/workload_steps.h"

namespace berth::jobs {
namespace {

using namespace api::kueue;

constexpr std::string_view kTerminationTarget = "TerminationTarget";

// Whether admission decides where the pod runs: then the topology gate stays until the place is set.
bool gets_a_place(const PodSetInfo& info) {
  return std::ranges::find(info.scheduling_gates, kTopologyGate) != info.scheduling_gates.end();
}

bool has_gate(const Json& spec, std::string_view name) {
  return std::ranges::any_of(array_at(spec, {"schedulingGates"}),
                             [&](const Json& gate) { return string_at(gate, {"name"}) == name; });
}

bool names_topology(const Json& pod) { return names_topology_mode(object_at(pod, {"metadata", "annotations"})); }

// Null removes the field: the last gate is gone.
Json gates_without(const Json& spec, bool keep_topology) {
  JsonArray kept;
  for (const Json& gate : array_at(spec, {"schedulingGates"})) {
    const auto name = string_at(gate, {"name"});
    if (name != kAdmissionGate && (name != kTopologyGate || keep_topology)) kept.push_back(gate);
  }
  return kept.empty() ? Json(nullptr) : Json(std::move(kept));
}

}  // namespace

PodSet pod_set_of(const ManagedPod& pod, std::string name, std::int32_t count) {
  PodSet pod_set;
  pod_set.name = std::move(name);
  pod_set.count = count;
  static const JsonPtr nothing = std::make_shared<const Json>(JsonObject{{"metadata", JsonObject()}});
  pod_set.template_ = pod.pod_template ? pod.pod_template : nothing;
  pod_set.topology_request =
      topology_request_of(object_at(*pod.object, {"metadata", "annotations"}), kPodGroupPodIndex);
  return pod_set;
}

Result<PodAction> let_go(const ManagedPodPtr& pod, const PodSetInfo& info, const WorkloadPtr& workload) {
  PodSetInfo wanted = info;
  const bool placed = gets_a_place(info);
  if (placed && !has_gate(pod->spec(), kTopologyGate)) {
    return fail("pod " + pod->ns + "/" + pod->name + " has no scheduling gate " + std::string(kTopologyGate) +
                ", so it cannot be given its place: create it again");
  }
  wanted.scheduling_gates.clear();
  if (names_topology(*pod->object)) wanted.annotations.erase(std::string(kUnconstrainedTopology));
  Json before = JsonObject{{"metadata", JsonObject()}, {"spec", JsonObject()}};
  for (const std::string_view member : {"labels", "annotations"}) {
    if (const Json* value = find_path(*pod->object, {"metadata", member}))
      ensure_path(before, {"metadata", member}) = *value;
  }
  for (const std::string_view member : {"nodeSelector", "tolerations"}) {
    if (const Json* value = find(pod->spec(), member)) ensure_path(before, {"spec", member}) = *value;
  }
  Json after = before;
  if (auto merged = merge_into_template(after, wanted); !merged)
    return fail("pod " + pod->ns + "/" + pod->name + ": " + merged.error().message);
  Json patch = make_merge_patch(before, after);
  ensure_path(patch, {"spec", "schedulingGates"}) = gates_without(pod->spec(), placed);
  const auto& admission = workload->status.admission;
  return PodAction{
      pod, JobPatch{std::move(patch), "", true}, false,
      JobEvent{false, "Started", "Admitted by clusterQueue " + (admission ? admission->cluster_queue : std::string())},
      workload};
}

PodAction stop(const ManagedPodPtr& pod, std::string_view reason, std::string_view message, Time now) {
  JsonArray conditions;
  if (pod->conditions) {
    for (const Json& one : pod->conditions->as_array()) {
      if (string_at(one, {"type"}) != kTerminationTarget) conditions.push_back(one);
    }
  }
  conditions.push_back(JsonObject{{"type", kTerminationTarget},
                                  {"status", "True"},
                                  {"reason", reason},
                                  {"message", message},
                                  {"lastTransitionTime", format_time(now)}});
  return {pod, JobPatch{JsonObject{{"status", JsonObject{{"conditions", std::move(conditions)}}}}, "status", true},
          true, JobEvent{false, "Stopped", std::string(message)}};
}

PodAction drop_finalizer(const ManagedPodPtr& pod) {
  JsonArray kept;
  for (const Json& one : array_at(*pod->object, {"metadata", "finalizers"})) {
    if (!one.is_string() || view(one.get_string()) != kPodFinalizer) kept.push_back(one);
  }
  return {pod, JobPatch{JsonObject{{"metadata", JsonObject{{"finalizers", std::move(kept)}}}}, "", true}};
}

std::string evicted_reason(const Workload& workload) {
  const api::Condition* evicted = api::find_condition(workload.status.conditions, kEvicted);
  return "WorkloadEvictedDueTo" + (evicted == nullptr ? std::string() : evicted->reason);
}

}  // namespace berth::jobs
