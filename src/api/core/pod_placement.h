// Where a pod is or is bound to go, and for whom it runs there.
#pragma once

#include <optional>
#include <string>

#include "api/core/pod_resources.h"
#include "base/json.h"
#include "base/time.h"

namespace berth::api {

struct PodPlacement {
  std::string uid, ns, name;
  // Of a pod that was placed by topology: annotation kueue.x-k8s.io/workload and label kueue.x-k8s.io/podset. Empty for others.
  std::string workload, pod_set;
  std::string node;        // spec.nodeName, else the hostname its node selector names once it has no scheduling gate; "" none
  bool bound = false;      // spec.nodeName is set
  bool terminated = false;   // Succeeded or Failed: holds nothing any more
  bool terminating = false;  // has a deletion timestamp: holds its node until it is gone, makes no progress
  // Asks for places, or waits behind the topology gate: a pod of some placed workload, also when it does not say which.
  bool wants_places = false;
  std::optional<Time> gone_by;  // of a terminating one: when its grace period ends (the deletion timestamp)
  ResourceList requests;   // of the pod, without the implicit `pods: 1`
  bool operator==(const PodPlacement&) const = default;

  // What it uses is counted on its node. A pod that asks for places and names no workload is counted with the claim of its workload,
  // whichever that is, and not once more.
  bool holds_node() const { return !node.empty() && !terminated && !(wants_places && workload.empty()); }
};
PodPlacement decode_pod_placement(const Json& pod);

}  // namespace berth::api
