// Nodes of admitted workloads fail: only the pods of these nodes move, or the workload is evicted (KEP-2724).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "engine/racks.h"
#include "engine/support/scenario.h"

namespace berth::engine::node_failure_test {
namespace {

using api::kueue::Workload;
using racks::Racks;
using racks::with;
using test::at;
using test::ClusterQueueBuilder;
using test::NodeBuilder;
using test::WorkloadBuilder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(NodeFailure, ADeletedNodeIsMarkedAtOnceAndItsShareMoves) {
  Racks s;
  const int writes = s.writes();
  s.take(NodeGone{"r1-n1"});
  s.run();
  EXPECT_THAT(s.unhealthy(), ElementsAre("r1-n1"));
  EXPECT_EQ(s.places_of("a"), "r1-n1:2 r1-n2:2");
  s.pass(1);
  EXPECT_EQ(s.places_of("a"), "r1-n2:2 r1-n3:2");
  EXPECT_THAT(s.unhealthy(), IsEmpty());
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.writes(), writes + 2);
  EXPECT_THAT(s.take_events(), IsEmpty());
  s.give(NodeBuilder("r1-n1"));
  s.pass(100);
  EXPECT_EQ(s.places_of("a"), "r1-n2:2 r1-n3:2");
  EXPECT_EQ(s.writes(), writes + 2);
}

TEST(NodeFailure, NotReadyWaitsForThePodsAndWithoutCapacityInTheRackItIsEvictedAndPlacedAnew) {
  Racks s;
  s.take(NodeGone{"r1-n1"});
  s.pass(1);
  s.pods_end({"p1", "p2"});
  s.give(NodeBuilder("r1-n2").not_ready(s.now()));
  s.pass(100);
  EXPECT_THAT(s.unhealthy(), IsEmpty());
  s.pods_end({"p3", "p4"});
  s.run();
  EXPECT_THAT(s.unhealthy(), ElementsAre("r1-n2"));
  s.pass(1);
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.places_of("a"), "r2-n1:2 r2-n2:2");
  EXPECT_EQ(
      s.condition("a", "Evicted"),
      "False QuotaReserved: Previously: Workload was evicted as there was no replacement for unhealthy node(s): r1-n2");
  EXPECT_EQ(s.condition("a", "Requeued"),
            "True NodeFailures: Workload was evicted as there was no replacement for unhealthy node(s): r1-n2");
  EXPECT_THAT(
      s.take_events(),
      Contains("Workload/a Normal EvictedDueToNodeFailures: Workload was evicted as there was no replacement for "
               "unhealthy node(s): r1-n2"));
}

// SkipReassignmentForPodOwnedWorkloads: when the pod is gone, its workload ends, so no pod takes another place.
TEST(NodeFailure, ASinglePodThatRunsKeepsItsPlace) {
  for (const bool keeps : {true, false}) {
    Racks s(with([&](Options& o) { o.keep_places_of_single_pods = keeps; }));
    Workload lone = WorkloadBuilder("lone").pods(1, "1").required("rack");
    lone.meta.owners = {{"v1", "Pod", "lone", "uid-lone", true, true}};
    s.give(lone);
    s.run();
    const std::string place = s.places_of("lone");
    const std::string node = place.substr(0, place.find(':'));
    s.give(test::PodBuilder("lone", "lone", node));
    s.take(NodeGone{node});
    s.pass(2);
    EXPECT_EQ(s.places_of("lone") == place, keeps);
    EXPECT_THAT(s.workload("lone").status.unhealthy_nodes, IsEmpty());
    EXPECT_EQ(s.state("lone"), "Admitted");
  }
}

// Its gate is closed: it can still go elsewhere.
TEST(NodeFailure, ASinglePodThatDoesNotRunGetsAnotherPlace) {
  Racks s;
  Workload lone = WorkloadBuilder("lone").pods(1, "1").required("rack");
  lone.meta.owners = {{"v1", "Pod", "lone", "uid-lone", true, true}};
  s.give(lone);
  s.run();
  const std::string place = s.places_of("lone");
  s.take(NodeGone{place.substr(0, place.find(':'))});
  s.pass(2);
  EXPECT_NE(s.places_of("lone"), place);
  EXPECT_EQ(s.state("lone"), "Admitted");
}

TEST(NodeFailure, WithoutFailFastItIsTriedAgain) {
  Racks s(with([](Options& o) { o.replace_fail_fast = false; }));
  s.take(NodeGone{"r1-n3"});
  s.take(NodeGone{"r1-n1"});
  s.pass(5);
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_THAT(s.unhealthy(), ElementsAre("r1-n1"));
  const auto events = s.take_events();
  EXPECT_EQ(events.size(), 2u);  // after 1 and 3 seconds
  EXPECT_THAT(events,
              Contains(HasSubstr("Workload/a Warning SecondPassFailed: couldn't assign flavors to pod set main: ")));
  s.give(NodeBuilder("r1-n4"));
  s.pass(2);
  EXPECT_EQ(s.places_of("a"), "r1-n2:2 r1-n4:2");
}

TEST(NodeFailure, PodsThatEndedForGoodNeedNoReplacement) {
  Racks s;
  s.take(NodeGone{"r1-n3"});  // no free node for a replacement
  s.pods_end({"p1", "p2"});
  api::kueue::JobReport report;
  report.pods_ready = true;
  report.reclaimable = {{"main", 2}};
  s.report("a", report);
  s.run();
  const int writes = s.writes();
  s.take(NodeGone{"r1-n1"});
  s.pass(60);
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_THAT(s.unhealthy(), IsEmpty());
  EXPECT_EQ(s.writes(), writes);
  s.take(NodeGone{"r1-n2"});  // two of its pods run here
  s.pass(60);
  EXPECT_EQ(s.places_of("a"), "r2-n1:2 r2-n2:2");
}

// A gang keeps the tolerations of its flavor with which it was admitted.
TEST(NodeFailure, AFlavorThatLosesATolerationLosesNoAdmittedGang) {
  test::Scenario s;
  const api::Toleration tolerates{"pool", "Equal", "gpu", "NoSchedule", {}};
  auto flavor = test::placed_flavor("f", "t");
  flavor.tolerations = {tolerates};
  s.give(test::topology("t"));
  s.give(flavor);
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "100"}}));
  s.give(test::local_queue("q", "cq"));
  api::Node node = NodeBuilder("r1-n1", "r1");
  node.taints = {{"pool", "gpu", "NoSchedule"}};
  s.give(node);
  s.give(WorkloadBuilder("a").pods(2, "1").required("rack"));
  s.run();
  ASSERT_EQ(s.places_of("a"), "r1-n1:2");
  flavor.tolerations.clear();
  s.give(flavor);
  s.pass(60);
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_THAT(s.workload("a").status.unhealthy_nodes, IsEmpty());
  EXPECT_THAT(s.workload("a").status.evictions, IsEmpty());
  s.give(WorkloadBuilder("b").pods(2, "1").required("rack"));
  s.run();
  EXPECT_EQ(s.state("b"), "Pending") << "what comes later has the tolerations of the flavor as it is now";
  s.renumber();
  s.pass(60);
  EXPECT_EQ(s.state("a"), "Admitted");
  node.taints.push_back({"other", "", "NoSchedule"});
  s.give(node);
  s.pass(60);
  EXPECT_EQ(s.state("a"), "Pending") << "a taint that it never tolerated";
}

TEST(NodeFailure, SeveralNodesAreReplacedTogether) {
  Racks s;
  s.give(NodeBuilder("r1-n4"));
  s.take(NodeGone{"r1-n1"});
  s.run();
  s.take(NodeGone{"r1-n2"});
  s.run();
  EXPECT_THAT(s.unhealthy(), ElementsAre("r1-n1", "r1-n2"));
  s.pass(1);
  EXPECT_EQ(s.places_of("a"), "r1-n3:2 r1-n4:2");
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_THAT(s.workload("a").status.evictions, IsEmpty());
}

TEST(NodeFailure, AsInKueueTheSecondOneEvicts) {
  Racks s(with([](Options& o) { o.replace_several_nodes = false; }));
  s.give(NodeBuilder("r1-n4"));
  s.take(NodeGone{"r1-n2"});
  s.run();
  s.take(NodeGone{"r1-n1"});
  s.run();
  EXPECT_THAT(
      s.take_events(),
      Contains("Workload/a Normal EvictedDueToNodeFailures: Workload eviction triggered due to multiple TAS assigned "
               "node failures, including: r1-n2, r1-n1"));
  EXPECT_EQ(s.workload("a").status.evictions.at(0).reason, "NodeFailures");
  EXPECT_THAT(s.unhealthy(), IsEmpty());
}

TEST(NodeFailure, ANodeThatComesBackInTimeKeepsItsPods) {
  Racks s;
  s.take(NodeGone{"r1-n1"});
  s.run();
  EXPECT_THAT(s.unhealthy(), ElementsAre("r1-n1"));
  s.give(NodeBuilder("r1-n1"));
  s.run();
  EXPECT_THAT(s.unhealthy(), IsEmpty());
  s.pass(100);
  EXPECT_EQ(s.places_of("a"), "r1-n1:2 r1-n2:2");
  EXPECT_THAT(s.take_events(), IsEmpty());
}

// Fact: Kueue 0.20 with TASReplaceNodeDueToNotReadyOverFixedTime beside TASReplaceNodeOnPodTermination.
TEST(NodeFailure, WithItsGateANodeThatIsNotReadyFailsAfter30sWhateverItsPodsDo) {
  for (const bool gate : {false, true}) {
    Racks s(with([gate](Options& o) { o.replace_not_ready = gate; }));
    s.give(NodeBuilder("r1-n1").not_ready(s.now()));
    s.pass(29);
    EXPECT_THAT(s.unhealthy(), IsEmpty());
    s.pass(2);
    EXPECT_EQ(s.places_of("a") == "r1-n1:2 r1-n2:2", !gate) << s.places_of("a");
  }
}

TEST(NodeFailure, ATaintMovesTheShareOncePodsAreGone) {
  Racks s;
  s.give(NodeBuilder("r1-n1").taint("maintenance", "NoExecute"));
  s.pass(100);
  EXPECT_EQ(s.places_of("a"), "r1-n1:2 r1-n2:2");
  s.pods_end({"p1", "p2"});
  s.pass(1);
  EXPECT_EQ(s.places_of("a"), "r1-n2:2 r1-n3:2");
}

TEST(NodeFailure, TheFlavorMayTolerateForThePods) {
  Racks s;
  auto flavor = test::placed_flavor("f", "t");
  flavor.tolerations = {{"maintenance", "Exists", "", "", {}}};
  s.give(flavor);
  s.give(WorkloadBuilder("b").pods(2, "2").required("rack").created(s.now()));
  s.run();
  ASSERT_EQ(s.places_of("b"), "r1-n3:2");
  s.give(NodeBuilder("r1-n3").taint("maintenance", "NoExecute"));
  s.pass(100);
  EXPECT_EQ(s.places_of("b"), "r1-n3:2");
  s.pods_end({"p1", "p2"});
  s.give(NodeBuilder("r1-n1").taint("maintenance", "NoExecute"));
  s.give(NodeBuilder("r1-n4"));
  s.pass(100);
  EXPECT_EQ(s.places_of("a"), "r1-n2:2 r1-n4:2") << "its pods were made before the flavor tolerated it";
}

TEST(NodeFailure, WithoutWaitingForPodsNotReadyCountsAfterHalfAMinute) {
  Racks s(with([](Options& o) { o.replace_on_pod_termination = false; }));
  s.give(NodeBuilder("r1-n1").not_ready(s.now()));
  s.run();
  EXPECT_EQ(s.wake(), s.now() + std::chrono::seconds(30));
  s.pass(29);
  EXPECT_THAT(s.unhealthy(), IsEmpty());
  s.pass(1);
  EXPECT_THAT(s.unhealthy(), ElementsAre("r1-n1"));
  s.pass(1);
  EXPECT_EQ(s.places_of("a"), "r1-n2:2 r1-n3:2");
}

TEST(NodeFailure, SwitchedOffNothingIsMarked) {
  Racks s(with([](Options& o) { o.replace_failed_nodes = false; }));
  const int writes = s.writes();
  s.take(NodeGone{"r1-n1"});
  s.pass(100);
  EXPECT_EQ(s.writes(), writes);
  EXPECT_EQ(s.places_of("a"), "r1-n1:2 r1-n2:2");
}

TEST(NodeFailure, SwitchedOffMarkersOfOthersAreLeftAlone) {
  Racks s(with([](Options& o) { o.replace_failed_nodes = false; }));
  s.change("a", [](Workload& w) { w.status.unhealthy_nodes = {"r1-n1"}; });
  s.pass(100);
  EXPECT_EQ(s.places_of("a"), "r1-n1:2 r1-n2:2");
  EXPECT_THAT(s.unhealthy(), ElementsAre("r1-n1"));
}

TEST(NodeFailure, AMarkerThatIsNotTrueIsTakenBack) {
  Racks s;
  s.change("a", [](Workload& w) { w.status.unhealthy_nodes = {"r1-n1", "elsewhere"}; });
  s.pass(100);
  EXPECT_EQ(s.places_of("a"), "r1-n1:2 r1-n2:2");
  EXPECT_THAT(s.unhealthy(), IsEmpty());
}

TEST(NodeFailure, ReplacementsDoNotShareAPlace) {
  Racks s;
  s.give(WorkloadBuilder("b").pods(2, "1").required("rack").priority(3));
  s.run();
  ASSERT_EQ(s.places_of("b"), "r1-n3:2");
  s.give(WorkloadBuilder("c").pods(2, "1").required("rack"));
  s.run();
  ASSERT_EQ(s.places_of("c"), "r1-n3:2");
  s.give(NodeBuilder("r1-n4", "r1", "2"));  // a replacement for one of them
  s.give(NodeBuilder("r1-n3").not_ready(s.now()));
  s.pass(1);
  EXPECT_EQ(s.places_of("b"), "r1-n4:2");
  EXPECT_EQ(s.workload("b").status.evictions.size(), 0u);
  EXPECT_EQ(s.workload("c").status.evictions.size(), 1u);
  EXPECT_EQ(s.places_of("c"), "r2-n1:2");
}

TEST(NodeFailure, ReplacingNeverPreempts) {
  Racks s;
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "100"}}).preempt_lower());
  s.give(WorkloadBuilder("low").pods(1, "3").required("kubernetes.io/hostname").priority(-5));
  s.run();
  ASSERT_EQ(s.places_of("low"), "r1-n3:1");
  s.take(NodeGone{"r1-n1"});
  s.pass(1);
  EXPECT_EQ(s.state("low"), "Admitted");
  EXPECT_THAT(s.workload("low").status.evictions, IsEmpty());
  EXPECT_EQ(s.places_of("a"), "r2-n1:2 r2-n2:2");  // evicted and placed again
}

TEST(NodeFailure, WhoLeavesBeforeTheTimerFiresKeepsWhatItHas) {
  const std::vector<std::function<void(Racks&)>> leaves{
      [](Racks& s) { s.finish("a"); },
      [](Racks& s) { s.remove("a"); },
      [](Racks& s) { s.change("a", [](Workload& w) { w.active = false; }, true); },
      [](Racks& s) { s.change("a", [](Workload& w) { w.meta.deletion = at(0); }); },
  };
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    SCOPED_TRACE(i);
    Racks s;
    s.jobs_stop_at_once = false;
    s.take(NodeGone{"r1-n1"});
    s.run();
    leaves[i](s);
    s.run();
    s.take_events();
    s.pass(100);
    EXPECT_THAT(s.take_events(), IsEmpty());
    if (i != 1) {
      EXPECT_EQ(s.places_of("a"), "r1-n1:2 r1-n2:2");
    }
    if (i == 2) {
      EXPECT_THAT(s.unhealthy(), IsEmpty());
    }
  }
}

TEST(NodeFailure, EvictedWorkloadsAreNeverMarked) {
  Racks s;
  s.jobs_stop_at_once = false;
  s.change("a", [](Workload& w) { w.active = false; }, true);
  s.run();
  ASSERT_EQ(s.state("a"), "Evicting");
  const int writes = s.writes();
  s.take(NodeGone{"r1-n1"});
  s.pass(100);
  EXPECT_EQ(s.writes(), writes);
}

}  // namespace
}  // namespace berth::engine::node_failure_test
