// Workloads without an owner, as another controller or a user may create, finish and delete them.
#pragma once

#include "embedded/simulate/storm.h"

namespace berth::simulation {

// Creates a workload in the namespace and LocalQueue, finishes it and deletes it. The controller gets one minute
// after each step. Complains to the storm when a step is refused, when the workload is neither
// admitted nor has a reason for waiting, or when it still exists at the end.
void live_by_hand(Storm& storm, const std::string& ns, const std::string& queue);

}  // namespace berth::simulation
