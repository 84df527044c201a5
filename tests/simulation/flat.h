// Queues and workloads that come and go for long: what is left of them when they are gone.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace berth::simulation {

struct FlatOptions {
  int queues =
      60;  // cluster queues in all, each with a local queue, a flavor and a resource that no other has
  int workloads = 12'000;  // in all
  int rounds = 12;         // all of a round is gone before the next one begins
};

// What is there when everything of a round is gone and its events have expired.
struct FlatRound {
  std::size_t heap = 0;    // bytes in use; 0 where nobody can tell
  std::size_t series = 0;  // lines of metrics
  std::size_t names = 0;   // of flavors and resources that the engine keeps
  int admitted = 0;        // workloads of this round that were
  int left = 0;            // objects of this round that are still there
};

// `tell` hears of each round when it is over.
std::vector<FlatRound> run_flat(const FlatOptions& options,
                                const std::function<void(int round, const FlatRound&)>& tell = {});

}  // namespace berth::simulation
