// Hours of a cluster whose teams use Volcano's objects, under faults, in one thread and from a seed: as
// chaos.h, with queues, PodGroups, vcjobs and Commands, and one ClusterQueue of Kueue's on the same tree.
#pragma once

#include "simulation/chaos.h"

namespace berth::simulation {

struct VolcanoChaosResult : StormLog {
  std::uint64_t jobs = 0, finished = 0;  // vcjobs, PodGroups and Jobs that were submitted; vcjobs that ended
  std::uint64_t let_in = 0, gave_way = 0, rests = 0;
};

// Every fourth seed has no doors: queues are then as nobody would let them be.
VolcanoChaosResult run_volcano_chaos(const ChaosOptions& options);

}  // namespace berth::simulation
