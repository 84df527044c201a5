// When a node counts as failed for a workload: deletion, readiness, taints, and pods that still run there.
#include "engine/node_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/support/build.h"

namespace berth::engine::node_watch_test {
namespace {

using test::at;
using test::NodeBuilder;
using test::on_nodes;
using test::PodBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Names = std::vector<std::string>;

const WorkloadId kA(0), kB(1);

// Workload a has two pods on n1 and two on n2, b has one on n2. Nodes n1 to n3 are healthy.
class NodeFailureRules : public testing::Test {
 protected:
  explicit NodeFailureRules(Options options = {}) : watch(options) {
    for (const char* name : {"n1", "n2", "n3"}) watch.set_node(NodeBuilder(name).ptr());
    places(kA, "ns/a", {{"n1", 2}, {"n2", 2}});
    places(kB, "ns/b", {{"n2", 1}});
  }
  void places(WorkloadId id, const std::string& key, const std::vector<std::pair<std::string, int>>& nodes,
              std::vector<api::Toleration> tolerations = {}) {
    auto admission = test::admission("cq", "f", 1, "1");
    admission.pod_set_assignments[0].topology_assignment = on_nodes(nodes);
    watch.watch(id, key, admission, {std::move(tolerations)});
  }
  Names failed(WorkloadId id, Time now = at(0), const Names& marked = {},
               const NodeWatch::Reclaimable& reclaimable = {}) {
    return watch.verdict(id, marked, reclaimable, now).failed;
  }

  NodeWatch watch;
};

TEST_F(NodeFailureRules, HealthyNodesConcernNobody) {
  EXPECT_THAT(failed(kA), IsEmpty());
  EXPECT_THAT(watch.set_node(NodeBuilder("n2").label("more", "labels").ptr()), IsEmpty());
  EXPECT_THAT(watch.set_node(NodeBuilder("n4").ptr()), IsEmpty());
  EXPECT_THAT(watch.set_pod(PodBuilder("p", "a", "n2").ptr()), IsEmpty());
}

TEST_F(NodeFailureRules, ADeletedNodeFailsAtOnceThoughItsPodsAreStillCounted) {
  watch.set_pod(PodBuilder("p", "a", "n2").ptr());
  EXPECT_THAT(watch.remove_node("n2"), UnorderedElementsAre(kA, kB));
  EXPECT_THAT(failed(kA), ElementsAre("n2"));
  EXPECT_THAT(watch.remove_node("n3"), IsEmpty());
  EXPECT_THAT(watch.set_node(NodeBuilder("n2").ptr()), UnorderedElementsAre(kA, kB));
  EXPECT_THAT(failed(kA), IsEmpty());
}

TEST_F(NodeFailureRules, ANodeOfWhichNobodyKnowsWhetherItIsUpFailsAtOnce) {
  watch.set_node(NodeBuilder("n1").unknown().ptr());
  EXPECT_THAT(failed(kA), ElementsAre("n1"));
  EXPECT_THAT(failed(kB), IsEmpty());
}

TEST_F(NodeFailureRules, NotReadyWaitsForTheEndOfThePods) {
  watch.set_pod(PodBuilder("p1", "a", "n1").ptr());
  watch.set_pod(PodBuilder("p2", "a", "n1").ptr());
  EXPECT_THAT(watch.set_node(NodeBuilder("n1").not_ready(at(0)).ptr()), ElementsAre(kA));
  EXPECT_THAT(failed(kA, at(1000)), IsEmpty());
  EXPECT_FALSE(watch.verdict(kA, {}, {}, at(0)).next.has_value());
  EXPECT_THAT(watch.set_pod(PodBuilder("p1", "a", "n1").terminating().ptr()), ElementsAre(kA));
  EXPECT_THAT(failed(kA), IsEmpty());
  EXPECT_THAT(watch.remove_pod("uid-p2"), ElementsAre(kA));
  EXPECT_THAT(failed(kA), ElementsAre("n1"));
}

TEST_F(NodeFailureRules, OnlyBoundPodsOfTheWorkloadKeepItsNode) {
  watch.set_node(NodeBuilder("n2").not_ready(at(0)).ptr());
  watch.set_pod(PodBuilder("p1", "a", "n2").unbound().ptr());
  watch.set_pod(PodBuilder("p2", "a", "n2").terminated().ptr());
  watch.set_pod(PodBuilder("p3", "a", "n1").ptr());
  watch.set_pod(PodBuilder("p4", "b", "n2").ptr());
  watch.set_pod(PodBuilder("p5", "", "n2").ptr());
  EXPECT_THAT(failed(kA), ElementsAre("n2"));
  EXPECT_THAT(failed(kB), IsEmpty());
}

TEST_F(NodeFailureRules, AMarkedNodeStaysFailedUntilItIsWellWhateverItsPodsDo) {
  watch.set_node(NodeBuilder("n1").not_ready(at(0)).ptr());
  EXPECT_THAT(failed(kA), ElementsAre("n1"));
  watch.set_pod(PodBuilder("p1", "a", "n1").ptr());
  EXPECT_THAT(failed(kA, at(1), {"n1"}), ElementsAre("n1"));
  watch.set_node(NodeBuilder("n1").ptr());
  EXPECT_THAT(failed(kA, at(1), {"n1"}), IsEmpty());
}

TEST_F(NodeFailureRules, TaintsNobodyToleratesFailANodeWithoutPods) {
  for (const char* effect : {"NoSchedule", "NoExecute"}) {
    watch.set_node(NodeBuilder("n1").taint("broken", effect).ptr());
    EXPECT_THAT(failed(kA), ElementsAre("n1"));
    watch.set_pod(PodBuilder("p", "a", "n1").ptr());
    EXPECT_THAT(failed(kA), IsEmpty());
    watch.remove_pod("uid-p");
    watch.set_node(NodeBuilder("n1").ptr());
  }
  watch.set_node(NodeBuilder("n1").taint("broken", "PreferNoSchedule").ptr());
  EXPECT_THAT(failed(kA), IsEmpty());
}

TEST_F(NodeFailureRules, ATolerationForSomeTimeIsNone) {
  watch.set_node(NodeBuilder("n1").taint("broken", "NoExecute").ptr());
  places(kA, "ns/a", {{"n1", 2}}, {{"broken", "Exists", "", "", {}}});
  EXPECT_THAT(failed(kA), IsEmpty());
  places(kA, "ns/a", {{"n1", 2}}, {{"broken", "Exists", "", "", 300}});
  EXPECT_THAT(failed(kA), ElementsAre("n1"));
}

TEST_F(NodeFailureRules, OnlyThePodSetsOnTheNodeHaveToTolerate) {
  auto admission = test::admission("cq", "f", 1, "1");
  admission.pod_set_assignments.push_back(admission.pod_set_assignments[0]);
  admission.pod_set_assignments[0].topology_assignment = on_nodes({{"n1", 1}});
  admission.pod_set_assignments[1].topology_assignment = on_nodes({{"n2", 1}});
  watch.watch(kA, "ns/a", admission, {{{"x", "Exists", "", "", {}}}, {}});
  watch.set_node(NodeBuilder("n1").taint("x", "NoSchedule").ptr());
  EXPECT_THAT(failed(kA), IsEmpty());
  watch.set_node(NodeBuilder("n2").taint("x", "NoSchedule").ptr());
  EXPECT_THAT(failed(kA), ElementsAre("n2"));
}

TEST_F(NodeFailureRules, PlacesThatMovedAwayAreForgotten) {
  places(kA, "ns/a", {{"n2", 2}, {"n3", 2}});
  EXPECT_THAT(watch.remove_node("n1"), IsEmpty());
  EXPECT_THAT(failed(kA), IsEmpty());
  watch.forget(kA);
  EXPECT_THAT(watch.remove_node("n2"), ElementsAre(kB));
  EXPECT_THAT(failed(kA), IsEmpty());
}

TEST_F(NodeFailureRules, NodesThatWereNeverSeenAreGone) {
  places(kA, "ns/a", {{"elsewhere", 1}});
  EXPECT_THAT(failed(kA), ElementsAre("elsewhere"));
}

TEST_F(NodeFailureRules, CoarserPlacesAreNotWatched) {
  auto admission = test::admission("cq", "f", 1, "1");
  auto racks = std::make_shared<api::kueue::TopologyAssignment>();
  racks->levels = {"rack"};
  racks->domains = {{{"n1"}, 1}};
  admission.pod_set_assignments[0].topology_assignment = racks;
  watch.watch(kA, "ns/a", admission, {{}});
  EXPECT_THAT(watch.remove_node("n1"), IsEmpty());
  EXPECT_THAT(failed(kA), IsEmpty());
}

TEST_F(NodeFailureRules, ANodeIsKnownByItsHostname) {
  places(kA, "ns/a", {{"host-1", 1}});
  watch.set_node(NodeBuilder("node-1").label("kubernetes.io/hostname", "host-1").ptr());
  EXPECT_THAT(failed(kA), IsEmpty());
  watch.set_pod(PodBuilder("p", "a", "node-1").ptr());
  watch.set_node(NodeBuilder("node-1").label("kubernetes.io/hostname", "host-1").not_ready(at(0)).ptr());
  EXPECT_THAT(failed(kA), IsEmpty());
  watch.remove_pod("uid-p");
  EXPECT_THAT(failed(kA), ElementsAre("host-1"));
  watch.remove_node("node-1");
  EXPECT_THAT(failed(kA), ElementsAre("host-1"));
}

// Two pods on n1 have ended for good; two run on n2.
struct PodsThatEnded : NodeFailureRules {
  PodsThatEnded() {
    watch.set_pod(PodBuilder("p3", "a", "n2").ptr());
    watch.set_pod(PodBuilder("p4", "a", "n2").ptr());
  }
  Names failed_after(std::int32_t ended, const Names& marked = {}) {
    return failed(kA, at(0), marked, {{"main", ended}});
  }
};

TEST_F(PodsThatEnded, NeedNoOtherPlace) {
  watch.set_node(NodeBuilder("n1").not_ready(at(0)).ptr());
  EXPECT_THAT(failed(kA), ElementsAre("n1")) << "they may be made again";
  EXPECT_THAT(failed_after(1), ElementsAre("n1")) << "one of them may";
  EXPECT_THAT(failed_after(2), IsEmpty());
  EXPECT_THAT(failed_after(2, {"n1"}), IsEmpty()) << "marked before their end was told";
  watch.remove_node("n1");
  EXPECT_THAT(failed_after(2), IsEmpty());
  EXPECT_THAT(failed(kA, at(0), {}, {{"other", 2}}), ElementsAre("n1"));
}

TEST_F(PodsThatEnded, ThoseThatRunStillNeedTheirs) {
  watch.remove_node("n2");
  EXPECT_THAT(failed_after(2), ElementsAre("n2")) << "n1 has capacity for them, but they are not there";
  watch.set_node(NodeBuilder("n2").ptr());
  watch.set_node(NodeBuilder("n1").not_ready(at(0)).ptr());
  EXPECT_THAT(failed_after(2), IsEmpty());
  watch.set_pod(PodBuilder("p3", "a", "n2").terminating().ptr());
  EXPECT_THAT(failed_after(2), ElementsAre("n1")) << "its successor may need a place";
}

TEST_F(NodeFailureRules, ANodeWhoseHostnameChangesFailsWhenItsPodsAreGone) {
  watch.set_pod(PodBuilder("p", "a", "n1").ptr());
  EXPECT_THAT(watch.set_node(NodeBuilder("n1").label("kubernetes.io/hostname", "other").ptr()), ElementsAre(kA));
  EXPECT_THAT(failed(kA), IsEmpty()) << "its pod runs on";
  watch.set_pod(PodBuilder("p", "a", "n1").terminating().ptr());
  EXPECT_THAT(failed(kA), ElementsAre("n1")) << "no pod gets there any more";
  EXPECT_THAT(watch.set_node(NodeBuilder("n1").ptr()), ElementsAre(kA));
  EXPECT_THAT(failed(kA), IsEmpty());
  api::Node bare = NodeBuilder("n1");
  bare.labels.erase("kubernetes.io/hostname");
  EXPECT_THAT(watch.set_node(std::make_shared<const api::Node>(bare)), ElementsAre(kA));
  EXPECT_THAT(failed(kA), ElementsAre("n1"));
  EXPECT_THAT(watch.remove_node("n1"), ElementsAre(kA));
  EXPECT_THAT(failed(kA), ElementsAre("n1"));
}

TEST_F(NodeFailureRules, AHostnameThatMovesToAnotherNode) {
  watch.set_pod(PodBuilder("p", "a", "n1").ptr());
  watch.set_node(NodeBuilder("n4").label("kubernetes.io/hostname", "n1").ptr());
  EXPECT_THAT(failed(kA), IsEmpty()) << "two claim it";
  watch.remove_node("n1");
  EXPECT_THAT(failed(kA), IsEmpty()) << "n4 is the host now";
  watch.remove_node("n4");
  EXPECT_THAT(failed(kA), ElementsAre("n1"));
}

struct WithoutPodTermination : NodeFailureRules {
  WithoutPodTermination()
      : NodeFailureRules([] {
          Options o;
          o.replace_on_pod_termination = false;
          return o;
        }()) {}
};

TEST_F(WithoutPodTermination, NotReadyFailsAfterHalfAMinute) {
  watch.set_pod(PodBuilder("p1", "a", "n1").ptr());
  watch.set_node(NodeBuilder("n1").not_ready(at(10)).ptr());
  EXPECT_THAT(failed(kA, at(39)), IsEmpty());
  EXPECT_EQ(watch.verdict(kA, {}, {}, at(39)).next, at(40));
  EXPECT_THAT(failed(kA, at(40)), ElementsAre("n1"));
  EXPECT_FALSE(watch.verdict(kA, {}, {}, at(40)).next.has_value());
}

struct WithoutTaints : NodeFailureRules {
  WithoutTaints()
      : NodeFailureRules([] {
          Options o;
          o.replace_on_taints = false;
          return o;
        }()) {}
};

TEST_F(WithoutTaints, TaintsDoNotMatter) {
  watch.set_node(NodeBuilder("n1").taint("broken", "NoExecute").ptr());
  EXPECT_THAT(failed(kA), IsEmpty());
}

}  // namespace
}  // namespace berth::engine::node_watch_test
