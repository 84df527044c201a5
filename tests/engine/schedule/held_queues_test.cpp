// What a queue that was stopped (Hold) or became inactive still runs is preempted by nobody, unless it is a queue of
// Volcano.
#include <gtest/gtest.h>

#include "engine/schedule/world.h"

namespace berth::engine::held_queues_test {
namespace {

using Texts = std::vector<std::string>;
using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;

class HeldQueues : public testing::TestWithParam<bool> {
 protected:
  HeldQueues() : world_(options()) {
    world_.flavor("f");
    world_.queue(QueueSpec("taker").in("team").flavor("f", {{"cpu", "4"}}).reclaim(ReclaimWithinCohort::kAny));
    world_.queue(QueueSpec("lent").in("team").flavor("f", {{"cpu", "0"}}));
    world_.queue(QueueSpec("other").in("team").flavor("f", {{"cpu", "0"}}));
    world_.job({.name = "held", .queue = "lent", .count = 2});
    EXPECT_EQ(world_.moves(), Texts{"admit held"});
    world_.scheduler.set_cluster_queue(QueueSpec("lent").in("team").flavor("f", {{"cpu", "0"}}).object, false);
  }
  static SchedulerOptions options() {
    SchedulerOptions out;
    out.fair_sharing.enabled = GetParam();
    return out;
  }
  void resume() { world_.queue(QueueSpec("lent").in("team").flavor("f", {{"cpu", "0"}})); }

  World world_;
};

TEST_P(HeldQueues, AreNotReclaimedFrom) {
  world_.job({.name = "x", .queue = "taker", .count = 4, .priority = 9});
  EXPECT_EQ(world_.moves(), Texts{});
  EXPECT_EQ(world_.scheduler.check(), Texts{});
  EXPECT_EQ(world_.moves(), Texts{});
  resume();
  EXPECT_EQ(world_.moves(), Texts{"preempt held for x (InCohortReclamation)"});
}

TEST_P(HeldQueues, AreProtectedWhereOthersSuffice) {
  world_.job({.name = "later", .queue = "other", .count = 2});
  EXPECT_EQ(world_.moves(), Texts{"admit later"});
  world_.job({.name = "x", .queue = "taker", .count = 2});
  EXPECT_EQ(world_.moves(), Texts{"preempt later for x (InCohortReclamation)"});
}

// Who is being evicted from there leaves quota all the same, so nobody else has to go.
TEST_P(HeldQueues, GiveBackWhatTheirEvictedHold) {
  world_.job({.name = "later", .queue = "other", .count = 2});
  EXPECT_EQ(world_.moves(), Texts{"admit later"});
  world_.hold("held", true);
  world_.job({.name = "x", .queue = "taker", .count = 2});
  EXPECT_EQ(world_.moves(), Texts{});
  world_.finish("held");
  EXPECT_EQ(world_.moves(), Texts{"admit x"});
}

TEST_P(HeldQueues, AreReclaimedFromWhereTheyAreOfVolcano) {
  QueueSpec lent = QueueSpec("lent").in("team").flavor("f", {{"cpu", "0"}});
  lent.object.terms.flavor_of_the_rest = "f";
  world_.scheduler.set_cluster_queue(lent.object, false);
  world_.job({.name = "x", .queue = "taker", .count = 4, .priority = 9});
  EXPECT_EQ(world_.moves(), Texts{"preempt held for x (InCohortReclamation)"});
}

INSTANTIATE_TEST_SUITE_P(ClassicAndByShares, HeldQueues, testing::Bool());

}  // namespace
}  // namespace berth::engine::held_queues_test
