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
  worlds::Tally tally;
  for (std::uint64_t i = 0; i < kWorlds / kParts; ++i) {
    const std::string fault = worlds::find_fault(1 + GetParam() * (kWorlds / kParts) + i, tally);
    ASSERT_EQ(fault, "");
  }
  // The stories are worth it.
  EXPECT_GT(tally.admissions, 2 * kWorlds / kParts);
  EXPECT_GT(tally.preemptions, kWorlds / kParts / 5);
}

INSTANTIATE_TEST_SUITE_P(Part, Worlds, testing::Range<std::uint64_t>(0, kParts));

}  // namespace
}  // namespace berth::engine::worlds_test
