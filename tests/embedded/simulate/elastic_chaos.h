// Simulates a cluster in which elastic jobs (KEP-77) change their size at any time, under faults and from a seed: also
// twice before the first change is granted, while they are evicted, and while the controller is down. No running pod of
// such a job ends unless its size fell below it or the job was stopped, and never more pods run than quota is claimed
// for.
#pragma once

#include <cstdint>

#include "embedded/simulate/storm.h"

namespace berth::simulation {

struct ElasticChaosOptions {
  std::uint64_t seed = 1;
  std::uint64_t events = 6'000;  // tasks of the executor: deliveries, answers, timers
};

struct ElasticChaosResult : StormLog {
  std::uint64_t jobs = 0, sizes = 0, replaced = 0, evictions = 0;
};

ElasticChaosResult run_elastic_chaos(const ElasticChaosOptions& options);

}  // namespace berth::simulation
