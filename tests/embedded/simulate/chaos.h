// Simulates hours of a cluster under faults, in one thread and from a seed: the production controller, the embedded
// API server and the pretend cluster. Simulated users create, change and delete objects, the network fails, and the
// controller crashes and restarts.
#pragma once

#include <cstdint>

#include "embedded/simulate/lab_names.h"
#include "embedded/simulate/storm.h"

namespace berth::simulation {

struct ChaosOptions {
  std::uint64_t seed = 1;
  std::uint64_t events = 10'000;        // tasks of the executor: deliveries, answers, timers
  std::uint64_t monkey_events = 2'000;  // further events, with monkeys; 0: no monkeys
  // The controllers record journals with segments of about this many bytes, which are replayed at the end; 0: none.
  std::uint64_t journal = 0;
};

struct ChaosResult : StormLog {
  std::uint64_t jobs = 0, evictions = 0, finished = 0;
  simulate::MonkeyLog monkeys;
  Duration simulated{};
};

ChaosResult run_chaos(const ChaosOptions& options);

}  // namespace berth::simulation
