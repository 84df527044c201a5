// Volcano's queues in the engine: which groups are admitted, guaranteed quota stays available, which groups are
// preempted, and an invalid queue affects only its own subtree.
#include "volcano/quota_tree.h"

#include <gmock/gmock.h>

#include "volcano/world.h"

namespace berth::volcano::quota_tree_test {
namespace {

using api::volcano::PodGroupPhase;
using api::volcano::Queue;
using api::volcano::QueueState;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::queue;
using ::testing::UnorderedElementsAre;

class VolcanoTree : public ::testing::Test, protected testing::World {};

TEST_F(VolcanoTree, AQueueWithoutLimitsTakesEverythingAndCountsIt) {
  have("q");
  group("g", "q", "cpu=1000,memory=1Gi,example.com/thing=3");
  EXPECT_THAT(run(), ElementsAre("in g"));
  EXPECT_EQ(allocated("q"), "cpu=1k,example.com/thing=3,memory=1Gi,pods=1");
  EXPECT_EQ(allocated("root"), allocated("q"));
}

TEST_F(VolcanoTree, CapabilityIsACeilingHereAndAbove) {
  have("parent", {.capability = "cpu=10"});
  have("a", {.parent = "parent", .capability = "cpu=6"});
  have("b", {.parent = "parent"});
  group("too-much", "a", "cpu=7");
  group("fits", "a", "cpu=6");
  EXPECT_THAT(run(), ElementsAre("in fits"));
  group("beside", "b", "cpu=5");  // the capability of the parent is 10 in total
  group("small", "b", "cpu=4");
  EXPECT_THAT(run(), ElementsAre("in small"));
  EXPECT_EQ(allocated("parent"), "cpu=10,pods=2");
  have("a", {.parent = "parent"});
  end("fits");
  EXPECT_THAT(run(), ElementsAre("in beside"));
}

TEST_F(VolcanoTree, PodsAreLimitedAsAnythingElse) {
  have("q", {.capability = "pods=1"});
  group("one", "q", "cpu=1");
  group("two", "q", "cpu=1");
  EXPECT_THAT(run(), ElementsAre("in one"));
  end("one");
  EXPECT_THAT(run(), ElementsAre("in two"));
}

// In Volcano, B and C may fill the parent, and A has to reclaim its guarantee (volcano-sh/volcano#3828).
TEST_F(VolcanoTree, WhatIsGuaranteedIsNeverLent) {
  have("parent", {.capability = "cpu=100", .deserved = "cpu=100", .guarantee = "cpu=10"});
  have("a", {.parent = "parent", .deserved = "cpu=10", .guarantee = "cpu=10"});
  have("b", {.parent = "parent"});
  have("c", {.parent = "parent"});
  group("b1", "b", "cpu=50");
  group("c1", "c", "cpu=50");
  group("c2", "c", "cpu=40");
  EXPECT_THAT(run(), ElementsAre("in b1", "in c2"));
  group("a1", "a", "cpu=10");
  EXPECT_THAT(run(), ElementsAre("in a1"));  // at once, without a preemption
}

TEST_F(VolcanoTree, WhatIsDeservedIsTakenBack) {
  have("parent", {.capability = "cpu=10", .deserved = "cpu=10"});
  have("a", {.parent = "parent", .deserved = "cpu=6"});
  have("b", {.parent = "parent", .deserved = "cpu=4"});
  group("b1", "b", "cpu=4");
  group("b2", "b", "cpu=5", 100);  // it borrows; its priority does not protect it
  EXPECT_THAT(run(), ElementsAre("in b1", "in b2"));
  group("a1", "a", "cpu=6");
  EXPECT_THAT(run(), ElementsAre("out b2", "in a1"));
  group("a2", "a", "cpu=4");  // above what `a` deserves, so it waits
  EXPECT_THAT(run(), IsEmpty());
}

TEST_F(VolcanoTree, WhoIsNotReclaimableKeepsWhatItBorrowed) {
  have("parent", {.capability = "cpu=10", .deserved = "cpu=10"});
  have("a", {.parent = "parent", .deserved = "cpu=6"});
  Queue b = queue("b", {.parent = "parent", .deserved = "cpu=4"});
  b.reclaimable = false;
  have(b);
  group("b1", "b", "cpu=10");
  EXPECT_THAT(run(), ElementsAre("in b1"));
  group("a1", "a", "cpu=6");
  EXPECT_THAT(run(), IsEmpty());
  b.reclaimable = true;
  have(b);
  EXPECT_THAT(run(), ElementsAre("out b1", "in a1"));
}

TEST_F(VolcanoTree, QueuesOfHigherPriorityComeFirst) {
  have("parent", {.capability = "cpu=1"});
  Queue low = queue("low", {.parent = "parent"}), high = queue("high", {.parent = "parent"});
  high.priority = 3;
  have(low);
  have(high);
  group("older", "low", "cpu=1", 50);
  group("younger", "high", "cpu=1");
  EXPECT_THAT(run(), ElementsAre("in younger"));
}

TEST_F(VolcanoTree, FifoWaitsAndTraversePasses) {
  Queue fifo = queue("fifo", {.capability = "cpu=4"}), traverse = queue("traverse", {.capability = "cpu=4"});
  fifo.dequeue_strategy = api::volcano::DequeueStrategy::kFifo;
  have(fifo);
  have(traverse);
  for (const char* name : {"fifo", "traverse"}) {
    group(std::string(name) + "-1", name, "cpu=3");
    group(std::string(name) + "-2", name, "cpu=2");
    group(std::string(name) + "-3", name, "cpu=1");
  }
  EXPECT_THAT(run(), ElementsAre("in fifo-1", "in traverse-1", "in traverse-3"));
  end("fifo-1");
  EXPECT_THAT(run(), ElementsAre("in fifo-2", "in fifo-3"));
}

TEST_F(VolcanoTree, RootIsUnboundedUnlessItIsLimited) {
  have("a", {.deserved = "cpu=4"});
  have("b");
  group("b1", "b", "cpu=1000");
  EXPECT_THAT(run(), ElementsAre("in b1"));
  have("root", {.capability = "cpu=10"});
  end("b1");
  group("b2", "b", "cpu=11,memory=1Ti");
  group("b3", "b", "cpu=10,memory=1Ti");
  EXPECT_THAT(run(), ElementsAre("in b3"));
  group("a1", "a", "cpu=4");
  EXPECT_THAT(run(), ElementsAre("out b3", "in a1"));
}

// The first child is created while a group runs in the leaf: the group stays and is counted, and no other is admitted
// there.
TEST_F(VolcanoTree, ALeafThatBecomesAParentKeepsWhatRunsInIt) {
  have("q", {.capability = "cpu=10"});
  group("inside", "q", "cpu=4");
  group("waits", "q", "cpu=9");
  EXPECT_THAT(run(), ElementsAre("in inside"));
  have("child", {.parent = "q"});
  EXPECT_EQ(allocated("q"), "cpu=4,pods=1");
  EXPECT_EQ(allocated("child"), "");
  group("late", "q", "cpu=1");
  group("too-much", "child", "cpu=7");
  group("fits", "child", "cpu=6");
  EXPECT_THAT(run(), ElementsAre("in fits"));
  EXPECT_THAT(tree->obstacle("q"), HasSubstr("queue q has 1 child queue(s) and takes no work itself"));
  EXPECT_EQ(allocated("q"), "cpu=10,pods=2");
  end("inside");
  end("fits");
  EXPECT_THAT(run(), ElementsAre("in too-much"));
  end("too-much");
  feed(tree->remove("child"));  // q is a leaf again
  EXPECT_THAT(run(), UnorderedElementsAre("in waits", "in late"));
}

TEST_F(VolcanoTree, ABadQueueStopsItsOwnSubtreeOnly) {
  have("good", {.capability = "cpu=4"});
  have("orphan", {.parent = "nobody"});
  have("below", {.parent = "orphan"});
  have("x", {.parent = "y"});
  have("y", {.parent = "x"});
  have("self", {.parent = "self"});
  for (const char* name : {"below", "x", "self", "good"}) group(std::string("in-") + name, name, "cpu=1");
  EXPECT_THAT(run(), ElementsAre("in in-good"));
  EXPECT_EQ(tree->obstacle("below"),
            "the parents of queue below lead to queue nobody, which does not exist: create it, or change the parent");
  EXPECT_THAT(tree->obstacle("x"), HasSubstr("run in a circle"));
  EXPECT_EQ(tree->obstacle("good"), "");
  have("nobody");
  have("y");
  EXPECT_THAT(run(), UnorderedElementsAre("in in-below", "in in-x"));  // y is below root now, and x is below y
  EXPECT_EQ(tree->obstacle("x"), "");
}

TEST_F(VolcanoTree, AClosedQueueLetsNobodyInAndKeepsWhatRuns) {
  have("parent");
  have("q", {.parent = "parent"});
  group("runs", "q", "cpu=1");
  EXPECT_THAT(run(), ElementsAre("in runs"));
  have("parent", {.state = QueueState::kClosing});
  group("waits", "q", "cpu=1");
  EXPECT_THAT(run(), IsEmpty());
  EXPECT_EQ(phase("runs"), PodGroupPhase::kInqueue);
  have("parent");
  EXPECT_THAT(run(), ElementsAre("in waits"));
}

// Volcano's reclaim asks whether the victim's queue is reclaimable, not whether it is open. A stopped queue of Kueue
// differs: what it runs is safe.
TEST_F(VolcanoTree, WhatAClosedQueueRunsIsReclaimed) {
  have("root", {.capability = "cpu=4"});
  have("owner", {.deserved = "cpu=4"});
  have("parent");
  have("lent", {.parent = "parent"});
  group("borrows", "lent", "cpu=2");
  EXPECT_THAT(run(), ElementsAre("in borrows"));
  have("parent", {.state = QueueState::kClosing});
  group("other", "owner", "cpu=2");
  EXPECT_THAT(run(), ElementsAre("in other")) << "the rest suffices";
  group("own", "owner", "cpu=2");
  EXPECT_THAT(run(), ElementsAre("out borrows", "in own"));
  EXPECT_EQ(phase("borrows"), PodGroupPhase::kPending);
}

// A gang that waits at a full queue gets what other groups run above their minimum, without a deadlock
// (volcano-sh/volcano#4679, #4817).
TEST_F(VolcanoTree, TheSurplusGivesWayFirst) {
  have("parent", {.capability = "cpu=10", .deserved = "cpu=10"});
  have("a", {.parent = "parent", .deserved = "cpu=5"});
  have("b", {.parent = "parent", .deserved = "cpu=5"});
  group("elastic", "b", "cpu=2");
  group("rigid", "b", "cpu=4");
  EXPECT_THAT(run(), ElementsAre("in elastic", "in rigid"));
  groups.at("elastic").first.status.phase = PodGroupPhase::kRunning;
  grow("elastic", "cpu=6,pods=3");
  EXPECT_THAT(run(), IsEmpty());
  EXPECT_EQ(allocated("b"), "cpu=10,pods=4");
  group("gang", "a", "cpu=4");
  EXPECT_THAT(run(), ElementsAre("surplus of elastic out", "in gang"));
  EXPECT_EQ(phase("elastic"), PodGroupPhase::kRunning);
  EXPECT_EQ(allocated("parent"), "cpu=10,pods=3");
}

// As in Volcano, a group is admitted against what runs above minimums, in its own queue and in others, even when its
// queue deserves nothing.
TEST_F(VolcanoTree, TheSurplusGivesWayToAMinimumThatBorrows) {
  have("parent", {.capability = "cpu=8"});
  have("a", {.parent = "parent"});
  have("b", {.parent = "parent"});
  group("elastic", "a", "cpu=2");
  EXPECT_THAT(run(), ElementsAre("in elastic"));
  groups.at("elastic").first.status.phase = PodGroupPhase::kRunning;
  grow("elastic", "cpu=8,pods=4");
  group("same-queue", "a", "cpu=2");
  EXPECT_THAT(run(), ElementsAre("surplus of elastic out", "in same-queue"));
  grow("elastic", "cpu=6,pods=3");
  group("next-queue", "b", "cpu=4");
  EXPECT_THAT(run(), ElementsAre("surplus of elastic out", "in next-queue"));
  group("no-more", "b", "cpu=2");
  EXPECT_THAT(run(), IsEmpty()) << "minimums stay";
  EXPECT_EQ(allocated("parent"), "cpu=8,pods=3");
}

TEST_F(VolcanoTree, AncestorsOfVictimsAreLookedAtAsFarAsTheOptionSays) {
  const auto build = [this] {
    have("root", {.capability = "cpu=8"});
    have("grand", {.deserved = "cpu=4"});
    have("over", {.parent = "grand", .deserved = "cpu=2"});  // above what it deserves, within what grand deserves
    have("best-effort");
    have("owner", {.deserved = "cpu=4"});
    group("inside", "over", "cpu=4", -1);
    group("outside", "best-effort", "cpu=4");
    run();
    group("wants", "owner", "cpu=4");
  };
  build();
  EXPECT_THAT(run(), ElementsAre("out outside", "in wants"));
  groups.clear();
  stored.clear();
  start({.flavor = "volcano", .reclaim_levels = 0});  // Volcano's default
  build();
  EXPECT_THAT(run(), Contains("out inside"));
}

// A Kueue ClusterQueue joins the tree by naming a cohort with the prefix: both kinds of queues borrow from each other
// and reclaim their own quota.
TEST_F(VolcanoTree, AClusterQueueLivesBesideQueues) {
  have("tenant", {.capability = "cpu=6", .deserved = "cpu=6"});
  have("q", {.parent = "tenant", .deserved = "cpu=6"});
  auto kueue = std::make_shared<api::kueue::ClusterQueue>();
  kueue->meta.name = "kueue";
  kueue->cohort_name = "volcano.tenant";
  kueue->resource_groups = {{{"cpu"}, {{"volcano", {{"cpu", Quantity::of(4), {}, {}}}}}}};
  kueue->reclaim_within_cohort = api::kueue::ReclaimWithinCohort::kAny;
  kueue->namespace_selector = api::LabelSelector::from_json(JsonObject()).value();
  handle(engine::ClusterQueueSeen{kueue});
  auto local = std::make_shared<api::kueue::LocalQueue>();
  local->meta.name = "kueue";
  local->meta.ns = kGroupNamespace;
  local->cluster_queue = "kueue";
  handle(engine::LocalQueueSeen{local});
  group("v1", "q", "cpu=6");
  EXPECT_THAT(run(), ElementsAre("in v1"));
  group("v2", "q", "cpu=4");  // borrows from the ClusterQueue
  EXPECT_THAT(run(), ElementsAre("in v2"));
  group("k1", "kueue", "cpu=4");
  EXPECT_THAT(run(), ElementsAre("out v2", "in k1"));
  end("v1");
  EXPECT_THAT(run(), ElementsAre("in v2"));
  group("k2", "kueue", "cpu=2");  // borrows from q
  EXPECT_THAT(run(), ElementsAre("in k2"));
  group("v3", "q", "cpu=2");
  EXPECT_THAT(run(), ElementsAre("out k2", "in v3"));
}

TEST(VolcanoWeights, AreThoseOfFairSharing) {
  QuotaTree tree;
  tree.start();
  const auto weights = [&](std::string_view name, const std::string& parent) {
    Queue object = queue(name, {.parent = parent});
    object.weight = 3;
    std::vector<std::string> out;
    for (const engine::Event& event : tree.set(testing::pointer(object))) {
      if (const auto* q = std::get_if<engine::ClusterQueueSeen>(&event))
        out.push_back("queue " + q->object->meta.name + " " + q->object->fair_weight.to_string());
      if (const auto* c = std::get_if<engine::CohortSeen>(&event))
        out.push_back("cohort " + c->object->meta.name + " " + c->object->fair_weight.to_string());
    }
    return out;
  };
  EXPECT_THAT(weights("team", "root"), Contains("queue volcano.team 3"));
  // A queue with children has its weight as a cohort; its own cluster queue has the default weight.
  EXPECT_THAT(weights("child", "team"),
              ::testing::IsSupersetOf({"cohort volcano.team 3", "queue volcano.team 1", "queue volcano.child 3"}));
}

}  // namespace
}  // namespace berth::volcano::quota_tree_test
