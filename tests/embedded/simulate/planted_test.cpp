// Each of these planted bugs is found by one of the first seeds. The test fails when a check of the simulation no
// longer works. For other bugs and more seeds: test_simulation --planted NAME --seeds 500
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/planted.h"
#include "embedded/simulate/seed_runs.h"
#include "embedded/simulate/soak.h"

#if defined(BERTH_ASSERTS) && !defined(BERTH_SANITIZED)

namespace berth::simulation::planted_test {
namespace {

// Seeds 1 to this number are played until the bug is found.
constexpr std::uint64_t kMostSeeds = 48;

// Plays seeds until one finds the bug; 0: none does.
std::uint64_t first_that_finds(std::string_view bug, SeedReport (*play)(std::uint64_t run)) {
  std::uint64_t next = 1, found = 0;
  SeedRunOptions options;
  options.longest = std::chrono::seconds(120);
  play_seeds(
      options, [&] { return next <= kMostSeeds ? next++ : 0; },
      [&](std::uint64_t run) {
        plant_bug(bug);  // in the child process: other tests do not have the bug
        return play(run);
      },
      [&](std::uint64_t run, const SeedReport& report) {
        found = report.broken.empty() ? 0 : run;
        return found == 0;
      });
  return found;
}

class PlantedBugs : public testing::TestWithParam<std::string_view> {};

TEST_P(PlantedBugs, AreFound) {
  EXPECT_NE(first_that_finds(GetParam(), play_run), 0u) << "nobody looks for: " << GetParam();
}

class PlantedBugsOfPods : public testing::TestWithParam<std::string_view> {};

TEST_P(PlantedBugsOfPods, AreFound) {
  EXPECT_NE(first_that_finds(GetParam(), play_pods), 0u) << "nobody looks for: " << GetParam();
}

class PlantedBugsOfJobs : public testing::TestWithParam<std::string_view> {};

TEST_P(PlantedBugsOfJobs, AreFound) {
  EXPECT_NE(first_that_finds(GetParam(), play_jobs), 0u) << "nobody looks for: " << GetParam();
}

std::string test_name(const testing::TestParamInfo<std::string_view>& info) {
  std::string name(info.param);
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Planted, PlantedBugs,
                         testing::Values("forgotten-workload", "lost-wake-up", "kept-claim", "kept-finalizer",
                                         "stale-cache", "unconditional-write"),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Planted, PlantedBugsOfPods, testing::Values("open-gate", "kept-pod-finalizer", "kept-orphan"),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Planted, PlantedBugsOfJobs,
                         testing::Values("kept-template", "unnoticed-end", "forgotten-kind", "moved-kind"), test_name);

}  // namespace
}  // namespace berth::simulation::planted_test

#endif
