#include "api/kueue/pod_placement.h"

#include <algorithm>

#include "api/core/node_labels.h"
#include "api/core/pod_phase.h"
#include "api/kueue/names.h"
#include "api/kueue/slices.h"

namespace berth::api::kueue {
// Kueue's rule: the pod has a topology annotation, or the scheduling gate that Kueue's webhook adds.
bool wants_places(const Json& pod) {
  const JsonObject& annotations = object_at(pod, {"metadata", "annotations"});
  for (const auto key :
       {kRequiredTopology, kPreferredTopology, kUnconstrainedTopology, kSliceRequiredTopology, kSliceConstraints}) {
    if (annotations.contains(key)) return true;
  }
  const JsonArray& gates = array_at(pod, {"spec", "schedulingGates"});
  return std::any_of(gates.begin(), gates.end(),
                     [](const Json& gate) { return string_at(gate, {"name"}) == kTopologyGate; });
}

PodPlacement decode_pod_placement(const Json& pod) {
  PodPlacement out;
  const auto text = [&](std::initializer_list<std::string_view> path) { return std::string(string_at(pod, path)); };
  out.uid = text({"metadata", "uid"});
  out.ns = text({"metadata", "namespace"});
  out.name = text({"metadata", "name"});
  out.workload = text({"metadata", "annotations", kSliceName});
  if (out.workload.empty()) out.workload = text({"metadata", "annotations", "kueue.x-k8s.io/workload"});
  if (!out.workload.empty()) out.pod_set = text({"metadata", "labels", "kueue.x-k8s.io/podset"});
  out.node = text({"spec", "nodeName"});
  out.bound = !out.node.empty();
  if (!out.bound && array_at(pod, {"spec", "schedulingGates"}).empty())
    out.node = text({"spec", "nodeSelector", kHostnameLabel});
  const auto phase = string_at(pod, {"status", "phase"});
  out.terminated = is_ended_phase(phase);
  out.succeeded = phase == kPodSucceeded;
  out.wants_places = kueue::wants_places(pod);
  const std::string deletion = text({"metadata", "deletionTimestamp"});
  out.terminating = !deletion.empty();
  if (const auto at = parse_time(deletion); out.terminating && at) out.gone_by = *at;
  if (const Json* spec = find(pod, "spec")) {
    out.requests = pod_requests(*spec);
    out.host_ports = api::host_ports(*spec);
  }
  return out;
}

}  // namespace berth::api::kueue
