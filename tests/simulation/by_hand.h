// Workloads that no job owns, as another controller or a person makes them: they are let in, finish and go.
#pragma once

#include "simulation/storm.h"

namespace berth::simulation {

// Makes one in namespace and LocalQueue, finishes it and deletes it, with time for the controller after each
// step. Tells the storm when it waits without a reason or stays.
void live_by_hand(Storm& storm, const std::string& ns, const std::string& queue);

}  // namespace berth::simulation
