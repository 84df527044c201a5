// Pods that wait for a node they can never get: they are failed, so that their job makes others, which then go to
// the places that replaced theirs (kueue.md 4.9).
#pragma once

#include <string>
#include <vector>

#include "api/kueue/types.h"
#include "base/json.h"
#include "base/time.h"
#include "jobs/ungate.h"

namespace berth::jobs {

// It has no gate and no node yet.
bool waits_for_binding(const Json& pod);

struct StuckPod {
  JsonPtr pod;
  std::string node;  // the hostname that its selector names
};

// Of the pods that name the workload those that were let go to a node, are not bound, and will not be: the node is gone,
// it is one of status.unhealthyNodes, or the assignment does not have it any it any more. Of a workload that is not
// admitted these are all that ask for places and were let go: they come from an earlier admission. Never one that is
// bound, and none of a workload that was evicted or has finished: its job is stopped as a whole. Ordered by name and uid.
std::vector<StuckPod> stuck_pods(const api::kueue::Workload& workload, const std::vector<JsonPtr>& pods,
                                 const HostFacts& hosts);

// .status of such a pod: phase Failed, and the condition TerminatedByKueue, reason UnschedulableOnAssignedNode.
Json failed_status(const StuckPod& stuck, Time now);
std::string failure_message(const StuckPod& stuck);

}  // namespace berth::jobs
