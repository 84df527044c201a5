#include <gtest/gtest.h>

#include "world.h"

namespace berth::engine::admission_test {
namespace {

using Texts = std::vector<std::string>;
using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;

constexpr const char* kBypassed = "Bypassed scheduling evaluation because an equivalent workload recently failed";

TEST(Admission, FitsWaitsAndFollowsWhenQuotaIsReleased) {
  World world;
  world.flavor("default");
  world.queue(QueueSpec("cq").flavor("default", {{"cpu", "4"}}));
  world.job({.name = "one", .queue = "cq", .count = 3});
  EXPECT_EQ(world.schedule(), Texts{"admit one"});
  auto admission = world.scheduler.admission(std::get<Admit>(world.last.front()));
  EXPECT_EQ(admission.cluster_queue, "cq");
  ASSERT_EQ(admission.pod_set_assignments.size(), 1u);
  EXPECT_EQ(admission.pod_set_assignments[0].flavors, (api::StringMap{{"cpu", "default"}}));
  EXPECT_EQ(admission.pod_set_assignments[0].resource_usage.at("cpu").to_string(), "3");
  EXPECT_EQ(admission.pod_set_assignments[0].count, 3);

  world.job({.name = "two", .queue = "cq", .count = 2});
  EXPECT_EQ(world.schedule(), Texts{"wait two WaitingForQuota: couldn't assign flavors to pod set main: "
                                    "insufficient unused quota for cpu in flavor default, 1 more needed"});
  EXPECT_EQ(world.scheduler.resource_requests(world.id("two"))[0].resources.at("cpu").to_string(), "2");
  EXPECT_TRUE(world.scheduler.parked(world.id("two")));
  EXPECT_EQ(world.schedule(), Texts{});

  // One of three pods has ended: its quota is free.
  Holding less{"cq", 0, at_second(1), at_second(2), {{"default", "cpu", Amount::of(2000)}}, false};
  world.scheduler.hold(world.id("one"), less);
  EXPECT_EQ(world.schedule(), Texts{"admit two"});
  world.finish("one");
  EXPECT_EQ(world.schedule(), Texts{});
  EXPECT_EQ(world.scheduler.check(), Texts{});
}

TEST(Admission, SaysWhyNothingFits) {
  World world;
  world.flavor("a");
  world.flavor("gpu", {{"kind", "gpu"}}, {{"gpu", "yes", "NoSchedule"}});
  world.queue(QueueSpec("cq").flavor("a", {{"cpu", "4"}}));
  world.queue(QueueSpec("tainted").flavor("gpu", {{"cpu", "4"}}));
  world.queue(QueueSpec("missing").flavor("none", {{"cpu", "4"}}));
  world.job({.name = "huge", .queue = "cq", .requests = {{"cpu", "5"}}});
  EXPECT_EQ(world.schedule(),
            Texts{"wait huge ExceedsMaxQuota: couldn't assign flavors to pod set main: insufficient quota for cpu in "
                  "flavor a, previously considered podsets requests (0) + current podset request (5) > maximum "
                  "capacity (4). It can never fit: ClusterQueue cq has at most 4 of cpu in a flavor (a), with all that "
                  "it may borrow; not even one pod of pod set main fits"});
  world.job({.name = "memory", .queue = "cq", .requests = {{"cpu", "1"}, {"memory", "1Gi"}}});
  EXPECT_EQ(world.schedule(), Texts{"wait memory NoMatchingFlavor: couldn't assign flavors to pod set main: resource "
                                    "memory unavailable in ClusterQueue"});
  world.job({.name = "taint", .queue = "tainted"});
  EXPECT_EQ(world.schedule(), Texts{"wait taint NoMatchingFlavor: couldn't assign flavors to pod set main: untolerated "
                                    "taint {gpu yes NoSchedule <nil>} in flavor gpu"});
  Pending affine = World::pending({.name = "affine", .queue = "tainted"}, 9);
  affine.pod_sets[0].constraints.tolerations = {{"gpu", "Exists", "", "", {}}};
  affine.pod_sets[0].constraints.node_selector = {{"kind", "cpu"}, {"other", "x"}};
  world.scheduler.submit(world.id("affine"), affine);
  EXPECT_EQ(world.schedule(), Texts{"wait affine NoMatchingFlavor: couldn't assign flavors to pod set main: flavor gpu "
                                    "doesn't match node affinity: the pods ask for kind=cpu, its nodes have "
                                    "kind=gpu"});
  affine.pod_sets[0].constraints.node_selector = {{"other", "x"}};
  world.scheduler.submit(world.id("affine"), affine);
  EXPECT_EQ(world.schedule(), Texts{"admit affine"});
  world.job({.name = "lost", .queue = "missing"});
  EXPECT_EQ(world.schedule(), Texts{"wait lost NoMatchingFlavor: couldn't assign flavors to pod set main: flavor none "
                                    "not found"});
  world.flavor("none");
  EXPECT_EQ(world.schedule(), Texts{"admit lost"});
  EXPECT_EQ(world.scheduler.check(), Texts{});
}

TEST(Admission, ReclaimsWhatWasBorrowedAndPreemptsLowerPriority) {
  World world;
  world.flavor("br");
  for (const char* name : {"br-a", "br-b"}) {
    world.queue(QueueSpec(name)
                    .in("br")
                    .flavor("br", {{"cpu", "10"}})
                    .reclaim(ReclaimWithinCohort::kAny)
                    .within(WithinClusterQueue::kLowerPriority));
  }
  world.job({.name = "greedy", .queue = "br-a", .count = 9, .requests = {{"cpu", "2"}}});
  EXPECT_EQ(world.schedule(), Texts{"admit greedy"});
  world.job({.name = "big", .queue = "br-b", .count = 7, .requests = {{"cpu", "3"}}});
  EXPECT_EQ(world.schedule(),
            Texts{"wait big ExceedsMaxQuota: couldn't assign flavors to pod set main: insufficient quota for cpu in "
                  "flavor br, previously considered podsets requests (0) + current podset request (21) > maximum "
                  "capacity (20). It can never fit: ClusterQueue br-b has at most 20 of cpu in a flavor (br), with all "
                  "that it may borrow; at most 6 of 7 pods of pod set main fit"});
  world.job({.name = "owner", .queue = "br-b", .count = 4, .requests = {{"cpu", "2"}}});
  EXPECT_EQ(world.schedule(),
            (Texts{"preempt greedy for owner (InCohortReclamation)",
                   "wait owner WaitingForPreemptedWorkloads: couldn't assign flavors to pod set main: insufficient "
                   "unused quota for cpu in flavor br, 6 more needed. Pending the preemption of 1 workload(s)"}));
  EXPECT_EQ(std::get<Preempt>(world.last[0]).message,
            "Preempted to accommodate a workload (UID: owner, JobUID: job-owner) due to reclamation within "
            "the cohort; "
            "preemptor path: /br/br-b; preemptee path: /br/br-a");
  EXPECT_EQ(world.schedule(), Texts{});
  world.stopped("greedy");
  EXPECT_EQ(world.schedule(),
            (Texts{"admit owner",
                   "wait greedy WaitingForQuota: couldn't assign flavors to pod set main: insufficient "
                   "unused quota for cpu in flavor br, 6 more needed"}));
  world.job({.name = "above", .queue = "br-b", .count = 7, .requests = {{"cpu", "2"}}, .priority = 100});
  EXPECT_EQ(world.schedule(), Texts{"wait above WaitingForQuota: couldn't assign flavors to pod set main: insufficient "
                                    "unused quota for cpu in flavor br, 2 more needed"});
  world.finish("above");
  world.job({.name = "filler", .queue = "br-a", .count = 5, .requests = {{"cpu", "2"}}});
  EXPECT_EQ(world.schedule(), Texts{"admit filler"});
  world.job({.name = "urgent", .queue = "br-b", .count = 4, .requests = {{"cpu", "2"}}, .priority = 100});
  EXPECT_EQ(world.schedule(),
            (Texts{"preempt owner for urgent (InClusterQueue)",
                   "wait urgent WaitingForPreemptedWorkloads: couldn't assign flavors to pod set main: insufficient "
                   "unused quota for cpu in flavor br, 6 more needed. Pending the preemption of 1 workload(s)"}));
  world.stopped("owner");
  EXPECT_EQ(world.moves(), Texts{"admit urgent"});
  world.finish("urgent");
  EXPECT_EQ(world.moves(), Texts{"admit owner"});
  EXPECT_EQ(world.scheduler.check(), Texts{});
}

TEST(Admission, KeepsToLimitsInATree) {
  World world;
  world.flavor("lf");
  world.cohort("l-root", "");
  world.cohort("l-left", "l-root", {{"lf", {{"cpu", "4", "2"}}}});
  world.cohort("l-right", "l-root");
  world.queue(QueueSpec("l-a").in("l-left").flavor("lf", {{"cpu", "10", "3", "4"}}));
  world.queue(QueueSpec("l-b").in("l-left").flavor("lf", {{"cpu", "2"}}));
  world.queue(QueueSpec("l-c").in("l-right").flavor("lf", {{"cpu", "10"}}));
  world.job({.name = "b1", .queue = "l-b", .count = 12});
  EXPECT_EQ(world.schedule(), Texts{"admit b1"});
  std::string lacks =
      "WaitingForQuota: couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor "
      "lf, ";
  world.job({.name = "b2", .queue = "l-b", .count = 11});
  EXPECT_EQ(world.schedule(), Texts{"wait b2 " + lacks + "11 more needed"});
  world.job({.name = "a1", .queue = "l-a", .count = 8});
  EXPECT_EQ(world.schedule(), Texts{"wait a1 " + lacks + "2 more needed"});
  world.job({.name = "a2", .queue = "l-a", .count = 6});
  EXPECT_EQ(world.schedule(), Texts{"admit a2"});
  EXPECT_EQ(world.scheduler.check(), Texts{});
}

TEST(Admission, TriesTheNextFlavorUnlessAskedToPreempt) {
  World world;
  world.flavor("od", {{"tier", "od"}});
  world.flavor("spot", {{"tier", "spot"}});
  auto spec = [](const char* name) {
    return QueueSpec(name)
        .flavor("od", {{"cpu", "4"}})
        .flavor("spot", {{"cpu", "8"}})
        .within(WithinClusterQueue::kLowerPriority);
  };
  world.queue(spec("next"));
  QueueSpec preempting = spec("pre");
  preempting.object.when_can_preempt = api::kueue::FungibilityPolicy::kMayStopSearch;
  world.queue(preempting);
  auto flavor = [&] {
    return world.scheduler.admission(std::get<Admit>(world.last[0])).pod_set_assignments[0].flavors.at("cpu");
  };
  world.job({.name = "j1", .queue = "next", .count = 3});
  EXPECT_EQ(world.schedule(), Texts{"admit j1"});
  EXPECT_EQ(flavor(), "od");
  world.job({.name = "j2", .queue = "next", .count = 3});
  EXPECT_EQ(world.schedule(), Texts{"admit j2"});
  EXPECT_EQ(flavor(), "spot");
  world.job({.name = "j3", .queue = "next", .count = 3, .priority = 10});
  EXPECT_EQ(world.schedule(), Texts{"admit j3"});
  EXPECT_EQ(flavor(), "spot");
  world.job({.name = "p1", .queue = "pre", .count = 3});
  EXPECT_EQ(world.schedule(), Texts{"admit p1"});
  world.job({.name = "p2", .queue = "pre", .count = 3, .priority = 10});
  EXPECT_EQ(world.schedule(),
            (Texts{"preempt p1 for p2 (InClusterQueue)",
                   "wait p2 WaitingForPreemptedWorkloads: couldn't assign flavors to pod set main: "
                   "insufficient unused "
                   "quota for cpu in flavor od, 2 more needed. Pending the preemption of 1 workload(s)"}));
  world.stopped("p1");
  EXPECT_EQ(world.schedule(), (Texts{"admit p2", "admit p1"}));
  EXPECT_EQ(world.scheduler.check(), Texts{});
}

TEST(Admission, StrictFifoBlocksAndBestEffortDoesNot) {
  World world;
  world.flavor("ff");
  world.queue(QueueSpec("s").flavor("ff", {{"cpu", "4"}}).strict());
  world.queue(QueueSpec("b").flavor("ff", {{"cpu", "4"}}));
  for (std::string q : {"s", "b"}) {
    world.job({.name = q + "1", .queue = q, .count = 3});
    world.job({.name = q + "2", .queue = q, .count = 2});
    world.job({.name = q + "3", .queue = q, .count = 1});
  }
  std::string lacks =
      " WaitingForQuota: couldn't assign flavors to pod set main: insufficient unused quota for cpu in "
      "flavor ff, ";
  Texts decisions = world.schedule();
  std::sort(decisions.begin(), decisions.end());
  EXPECT_EQ(decisions, (Texts{"admit b1", "admit b3", "admit s1", "wait b2" + lacks + "1 more needed",
                              "wait s2" + lacks + "1 more needed"}));
  world.job({.name = "part", .queue = "b", .count = 4, .min_count = 2});
  EXPECT_EQ(world.schedule(), Texts{"wait part" + lacks + "4 more needed"});
  world.finish("b1");
  EXPECT_EQ(world.schedule(), (Texts{"admit b2", "wait part" + lacks + "3 more needed"}));
  world.finish("b3");
  EXPECT_EQ(world.schedule(), Texts{"admit part"});
  EXPECT_EQ(world.scheduler.admission(std::get<Admit>(world.last[0])).pod_set_assignments[0].count, 2);
  world.finish("s1");
  EXPECT_EQ(world.moves(), (Texts{"admit s2", "admit s3"}));
  EXPECT_EQ(world.scheduler.check(), Texts{});
}

// minCount: 0 (Kueue 0.20): a full queue admits the workload without pods; one without pods needs nothing.
TEST(Admission, ReducesToNoPods) {
  World world;
  world.flavor("f");
  world.queue(QueueSpec("q").flavor("f", {{"cpu", "2"}}));
  world.job({.name = "part", .queue = "q", .count = 4, .min_count = 0});
  EXPECT_EQ(world.schedule(), Texts{"admit part"});
  EXPECT_EQ(world.scheduler.admission(std::get<Admit>(world.last[0])).pod_set_assignments[0].count, 2);
  world.job({.name = "none", .queue = "q", .count = 3, .min_count = 0});
  EXPECT_EQ(world.schedule(), Texts{"admit none"});
  EXPECT_EQ(world.scheduler.admission(std::get<Admit>(world.last[0])).pod_set_assignments[0].count, 0);
  world.job({.name = "empty", .queue = "q", .count = 0, .min_count = 0});
  EXPECT_EQ(world.schedule(), Texts{"admit empty"});
  EXPECT_EQ(world.scheduler.admission(std::get<Admit>(world.last[0])).pod_set_assignments[0].count, 0);
  EXPECT_EQ(world.scheduler.check(), Texts{});
}

TEST(Admission, EquivalentWorkloadsShareAVerdict) {
  World world;
  world.flavor("f");
  world.queue(QueueSpec("q").flavor("f", {{"cpu", "2"}}));
  world.job({.name = "runs", .queue = "q", .count = 2});
  EXPECT_EQ(world.schedule(), Texts{"admit runs"});
  world.job({.name = "w1", .queue = "q"});
  world.job({.name = "w2", .queue = "q"});
  std::string lacks =
      " WaitingForQuota: couldn't assign flavors to pod set main: insufficient unused quota for cpu in "
      "flavor f, 1 more needed";
  const std::string bypassed =
      std::string(" WaitingForQuota: ") + kBypassed + ": ns/w1: " + lacks.substr(lacks.find("couldn't"));
  EXPECT_EQ(world.schedule(), (Texts{"wait w1" + lacks, "wait w2" + bypassed}));
  EXPECT_FALSE(std::get<Wait>(world.last[1]).evaluated);
  world.job({.name = "w3", .queue = "q"});
  EXPECT_EQ(world.schedule(), Texts{"wait w3" + bypassed});
  world.finish("runs");
  EXPECT_EQ(world.schedule(), (Texts{"admit w1", "admit w2", "wait w3" + lacks}));
  EXPECT_EQ(world.scheduler.check(), Texts{});
}

TEST(Admission, OrdersByBorrowingThenPriorityThenTime) {
  World world;
  world.flavor("f");
  for (const char* name : {"a", "b", "c"}) world.queue(QueueSpec(name).in("team").flavor("f", {{"cpu", "4"}}));
  world.job({.name = "borrower", .queue = "a", .count = 5, .priority = 9});
  world.job({.name = "younger", .queue = "b", .count = 3, .second = 20});
  world.job({.name = "older", .queue = "c", .count = 3, .second = 10});
  EXPECT_EQ(world.moves(), (Texts{"admit older", "admit younger", "admit borrower"}));
}

TEST(Admission, BackOffEndsAtItsTime) {
  World world;
  world.flavor("f");
  world.queue(QueueSpec("q").flavor("f", {{"cpu", "2"}}));
  Pending pending = World::pending({.name = "late", .queue = "q"}, 1);
  pending.not_before = at_second(1000);
  world.scheduler.submit(world.id("late"), pending);
  EXPECT_EQ(world.schedule(), Texts{});
  EXPECT_EQ(world.scheduler.next_wake(), at_second(1000));
  EXPECT_EQ(world.scheduler.schedule(at_second(999)).size(), 0u);
  EXPECT_EQ(world.scheduler.schedule(at_second(1000)).size(), 1u);
  EXPECT_EQ(world.scheduler.next_wake(), std::nullopt);
  EXPECT_EQ(world.scheduler.check(), Texts{});
}

TEST(Admission, HeldAndBarredWorkloadsWait) {
  World world;
  world.flavor("f");
  world.queue(QueueSpec("q").flavor("f", {{"cpu", "9"}}).strict());
  Pending pending = World::pending({.name = "held", .queue = "q"}, 1);
  pending.on_hold = true;
  world.scheduler.submit(world.id("held"), pending);
  Pending foreign = World::pending({.name = "foreign", .queue = "q"}, 2);
  foreign.barrier = Barrier{"Misconfigured", "workload namespace doesn't match ClusterQueue selector", false};
  world.scheduler.submit(world.id("foreign"), foreign);
  Pending bad = World::pending({.name = "bad", .queue = "q"}, 3);
  bad.barrier = Barrier{"Misconfigured", "requests exceed limits", true};
  world.scheduler.submit(world.id("bad"), bad);
  world.job({.name = "behind", .queue = "q", .second = 4});
  EXPECT_EQ(world.schedule(),
            (Texts{"wait foreign Misconfigured: workload namespace doesn't match ClusterQueue selector",
                   "wait bad Misconfigured: requests exceed limits"}));
  EXPECT_EQ(world.scheduler.pending_count("q"), 4u);
  bad.barrier.reset();
  world.scheduler.submit(world.id("bad"), bad);
  pending.on_hold = false;
  world.scheduler.submit(world.id("held"), pending);
  EXPECT_EQ(world.schedule(), (Texts{"admit held", "admit bad", "admit behind"}));
  foreign.barrier.reset();
  world.scheduler.submit(world.id("foreign"), foreign);
  EXPECT_EQ(world.schedule(), Texts{"admit foreign"});
  EXPECT_EQ(world.scheduler.check(), Texts{});
}

TEST(Admission, InactiveQueueAndCycleAdmitNobody) {
  World world;
  world.flavor("f");
  QueueSpec spec = QueueSpec("q").in("one").flavor("f", {{"cpu", "9"}});
  world.scheduler.set_cluster_queue(spec.object, false);
  world.job({.name = "j", .queue = "q"});
  EXPECT_EQ(world.schedule(), Texts{});
  world.cohort("one", "two");
  world.cohort("two", "one");
  world.scheduler.set_cluster_queue(spec.object, true);
  EXPECT_EQ(world.moves(), Texts{});
  world.cohort("two", "");
  EXPECT_EQ(world.schedule(), Texts{"admit j"});
  world.scheduler.remove_cluster_queue("q");
  world.job({.name = "k", .queue = "q"});
  EXPECT_EQ(world.schedule(), Texts{});
  world.queue(spec);
  EXPECT_EQ(world.schedule(), Texts{"admit k"});
  EXPECT_EQ(world.scheduler.check(), Texts{});
}

}  // namespace
}  // namespace berth::engine::admission_test
