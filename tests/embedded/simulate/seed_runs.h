// Plays many seeds in parallel, each in a child process, so a seed that crashes or hangs is reported and the others
// continue.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace berth::simulation {

// What happened in a run. The child process sends it to its parent in a SeedReport.
struct SeedCounts {
  // `actions`: actions of monkeys; `writes`: writes of monkeys that the server accepted.
  std::uint64_t events = 0, faults = 0, restarts = 0, actions = 0, writes = 0;
  std::uint64_t simulated_seconds = 0;
  SeedCounts& operator+=(const SeedCounts& other);
};
struct SeedReport {
  SeedCounts counts;
  std::vector<std::string> broken;  // what did not hold, as sentences
};

struct SeedRunOptions {
  unsigned parallel = 1;
  // CPU time for one seed. A run that takes longer counts as hanging and is killed; so is one that takes 20 times as
  // long by the clock.
  std::chrono::seconds longest{900};
};

// Returns when all started runs have ended. `next` returns the number of the next run, or 0 when there is none.
// `play` runs in the child. `ended` is called in the parent for each run; when it returns false, no more runs are
// started. A crash or a hang is reported as a sentence in `broken`.
void play_seeds(const SeedRunOptions& options, const std::function<std::uint64_t()>& next,
                const std::function<SeedReport(std::uint64_t)>& play,
                const std::function<bool(std::uint64_t run, const SeedReport& report)>& ended);

}  // namespace berth::simulation
