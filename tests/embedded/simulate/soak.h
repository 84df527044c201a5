// Long runs of the simulation: many new seeds in parallel, each in a process of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "embedded/simulate/seed_runs.h"

namespace berth::simulation {

struct SoakOptions {
  std::chrono::minutes longest{60};  // only used by soak(): no seed is started after this time
  std::uint64_t first_seed = 0;      // 0: from the system clock (search_planted_bug: 1), so each soak plays new seeds
  std::uint64_t most_seeds = 500;    // used by search_planted_bug(), and by soak() with `pods`
  bool pods = false;                 // all runs play run_pod_chaos()
  bool kinds = false;                // used by search_planted_bug(): all runs play run_kind_chaos()
  unsigned parallel = 0;             // processes at the same time; 0: one for each processor
};

// Plays one run in this process. Its number is the seed. Of five runs, one plays run_volcano_chaos(), one plays
// run_pod_chaos(), and the others play run_chaos().
SeedReport play_run(std::uint64_t run);
// Plays run_pod_chaos() with this seed in this process.
SeedReport play_pods(std::uint64_t run);
// Plays run_kind_chaos() with this seed in this process.
SeedReport play_jobs(std::uint64_t run);

// Plays seeds until the time has passed or there are 20 findings. Prints what was played, and each finding with the
// command that replays it. Returns the exit code: 0 when there was no finding, else 1.
int soak(const SoakOptions& options);

int list_planted_bugs();
// Switches the bug on for the rest of this process. Returns false, with a message on stderr, when no bug has this
// name or the program was built without BERTH_ASSERTS.
bool plant_bug(std::string_view name);
// Plays up to `most_seeds` seeds and stops at the first finding. The bug must already be switched on. Returns the
// exit code: 0 when the bug was found, else 1.
int search_planted_bug(std::string_view name, const SoakOptions& options);

}  // namespace berth::simulation
