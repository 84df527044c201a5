// Simulates hours of a cluster whose users submit jobs of all described kinds, under faults and from a seed. The
// operators have a bad network, too, and die at random. Kinds are uninstalled, come back, and change their versions.
#pragma once

#include <cstdint>

#include "embedded/simulate/storm.h"

namespace berth::simulation {

struct KindChaosOptions {
  std::uint64_t seed = 1;
  std::uint64_t events = 10'000;  // tasks of the executor: deliveries, answers, timers
};

struct KindChaosResult : StormLog {
  // `ran`: pods seen with quota; `operators`: how often the operators started anew; `uninstalled`, `moved`: how often a
  // kind was deleted, and how often it got another version.
  std::uint64_t jobs = 0, ran = 0, evictions = 0, finished = 0, operators = 0, uninstalled = 0, moved = 0;
};

KindChaosResult run_kind_chaos(const KindChaosOptions& options);

}  // namespace berth::simulation
