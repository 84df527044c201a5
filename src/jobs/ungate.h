// Which pods of a workload with a topology assignment can be ungated, and in which domain: a pure function of the
// workload, its pods and the nodes (Kueue's KEP-2724, topology aware scheduling). The same for the pods of an elastic
// job, for which quota must be granted (KEP-77). It can be called at any time and returns only what is still missing.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "api/core/scheduling.h"
#include "api/kueue/types.h"
#include "base/json.h"

namespace berth::jobs {

// What is known about a node by its hostname label.
struct HostFacts {
  std::function<bool(std::string_view hostname)> exists;
  // Ready and schedulable, without a taint that keeps pods with these tolerations away; false when there is no such
  // node.
  std::function<bool(std::string_view hostname, const std::vector<api::Toleration>& tolerations)> usable;
};

// Removes the gates from the pod and adds the values of its domain to the node selector, in one write.
struct PodRelease {
  JsonPtr pod;
  api::StringMap node_selector;         // level -> value; empty: it gets no place
  std::vector<std::string_view> gates;  // names; those that the pod has are removed
};

struct Releases {
  std::vector<PodRelease> pods;
  bool wait_for_nodes = false;  // some pods stay gated because their node is not usable now
};

// Whether pods of this workload are ungated at all: it is admitted, neither evicted nor finished, and is a slice of an
// elastic job or has a topology assignment for a pod set.
bool lets_pods_go(const api::kueue::Workload& workload);

// `pods`: all pods that name the workload (placed_by()), in any order. Of an elastic job, only as many pods of a pod
// set are let go as quota is granted for: ungated pods count until they have ended, the others go in the order of their
// names. A domain never gets
// more pods than it was assigned. A pod holds its place until it has ended or is gone, also while it terminates. Pods
// with an index (topologyRequest.podIndexLabel) go to the place of their rank, as long as all ranks are valid and
// distinct and match the domains of the pods that were ungated before. Otherwise the free places are filled in their
// order, with the pods ordered by index, name and uid. A pod stays gated when its node is in status.unhealthyNodes or
// is not usable for it.
Releases releases(const api::kueue::Workload& workload, const std::vector<JsonPtr>& pods, const HostFacts& hosts);

}  // namespace berth::jobs
