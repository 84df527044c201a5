// Workloads and flavors that are passed over are not forgotten: what waits behind a head that loses to a reservation,
// and flavors that seemed worse than one whose nodes turn out to have no place.
#include <gtest/gtest.h>

#include "engine/schedule/hall.h"

namespace berth::engine::passed_over_test {
namespace {

using Texts = std::vector<std::string>;
using api::kueue::FungibilityPolicy;
using api::kueue::FungibilityPreference;
using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;

// The strict queue's head wants all that its queue may have, which another queue uses in part and nobody may reclaim:
// so all of it is reserved.
void reserve_cpu(World& world) {
  world.flavor("f");
  world.queue(QueueSpec("strict").in("team").flavor("f", {{"cpu", "4"}, {"memory", "0"}}).strict());
  world.queue(QueueSpec("lent").in("team").flavor("f", {{"cpu", "0"}, {"memory", "0"}}));
  world.queue(QueueSpec("best").in("team").flavor("f", {{"cpu", "0"}, {"memory", "2"}}));
  world.job({.name = "borrower", .queue = "lent", .count = 3});
  EXPECT_EQ(world.moves(), Texts{"admit borrower"});
  world.job({.name = "head", .queue = "strict", .count = 4, .priority = 1});
  EXPECT_EQ(world.moves(), Texts{});
}

TEST(PassedOver, NobodyWaitsBehindAHeadThatLosesToAReservation) {
  World world;
  reserve_cpu(world);
  world.job({.name = "loser", .queue = "best", .requests = {{"cpu", "1"}}});
  world.job({.name = "behind", .queue = "best", .requests = {{"memory", "1"}}});
  world.job({.name = "large", .queue = "best", .requests = {{"memory", "3"}}});
  const Texts texts = world.schedule();
  EXPECT_EQ(std::ranges::count(texts, "admit behind"), 1);
  for (const char* name : {"wait loser ", "wait large "}) {
    const auto reported = [&](const std::string& each) { return each.starts_with(name); };
    EXPECT_EQ(std::ranges::count_if(texts, reported), 1) << name;
  }
  EXPECT_EQ(world.scheduler.check(), Texts{});
  // The loser keeps its turn.
  world.finish("head");
  EXPECT_EQ(world.moves(), Texts{"admit loser"});
}

TEST(PassedOver, NorBehindOneThatLosesItsPlaceToAReservation) {
  Hall hall(1, 2, "4");
  hall.flavor("plain");
  hall.queue(QueueSpec("strict").flavor("f", {{"cpu", "8"}}).strict());
  hall.queue(QueueSpec("lent").flavor("f", {{"cpu", "8"}}));
  hall.queue(QueueSpec("best").flavor("f", {{"cpu", "8"}}).flavor("plain", {{"cpu", "8"}}));
  hall.job({.name = "first", .queue = "lent", .count = 1, .topology = required("rack")});
  EXPECT_EQ(hall.moves(), Texts{"admit first"});
  hall.job({.name = "head", .queue = "strict", .count = 8, .priority = 1, .topology = required("rack")});
  hall.job({.name = "loser", .queue = "best", .count = 4, .topology = required(kHost)});
  hall.job({.name = "behind", .queue = "best", .count = 4});
  EXPECT_EQ(hall.moves(), Texts{"admit behind"});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

// The head of the strict queue reserves what it may still borrow, before "loser", which borrows from further away. When
// "behind" is admitted, the head would borrow from as far, and "loser" is older.
TEST(PassedOver, OneThatLostIsTriedAgainWhenOthersWereAdmitted) {
  World world;
  world.flavor("f");
  world.cohort("left", "root");
  world.queue(QueueSpec("strict").in("left").flavor("f", {{"cpu", "3", "1"}}).strict());
  world.queue(QueueSpec("best").in("left").flavor("f", {{"cpu", "3"}}));
  world.queue(QueueSpec("lender").in("root").flavor("f", {{"cpu", "3"}}));
  world.job({.name = "former", .queue = "lender", .count = 6});
  world.job({.name = "stays", .queue = "strict", .count = 3});
  EXPECT_EQ(world.moves(), (Texts{"admit stays", "admit former"}));
  world.job({.name = "loser", .queue = "best", .count = 6, .min_count = 1});
  world.job({.name = "behind", .queue = "best", .count = 2});
  world.job({.name = "head", .queue = "strict", .count = 3});
  EXPECT_EQ(world.moves(), Texts{});
  world.finish("former");
  EXPECT_EQ(world.moves(), (Texts{"admit behind", "admit loser"}));
  EXPECT_EQ(world.scheduler.check(), Texts{});
}

// Nobody borrows f, or the memory of g. But who borrows the cpu of g may be preempted, and gives back both.
TEST(PassedOver, AFlavorMayHaveVictimsForTwoResourcesTogether) {
  World world;
  world.flavor("f");
  world.flavor("g");
  world.queue(QueueSpec("other")
                  .in("team")
                  .flavor("f", {{"cpu", "2"}, {"memory", "2"}})
                  .flavor("g", {{"cpu", "0"}, {"memory", "4"}}));
  world.queue(QueueSpec("mine")
                  .in("team")
                  .flavor("f", {{"cpu", "0"}, {"memory", "0"}})
                  .flavor("g", {{"cpu", "4"}, {"memory", "0"}})
                  .reclaim(ReclaimWithinCohort::kLowerPriority)
                  .borrow_preempting(std::nullopt));
  world.job({.name = "in-f", .queue = "other", .requests = {{"cpu", "2"}, {"memory", "2"}}});
  world.job({.name = "in-g", .queue = "other", .requests = {{"cpu", "4"}, {"memory", "4"}}});
  EXPECT_EQ(world.moves(), (Texts{"admit in-f", "admit in-g"}));
  world.job({.name = "w", .queue = "mine", .requests = {{"cpu", "2"}, {"memory", "2"}}, .priority = 1});
  EXPECT_EQ(world.moves(), Texts{"preempt in-g for w (InCohortReclaimWhileBorrowing)"});
}

// Here g has memory left at first. When "third" takes it, both are short.
TEST(PassedOver, ASecondResourceThatGetsShortBringsVictims) {
  World world;
  world.flavor("f");
  world.flavor("g");
  world.queue(QueueSpec("other")
                  .in("team")
                  .flavor("f", {{"cpu", "2"}, {"memory", "2"}})
                  .flavor("g", {{"cpu", "4"}, {"memory", "2"}}));
  world.queue(QueueSpec("third")
                  .in("team")
                  .flavor("f", {{"cpu", "0"}, {"memory", "0"}})
                  .flavor("g", {{"cpu", "0"}, {"memory", "2"}}));
  world.queue(QueueSpec("mine")
                  .in("team")
                  .flavor("f", {{"cpu", "0"}, {"memory", "0"}})
                  .flavor("g", {{"cpu", "0"}, {"memory", "2"}})
                  .reclaim(ReclaimWithinCohort::kLowerPriority)
                  .borrow_preempting(std::nullopt));
  world.job({.name = "in-f", .queue = "other", .requests = {{"cpu", "2"}, {"memory", "2"}}});
  world.job({.name = "in-g", .queue = "other", .requests = {{"cpu", "4"}, {"memory", "3"}}});
  EXPECT_EQ(world.moves(), (Texts{"admit in-f", "admit in-g"}));
  world.job({.name = "w", .queue = "mine", .requests = {{"cpu", "1"}, {"memory", "2"}}, .priority = 1});
  EXPECT_EQ(world.moves(), Texts{});
  world.job({.name = "last", .queue = "third", .requests = {{"memory", "2"}}});
  EXPECT_EQ(world.moves(), Texts{"admit last"});
  EXPECT_EQ(world.moves(), Texts{"preempt in-g for w (InCohortReclaimWhileBorrowing)"});
  EXPECT_EQ(world.scheduler.check(), Texts{});
}

// Kueue tries flavors in order; with TryNextFlavor it goes on after one that would borrow or preempt, and settles for
// the best by quota.
QueueSpec tries_next(const std::string& first, const std::string& second) {
  QueueSpec out("q");
  out.in("team").flavor("f", {{"cpu", first}}).flavor("g", {{"cpu", second}});
  out.within(WithinClusterQueue::kLowerPriority);
  out.object.when_can_borrow = FungibilityPolicy::kTryNextFlavor;
  return out;
}

TEST(PassedOver, AFlavorThatBorrowsIsTakenWhenTheNextHasNoNodes) {
  Hall hall(1, 1, "4");
  hall.topology_flavor("g");
  hall.queue(tries_next("0", "4"));
  hall.queue(QueueSpec("lender").in("team").flavor("f", {{"cpu", "4"}}));
  hall.job({.name = "w", .queue = "q", .count = 2, .topology = required("rack")});
  EXPECT_EQ(hall.moves(), Texts{"admit w"});
  EXPECT_EQ(hall.placed("w"), "r1-n1:2");
}

// The second walk of "late" begins behind f, where it would have to preempt. After "quick" there is still room in f for
// one of its pod sets, and in g for the other one.
TEST(PassedOver, AFlavorThatFitsAgainIsTakenBeforeAnybodyIsPreempted) {
  World world;
  world.flavor("f");
  world.flavor("g");
  world.queue(QueueSpec("first").in("team").flavor("f", {{"cpu", "5"}}).flavor("g", {{"cpu", "1"}}));
  world.job({.name = "former", .queue = "first", .count = 5});
  EXPECT_EQ(world.moves(), Texts{"admit former"});
  QueueSpec second("second");
  second.in("team")
      .flavor("f", {{"cpu", "1"}})
      .flavor("g", {{"cpu", "5"}})
      .reclaim(ReclaimWithinCohort::kLowerPriority);
  second.object.preference = FungibilityPreference::kPreemptionOverBorrowing;
  world.queue(second);
  world.job({.name = "borrower", .queue = "first", .count = 4});
  EXPECT_EQ(world.moves(), Texts{"admit borrower"});
  world.finish("former");
  Pending late = World::pending({.name = "late", .queue = "second", .count = 2, .priority = 2}, 10);
  late.pod_sets.push_back(late.pod_sets.front());
  late.pod_sets.back().name = "other";
  world.submit("late", late);
  world.job({.name = "quick", .queue = "first", .count = 4, .priority = 2});
  EXPECT_EQ(world.moves(), (Texts{"admit quick", "admit late"}));
}

// The first pod set of "waits" fits in g, and no queue borrows f, so there are no victims for the other one. When g is
// full, workloads of the queue that borrows g may be preempted, in f too.
TEST(PassedOver, AFlavorThatGetsFullBringsVictims) {
  World world;
  world.flavor("f");
  world.flavor("g");
  world.queue(QueueSpec("borrower").in("team").flavor("f", {{"cpu", "4"}}).flavor("g", {{"cpu", "5"}}));
  world.queue(QueueSpec("third").in("team").flavor("f", {{"cpu", "0"}}).flavor("g", {{"cpu", "3"}}));
  QueueSpec mine("mine");
  mine.in("team").flavor("f", {{"cpu", "0"}}).flavor("g", {{"cpu", "1", "1"}});
  mine.reclaim(ReclaimWithinCohort::kLowerPriority).borrow_preempting(std::nullopt);
  world.queue(mine);
  world.job({.name = "in-g", .queue = "borrower", .count = 7});
  EXPECT_EQ(world.moves(), Texts{"admit in-g"});
  world.job({.name = "in-f", .queue = "borrower", .count = 4});
  EXPECT_EQ(world.moves(), Texts{"admit in-f"});
  Pending waits = World::pending({.name = "waits", .queue = "mine", .count = 1, .priority = 1}, 10);
  waits.pod_sets.push_back(waits.pod_sets.front());
  waits.pod_sets.back().name = "other";
  waits.pod_sets.back().count = 2;
  world.submit("waits", waits);
  EXPECT_EQ(world.moves(), Texts{});
  world.job({.name = "last", .queue = "third", .count = 2});
  EXPECT_EQ(world.moves(), Texts{"admit last"});
  const std::string why = " for waits (InCohortReclaimWhileBorrowing)";
  EXPECT_EQ(world.moves(), (Texts{"preempt in-f" + why, "preempt in-g" + why}));
  EXPECT_EQ(world.scheduler.check(), Texts{});
}

TEST(PassedOver, AFlavorThatBorrowsIsWaitedForToo) {
  Hall hall(1, 1, "4");
  hall.topology_flavor("g");
  hall.queue(tries_next("0", "4"));
  hall.queue(QueueSpec("lender").in("team").flavor("f", {{"cpu", "8"}}));
  hall.job({.name = "other", .queue = "lender", .count = 4, .topology = required("rack")});
  EXPECT_EQ(hall.moves(), Texts{"admit other"});
  hall.job({.name = "w", .queue = "q", .count = 2, .topology = required("rack")});
  EXPECT_EQ(hall.moves(), Texts{});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
  hall.finish("other");
  EXPECT_EQ(hall.moves(), Texts{"admit w"});
}

TEST(PassedOver, AFlavorIsPreemptedInWhenTheNextHasNoNodes) {
  Hall hall(1, 1, "4");
  hall.topology_flavor("g");
  hall.node(1, 2, "4", false, "g");
  hall.queue(tries_next("4", "4"));
  hall.job({.name = "low", .queue = "q", .count = 4, .topology = required("rack")});
  EXPECT_EQ(hall.moves(), Texts{"admit low"});
  hall.job({.name = "high", .queue = "q", .count = 4, .priority = 5, .topology = required("rack")});
  EXPECT_EQ(hall.moves(), Texts{"preempt low for high (InClusterQueue)"});
  hall.finish("low");
  EXPECT_EQ(hall.moves(), Texts{"admit high"});
}

}  // namespace
}  // namespace berth::engine::passed_over_test
