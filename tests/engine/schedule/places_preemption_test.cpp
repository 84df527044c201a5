// Preemption that frees places: which victims it chooses although quota is free, and what is reserved for waiting
// workloads.
#include <gtest/gtest.h>

#include "hall.h"

namespace berth::engine::places_preemption_test {
namespace {

using Texts = std::vector<std::string>;
using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;

QueueSpec queue_of(const std::string& name) {
  return QueueSpec(name).flavor("f", {{"cpu", "100"}}).within(WithinClusterQueue::kLowerPriority);
}

TEST(PlacesPreemption, PlacesAreFreedThoughQuotaIsFree) {
  Hall hall(1, 2, "4");
  hall.queue(queue_of("q"));
  hall.job({.name = "low", .queue = "q", .count = 6});
  EXPECT_EQ(hall.moves(), Texts{"admit low"});
  hall.job({.name = "high", .queue = "q", .count = 4, .priority = 1, .topology = required(kHost)});
  const Texts texts = hall.schedule();
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[0], "preempt low for high (InClusterQueue)");
  EXPECT_TRUE(
      texts[1].starts_with("wait high WaitingForPreemptedWorkloads: couldn't assign flavors to pod set main: "
                           "topology \"t\" "))
      << texts[1];
  EXPECT_TRUE(texts[1].ends_with(". Pending the preemption of 1 workload(s)")) << texts[1];
  // The victim keeps its place until it is released.
  EXPECT_EQ(hall.moves(), Texts{});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
  hall.stopped("low");
  EXPECT_EQ(hall.moves(), Texts{"admit high"});
  EXPECT_EQ(hall.placed("high"), "r1-n1:4");
  EXPECT_TRUE(hall.scheduler.parked(hall.id("low")));
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(PlacesPreemption, ThePodsOfAVictimAreWaitedForAndNobodyElseHasToGo) {
  Hall hall(1, 2, "4");
  hall.queue(queue_of("q"));
  hall.job({.name = "stays", .queue = "q", .count = 4, .topology = required(kHost)});
  EXPECT_EQ(hall.moves(), Texts{"admit stays"});
  hall.job({.name = "low", .queue = "q", .count = 4, .topology = required(kHost)});
  EXPECT_EQ(hall.moves(), Texts{"admit low"});
  EXPECT_EQ(hall.placed("low"), "r1-n2:4");
  hall.pod("slow", "r1-n2", "4", "low");
  hall.job({.name = "high", .queue = "q", .count = 4, .priority = 1, .topology = required(kHost)});
  EXPECT_EQ(hall.moves(), Texts{"preempt low for high (InClusterQueue)"});
  hall.stopped("low");
  EXPECT_EQ(hall.schedule(), Texts{"wait high WaitingForPreemptedWorkloads: Workload fits once pods that "
                                   "leave their nodes are gone; others have to "
                                   "give way if they are still there at 1970-01-01T00:05:07Z"});
  EXPECT_EQ(hall.moves(), Texts{});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
  hall.scheduler.remove_pod("slow");
  EXPECT_EQ(hall.moves(), Texts{"admit high"});
  EXPECT_EQ(hall.placed("high"), "r1-n2:4");
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

// "low" is released except for a pod that does not terminate; "high" waits for its node, "stays" has the other node.
struct Stuck : Hall {
  explicit Stuck(std::optional<Time> gone_by) : Hall(1, 2, "4") {
    queue(queue_of("q"));
    job({.name = "stays", .queue = "q", .count = 4, .topology = required(kHost)});
    EXPECT_EQ(moves(), Texts{"admit stays"});
    job({.name = "low", .queue = "q", .count = 4, .topology = required(kHost)});
    EXPECT_EQ(moves(), Texts{"admit low"});
    pod("stuck", "r1-n2", "4", "low");
    job({.name = "high", .queue = "q", .count = 4, .priority = 1, .topology = required(kHost)});
    EXPECT_EQ(moves(), Texts{"preempt low for high (InClusterQueue)"});
    finish("low");
    auto leaving = pod("stuck", "r1-n2", "4", "low");
    leaving.terminating = gone_by.has_value();
    leaving.gone_by = gone_by;
    scheduler.set_pod(leaving);
    EXPECT_EQ(moves(), Texts{});
  }
};

TEST(PlacesPreemption, APodThatNeverLeavesIsNotAwaitedForEver) {
  Stuck hall(std::nullopt);
  const auto wake = hall.scheduler.next_wake();
  ASSERT_TRUE(wake);
  hall.pass(290);
  EXPECT_FALSE(hall.scheduler.wants_pass());
  EXPECT_EQ(hall.moves(), Texts{});
  hall.pass(20);
  EXPECT_EQ(hall.moves(), Texts{"preempt stays for high (InClusterQueue)"});
  EXPECT_EQ(hall.scheduler.next_wake(), std::nullopt);
  hall.stopped("stays");
  EXPECT_EQ(hall.moves(), Texts{"admit high"});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(PlacesPreemption, APodIsAwaitedForItsGracePeriod) {
  Stuck hall(at_second(3600));
  hall.pass(3600);
  EXPECT_EQ(hall.moves(), Texts{});
  hall.pass(320);
  EXPECT_EQ(hall.moves(), Texts{"preempt stays for high (InClusterQueue)"});
}

TEST(PlacesPreemption, WhoDoesNotStandInTheWayStays) {
  Hall hall(2, 1, "4");
  hall.queue(queue_of("q"));
  hall.job({.name = "left", .queue = "q", .count = 4, .topology = required("rack")});
  EXPECT_EQ(hall.moves(), Texts{"admit left"});
  hall.job({.name = "first", .queue = "q", .count = 2, .topology = required("rack")});
  hall.job({.name = "second", .queue = "q", .count = 2, .topology = required("rack")});
  EXPECT_EQ(hall.moves(), (Texts{"admit first", "admit second"}));
  EXPECT_EQ(hall.racks("second"), "r2");
  // The latest reservations first: both workloads on r2 are removed before it fits, and both are needed.
  hall.job({.name = "high", .queue = "q", .count = 4, .priority = 1, .topology = required("rack")});
  Texts moves = hall.moves();
  std::sort(moves.begin(), moves.end());
  EXPECT_EQ(moves, (Texts{"preempt first for high (InClusterQueue)", "preempt second for high (InClusterQueue)"}));
  hall.stopped("first");
  EXPECT_EQ(hall.moves(), Texts{});  // not before both are gone; "first" does not take its place back
  hall.stopped("second");
  EXPECT_EQ(hall.moves(), Texts{"admit high"});
  EXPECT_EQ(hall.racks("high"), "r2");
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(PlacesPreemption, VictimsThatTurnOutNotToHelpArePutBack) {
  Hall hall(2, 1, "4");
  hall.queue(queue_of("q"));
  hall.job({.name = "big", .queue = "q", .count = 3, .topology = required("rack")});
  EXPECT_EQ(hall.moves(), Texts{"admit big"});
  hall.job({.name = "firm", .queue = "q", .count = 3, .priority = 9, .topology = required("rack")});
  EXPECT_EQ(hall.moves(), Texts{"admit firm"});
  EXPECT_EQ(hall.racks("firm"), "r2");
  hall.job({.name = "late", .queue = "q", .count = 1});
  EXPECT_EQ(hall.moves(), Texts{"admit late"});
  hall.job({.name = "late2", .queue = "q", .count = 1});
  EXPECT_EQ(hall.moves(), Texts{"admit late2"});
  // Only r1 can be emptied. A late workload on r2 is tried first or second, and is put back.
  hall.job({.name = "high", .queue = "q", .count = 4, .priority = 1, .topology = required("rack")});
  const Texts moves = hall.moves();
  EXPECT_EQ(moves.size(), 2u);
  EXPECT_EQ(std::count(moves.begin(), moves.end(), "preempt big for high (InClusterQueue)"), 1);
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(PlacesPreemption, NobodyGivesWayWhenEvenAnEmptyClusterHasNoPlace) {
  Hall hall(2, 1, "4");
  hall.queue(queue_of("q"));
  hall.job({.name = "low", .queue = "q", .count = 8});
  EXPECT_EQ(hall.moves(), Texts{"admit low"});
  hall.job({.name = "wide", .queue = "q", .count = 5, .priority = 1, .topology = required("rack")});
  const Texts texts = hall.schedule();
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_TRUE(texts[0].starts_with("wait wide TopologyPlacementFailed: ")) << texts[0];
}

TEST(PlacesPreemption, AnotherQueueIsReclaimedFromOnlyWhileItBorrows) {
  Hall hall(1, 2, "4");
  const auto member = [](const std::string& name) {
    return QueueSpec(name).in("team").flavor("f", {{"cpu", "4"}}).reclaim(ReclaimWithinCohort::kAny);
  };
  hall.queue(member("a"));
  hall.queue(member("b"));
  hall.job({.name = "own", .queue = "b", .count = 2});
  hall.job({.name = "more", .queue = "b", .count = 3});
  EXPECT_EQ(hall.moves(), (Texts{"admit own", "admit more"}));
  hall.job({.name = "x", .queue = "a", .count = 3, .topology = required(kHost)});
  EXPECT_EQ(hall.moves(), Texts{"preempt more for x (InCohortReclamation)"});
  hall.scheduler.release(hall.id("more"));
  EXPECT_EQ(hall.moves(), Texts{"admit x"});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(PlacesPreemption, OthersOfTheCycleLeaveWhatThePreemptorWillNeed) {
  Hall hall(1, 2, "4");
  hall.queue(queue_of("a"));
  hall.queue(queue_of("b"));
  hall.job({.name = "low", .queue = "a", .count = 3, .topology = required(kHost)});
  EXPECT_EQ(hall.moves(), Texts{"admit low"});
  hall.job({.name = "keep", .queue = "b", .count = 3, .priority = 5, .topology = required(kHost)});
  EXPECT_EQ(hall.moves(), Texts{"admit keep"});
  // One cpu is free on each node. `high` waits for the whole node of `low`, so only the other node has free capacity.
  hall.job({.name = "high", .queue = "a", .count = 4, .priority = 2, .topology = required(kHost)});
  hall.job({.name = "small", .queue = "b", .count = 1});
  hall.job({.name = "small2", .queue = "b", .count = 1});
  EXPECT_EQ(hall.moves(), (Texts{"preempt low for high (InClusterQueue)", "admit small"}));
  EXPECT_EQ(hall.placed("small"), "r1-n2:1");
  EXPECT_EQ(hall.moves(), Texts{});
  hall.finish("low");
  EXPECT_EQ(hall.moves(), Texts{"admit high"});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(PlacesPreemption, TwoPreemptorsTakeDifferentPlaces) {
  Hall hall(2, 1, "4");
  hall.queue(queue_of("a").in("team").reclaim(ReclaimWithinCohort::kAny));
  hall.queue(queue_of("b").in("team").reclaim(ReclaimWithinCohort::kAny));
  for (const char* name : {"a", "b"}) {
    hall.job({.name = std::string("low-") + name, .queue = name, .count = 4, .topology = required("rack")});
  }
  EXPECT_EQ(hall.moves(), (Texts{"admit low-a", "admit low-b"}));
  for (const char* name : {"a", "b"}) {
    hall.job(
        {.name = std::string("high-") + name, .queue = name, .count = 4, .priority = 1, .topology = required("rack")});
  }
  EXPECT_EQ(hall.moves(),
            (Texts{"preempt low-a for high-a (InClusterQueue)", "preempt low-b for high-b (InClusterQueue)"}));
  hall.finish("low-a");
  EXPECT_EQ(hall.moves(), Texts{"admit high-a"});
  hall.finish("low-b");
  EXPECT_EQ(hall.moves(), Texts{"admit high-b"});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

}  // namespace
}  // namespace berth::engine::places_preemption_test
