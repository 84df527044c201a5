// Every planted bug is found: who changes the simulation so that it looks less closely sees it here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>

#include "base/planted.h"
#include "simulation/seed_runs.h"
#include "simulation/soak.h"

namespace berth::simulation {
namespace {

#ifdef BERTH_ASSERTS

// Enough for each of them, several times over: most are found with the first.
constexpr std::uint64_t kMostSeeds = 60;
#ifdef BERTH_SANITIZED
constexpr std::size_t kEvery = 5;  // sanitizers look at the same code: some bugs are enough
#else
constexpr std::size_t kEvery = 1;
#endif

class PlantedBugs : public testing::TestWithParam<PlantedBug> {};

TEST_P(PlantedBugs, AreFound) {
  const auto index = static_cast<std::size_t>(GetParam().bug);
  if (index % kEvery != 0) GTEST_SKIP() << "found in the build without sanitizers";
  std::uint64_t next = 1;
  bool found = false;
  plant(GetParam().bug);
  play_seeds(
      {}, [&] { return next <= kMostSeeds ? next++ : std::uint64_t{0}; }, play_run,
      [&](std::uint64_t, const SeedReport& report) {
        found = !report.broken.empty();
        return !found;
      });
  plant(Planted::kNone);
  EXPECT_TRUE(found) << GetParam().name << ": " << GetParam().what << "; nothing looks for that";
}

INSTANTIATE_TEST_SUITE_P(
    Bugs, PlantedBugs, testing::ValuesIn(planted_bugs().begin(), planted_bugs().end()), [](const auto& bug) {
      std::string name(bug.param.name);
      std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
      return name;
    });

#endif

}  // namespace
}  // namespace berth::simulation
