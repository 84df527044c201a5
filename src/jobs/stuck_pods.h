// Pods that wait for a node they can never get. They are failed, so that their job creates new pods, which go to the
// places that replaced the lost ones.
#pragma once

#include <string>
#include <vector>

#include "api/kueue/types.h"
#include "base/json.h"
#include "base/time.h"
#include "jobs/ungate.h"

namespace berth::jobs {

// A pending pod without scheduling gates and without a node, which is not being deleted.
bool waits_for_binding(const Json& pod);

struct StuckPod {
  JsonPtr pod;
  std::string node;  // the hostname in its node selector
};

// Pods of the workload that were ungated with a node, are not bound, and will not be: the node is gone, it is in
// status.unhealthyNodes, or it is no longer in the assignment (of a pod without a label for its pod set that has a
// topology request: in any). For a workload that is not admitted: all such pods that have a topology request, because
// they come from an earlier admission. Bound pods are never included, and
// neither are pods of an evicted or finished workload: its job is stopped as a whole. Ordered by name and uid.
std::vector<StuckPod> stuck_pods(const api::kueue::Workload& workload, const std::vector<JsonPtr>& pods,
                                 const HostFacts& hosts);

// .status of a failed pod: phase Failed, and the condition TerminatedByKueue, reason UnschedulableOnAssignedNode.
Json failed_status(const StuckPod& stuck, Time now);
std::string failure_message(const StuckPod& stuck);

}  // namespace berth::jobs
