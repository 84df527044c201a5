// Simulates hours of a cluster whose users submit single pods, groups of pods, Deployments, StatefulSets and
// LeaderWorkerSets, under faults and from a seed.
#pragma once

#include <cstdint>

#include "embedded/simulate/storm.h"

namespace berth::simulation {

struct PodChaosOptions {
  std::uint64_t seed = 1;
  std::uint64_t events = 10'000;  // tasks of the executor: deliveries, answers, timers
};

struct PodChaosResult : StormLog {
  // `pods`: without those of owners; `let_go`: pods seen running; `serving`: pods of owners that are ready at the end.
  std::uint64_t pods = 0, owners = 0, let_go = 0, evictions = 0, finished = 0, serving = 0;
};

PodChaosResult run_pod_chaos(const PodChaosOptions& options);

}  // namespace berth::simulation
