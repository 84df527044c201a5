// Preemptors: what comes before them, and what stays reserved for them (gates PrioritizePreemptorWorkloads and
// RecomputeAssignmentUponPreemptionTargetsOverlap).
#include <gtest/gtest.h>

#include "world.h"

namespace berth::engine::preemptors_test {
namespace {

using Texts = std::vector<std::string>;
using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;

SchedulerOptions prioritized(bool on) {
  SchedulerOptions options;
  options.prioritize_preemptors = on;
  return options;
}

// The cohort itself has 4 cpu, which queues can only borrow.
void lend_four(World& world) {
  world.flavor("f");
  world.cohort("team", "", {{"f", {{"cpu", "4"}}}});
  for (const char* name : {"lent", "other"}) world.queue(QueueSpec(name).in("team").flavor("f", {{"cpu", "0"}}));
}

TEST(Preemptors, OfAStrictQueueKeepWhatTheFirstVictimGaveBack) {
  for (bool on : {false, true}) {
    World world(prioritized(on));
    lend_four(world);
    world.queue(QueueSpec("strict")
                    .in("team")
                    .flavor("f", {{"cpu", "0"}})
                    .strict()
                    .reclaim(ReclaimWithinCohort::kLowerPriority)
                    .borrow_preempting());
    world.job({.name = "v1", .queue = "lent", .count = 2});
    world.job({.name = "v2", .queue = "lent", .count = 2});
    EXPECT_EQ(world.moves(), (Texts{"admit v1", "admit v2"}));
    world.job({.name = "x", .queue = "strict", .count = 4, .priority = 5});
    EXPECT_EQ(world.moves().size(), 2u);
    // It has a higher priority, and the quota of v1 is enough for it.
    world.job({.name = "thief", .queue = "other", .count = 2, .priority = 9});
    EXPECT_EQ(world.moves(), Texts{});
    world.finish("v1");
    EXPECT_EQ(world.moves(), on ? Texts{} : Texts{"admit thief"});
    if (!on) continue;
    world.finish("v2");
    EXPECT_EQ(world.moves(), Texts{"admit x"});
    EXPECT_EQ(world.scheduler.check(), Texts{});
  }
}

// Once the large victim is gone, the queue of the small one borrows nothing: the small one could not be chosen now,
// but its eviction is already under way.
TEST(Preemptors, KeepWhatWasGivenBackThoughTheOtherVictimIsWithinItsQuotaNow) {
  for (bool on : {false, true}) {
    World world(prioritized(on));
    world.flavor("f");
    world.cohort("team", "", {{"f", {{"cpu", "3"}}}});
    world.queue(QueueSpec("taker")
                    .in("team")
                    .flavor("f", {{"cpu", "0"}})
                    .reclaim(ReclaimWithinCohort::kLowerPriority)
                    .borrow_preempting());
    world.queue(QueueSpec("lent").in("team").flavor("f", {{"cpu", "1"}}));
    world.queue(QueueSpec("other").in("team").flavor("f", {{"cpu", "0"}}));
    world.job({.name = "large", .queue = "lent", .count = 3});
    EXPECT_EQ(world.moves(), Texts{"admit large"});
    world.job({.name = "small", .queue = "lent", .count = 1});
    EXPECT_EQ(world.moves(), Texts{"admit small"});
    world.job({.name = "x", .queue = "taker", .count = 4, .priority = 5});
    EXPECT_EQ(world.moves().size(), 2u) << "both have to go";
    world.finish("large");
    world.job({.name = "thief", .queue = "other", .count = 3, .priority = 9});
    EXPECT_EQ(world.moves(), on ? Texts{} : Texts{"admit thief"});
    if (!on) continue;
    EXPECT_EQ(world.moves(), Texts{});
    world.finish("small");
    EXPECT_EQ(world.moves(), Texts{"admit x"});
    EXPECT_EQ(world.scheduler.check(), Texts{});
  }
}

TEST(Preemptors, StayFirstWhenTheyAreInformedAnew) {
  World world;
  world.flavor("f");
  world.queue(QueueSpec("q").flavor("f", {{"cpu", "4"}}).within(api::kueue::WithinClusterQueue::kLowerPriority));
  world.job({.name = "low", .queue = "q", .count = 3, .second = 100});
  EXPECT_EQ(world.moves(), Texts{"admit low"});
  world.job({.name = "older", .queue = "q", .count = 4, .priority = 1, .second = 50});
  EXPECT_EQ(world.moves(), Texts{"preempt low for older (InClusterQueue)"});
  world.job({.name = "oldest", .queue = "q", .count = 1, .priority = 1, .second = 10});
  world.scheduler.submit(world.id("older"), world.specs["older"], true);
  EXPECT_EQ(world.moves(), Texts{});
  EXPECT_EQ(world.scheduler.pending_page("q", 0, 1).front(), world.id("older"));
  world.finish("low");
  EXPECT_EQ(world.moves(), Texts{"admit older"});
}

TEST(Preemptors, WhoseVictimsAreTakenAreLookedAtAgainOrWaitForTheNextCycle) {
  for (bool recompute : {true, false}) {
    SchedulerOptions options;
    options.recompute_on_overlap = recompute;
    World world(options);
    world.flavor("f");
    for (const char* name : {"a", "b"})
      world.queue(QueueSpec(name).in("team").flavor("f", {{"cpu", "2"}}).reclaim(ReclaimWithinCohort::kAny));
    world.queue(QueueSpec("lent").in("team").flavor("f", {{"cpu", "0"}}));
    world.job({.name = "v1", .queue = "lent", .count = 2});
    world.job({.name = "v2", .queue = "lent", .count = 2});
    EXPECT_EQ(world.moves(), (Texts{"admit v1", "admit v2"}));
    world.job({.name = "x", .queue = "a", .count = 2});
    world.job({.name = "y", .queue = "b", .count = 2});
    Texts all = world.schedule();
    std::erase_if(all, [](const std::string& each) { return !each.starts_with("wait y"); });
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].find("overlapping preemption targets") == std::string::npos, recompute) << all[0];
  }
}

TEST(PreemptionGates, AClosedOneKeepsFromPreemptingAndFromNothingElse) {
  World world;
  world.flavor("f");
  world.queue(QueueSpec("q").flavor("f", {{"cpu", "4"}}).within(api::kueue::WithinClusterQueue::kLowerPriority));
  world.job({.name = "low", .queue = "q", .count = 3});
  EXPECT_EQ(world.moves(), Texts{"admit low"});
  const JobSpec spec{.name = "gated", .queue = "q", .count = 2, .priority = 9};
  Pending gated = World::pending(spec, 50);
  gated.preemption_gated = true;
  world.submit("gated", gated);
  EXPECT_EQ(world.schedule(), Texts{"wait gated WaitingForQuota: couldn't assign flavors to pod set main: "
                                    "insufficient unused quota for "
                                    "cpu in flavor f, 1 more needed"});
  EXPECT_TRUE(std::get<Wait>(world.last[0]).preemption_gated);
  EXPECT_EQ(world.scheduler.check(), Texts{});
  // Nothing is reserved, so workloads behind it are admitted; an equal workload without a gate has a verdict of its
  // own.
  world.job({.name = "behind", .queue = "q", .count = 1});
  EXPECT_EQ(world.moves(), Texts{"admit behind"});
  world.job({.name = "free", .queue = "q", .count = 2, .priority = 9});
  EXPECT_EQ(world.moves(), Texts{"preempt low for free (InClusterQueue)"});
}

TEST(PreemptionGates, ThatOpensLetsPreempt) {
  World world;
  world.flavor("f");
  world.queue(QueueSpec("q").flavor("f", {{"cpu", "4"}}).within(api::kueue::WithinClusterQueue::kLowerPriority));
  world.job({.name = "low", .queue = "q", .count = 4});
  EXPECT_EQ(world.moves(), Texts{"admit low"});
  Pending gated = World::pending({.name = "gated", .queue = "q", .count = 2, .priority = 9}, 50);
  gated.preemption_gated = true;
  world.submit("gated", gated);
  EXPECT_EQ(world.moves(), Texts{});
  gated.preemption_gated = false;
  world.submit("gated", gated);
  EXPECT_EQ(world.moves(), Texts{"preempt low for gated (InClusterQueue)"});
}

TEST(PreemptionGates, WhoMayShrinkIsAdmittedWithWhatIsFree) {
  World world;
  world.flavor("f");
  world.queue(QueueSpec("q").flavor("f", {{"cpu", "4"}}).within(api::kueue::WithinClusterQueue::kLowerPriority));
  world.job({.name = "low", .queue = "q", .count = 3});
  EXPECT_EQ(world.moves(), Texts{"admit low"});
  Pending gated = World::pending({.name = "gated", .queue = "q", .count = 2, .priority = 9, .min_count = 1}, 50);
  gated.preemption_gated = true;
  world.submit("gated", gated);
  EXPECT_EQ(world.moves(), Texts{"admit gated"});
  EXPECT_EQ(std::get<Admit>(world.last[0]).pod_sets[0].count, 1);
}

// While "a" runs four pods, its share is the larger one, so its own go. Without them "small" would be the better
// victim.
TEST(Preemptors, ThatWaitForEnoughVictimsTakeNoOthersByShare) {
  SchedulerOptions options;
  options.fair_sharing.enabled = true;
  World world(options);
  world.flavor("f");
  world.cohort("team", "", {{"f", {{"cpu", "6"}}}});
  QueueSpec a("a");
  a.in("team").flavor("f", {{"cpu", "5"}}).within(WithinClusterQueue::kLowerOrNewerEqualPriority);
  world.queue(a.reclaim(ReclaimWithinCohort::kAny));
  world.queue(QueueSpec("b").in("team").flavor("f", {{"cpu", "5"}}).weighs("2"));
  world.job({.name = "best", .queue = "a", .priority = 2});
  world.job({.name = "own-1", .queue = "a", .priority = 1});
  world.job({.name = "own-2", .queue = "a", .priority = 1});
  world.job({.name = "own-3", .queue = "a"});
  world.job({.name = "large", .queue = "b", .count = 3, .priority = 2});
  world.job({.name = "small", .queue = "b", .count = 3, .priority = 1});
  world.job({.name = "one", .queue = "b", .priority = 1});
  EXPECT_EQ(world.moves().size(), 7u);
  world.cohort("team", "");  // 10 are left of 16: one too few for what runs
  world.job({.name = "late", .queue = "a", .count = 2, .priority = 2});
  const std::string why = " for late (InClusterQueue)";
  EXPECT_EQ(world.moves(), (Texts{"preempt own-3" + why, "preempt own-1" + why, "preempt own-2" + why}));
}

// "first" takes memory beside what is held for the preemptor. What is left beside the victim is too little then, and it
// may not preempt for memory; but when the victim is gone, it is enough. So "second" must not take it.
TEST(Preemptors, KeepWhatTheirVictimsLeaveThoughTheyCouldNotPreemptForItNow) {
  World world;
  world.flavor("f");
  world.cohort("team", "", {{"f", {{"cpu", "2"}, {"memory", "6"}}}});
  QueueSpec a("a");
  world.queue(a.in("team").flavor("f", {{"cpu", "2"}, {"memory", "0"}}).within(WithinClusterQueue::kLowerPriority));
  world.queue(QueueSpec("b").in("team").flavor("f", {{"cpu", "2"}, {"memory", "0"}}));
  world.job({.name = "own", .queue = "a", .requests = {{"cpu", "2"}, {"memory", "2"}}});
  EXPECT_EQ(world.moves(), Texts{"admit own"});
  world.job({.name = "other", .queue = "b", .requests = {{"cpu", "4"}}});
  EXPECT_EQ(world.moves(), Texts{"admit other"});
  world.job({.name = "late", .queue = "a", .requests = {{"cpu", "2"}, {"memory", "3"}}, .priority = 1});
  world.job({.name = "first", .queue = "b", .requests = {{"cpu", "0"}, {"memory", "2"}}, .second = 1});
  world.job({.name = "second", .queue = "b", .requests = {{"cpu", "0"}, {"memory", "2"}}});
  EXPECT_EQ(world.moves(), (Texts{"preempt own for late (InClusterQueue)", "admit first"}));
  world.stopped("own");
  EXPECT_EQ(world.moves(), Texts{"admit late"});
}

SchedulerOptions shared(bool on) {
  SchedulerOptions options;
  options.fair_sharing.enabled = on;
  return options;
}

// Rather preempts in the second flavor than borrows in the first.
QueueSpec never_borrows_gladly() {
  QueueSpec queue("q");
  queue.in("team").within(WithinClusterQueue::kLowerPriority);
  queue.object.when_can_borrow = api::kueue::FungibilityPolicy::kTryNextFlavor;
  queue.object.when_can_preempt = api::kueue::FungibilityPolicy::kMayStopSearch;
  return queue;
}

// While cpu is short in "near", the flavor counts as one that does not borrow, as cpu decides. When the victim is gone,
// the memory decides, which is borrowed. So "far" would be better now, but it costs another victim.
TEST(Preemptors, StayWithTheFlavorWhoseVictimHasGone) {
  for (const bool shares : {false, true}) {
    World world(shared(shares));
    world.flavor("near");
    world.flavor("far");
    world.cohort("team", "", {{"near", {{"cpu", "0"}, {"memory", "4"}}}});
    world.queue(never_borrows_gladly()
                    .flavor("near", {{"cpu", "2"}, {"memory", "0"}})
                    .flavor("far", {{"cpu", "2"}, {"memory", "4"}}));
    world.job({.name = "one", .queue = "q", .requests = {{"cpu", "2"}}});
    world.job({.name = "other", .queue = "q", .requests = {{"cpu", "2"}}});
    EXPECT_EQ(world.moves(), (Texts{"admit one", "admit other"}));
    world.job({.name = "late", .queue = "q", .requests = {{"cpu", "2"}, {"memory", "2"}}, .priority = 1});
    EXPECT_EQ(world.moves(), Texts{"preempt one for late (InClusterQueue)"});
    world.stopped("one");
    EXPECT_EQ(world.moves(), Texts{"admit late"});
  }
}

// For the cpu alone "large" would go, and nothing would be borrowed. For both "small" is enough. When it is being
// evicted, it is the first to go for the cpu alone, too, and then cpu would be borrowed.
TEST(Preemptors, StayWithTheFlavorWhoseVictimIsOnItsWay) {
  for (const bool shares : {false, true}) {
    World world(shared(shares));
    world.flavor("near");
    world.flavor("far");
    world.cohort("team", "", {{"near", {{"cpu", "1"}, {"memory", "1"}}}, {"far", {{"cpu", "2"}, {"memory", "0"}}}});
    world.queue(never_borrows_gladly()
                    .flavor("near", {{"cpu", "0"}, {"memory", "0"}})
                    .flavor("far", {{"cpu", "5"}, {"memory", "2"}}));
    world.job({.name = "large", .queue = "q", .requests = {{"cpu", "6"}}});
    world.job({.name = "small", .queue = "q", .requests = {{"cpu", "1"}, {"memory", "2"}}, .priority = 1});
    EXPECT_EQ(world.moves(), (Texts{"admit small", "admit large"}));
    world.job({.name = "late", .queue = "q", .requests = {{"cpu", "1"}, {"memory", "1"}}, .priority = 2});
    EXPECT_EQ(world.moves(), Texts{"preempt small for late (InClusterQueue)"});
    EXPECT_EQ(world.moves(), Texts{});
    world.stopped("small");
    EXPECT_EQ(world.moves(), Texts{"admit late"});
  }
}

}  // namespace
}  // namespace berth::engine::preemptors_test
