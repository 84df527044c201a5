// A workload that waits for a place is woken by every event that may give it one, and by no other event.
#include <gtest/gtest.h>

#include "hall.h"

namespace berth::engine::places_wake_test {
namespace {

using Texts = std::vector<std::string>;

QueueSpec queue_of(const std::string& name, const std::string& flavor = "f") {
  return QueueSpec(name).flavor(flavor, {{"cpu", "100"}});
}

// One node with 4 cpu, all used by `a`; `b` waits for places for two pods.
struct Full : Hall {
  Full() : Hall(1, 1, "4") {
    queue(queue_of("qa"));
    queue(queue_of("qb"));
    job({.name = "a", .queue = "qa", .count = 4});
    EXPECT_EQ(moves(), Texts{"admit a"});
    job({.name = "b", .queue = "qb", .count = 2, .topology = required("rack")});
    EXPECT_EQ(moves(), Texts{});
    EXPECT_TRUE(scheduler.parked(id("b")));
    EXPECT_FALSE(scheduler.wants_pass());
  }
};

TEST(PlacesWake, AClaimThatEndsInAnotherTree) {
  Full hall;
  hall.finish("a");
  EXPECT_TRUE(hall.scheduler.wants_pass());
  EXPECT_EQ(hall.moves(), Texts{"admit b"});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(PlacesWake, ANodeThatJoinsOrBecomesReady) {
  Full hall;
  hall.node(2, 1, "1");
  EXPECT_EQ(hall.moves(), Texts{});
  hall.node(2, 2, "1", false);
  EXPECT_EQ(hall.moves(), Texts{});
  hall.node(2, 2, "1");
  EXPECT_EQ(hall.moves(), Texts{"admit b"});
  EXPECT_EQ(hall.racks("b"), "r2");
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(PlacesWake, APodThatEnds) {
  Hall hall(1, 1, "4");
  hall.queue(queue_of("q"));
  api::kueue::PodPlacement other = hall.pod("other", "r1-n1", "3");
  hall.job({.name = "b", .queue = "q", .count = 2});
  EXPECT_EQ(hall.moves(), Texts{});
  EXPECT_FALSE(hall.scheduler.wants_pass());
  other.terminated = true;
  hall.scheduler.set_pod(other);
  EXPECT_EQ(hall.moves(), Texts{"admit b"});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(PlacesWake, AFinishedWorkloadsPodsHoldTheirPlaceUntilTheyAreGone) {
  Full hall;
  api::kueue::PodPlacement left = hall.pod("left", "r1-n1", "3", "a");
  left.terminating = true;
  hall.scheduler.set_pod(left);
  hall.finish("a");
  EXPECT_EQ(hall.moves(), Texts{});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
  hall.scheduler.remove_pod("left");
  EXPECT_EQ(hall.moves(), Texts{"admit b"});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(PlacesWake, CapacityInOtherFlavorsWakesNobody) {
  Full hall;
  hall.topology_flavor("g");
  hall.queue(queue_of("qg", "g"));
  hall.node(5, 1, "4", true, "g");
  EXPECT_EQ(hall.schedule(), Texts{});
  EXPECT_TRUE(hall.scheduler.parked(hall.id("b")));
  EXPECT_FALSE(hall.scheduler.wants_pass());
  hall.pod("there", "r5-n1", "4");
  hall.scheduler.remove_pod("there");
  EXPECT_FALSE(hall.scheduler.wants_pass());
}

TEST(PlacesWake, QuotaAndPlacesMayBothBeShort) {
  Hall hall(1, 1, "4");
  hall.queue(QueueSpec("q").flavor("f", {{"cpu", "4"}}));
  hall.queue(queue_of("other"));
  hall.job({.name = "a", .queue = "q", .count = 3});
  hall.job({.name = "c", .queue = "other", .count = 1});
  EXPECT_EQ(hall.moves(), (Texts{"admit a", "admit c"}));
  hall.job({.name = "b", .queue = "q", .count = 4});
  const Texts texts = hall.schedule();
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_TRUE(texts[0].starts_with("wait b WaitingForQuota: ")) << texts[0];
  hall.finish("a");
  const Texts then = hall.schedule();
  ASSERT_EQ(then.size(), 1u);
  EXPECT_TRUE(then[0].starts_with("wait b TopologyPlacementFailed: ")) << then[0];
  hall.finish("c");
  EXPECT_EQ(hall.moves(), Texts{"admit b"});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

// After a restart, the assignments determine the places until they are given back.
TEST(PlacesWake, WhatIsHeldAfterARestartIsRespected) {
  Hall before(2, 1, "4");
  before.queue(queue_of("q"));
  before.job({.name = "a", .queue = "q", .count = 3, .topology = required("rack")});
  EXPECT_EQ(before.moves(), Texts{"admit a"});
  const auto admission = before.scheduler.admission(std::get<Admit>(before.last.at(0)));

  Hall hall(0, 0, "4");  // the nodes are seen after the workload
  hall.queue(queue_of("q"));
  Holding holding;
  holding.cluster_queue = "q";
  holding.amounts = holding_amounts(admission, {});
  holding.places = {{"f", {{"cpu", quantity("1")}}, admission.pod_set_assignments[0].topology_assignment}};
  hall.scheduler.hold(hall.id("a"), holding);
  hall.node(1, 1, "4");
  hall.node(2, 1, "4");
  hall.job({.name = "b", .queue = "q", .count = 3, .topology = required("rack")});
  hall.job({.name = "c", .queue = "q", .count = 2, .topology = required("rack")});
  EXPECT_EQ(hall.moves(), Texts{"admit b"});
  EXPECT_EQ(hall.placed("b"), "r2-n1:3");
  EXPECT_EQ(hall.scheduler.check(), Texts{});
  // Reclaimable pods free quota; the places are still those of the assignment.
  holding.amounts = holding_amounts(admission, {{"main", 2}});
  hall.scheduler.hold(hall.id("a"), holding);
  EXPECT_EQ(hall.moves(), Texts{});
  // An equal assignment in a different object changes nothing.
  holding.places[0].assignment =
      std::make_shared<api::kueue::TopologyAssignment>(*admission.pod_set_assignments[0].topology_assignment);
  hall.scheduler.hold(hall.id("a"), holding);
  EXPECT_FALSE(hall.scheduler.wants_pass());
  hall.scheduler.release(hall.id("a"));
  EXPECT_EQ(hall.moves(), Texts{"admit c"});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

}  // namespace
}  // namespace berth::engine::places_wake_test
