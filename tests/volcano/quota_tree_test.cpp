// Volcano's queues in the engine: who is let in, who keeps what is guaranteed, who gives way, and that one bad queue stops nobody else.
#include "volcano/quota_tree.h"

#include <gmock/gmock.h>

#include <map>

#include "engine/engine.h"
#include "volcano/group_workloads.h"
#include "volcano/support.h"

namespace berth::volcano {
namespace {

using api::kueue::Workload;
using api::volcano::PodGroup;
using api::volcano::PodGroupPhase;
using api::volcano::Queue;
using api::volcano::QueueState;
using testing::queue;
using testing::resources;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// The engine with a tree of queues; PodGroups come in with a minimum, and their phases follow what the engine decides. Their pods run
// as soon as they are let in, and stop as soon as they have to.
class VolcanoTree : public ::testing::Test {
 protected:
  VolcanoTree() { start({}); }

  void start(TreeOptions options) {
    engine = engine::Engine(engine::Options());
    tree.emplace(options);
    feed(tree->start());
    handle(engine::Synced{});
  }
  void feed(const QuotaTree::Events& events) {
    for (const auto& event : events) handle(event);
  }
  void handle(const engine::Event& event) { engine.handle(now, event); }

  void have(const Queue& q) { feed(tree->set(testing::pointer(q))); }
  void have(std::string_view name, const testing::QueueText& text = {}) { have(queue(name, text)); }

  void group(std::string_view name, std::string_view in, std::string_view min_resources, int priority = 0) {
    PodGroup g;
    g.meta.name = name;
    g.meta.ns = "ns";
    g.meta.uid = std::string(name) + "-uid";
    g.meta.creation = now += std::chrono::seconds(1);
    g.queue = in;
    g.min_member = 1;
    g.min_resources = resources(min_resources);
    groups[std::string(name)] = {g, {.priority = priority, .running = {}}};
    see(std::string(name));
  }
  void grow(const std::string& name, std::string_view running) {
    groups.at(name).second.running = resources(running);
    see(name);
  }
  void end(const std::string& name) {
    handle(engine::WorkloadGone{std::string(kGroupNamespace), "ns/" + name, ""});
    handle(engine::WorkloadGone{std::string(kGroupNamespace), "ns/" + name + "/surplus", ""});
    groups.erase(name);
  }

  // Until nothing moves. What happened, in order: "in a", "out b", "surplus of c out".
  std::vector<std::string> run() {
    std::vector<std::string> happened;
    for (int i = 0; i < 50; ++i) {
      const auto effects = engine.schedule(now += std::chrono::seconds(1));
      EXPECT_THAT(engine.check_invariants(now), IsEmpty());
      bool moved = false;
      for (const auto& effect : effects) {
        const auto* write = std::get_if<engine::WriteWorkloadStatus>(&effect);
        if (write == nullptr) continue;
        moved = true;
        settle(*write, happened);
      }
      if (!moved) return happened;
    }
    ADD_FAILURE() << "it does not end";
    return happened;
  }
  PodGroupPhase phase(const std::string& name) const { return groups.at(name).first.status.phase; }
  std::string allocated(std::string_view name) const {
    const auto sum = tree->allocated(name, [this](std::string_view cluster_queue) {
      api::ResourceList out;
      const auto status = engine.cluster_queue_status(cluster_queue);
      if (!status) return out;
      for (const auto& flavor : status->reservation)
        for (const auto& resource : flavor.resources)
          if (resource.total > Amount()) out[resource.name] = to_quantity(resource.name, resource.total);
      return out;
    });
    std::string out;
    for (const auto& [resource, amount] : sum) out += (out.empty() ? "" : ",") + resource + "=" + amount.to_string();
    return out;
  }

  engine::Engine engine{engine::Options()};
  std::optional<QuotaTree> tree;
  std::map<std::string, std::pair<PodGroup, GroupContext>> groups;
  std::map<std::string, Workload> stored;  // by name, as the engine last wrote them
  std::int64_t version = 0;
  Time now = Time(std::chrono::seconds(1'800'000'000));

 private:
  void see(const std::string& name) {
    auto& [group, context] = groups.at(name);
    const auto known = stored.find(workload_name(group.meta, Part::kMinimum));
    context.minimum_held = known != stored.end() && known->second.status.admission.has_value();
    auto parts = workloads_of(group, context);
    for (auto* part : {&parts.minimum, &parts.surplus}) {
      if (!*part) continue;
      Workload& workload = **part;
      // What the engine said about it lives on beside what is read from the group.
      if (const auto it = stored.find(workload.meta.name); it != stored.end() && part == &parts.minimum) workload.status = it->second.status;
      workload.meta.resource_version = std::to_string(++version);
      stored[workload.meta.name] = workload;
      handle(engine::WorkloadSeen{std::make_shared<const Workload>(workload)});
    }
    if (!parts.surplus) handle(engine::WorkloadGone{std::string(kGroupNamespace), workload_name(group.meta, Part::kSurplus), ""});
  }
  void settle(const engine::WriteWorkloadStatus& write, std::vector<std::string>& happened) {
    Workload& workload = stored.at(write.base->meta.name);
    workload.status = write.status;
    workload.meta.resource_version = std::to_string(++version);
    handle(engine::WriteSettled{write.write, engine::WriteSettled::Outcome::kDone, workload.meta.resource_version, ""});
    handle(engine::WorkloadSeen{std::make_shared<const Workload>(workload)});
    const auto ref = group_of_workload(workload.meta.name);
    auto& [group, context] = groups.at(ref->name);
    if (ref->part == Part::kSurplus) {
      if (duty_of(group, context, nullptr, &workload.status).stop_surplus) {
        happened.push_back("surplus of " + ref->name + " out");
        stored.erase(workload.meta.name);
        grow(ref->name, "pods=1");
      }
      return;
    }
    GroupDuty duty = duty_of(group, context, &workload.status, nullptr);
    if (duty.phase) group.status.phase = *duty.phase;
    if (duty.phase == PodGroupPhase::kInqueue) happened.push_back("in " + ref->name);
    const bool evicted = duty.stop_all || duty.stopped;
    if (!evicted) return;
    happened.push_back("out " + ref->name);
    context.running.clear();
    duty = duty_of(group, context, &workload.status, nullptr);
    EXPECT_TRUE(duty.stopped);
    api::kueue::JobReport report;
    report.stopped = true;
    report.workload_version = workload.meta.resource_version;
    handle(engine::JobReported{std::string(kGroupNamespace), workload.meta.name, report});
  }
};

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
  group("beside", "b", "cpu=5");  // the parent has 10 together
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

// In Volcano B and C may fill the parent, and A has to fetch back what was guaranteed to it (volcano-sh/volcano#3828).
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
  EXPECT_THAT(run(), ElementsAre("in a1"));  // at once, and nobody gives way
}

TEST_F(VolcanoTree, WhatIsDeservedIsTakenBack) {
  have("parent", {.capability = "cpu=10", .deserved = "cpu=10"});
  have("a", {.parent = "parent", .deserved = "cpu=6"});
  have("b", {.parent = "parent", .deserved = "cpu=4"});
  group("b1", "b", "cpu=4");
  group("b2", "b", "cpu=5", 100);  // borrows, and its priority does not help it
  EXPECT_THAT(run(), ElementsAre("in b1", "in b2"));
  group("a1", "a", "cpu=6");
  EXPECT_THAT(run(), ElementsAre("out b2", "in a1"));
  group("a2", "a", "cpu=4");  // above what a deserves: it waits
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

// The first child comes while something runs in the leaf: that stays and counts, and nobody else comes in.
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
  feed(tree->remove("child"));  // and it is a leaf again
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
  EXPECT_EQ(tree->obstacle("below"), "the parents of queue below lead to queue nobody, which does not exist: create it, or change the parent");
  EXPECT_THAT(tree->obstacle("x"), HasSubstr("run in a circle"));
  EXPECT_EQ(tree->obstacle("good"), "");
  have("nobody");
  have("y");
  EXPECT_THAT(run(), UnorderedElementsAre("in in-below", "in in-x"));  // y is a parent now, and x is below it
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

// A gang that waits at a full queue takes what others run above their minimum, and no deadlock comes of it (#4679, #4817).
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

TEST_F(VolcanoTree, AncestorsOfVictimsAreLookedAtAsFarAsTheOptionSays) {
  const auto build = [this] {
    have("root", {.capability = "cpu=8"});
    have("grand", {.deserved = "cpu=4"});
    have("over", {.parent = "grand", .deserved = "cpu=2"});  // above its own share, within that of grand
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

// Kueue's objects come in by naming a cohort with the prefix: both borrow from each other, and both take back what is theirs.
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
  group("v2", "q", "cpu=4");  // borrows what is Kueue's
  EXPECT_THAT(run(), ElementsAre("in v2"));
  group("k1", "kueue", "cpu=4");
  EXPECT_THAT(run(), ElementsAre("out v2", "in k1"));
  end("v1");
  EXPECT_THAT(run(), ElementsAre("in v2"));
  group("k2", "kueue", "cpu=2");  // borrows what is q's
  EXPECT_THAT(run(), ElementsAre("in k2"));
  group("v3", "q", "cpu=2");
  EXPECT_THAT(run(), ElementsAre("out k2", "in v3"));
}

}  // namespace
}  // namespace berth::volcano
