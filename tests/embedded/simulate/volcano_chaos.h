// Like chaos.h, but the users work with Volcano's objects (Queues, PodGroups, vcjobs and Commands) and with one
// ClusterQueue of Kueue on the same quota tree.
#pragma once

#include "embedded/simulate/chaos.h"

namespace berth::simulation {

struct VolcanoChaosResult : StormLog {
  // `jobs`: submitted vcjobs, PodGroups and Jobs; `finished`: vcjobs that ended.
  std::uint64_t jobs = 0, finished = 0;
  std::uint64_t let_in = 0, gave_way = 0, rests = 0;
};

// In each fourth seed the server applies no admission rules, so queues may be invalid in any way.
VolcanoChaosResult run_volcano_chaos(const ChaosOptions& options);

}  // namespace berth::simulation
