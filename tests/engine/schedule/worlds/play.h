// Plays a story and says what must not be: what breaks an invariant, and a workload that waits though the rules would
// admit it or let it preempt.
#pragma once

#include <string>
#include <vector>

#include "engine/schedule/worlds/script.h"

namespace berth::engine::worlds {

struct Played {
  std::vector<std::vector<std::string>> moves;  // by batch: what was admitted and preempted
  std::string places;                           // where all workloads are at the end
  std::vector<std::string> findings;
};

// How much happened in the worlds that were played.
struct Tally {
  std::uint64_t admissions = 0, preemptions = 0;
};

Played play(const Script& script);
// Draws and plays a world; where order does not count, it plays the world in another order too. Returns "" or the
// smallest story found that shows the finding.
std::string find_fault(std::uint64_t seed, Tally& tally);

}  // namespace berth::engine::worlds
