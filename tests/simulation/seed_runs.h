// Plays many seeds, some at the same time, each in a process of its own: a seed that crashes or hangs is a
// finding, not the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace berth::simulation {

// What a seed did, and what did not hold. Travels from the child to its parent.
struct SeedCounts {
  std::uint64_t events = 0, faults = 0, restarts = 0, deeds = 0,
                writes = 0;  // `deeds`: of monkeys; `writes`: those that were accepted
  std::uint64_t simulated_seconds = 0;
  SeedCounts& operator+=(const SeedCounts& other);
};
struct SeedReport {
  SeedCounts counts;
  std::vector<std::string> broken;
};

struct SeedRunOptions {
  unsigned parallel = 1;
  std::chrono::seconds longest{900};  // of one seed; what takes longer hangs
};

// `next` gives the number of the next run, or 0 when there is none; `play` runs in the child; `ended` is told
// of each run in the parent and returns false when no more are to be started. A crash or a hang is a sentence
// in `broken`.
void play_seeds(const SeedRunOptions& options, const std::function<std::uint64_t()>& next,
                const std::function<SeedReport(std::uint64_t)>& play,
                const std::function<bool(std::uint64_t run, const SeedReport& report)>& ended);

}  // namespace berth::simulation
