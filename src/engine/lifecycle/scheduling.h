// Whether the pods of an admitted workload have been scheduled (KEP-13502 waitForPodsReady.unscheduledTimeout): the
// condition PodsScheduled, and the reason WaitForScheduling of PodsReady.
#pragma once

#include "engine/lifecycle/moves.h"

namespace berth::engine::lifecycle {

// What is seen of the pods of an admitted workload.
struct SchedulingSeen {
  bool any = false;  // a pod runs or is to run, or as many pods as were admitted have succeeded and still exist
  bool all = false;  // each pod set has as many pods with a node, succeeded or reclaimed as were admitted
};

// Whether the condition says about the present admission that pods lack nodes. What is left of an earlier admission
// says nothing: it is not newer than Admitted.
bool waits_for_nodes(const WorkloadStatus& status);

// Sets PodsScheduled and the reason of PodsReady=False before the pods were first ready. A pod that is lost after all
// were scheduled changes nothing. Call it only for an admitted workload, when says_anything_new().
Result<Change> report_scheduling(const WorkloadRef& workload, const SchedulingSeen& seen, Time now);
bool says_anything_new(const WorkloadRef& workload, const SchedulingSeen& seen, Time now);

}  // namespace berth::engine::lifecycle
