// Pods, groups and their workloads for the tests of jobs/pods.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/merge_patch.h"
#include "base/yaml.h"
#include "jobs/pods/pod_group.h"
#include "jobs/pods/single_pod.h"

namespace berth::jobs::pods_support {

using api::kueue::Workload;

inline Json yaml(std::string_view text) { return parse_yaml(text).value().front(); }
inline const Time kNow = parse_time("2026-01-01T01:00:00Z").value();

// A gated pod "p" of one cpu in queue q.
inline Json pod(std::string_view changes = "{}") {
  static const Json base = yaml(R"(
apiVersion: v1
kind: Pod
metadata:
  name: p
  namespace: ns
  uid: uid-p
  resourceVersion: "7"
  creationTimestamp: "2026-01-01T00:00:00Z"
  labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/managed: "true"}
  annotations: {kueue.x-k8s.io/role-hash: small}
  finalizers: [kueue.x-k8s.io/managed]
  managedFields: [{manager: m}]
spec:
  containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]
  schedulingGates: [{name: kueue.x-k8s.io/admission}, {name: kueue.x-k8s.io/topology}]
status: {phase: Pending}
)");
  return apply_merge_patch(base, yaml(changes));
}
inline constexpr std::string_view kRunning =
    R"({spec: {schedulingGates: null, nodeName: n}, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}})";
inline constexpr std::string_view kDeleted = R"({metadata: {deletionTimestamp: "2026-01-01T00:59:00Z"}})";

inline ManagedPodPtr managed(const Json& object) { return decode_managed_pod(object, true); }

// The pod `name` of group g; it changes in this order.
inline ManagedPodPtr member(const std::string& name, int total, std::initializer_list<std::string_view> changes = {}) {
  Json object = pod("{metadata: {name: " + name + ", uid: uid-" + name +
                    ", labels: {kueue.x-k8s.io/pod-group-name: g}, annotations: "
                    "{kueue.x-k8s.io/pod-group-total-count: '" +
                    std::to_string(total) + "'}}}");
  for (const auto change : changes) object = apply_merge_patch(object, yaml(change));
  return managed(object);
}

inline const api::kueue::ResourceFlavor& flavor() {
  static const api::kueue::ResourceFlavor one = [] {
    api::kueue::ResourceFlavor f;
    f.meta.name = "f";
    f.node_labels = {{"tier", "a"}};
    f.tolerations = {{"spot", "Exists", "", "", {}}};
    return f;
  }();
  return one;
}

inline JobFacts facts(WorkloadPtr stored = nullptr) {
  JobFacts result;
  result.flavors = [](std::string_view name) { return name == "f" ? &flavor() : nullptr; };
  result.workload_priority_class = [](std::string_view name) -> std::optional<std::int32_t> {
    return name == "high" ? std::optional(100) : std::nullopt;
  };
  result.priority_class = [](std::string_view) { return std::optional<std::int32_t>(); };
  result.global_default_priority_class = [] { return std::optional<std::pair<std::string, std::int32_t>>(); };
  result.workload = [stored](std::string_view, std::string_view name) {
    return stored && stored->meta.name == name ? stored : nullptr;
  };
  return result;
}

inline std::string true_condition(std::string_view type, std::string_view reason) {
  return "{type: " + std::string(type) + R"(, status: "True", reason: )" + std::string(reason) +
         R"(, message: because, lastTransitionTime: "2026-01-01T00:00:00Z"})";
}
inline const std::string kReserved = true_condition("QuotaReserved", "QuotaReserved");
inline const std::string kAdmitted = kReserved + ", " + true_condition("Admitted", "Admitted");
inline const std::string kEvicted = kAdmitted + ", " + true_condition("Evicted", "Preempted");

template <typename T>
std::vector<T> all(const PodPlan& plan) {
  std::vector<T> found;
  for (const auto& step : plan.steps) {
    if (const auto* one = std::get_if<T>(&step)) found.push_back(*one);
  }
  return found;
}

// The workload that a plan creates, as the API returns it, with these conditions; admitted ones have an assignment.
inline WorkloadPtr stored(const PodPlan& plan, const std::string& conditions) {
  Json object = all<CreateWorkload>(plan).at(0).object;
  ensure_path(object, {"metadata", "uid"}) = "wl-1";
  ensure_path(object, {"metadata", "resourceVersion"}) = "9";
  object.as_object()["status"] = yaml("{conditions: [" + conditions + "]}");
  if (!conditions.empty()) {
    JsonArray assignments;
    for (const auto& pod_set : array_at(object, {"spec", "podSets"}))
      assignments.push_back(JsonObject{{"name", string_at(pod_set, {"name"})},
                                       {"count", int_at(pod_set, {"count"})},
                                       {"flavors", JsonObject{{"cpu", "f"}}}});
    ensure_path(object, {"status", "admission"}) =
        JsonObject{{"clusterQueue", "cq"}, {"podSetAssignments", std::move(assignments)}};
  }
  return std::make_shared<const Workload>(api::kueue::decode_workload(object).value());
}

inline PodPlan single(const Json& object, const std::vector<WorkloadPtr>& workloads, const JobFacts& with = facts()) {
  return reconcile_pod(managed(object), workloads, with, kNow);
}
inline WorkloadPtr single_workload(const std::string& conditions) { return stored(single(pod(), {}), conditions); }

inline PodPlan group(std::vector<ManagedPodPtr> pods, const WorkloadPtr& workload = nullptr) {
  return reconcile_group("ns", "g", std::move(pods), facts(workload), kNow);
}
inline WorkloadPtr group_workload(const std::vector<ManagedPodPtr>& pods, const std::string& conditions) {
  return stored(group(pods), conditions);
}

inline std::vector<std::string> events(const PodPlan& plan) {
  std::vector<std::string> texts;
  const auto note = [&texts](const JobEvent& event) { texts.push_back(event.reason + ": " + event.note); };
  for (const auto& create : all<CreateWorkload>(plan)) note(create.event);
  for (const auto& event : all<JobEvent>(plan)) note(event);
  for (const auto& action : plan.actions) {
    if (action.event) texts.push_back(action.pod->name + " " + action.event->reason + ": " + action.event->note);
  }
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace berth::jobs::pods_support
