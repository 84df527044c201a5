// Which pods of a placed workload may go, and where to: a pure function of the workload, its pods and the nodes
// (kueue.md 4.11). It may be asked again at any time: it names only what is still missing.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "api/kueue/types.h"
#include "base/json.h"

namespace berth::jobs {

// What is known of a node by its hostname label.
struct HostFacts {
  std::function<bool(std::string_view hostname)> exists;
  std::function<bool(std::string_view hostname)> usable;  // ready and schedulable; false when there is none
};

// Takes the topology gate from the pod and adds the values of its domain to the node selector: one write.
struct PodRelease {
  JsonPtr pod;
  api::StringMap node_selector;  // level -> value
};

struct Releases {
  std::vector<PodRelease> pods;
  bool wait_for_nodes = false;  // some stay gated because their node is not usable now
};

// Whether pods of this workload are let go at all: admitted, not evicted nor finished, with places for a pod set.
bool lets_pods_go(const api::kueue::Workload& workload);

// `pods`: all that name the workload (annotation kueue.x-k8s.io/workload), in any order. No domain ever gets more pods
// than it was assigned; a pod holds its place until it has ended or is gone, also while it terminates. Pods that have an
// index (topologyRequest.podIndexLabel) go to the place of their rank as long as all ranks are valid, distinct and agree
// with the pods that went before; otherwise the free places are filled in their order by index, name and uid. A pod that
// would go to a node of status.unhealthyNodes, or to one that is not usable, stays gated.
Releases releases(const api::kueue::Workload& workload, const std::vector<JsonPtr>& pods, const HostFacts& hosts);

}  // namespace berth::jobs
