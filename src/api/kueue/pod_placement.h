// The node of a pod, and the workload that it belongs to.
#pragma once

#include <optional>
#include <string>

#include "api/core/pod_resources.h"
#include "base/json.h"
#include "base/time.h"

namespace berth::api::kueue {

struct PodPlacement {
  std::string uid, ns, name;
  // Of a pod with a topology assignment: annotation kueue.x-k8s.io/workload and label kueue.x-k8s.io/podset. Else
  // empty.
  std::string workload, pod_set;
  // spec.nodeName; without it, and when the pod has no scheduling gate, the hostname in its node selector; "" none.
  std::string node;
  bool bound = false;        // spec.nodeName is set
  bool terminated = false;   // Succeeded or Failed: uses nothing any more
  bool terminating = false;  // has a deletion timestamp: uses its node until it is gone, makes no progress
  // Has a topology annotation or the topology scheduling gate: a pod of some workload with a topology assignment,
  // also when it does not name the workload.
  bool wants_places = false;
  std::optional<Time> gone_by;  // of a terminating pod: when its grace period ends (the deletion timestamp)
  ResourceList requests;        // of the pod, without the implicit `pods: 1`
  bool succeeded = false;       // terminated with phase Succeeded
  ResourceList host_ports;      // api::host_ports()
  bool operator==(const PodPlacement&) const = default;

  // Whether the pod's requests count on its node. Those of a pod with wants_places that names no workload do not: the
  // claim of its workload, whichever that is, counts them already.
  bool holds_node() const { return !node.empty() && !terminated && !(wants_places && workload.empty()); }
};
PodPlacement decode_pod_placement(const Json& pod);
bool wants_places(const Json& pod);  // PodPlacement::wants_places

}  // namespace berth::api::kueue
