// Long runs of the simulation: many fresh seeds beside each other, each in a process of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "simulation/seed_runs.h"

namespace berth::simulation {

struct SoakOptions {
  std::chrono::minutes longest{60};
  std::uint64_t first_seed = 0;  // 0: by the clock, so that every run plays seeds of its own
  std::uint64_t most_seeds = 500;
  unsigned parallel = 0;  // 0: as many as there are processors
};

// One run in this process. Its number is the seed; every fifth plays Volcano's world, the others Kueue's.
SeedReport play_run(std::uint64_t run);

// Kueue's world and Volcano's in turn, until the time is over. Prints what was played, and each finding with
// the command that replays it. The exit code: 0 when there was no finding.
int soak(const SoakOptions& options);

int list_planted_bugs();
// From now on the program has the bug; false, with a message, when there is none of this name.
bool plant_bug(std::string_view name);
// Plays up to `most_seeds` seeds and stops at the first finding. The exit code: 0 when the bug was found.
int search_planted_bug(std::string_view name, const SoakOptions& options);

}  // namespace berth::simulation
