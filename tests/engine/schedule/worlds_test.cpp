// Random worlds of quota, cohorts, preemption, fair sharing, partial admission and topology: at rest nothing is left to
// do. `test_engine --worlds 1000000 --seed 1` plays more of them.
#include <gtest/gtest.h>

#include "engine/schedule/worlds/play.h"
#include "support/sanitized.h"

namespace berth::engine::worlds_test {
namespace {

constexpr std::uint64_t kWorlds = 20'000 / testing_support::kFewer, kParts = 4;

class Worlds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Worlds, AtRestNothingIsLeftToDo) {
  for (std::uint64_t i = 0; i < kWorlds / kParts; ++i) {
    const std::string fault = worlds::find_fault(1 + GetParam() * (kWorlds / kParts) + i);
    ASSERT_EQ(fault, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Part, Worlds, testing::Range<std::uint64_t>(0, kParts));

// The stories are worth it: they admit, preempt, and leave some waiting.
TEST(WorldsDrawn, ArePlayedForALong) {
  std::size_t admitted = 0, preempted = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    for (const auto& batch : worlds::play(worlds::draw(seed)).moves) {
      for (const std::string& each : batch) ++(each.starts_with("admit ") ? admitted : preempted);
    }
  }
  EXPECT_GT(admitted, 200u);
  EXPECT_GT(preempted, 0u);
}

}  // namespace
}  // namespace berth::engine::worlds_test
