// Effects between entries of one cycle: reservations, overlapping victims, waiting for preemptions.
#include <gtest/gtest.h>

#include "world.h"

namespace berth::engine::cycle_test {
namespace {

using Texts = std::vector<std::string>;
using api::kueue::FungibilityPolicy;
using api::kueue::FungibilityPreference;
using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;

std::string flavor_of(World& world, std::size_t decision = 0, const std::string& resource = "cpu") {
  auto admission = world.scheduler.admission(std::get<Admit>(world.last.at(decision)));
  return admission.pod_set_assignments[0].flavors.at(resource);
}

TEST(Cycle, StrictHeadWithoutVictimsKeepsItsNominalQuotaReserved) {
  for (bool always_reclaims : {false, true}) {
    World world;
    world.flavor("f");
    world.queue(QueueSpec("strict")
                    .in("team")
                    .flavor("f", {{"cpu", "4"}})
                    .strict()
                    .within(WithinClusterQueue::kLowerPriority)
                    .reclaim(always_reclaims ? ReclaimWithinCohort::kAny : ReclaimWithinCohort::kLowerPriority));
    world.queue(QueueSpec("greedy").in("team").flavor("f", {{"cpu", "0"}}));
    world.job({.name = "runs", .queue = "strict", .count = 2, .priority = 5});
    EXPECT_EQ(world.moves(), Texts{"admit runs"});
    // Needs 4 of 4. It may preempt nothing, but the free part of its queue's nominal quota is reserved for it.
    world.job({.name = "head", .queue = "strict", .count = 4, .priority = 5});
    world.job({.name = "borrower", .queue = "greedy", .count = 2});
    EXPECT_EQ(world.moves(), always_reclaims ? Texts{"admit borrower"} : Texts{});
    if (always_reclaims) continue;
    world.finish("runs");
    EXPECT_EQ(world.moves(), Texts{"admit head"});
    world.finish("head");
    EXPECT_EQ(world.moves(), Texts{"admit borrower"});
  }
}

TEST(Cycle, TwoPreemptorsOfOneCycleTakeDifferentVictims) {
  World world;
  world.flavor("f");
  for (const char* name : {"a", "b"}) {
    world.queue(QueueSpec(name).in("team").flavor("f", {{"cpu", "2"}}).reclaim(ReclaimWithinCohort::kAny));
  }
  world.queue(QueueSpec("lent").in("team").flavor("f", {{"cpu", "0"}}));
  world.job({.name = "v1", .queue = "lent", .count = 2});
  world.job({.name = "v2", .queue = "lent", .count = 2});
  EXPECT_EQ(world.moves(), (Texts{"admit v1", "admit v2"}));
  world.job({.name = "x", .queue = "a", .count = 2});
  world.job({.name = "y", .queue = "b", .count = 2});
  Texts moves = world.moves();
  std::sort(moves.begin(), moves.end());
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_TRUE(moves[0].starts_with("preempt v1 for "));
  EXPECT_TRUE(moves[1].starts_with("preempt v2 for "));
  EXPECT_EQ(world.moves(), Texts{});
  world.stopped("v1");
  EXPECT_EQ(world.moves(), Texts{"admit x"});
  world.stopped("v2");
  EXPECT_EQ(world.moves(), Texts{"admit y"});
  EXPECT_EQ(world.scheduler.check(), Texts{});
}

TEST(Cycle, WhoFitsAfterAnothersPreemptionsWaitsForThem) {
  World world;
  world.flavor("f");
  for (const char* name : {"a", "b"}) {
    world.queue(QueueSpec(name).in("team").flavor("f", {{"cpu", "2"}}).reclaim(ReclaimWithinCohort::kAny));
  }
  world.queue(QueueSpec("lent").in("team").flavor("f", {{"cpu", "0"}}));
  world.job({.name = "victim", .queue = "lent", .count = 4});
  EXPECT_EQ(world.moves(), Texts{"admit victim"});
  world.job({.name = "x", .queue = "a", .count = 2});
  world.job({.name = "y", .queue = "b", .count = 2});
  EXPECT_EQ(world.moves(), Texts{"preempt victim for x (InCohortReclamation)"});
  world.stopped("victim");
  EXPECT_EQ(world.moves(), (Texts{"admit x", "admit y"}));
  EXPECT_EQ(world.scheduler.check(), Texts{});
}

TEST(Cycle, NobodyIsAdmittedOntoQuotaThatVictimsStillHold) {
  World world;
  world.flavor("f");
  world.queue(QueueSpec("a").in("team").flavor("f", {{"cpu", "10"}}).within(WithinClusterQueue::kLowerPriority));
  world.queue(QueueSpec("b").in("team").flavor("f", {{"cpu", "0"}}));
  world.queue(QueueSpec("c").in("team").flavor("f", {{"cpu", "0"}}));
  world.job({.name = "victim", .queue = "a", .count = 8});
  EXPECT_EQ(world.moves(), Texts{"admit victim"});
  world.job({.name = "urgent", .queue = "a", .count = 3, .priority = 9});
  world.job({.name = "two", .queue = "b", .count = 2});
  world.job({.name = "also", .queue = "c", .count = 2});
  EXPECT_EQ(world.moves(), (Texts{"preempt victim for urgent (InClusterQueue)", "admit two"}));
  EXPECT_EQ(world.moves(), Texts{});
  world.scheduler.release(world.id("victim"));
  EXPECT_EQ(world.moves(), (Texts{"admit urgent", "admit also"}));
}

TEST(Cycle, FailedEvictionIsIssuedAgain) {
  World world;
  world.flavor("f");
  world.queue(QueueSpec("q").flavor("f", {{"cpu", "2"}}).within(WithinClusterQueue::kLowerPriority));
  world.job({.name = "low", .queue = "q", .count = 2});
  EXPECT_EQ(world.moves(), Texts{"admit low"});
  world.job({.name = "high", .queue = "q", .count = 2, .priority = 1});
  EXPECT_EQ(world.moves(), Texts{"preempt low for high (InClusterQueue)"});
  EXPECT_EQ(world.moves(), Texts{});
  world.hold("low", true);
  EXPECT_FALSE(world.scheduler.wants_pass());
  world.hold("low", false);
  EXPECT_TRUE(world.scheduler.wants_pass());
  EXPECT_EQ(world.moves(), Texts{"preempt low for high (InClusterQueue)"});
  EXPECT_FALSE(world.scheduler.wants_pass());
}

TEST(Cycle, FailedAdmissionIsTakenBackAndTriedAgain) {
  World world;
  world.flavor("f");
  world.queue(QueueSpec("q").flavor("f", {{"cpu", "2"}}));
  world.job({.name = "a", .queue = "q", .count = 2});
  world.job({.name = "b", .queue = "q", .count = 2});
  EXPECT_EQ(world.moves(), Texts{"admit a"});
  world.scheduler.release(world.id("a"));
  Pending later = world.specs["a"];
  later.not_before = at_second(500);
  world.scheduler.submit(world.id("a"), later);
  EXPECT_TRUE(world.scheduler.wants_pass());
  EXPECT_EQ(world.moves(), Texts{"admit b"});
  EXPECT_EQ(world.scheduler.ledger().claims(), 1u);
  EXPECT_EQ(world.scheduler.check(), Texts{});
}

TEST(Cycle, PreemptorStaysFirstUntilItsVictimsAreGone) {
  World world;
  world.flavor("f");
  world.queue(QueueSpec("q").flavor("f", {{"cpu", "4"}}).within(WithinClusterQueue::kLowerPriority));
  world.job({.name = "low", .queue = "q", .count = 3, .second = 100});
  EXPECT_EQ(world.moves(), Texts{"admit low"});
  world.job({.name = "older", .queue = "q", .count = 4, .priority = 1, .second = 50});
  EXPECT_EQ(world.moves(), Texts{"preempt low for older (InClusterQueue)"});
  // It comes earlier in the queue and would fit beside the victim, but the preemptor stays first until it is
  // admitted.
  world.job({.name = "oldest", .queue = "q", .count = 1, .priority = 1, .second = 10});
  EXPECT_EQ(world.moves(), Texts{});
  EXPECT_EQ(world.scheduler.pending_page("q", 0, 1).front(), world.id("older"));
  world.stopped("low");
  EXPECT_EQ(world.moves(), Texts{"admit older"});
  EXPECT_TRUE(world.scheduler.parked(world.id("oldest")));
}

TEST(Fungibility, PoliciesChooseBetweenBorrowingPreemptingAndTheNextFlavor) {
  struct Case {
    FungibilityPolicy borrow, preempt;
    FungibilityPreference preference;
    std::string want;
  };
  // In flavor one the job must borrow, in flavor two it must preempt.
  for (const Case& c : {Case{FungibilityPolicy::kMayStopSearch, FungibilityPolicy::kTryNextFlavor,
                             FungibilityPreference::kBorrowingOverPreemption, "one"},
                        Case{FungibilityPolicy::kTryNextFlavor, FungibilityPolicy::kTryNextFlavor,
                             FungibilityPreference::kBorrowingOverPreemption, "one"},
                        Case{FungibilityPolicy::kTryNextFlavor, FungibilityPolicy::kTryNextFlavor,
                             FungibilityPreference::kPreemptionOverBorrowing, "preempt"},
                        Case{FungibilityPolicy::kTryNextFlavor, FungibilityPolicy::kMayStopSearch,
                             FungibilityPreference::kBorrowingOverPreemption, "preempt"}}) {
    World world;
    world.flavor("one");
    world.flavor("two");
    QueueSpec spec = QueueSpec("q")
                         .in("team")
                         .flavor("one", {{"cpu", "0"}})
                         .flavor("two", {{"cpu", "2"}})
                         .within(WithinClusterQueue::kLowerPriority);
    spec.object.when_can_borrow = c.borrow;
    spec.object.when_can_preempt = c.preempt;
    spec.object.preference = c.preference;
    world.queue(spec);
    Holding low{"q", 0, at_second(1), at_second(1), {{"two", "cpu", Amount::of(2000)}}, false};
    world.scheduler.hold(world.id("low"), low);
    world.queue(QueueSpec("lender").in("team").flavor("one", {{"cpu", "2"}}));
    world.job({.name = "j", .queue = "q", .count = 2, .priority = 1});
    Texts moves = world.moves();
    ASSERT_EQ(moves.size(), 1u);
    if (c.want == "preempt") {
      EXPECT_EQ(moves[0], "preempt low for j (InClusterQueue)");
    } else {
      EXPECT_EQ(moves[0], "admit j");
      EXPECT_EQ(flavor_of(world), c.want);
    }
  }
}

TEST(Fungibility, ResourcesOfAGroupTakeOneFlavorAndGroupsChooseAlone) {
  World world;
  for (const char* f : {"cpu-only", "small", "large"}) world.flavor(f);
  world.queue(QueueSpec("q")
                  .flavor("small", {{"cpu", "2"}, {"memory", "1Gi"}})
                  .flavor("large", {{"cpu", "4"}, {"memory", "8Gi"}})
                  .flavor("cpu-only", {{"gpu", "1"}}));
  world.job({.name = "j", .queue = "q", .requests = {{"cpu", "1"}, {"memory", "2Gi"}, {"gpu", "1"}}});
  EXPECT_EQ(world.moves(), Texts{"admit j"});
  EXPECT_EQ(flavor_of(world, 0, "cpu"), "large");
  EXPECT_EQ(flavor_of(world, 0, "memory"), "large");
  EXPECT_EQ(flavor_of(world, 0, "gpu"), "cpu-only");
}

TEST(Fungibility, CoveredPodsCountAsAResource) {
  World world;
  world.flavor("f");
  world.queue(QueueSpec("q").flavor("f", {{"cpu", "9"}, {"pods", "3"}}));
  world.job({.name = "a", .queue = "q", .count = 2});
  EXPECT_EQ(world.moves(), Texts{"admit a"});
  auto usage = world.scheduler.admission(std::get<Admit>(world.last[0])).pod_set_assignments[0].resource_usage;
  EXPECT_EQ(usage.at("pods").to_string(), "2");
  world.job({.name = "b", .queue = "q", .count = 2});
  EXPECT_EQ(world.schedule(), Texts{"wait b WaitingForQuota: couldn't assign flavors to pod set main: insufficient "
                                    "unused quota for pods in flavor f, 1 more needed"});
}

TEST(Fungibility, PodSetsOfAWorkloadAddUpAndAGroupSharesItsFlavor) {
  World world;
  world.flavor("one");
  world.flavor("two");
  world.queue(QueueSpec("q").flavor("one", {{"cpu", "3"}}).flavor("two", {{"cpu", "6"}}));
  Pending pending = World::pending({.name = "j", .queue = "q", .count = 2}, 1);
  pending.pod_sets.push_back(pending.pod_sets[0]);
  pending.pod_sets[0].name = "leader";
  pending.pod_sets[1].name = "worker";
  world.scheduler.submit(world.id("apart"), pending);
  EXPECT_EQ(world.moves(), Texts{"admit apart"});
  auto admission = world.scheduler.admission(std::get<Admit>(world.last[0]));
  EXPECT_EQ(admission.pod_set_assignments[0].flavors.at("cpu"), "one");
  EXPECT_EQ(admission.pod_set_assignments[1].flavors.at("cpu"), "two");
  world.finish("apart");
  for (auto& pod_set : pending.pod_sets) pod_set.group = "together";
  world.scheduler.submit(world.id("together"), pending);
  EXPECT_EQ(world.moves(), Texts{"admit together"});
  admission = world.scheduler.admission(std::get<Admit>(world.last[0]));
  EXPECT_EQ(admission.pod_set_assignments[0].flavors.at("cpu"), "two");
  EXPECT_EQ(admission.pod_set_assignments[1].flavors.at("cpu"), "two");
}

}  // namespace
}  // namespace berth::engine::cycle_test
