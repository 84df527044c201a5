// Creates and deletes queues and workloads in many rounds, and measures what is left after each round (memory, metric
// series, names).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace berth::simulation {

struct FlatOptions {
  // Cluster queues in all rounds together. Each has a local queue, a flavor and a resource of its own.
  int queues = 60;
  int workloads = 12'000;  // in all rounds together
  int rounds = 12;         // all objects of a round are deleted before the next one begins
};

// The state after all objects of a round were deleted and its events have expired.
struct FlatRound {
  std::size_t heap = 0;    // heap bytes in use; 0 under sanitizers
  std::size_t series = 0;  // lines of the metrics text
  std::size_t names = 0;   // flavors, resources and their pairs that the engine keeps
  int admitted = 0;        // number of workloads of this round that were admitted
  int left = 0;            // queues, flavors and workloads that still exist
};

// Calls `report` after each round, with its number from 0.
std::vector<FlatRound> run_flat(const FlatOptions& options,
                                const std::function<void(int round, const FlatRound&)>& report = {});

}  // namespace berth::simulation
