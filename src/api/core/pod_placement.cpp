#include "api/core/pod_placement.h"

namespace berth::api {

PodPlacement decode_pod_placement(const Json& pod) {
  PodPlacement out;
  const auto text = [&](std::initializer_list<std::string_view> path) { return std::string(string_at(pod, path)); };
  out.uid = text({"metadata", "uid"});
  out.ns = text({"metadata", "namespace"});
  out.name = text({"metadata", "name"});
  out.workload = text({"metadata", "annotations", "kueue.x-k8s.io/workload"});
  if (!out.workload.empty()) out.pod_set = text({"metadata", "labels", "kueue.x-k8s.io/podset"});
  out.node = text({"spec", "nodeName"});
  out.bound = !out.node.empty();
  if (!out.bound && array_at(pod, {"spec", "schedulingGates"}).empty())
    out.node = text({"spec", "nodeSelector", "kubernetes.io/hostname"});
  const auto phase = string_at(pod, {"status", "phase"});
  out.terminated = phase == "Succeeded" || phase == "Failed";
  out.terminating = !string_at(pod, {"metadata", "deletionTimestamp"}).empty();
  if (const Json* spec = find(pod, "spec")) out.requests = pod_requests(*spec);
  return out;
}

}  // namespace berth::api
