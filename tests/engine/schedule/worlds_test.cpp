// Random worlds of quota, cohorts, preemption, fair sharing, partial admission and topology: at rest nothing is left to
// do. `test_engine --worlds 1000000 --seed 1` plays more of them.
#include <gtest/gtest.h>

#include "engine/schedule/worlds/play.h"
#include "support/sanitized.h"

namespace berth::engine::worlds_test {
namespace {

constexpr std::uint64_t kWorlds = 20'000 / testing_support::kFewer, kParts = 4;

class PartOfWorlds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(PartOfWorlds, AtRestNothingIsLeftToDo) {
  worlds::Tally tally;
  for (std::uint64_t i = 0; i < kWorlds / kParts; ++i) {
    const std::string fault = worlds::find_fault(1 + GetParam() * (kWorlds / kParts) + i, tally);
    ASSERT_EQ(fault, "");
  }
  // The stories are worth it.
  EXPECT_GT(tally.admissions, 2 * kWorlds / kParts);
  EXPECT_GT(tally.preemptions, kWorlds / kParts / 5);
}

INSTANTIATE_TEST_SUITE_P(Part, PartOfWorlds, testing::Range<std::uint64_t>(0, kParts));

// Worlds beyond those above in which something was left to do once: an own share that grew gave the preemptor another
// order of victims (43611, 58866); a preemptor went on to another flavor while its victims left (58764, 135438), did
// not find its combination of flavors at once (151313), or had nothing to preempt for any more (15792). Nobody could be
// preempted for one of the resources alone, but for several that were short together (579039, 580336, 604454). The
// check took a workload that waited for the same victims for nobody (662825, 664487, 681156, 743545). A flavor counted
// as borrowing when its victim was on its way, so the preemptor took another one (718197). Only
// places were short, and a queue that used less quota could preempt for them (312768).
TEST(Worlds, OfOnceStayAtRest) {
  worlds::Tally tally;
  for (const std::uint64_t seed : {15792U, 43611U, 58764U, 58866U, 135438U, 151313U, 312768U, 579039U, 580336U, 604454U,
                                   662825U, 664487U, 681156U, 718197U, 743545U})
    EXPECT_EQ(worlds::find_fault(seed, tally), "");
  EXPECT_GT(tally.preemptions, 5U);
}

}  // namespace
}  // namespace berth::engine::worlds_test
