// Usage by claims, pods and both; nodes, flavors and topologies that are added and removed.
#include <gtest/gtest.h>

#include "engine/topology/cluster.h"

namespace berth::engine::node_usage_test {
namespace {

WorkloadId workload(std::size_t number) { return WorkloadId(number); }

TEST(TopologyLedger, AClaimAndItsPodsCountOnce) {
  Cluster cluster;
  add_racks(cluster, 1, 1);
  EXPECT_EQ(cluster.admit(0, {Gang{.count = 2}}), "r1-n1:2");
  cluster.pod("a", "r1-n1", {{"cpu", "1"}}, "w0");
  cluster.pod("b", "r1-n1", {{"cpu", "1"}}, "w0");
  EXPECT_EQ(cluster.where({Gang{.count = 2}}), "r1-n1:2");
  EXPECT_EQ(cluster.where({Gang{.count = 3}}), "topology \"t\" allows to fit only 2 out of 3 pod(s)");
  cluster.pod("c", "r1-n1", {{"cpu", "1"}});  // of no workload
  EXPECT_EQ(cluster.where({Gang{.count = 2}}), "topology \"t\" allows to fit only 1 out of 2 pod(s)");
  EXPECT_EQ(cluster.broken(), "");
}

TEST(TopologyLedger, ATerminatingPodHoldsItsNodeUntilItIsGone) {
  Cluster cluster;
  add_racks(cluster, 1, 1);
  cluster.admit(0, {Gang{.count = 4}});
  cluster.pod("a", "r1-n1", {{"cpu", "1"}}, "w0");
  cluster.places.give_back(workload(0));
  EXPECT_FALSE(cluster.places.holds(workload(0)));
  EXPECT_FALSE(cluster.place({Gang{.count = 4}}).ok);
  EXPECT_TRUE(cluster.place({Gang{.count = 3}}).ok);
  api::kueue::PodPlacement dying = Cluster::a_pod("a", "r1-n1", {{"cpu", "1"}}, "w0");
  dying.terminating = true;
  cluster.places.set_pod(dying);
  EXPECT_FALSE(cluster.place({Gang{.count = 4}}).ok);
  dying.terminated = true;
  cluster.places.set_pod(dying);
  EXPECT_TRUE(cluster.place({Gang{.count = 4}}).ok);
  EXPECT_EQ(cluster.broken(), "");
}

TEST(TopologyLedger, AResizedPodCountsWithWhatItAsksNow) {
  Cluster cluster;
  add_racks(cluster, 1, 1);
  cluster.pod("a", "r1-n1", {{"cpu", "1"}});
  EXPECT_TRUE(cluster.place({Gang{.count = 3}}).ok);
  EXPECT_TRUE(cluster.pod("a", "r1-n1", {{"cpu", "2"}}));
  EXPECT_FALSE(cluster.place({Gang{.count = 3}}).ok);
  // A claim counts as the larger of claim and pods, resource by resource.
  cluster.places.remove_pod("uid-a");
  cluster.admit(0, {Gang{.count = 1, .requests = {{"cpu", "2"}}}});
  cluster.pod("b", "r1-n1", {{"cpu", "1"}, {"memory", "64Gi"}}, "w0");
  EXPECT_FALSE(cluster.place({Gang{.count = 3}}).ok);
  EXPECT_TRUE(cluster.place({Gang{.count = 2}}).ok);
  EXPECT_FALSE(cluster.place({Gang{.count = 1, .requests = {{"memory", "1Gi"}}}}).ok);
  EXPECT_EQ(cluster.broken(), "");
}

TEST(TopologyLedger, ClaimsOutliveNodesFlavorsAndTopologies) {
  Cluster cluster;
  add_racks(cluster, 1, 2);
  EXPECT_EQ(cluster.admit(0, {Gang{.count = 4}}), "r1-n1:4");
  cluster.places.remove_node("r1-n1");
  cluster.places.remove_flavor(cluster.id("f"));
  cluster.places.remove_topology("t");
  EXPECT_EQ(cluster.broken(), "");
  add_racks(cluster, 1, 2);
  EXPECT_EQ(cluster.where({Gang{.count = 4}}), "r1-n2:4");
  cluster.places.give_back(workload(0));
  EXPECT_EQ(cluster.where({Gang{.count = 4}}), "r1-n1:4");
  EXPECT_EQ(cluster.broken(), "");
}

TEST(TopologyLedger, StatedBeforeAnythingExists) {
  Cluster cluster;
  StatedPlaces stated{"f", cluster.amounts({{"cpu", "1"}}), Cluster::assigned({{"r1-n1", 3}})};
  cluster.places.take_stated(workload(7), "ns/w7", {stated});
  cluster.pod("early", "r1-n2", {{"cpu", "4"}});
  EXPECT_TRUE(cluster.places.holds(workload(7)));
  add_racks(cluster, 1, 2);
  EXPECT_EQ(cluster.where({Gang{.count = 2}}),
            "topology \"t\" allows to fit only 1 out of 2 pod(s). Total nodes: 2; excluded: "
            "resource \"cpu\": 1");
  EXPECT_EQ(cluster.broken(), "");
}

TEST(TopologyLedger, OverlappingFlavorsShareTheNode) {
  Cluster cluster;
  add_racks(cluster, 1, 1);
  cluster.flavor("other", "t");
  EXPECT_EQ(cluster.admit(0, {Gang{.count = 3}}), "r1-n1:3");
  EXPECT_EQ(cluster.where({Gang{.flavor = "other", .count = 2}}),
            "topology \"t\" allows to fit only 1 out of 2 pod(s)");
  // The same within one workload.
  EXPECT_EQ(cluster.where({Gang{.count = 1}, Gang{.flavor = "other", .count = 1}}),
            "topology \"t\" doesn't allow to fit any of 1 pod(s). Total nodes: 1; excluded: resource \"cpu\": 1");
}

TEST(TopologyLedger, APodInAGroupCountsAgainstItsClaim) {
  Cluster cluster;
  cluster.topology("t", {"rack"});
  cluster.flavor("f", "t");
  cluster.node("n1", {{"rack", "r1"}}, {{"cpu", "4"}});
  cluster.node("n2", {{"rack", "r1"}}, {{"cpu", "4"}});
  EXPECT_EQ(cluster.admit(0, {Gang{.count = 4}.required("rack")}), "r1:4");
  cluster.pod("a", "n1", {{"cpu", "1"}}, "w0");
  cluster.pod("b", "n2", {{"cpu", "1"}}, "w0");
  EXPECT_TRUE(cluster.place({Gang{.count = 4}}).ok);
  EXPECT_FALSE(cluster.place({Gang{.count = 5}}).ok);
  EXPECT_EQ(cluster.broken(), "");
  cluster.places.give_back(workload(0));
  EXPECT_TRUE(cluster.place({Gang{.count = 6}}).ok);
  EXPECT_FALSE(cluster.place({Gang{.count = 7}}).ok);
  api::Node down = Cluster::a_node("n2", {{"rack", "r1"}}, {{"cpu", "4"}});
  down.ready = false;
  cluster.places.set_node(down);
  EXPECT_FALSE(cluster.place({Gang{.count = 4}}).ok);
  EXPECT_TRUE(cluster.place({Gang{.count = 3}}).ok);
  EXPECT_EQ(cluster.broken(), "");
}

TEST(TopologyLedger, NodesWithoutALevelOrWithMisleadingNames) {
  Cluster cluster;
  add_racks(cluster, 1, 1);
  cluster.node("no-rack", {}, {{"cpu", "100"}});
  cluster.node("r1", {{"rack", "r1"}}, {{"cpu", "4"}});   // a host with the name of its rack
  cluster.node("r2", {{"rack", "r1x"}}, {{"cpu", "4"}});  // and a host whose rack's name only begins like another's
  EXPECT_EQ(cluster.where({Gang{.count = 8}.required("rack")}), "r1:4 r1-n1:4");
  EXPECT_FALSE(cluster.place({Gang{.count = 9}.required("rack")}).ok);
  EXPECT_EQ(cluster.where({Gang{.count = 12}.preferred("rack")}), "r1:4 r1-n1:4 r2:4");
  EXPECT_EQ(cluster.broken(), "");
}

TEST(TopologyLedger, AHostnameThatIsNotTheNodesName) {
  Cluster cluster;
  cluster.topology("t", {"kubernetes.io/hostname"});
  cluster.flavor("f", "t");
  cluster.pod("early", "node-1", {{"cpu", "1"}});
  cluster.node("node-1", {{"kubernetes.io/hostname", "host-1"}}, {{"cpu", "4"}});
  EXPECT_EQ(cluster.where({Gang{.count = 3}}), "host-1:3");
  EXPECT_FALSE(cluster.place({Gang{.count = 4}}).ok);
  cluster.node("node-0", {{"kubernetes.io/hostname", "host-1"}},
               {{"cpu", "2"}});  // a duplicate hostname: the first node by name counts
  EXPECT_FALSE(cluster.place({Gang{.count = 3}}).ok);
  cluster.places.remove_node("node-0");
  EXPECT_TRUE(cluster.place({Gang{.count = 3}}).ok);
  cluster.places.remove_node("node-1");
  EXPECT_EQ(cluster.broken(), "");
}

TEST(TopologyLedger, TrialsNestAndLeaveNoTrace) {
  Cluster cluster;
  add_racks(cluster, 1, 1);
  cluster.admit(0, {Gang{.count = 2}});
  cluster.admit(1, {Gang{.count = 2}});
  cluster.pod("a", "r1-n1", {{"cpu", "1"}}, "w0");
  cluster.places.take_reliefs();
  auto fit = [&](std::int32_t count) { return cluster.place({Gang{.count = count}}).ok; };
  {
    Places::Trial outer(cluster.places);
    outer.without(workload(0));
    outer.without(workload(0));
    EXPECT_TRUE(fit(2));  // the pods of the workload are gone too
    EXPECT_FALSE(fit(3));
    {
      Places::Trial inner(cluster.places);
      inner.without(workload(1));
      EXPECT_TRUE(fit(4));
      inner.again(workload(0));
      EXPECT_TRUE(fit(2));
      EXPECT_FALSE(fit(3));
    }
    EXPECT_TRUE(fit(2));
    EXPECT_FALSE(fit(3));
  }
  EXPECT_FALSE(fit(1));
  EXPECT_TRUE(cluster.places.take_reliefs().empty());
  EXPECT_EQ(cluster.broken(), "");
}

TEST(TopologyLedger, HoldsAreFreeUntilTheyAreDropped) {
  Cluster cluster;
  add_racks(cluster, 1, 1);
  const Placement held = cluster.place({Gang{.count = 3}});
  cluster.places.hold(held.pod_sets);
  EXPECT_FALSE(cluster.place({Gang{.count = 2}}).ok);
  {
    Places::Trial trial(cluster.places);
    trial.without_holds();
    EXPECT_TRUE(cluster.place({Gang{.count = 4}}).ok);
  }
  EXPECT_FALSE(cluster.place({Gang{.count = 2}}).ok);
  cluster.places.take_reliefs();
  cluster.places.drop_holds();
  EXPECT_TRUE(cluster.place({Gang{.count = 4}}).ok);
  EXPECT_TRUE(cluster.places.take_reliefs().empty());
  EXPECT_EQ(cluster.broken(), "");
}

TEST(TopologyLedger, OnEmptyOnlyPodsOfOthersCount) {
  Cluster cluster;
  add_racks(cluster, 1, 1);
  cluster.admit(0, {Gang{.count = 3}});
  cluster.pod("a", "r1-n1", {{"cpu", "1"}}, "w0");
  EXPECT_TRUE(cluster.place({Gang{.count = 4}}, true).ok);
  EXPECT_FALSE(cluster.place({Gang{.count = 4}, Gang{.count = 1}}, true).ok);
  cluster.pod("system", "r1-n1", {{"cpu", "1"}});
  EXPECT_FALSE(cluster.place({Gang{.count = 4}}, true).ok);
  EXPECT_TRUE(cluster.place({Gang{.count = 3}}, true).ok);
}

TEST(TopologyLedger, ReliefsNameTheFlavorsThatGotFreer) {
  Cluster cluster;
  add_racks(cluster, 1, 1);
  cluster.flavor("g", "t", {{"kind", "gpu"}});
  cluster.node("g1", {{"rack", "r2"}, {"kind", "gpu"}}, {{"cpu", "4"}});
  EXPECT_EQ(cluster.places.take_reliefs(), (std::vector{cluster.id("f"), cluster.id("g")}));
  EXPECT_TRUE(cluster.places.take_reliefs().empty());
  EXPECT_EQ(cluster.admit(0, {Gang{.flavor = "g", .count = 4}}), "g1:4");
  EXPECT_TRUE(cluster.places.take_reliefs().empty());
  cluster.pod("a", "g1", {{"cpu", "1"}}, "w0");
  EXPECT_TRUE(cluster.places.take_reliefs().empty());
  cluster.places.give_back(workload(0));
  EXPECT_EQ(cluster.places.take_reliefs(), (std::vector{cluster.id("f"), cluster.id("g")}));
  cluster.admit(1, {Gang{.flavor = "f", .count = 4}});  // on r1-n1
  cluster.places.give_back(workload(1));
  EXPECT_EQ(cluster.places.take_reliefs(), (std::vector{cluster.id("f")}));
  EXPECT_FALSE(cluster.node("g1", {{"rack", "r2"}, {"kind", "gpu"}}, {{"cpu", "4"}}));
  EXPECT_TRUE(cluster.places.take_reliefs().empty());
}

TEST(TopologyLedger, AResourceThatNodesGetLaterIsCountedForThoseWhoHoldIt) {
  Cluster cluster;
  add_racks(cluster, 1, 1);
  cluster.pod("a", "r1-n1", {{"cpu", "1"}, {"nvidia.com/gpu", "3"}});
  cluster.node("r1-n1", {{"rack", "r1"}}, {{"cpu", "4"}, {"nvidia.com/gpu", "4"}});
  EXPECT_TRUE(cluster.place({Gang{.count = 1, .requests = {{"nvidia.com/gpu", "1"}}}}).ok);
  EXPECT_FALSE(cluster.place({Gang{.count = 2, .requests = {{"nvidia.com/gpu", "1"}}}}).ok);
  EXPECT_EQ(cluster.broken(), "");
}

}  // namespace
}  // namespace berth::engine::node_usage_test
