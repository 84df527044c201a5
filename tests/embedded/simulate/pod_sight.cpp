#include "embedded/simulate/pod_sight.h"

#include <algorithm>

namespace berth::simulation {
namespace {

constexpr std::string_view kAdmissionGateName = "kueue.x-k8s.io/admission";
constexpr std::string_view kFinalizerOfPods = "kueue.x-k8s.io/managed";

}  // namespace

bool has_admission_gate(const JsonArray& gates) {
  return std::ranges::any_of(gates, [](const Json& gate) { return string_at(gate, {"name"}) == kAdmissionGateName; });
}

bool keeps_finalizer(const Json& pod) {
  return std::ranges::any_of(array_at(pod, {"metadata", "finalizers"}), [](const Json& one) {
    return one.is_string() && view(one.get_string()) == kFinalizerOfPods;
  });
}

bool is_deleted(const Json& object) { return find_path(object, {"metadata", "deletionTimestamp"}) != nullptr; }

std::string controller_uid(const Json& object) {
  for (const Json& owner : array_at(object, {"metadata", "ownerReferences"})) {
    if (bool_at(owner, {"controller"})) return std::string(string_at(owner, {"uid"}));
  }
  return {};
}

PodSight::PodSight(const Json& pod)
    : name(string_at(pod, {"metadata", "name"})),
      uid(string_at(pod, {"metadata", "uid"})),
      phase(string_at(pod, {"status", "phase"})),
      group(string_at(pod, {"metadata", "annotations", "kueue.x-k8s.io/pod-group-name"})),
      workload(string_at(pod, {"metadata", "annotations", "kueue.x-k8s.io/workload"})),
      pod_set(string_at(pod, {"metadata", "labels", "kueue.x-k8s.io/podset"})),
      role(string_at(pod, {"metadata", "annotations", "kueue.x-k8s.io/role-hash"})),
      queue(string_at(pod, {"metadata", "labels", "kueue.x-k8s.io/queue-name"})),
      total(string_at(pod, {"metadata", "annotations", "kueue.x-k8s.io/pod-group-total-count"})),
      controller(controller_uid(pod)),
      orphaned(controller.empty() &&
               find_path(pod, {"metadata", "annotations", "kueue.x-k8s.io/pod-suspending-parent"}) != nullptr),
      by_hand(find_path(pod, {"metadata", "annotations", kUngatedByHand}) != nullptr),
      deleting(is_deleted(pod)),
      gated(has_admission_gate(array_at(pod, {"spec", "schedulingGates"}))),
      ended(phase == "Succeeded" || phase == "Failed") {
  bound = !string_at(pod, {"spec", "nodeName"}).empty();
  if (group.empty()) group = string_at(pod, {"metadata", "labels", "kueue.x-k8s.io/pod-group-name"});
  managed =
      gated || keeps_finalizer(pod) ||
      (string_at(pod, {"metadata", "labels", "kueue.x-k8s.io/managed"}) == "true" && !(queue.empty() && group.empty()));
  for (const auto& condition : array_at(pod, {"status", "conditions"})) {
    const auto type = string_at(condition, {"type"});
    const bool yes = string_at(condition, {"status"}) == "True";
    if (type == "Ready") ready = yes;
    if (type == "PodScheduled" && !yes) unschedulable = string_at(condition, {"message"});
  }
}

bool PodSight::belongs_to(const Json& candidate) const {
  if (string_at(candidate, {"metadata", "name"}) != group) return false;
  return std::ranges::any_of(array_at(candidate, {"spec", "podSets"}),
                             [this](const Json& one) { return string_at(one, {"name"}) == role; });
}

bool is_whole(const std::vector<PodSight>& group) {
  const PodSight* first = nullptr;
  std::int64_t waiting = 0;
  for (const PodSight& pod : group) {
    if (pod.runs()) return false;    // it is about to be stopped
    if (pod.orphaned) return false;  // its owner would have made the workload, and pods keep their group
    if (!pod.gated || pod.ended || pod.deleting) continue;
    if (first == nullptr) first = &pod;
    if (pod.queue != first->queue || pod.total != first->total) return false;
    ++waiting;
  }
  return first != nullptr && !first->queue.empty() && std::to_string(waiting) >= first->total &&
         first->total.size() == 1;
}

}  // namespace berth::simulation
