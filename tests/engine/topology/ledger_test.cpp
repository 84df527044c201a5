// Usage by claims, pods and both; nodes, flavors and topologies that are added and removed.
#include <gtest/gtest.h>

#include "engine/topology/room.h"

namespace berth::engine::ledger_test {
namespace {

WorkloadId workload(std::size_t number) { return WorkloadId(number); }

TEST(TopologyLedger, AClaimAndItsPodsCountOnce) {
  Room room;
  furnish(room, 1, 1);
  EXPECT_EQ(room.admit(0, {Gang{.count = 2}}), "r1-n1:2");
  room.pod("a", "r1-n1", {{"cpu", "1"}}, "w0");
  room.pod("b", "r1-n1", {{"cpu", "1"}}, "w0");
  EXPECT_EQ(room.where({Gang{.count = 2}}), "r1-n1:2");
  EXPECT_EQ(room.where({Gang{.count = 3}}), "topology \"t\" allows to fit only 2 out of 3 pod(s)");
  room.pod("c", "r1-n1", {{"cpu", "1"}});  // of no workload
  EXPECT_EQ(room.where({Gang{.count = 2}}), "topology \"t\" allows to fit only 1 out of 2 pod(s)");
  EXPECT_EQ(room.broken(), "");
}

TEST(TopologyLedger, ATerminatingPodHoldsItsNodeUntilItIsGone) {
  Room room;
  furnish(room, 1, 1);
  room.admit(0, {Gang{.count = 4}});
  room.pod("a", "r1-n1", {{"cpu", "1"}}, "w0");
  room.places.give_back(workload(0));
  EXPECT_FALSE(room.places.holds(workload(0)));
  EXPECT_FALSE(room.place({Gang{.count = 4}}).ok);
  EXPECT_TRUE(room.place({Gang{.count = 3}}).ok);
  api::kueue::PodPlacement dying = Room::a_pod("a", "r1-n1", {{"cpu", "1"}}, "w0");
  dying.terminating = true;
  room.places.set_pod(dying);
  EXPECT_FALSE(room.place({Gang{.count = 4}}).ok);
  dying.terminated = true;
  room.places.set_pod(dying);
  EXPECT_TRUE(room.place({Gang{.count = 4}}).ok);
  EXPECT_EQ(room.broken(), "");
}

TEST(TopologyLedger, AResizedPodCountsWithWhatItAsksNow) {
  Room room;
  furnish(room, 1, 1);
  room.pod("a", "r1-n1", {{"cpu", "1"}});
  EXPECT_TRUE(room.place({Gang{.count = 3}}).ok);
  EXPECT_TRUE(room.pod("a", "r1-n1", {{"cpu", "2"}}));
  EXPECT_FALSE(room.place({Gang{.count = 3}}).ok);
  // A claim counts as the larger of claim and pods, resource by resource.
  room.places.remove_pod("uid-a");
  room.admit(0, {Gang{.count = 1, .requests = {{"cpu", "2"}}}});
  room.pod("b", "r1-n1", {{"cpu", "1"}, {"memory", "64Gi"}}, "w0");
  EXPECT_FALSE(room.place({Gang{.count = 3}}).ok);
  EXPECT_TRUE(room.place({Gang{.count = 2}}).ok);
  EXPECT_FALSE(room.place({Gang{.count = 1, .requests = {{"memory", "1Gi"}}}}).ok);
  EXPECT_EQ(room.broken(), "");
}

TEST(TopologyLedger, ClaimsOutliveNodesFlavorsAndTopologies) {
  Room room;
  furnish(room, 1, 2);
  EXPECT_EQ(room.admit(0, {Gang{.count = 4}}), "r1-n1:4");
  room.places.remove_node("r1-n1");
  room.places.remove_flavor(room.id("f"));
  room.places.remove_topology("t");
  EXPECT_EQ(room.broken(), "");
  furnish(room, 1, 2);
  EXPECT_EQ(room.where({Gang{.count = 4}}), "r1-n2:4");
  room.places.give_back(workload(0));
  EXPECT_EQ(room.where({Gang{.count = 4}}), "r1-n1:4");
  EXPECT_EQ(room.broken(), "");
}

TEST(TopologyLedger, StatedBeforeAnythingExists) {
  Room room;
  StatedPlaces stated{"f", room.amounts({{"cpu", "1"}}), Room::assigned({{"r1-n1", 3}})};
  room.places.take_stated(workload(7), "ns/w7", {stated});
  room.pod("early", "r1-n2", {{"cpu", "4"}});
  EXPECT_TRUE(room.places.holds(workload(7)));
  furnish(room, 1, 2);
  EXPECT_EQ(room.where({Gang{.count = 2}}),
            "topology \"t\" allows to fit only 1 out of 2 pod(s). Total nodes: 2; excluded: "
            "resource \"cpu\": 1");
  EXPECT_EQ(room.broken(), "");
}

TEST(TopologyLedger, OverlappingFlavorsShareTheNode) {
  Room room;
  furnish(room, 1, 1);
  room.flavor("other", "t");
  EXPECT_EQ(room.admit(0, {Gang{.count = 3}}), "r1-n1:3");
  EXPECT_EQ(room.where({Gang{.flavor = "other", .count = 2}}), "topology \"t\" allows to fit only 1 out of 2 pod(s)");
  // The same within one workload.
  EXPECT_EQ(room.where({Gang{.count = 1}, Gang{.flavor = "other", .count = 1}}),
            "topology \"t\" doesn't allow to fit any of 1 pod(s). Total nodes: 1; excluded: resource \"cpu\": 1");
}

TEST(TopologyLedger, APodInAGroupCountsAgainstItsClaim) {
  Room room;
  room.topology("t", {"rack"});
  room.flavor("f", "t");
  room.node("n1", {{"rack", "r1"}}, {{"cpu", "4"}});
  room.node("n2", {{"rack", "r1"}}, {{"cpu", "4"}});
  EXPECT_EQ(room.admit(0, {Gang{.count = 4}.required("rack")}), "r1:4");
  room.pod("a", "n1", {{"cpu", "1"}}, "w0");
  room.pod("b", "n2", {{"cpu", "1"}}, "w0");
  EXPECT_TRUE(room.place({Gang{.count = 4}}).ok);
  EXPECT_FALSE(room.place({Gang{.count = 5}}).ok);
  EXPECT_EQ(room.broken(), "");
  room.places.give_back(workload(0));
  EXPECT_TRUE(room.place({Gang{.count = 6}}).ok);
  EXPECT_FALSE(room.place({Gang{.count = 7}}).ok);
  api::Node down = Room::a_node("n2", {{"rack", "r1"}}, {{"cpu", "4"}});
  down.ready = false;
  room.places.set_node(down);
  EXPECT_FALSE(room.place({Gang{.count = 4}}).ok);
  EXPECT_TRUE(room.place({Gang{.count = 3}}).ok);
  EXPECT_EQ(room.broken(), "");
}

TEST(TopologyLedger, NodesWithoutALevelOrWithMisleadingNames) {
  Room room;
  furnish(room, 1, 1);
  room.node("no-rack", {}, {{"cpu", "100"}});
  room.node("r1", {{"rack", "r1"}}, {{"cpu", "4"}});   // a host with the name of its rack
  room.node("r2", {{"rack", "r1x"}}, {{"cpu", "4"}});  // and a host whose rack's name only begins like another's
  EXPECT_EQ(room.where({Gang{.count = 8}.required("rack")}), "r1:4 r1-n1:4");
  EXPECT_FALSE(room.place({Gang{.count = 9}.required("rack")}).ok);
  EXPECT_EQ(room.where({Gang{.count = 12}.preferred("rack")}), "r1:4 r1-n1:4 r2:4");
  EXPECT_EQ(room.broken(), "");
}

TEST(TopologyLedger, AHostnameThatIsNotTheNodesName) {
  Room room;
  room.topology("t", {"kubernetes.io/hostname"});
  room.flavor("f", "t");
  room.pod("early", "node-1", {{"cpu", "1"}});
  room.node("node-1", {{"kubernetes.io/hostname", "host-1"}}, {{"cpu", "4"}});
  EXPECT_EQ(room.where({Gang{.count = 3}}), "host-1:3");
  EXPECT_FALSE(room.place({Gang{.count = 4}}).ok);
  room.node("node-0", {{"kubernetes.io/hostname", "host-1"}},
            {{"cpu", "2"}});  // a duplicate hostname: the first node by name counts
  EXPECT_FALSE(room.place({Gang{.count = 3}}).ok);
  room.places.remove_node("node-0");
  EXPECT_TRUE(room.place({Gang{.count = 3}}).ok);
  room.places.remove_node("node-1");
  EXPECT_EQ(room.broken(), "");
}

TEST(TopologyLedger, TrialsNestAndLeaveNoTrace) {
  Room room;
  furnish(room, 1, 1);
  room.admit(0, {Gang{.count = 2}});
  room.admit(1, {Gang{.count = 2}});
  room.pod("a", "r1-n1", {{"cpu", "1"}}, "w0");
  room.places.take_reliefs();
  auto fit = [&](std::int32_t count) { return room.place({Gang{.count = count}}).ok; };
  {
    Places::Trial outer(room.places);
    outer.without(workload(0));
    outer.without(workload(0));
    EXPECT_TRUE(fit(2));  // the pods of the workload are gone too
    EXPECT_FALSE(fit(3));
    {
      Places::Trial inner(room.places);
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
  EXPECT_TRUE(room.places.take_reliefs().empty());
  EXPECT_EQ(room.broken(), "");
}

TEST(TopologyLedger, HoldsAreRoomUntilTheyAreDropped) {
  Room room;
  furnish(room, 1, 1);
  const Placement held = room.place({Gang{.count = 3}});
  room.places.hold(held.pod_sets);
  EXPECT_FALSE(room.place({Gang{.count = 2}}).ok);
  {
    Places::Trial trial(room.places);
    trial.without_holds();
    EXPECT_TRUE(room.place({Gang{.count = 4}}).ok);
  }
  EXPECT_FALSE(room.place({Gang{.count = 2}}).ok);
  room.places.take_reliefs();
  room.places.drop_holds();
  EXPECT_TRUE(room.place({Gang{.count = 4}}).ok);
  EXPECT_TRUE(room.places.take_reliefs().empty());
  EXPECT_EQ(room.broken(), "");
}

TEST(TopologyLedger, OnEmptyOnlyPodsOfOthersCount) {
  Room room;
  furnish(room, 1, 1);
  room.admit(0, {Gang{.count = 3}});
  room.pod("a", "r1-n1", {{"cpu", "1"}}, "w0");
  EXPECT_TRUE(room.place({Gang{.count = 4}}, true).ok);
  EXPECT_FALSE(room.place({Gang{.count = 4}, Gang{.count = 1}}, true).ok);
  room.pod("system", "r1-n1", {{"cpu", "1"}});
  EXPECT_FALSE(room.place({Gang{.count = 4}}, true).ok);
  EXPECT_TRUE(room.place({Gang{.count = 3}}, true).ok);
}

TEST(TopologyLedger, ReliefsNameTheFlavorsThatGotFreer) {
  Room room;
  furnish(room, 1, 1);
  room.flavor("g", "t", {{"kind", "gpu"}});
  room.node("g1", {{"rack", "r2"}, {"kind", "gpu"}}, {{"cpu", "4"}});
  EXPECT_EQ(room.places.take_reliefs(), (std::vector{room.id("f"), room.id("g")}));
  EXPECT_TRUE(room.places.take_reliefs().empty());
  EXPECT_EQ(room.admit(0, {Gang{.flavor = "g", .count = 4}}), "g1:4");
  EXPECT_TRUE(room.places.take_reliefs().empty());
  room.pod("a", "g1", {{"cpu", "1"}}, "w0");
  EXPECT_TRUE(room.places.take_reliefs().empty());
  room.places.give_back(workload(0));
  EXPECT_EQ(room.places.take_reliefs(), (std::vector{room.id("f"), room.id("g")}));
  room.admit(1, {Gang{.flavor = "f", .count = 4}});  // on r1-n1
  room.places.give_back(workload(1));
  EXPECT_EQ(room.places.take_reliefs(), (std::vector{room.id("f")}));
  EXPECT_FALSE(room.node("g1", {{"rack", "r2"}, {"kind", "gpu"}}, {{"cpu", "4"}}));
  EXPECT_TRUE(room.places.take_reliefs().empty());
}

TEST(TopologyLedger, AResourceThatNodesGetLaterIsCountedForThoseWhoHoldIt) {
  Room room;
  furnish(room, 1, 1);
  room.pod("a", "r1-n1", {{"cpu", "1"}, {"nvidia.com/gpu", "3"}});
  room.node("r1-n1", {{"rack", "r1"}}, {{"cpu", "4"}, {"nvidia.com/gpu", "4"}});
  EXPECT_TRUE(room.place({Gang{.count = 1, .requests = {{"nvidia.com/gpu", "1"}}}}).ok);
  EXPECT_FALSE(room.place({Gang{.count = 2, .requests = {{"nvidia.com/gpu", "1"}}}}).ok);
  EXPECT_EQ(room.broken(), "");
}

}  // namespace
}  // namespace berth::engine::ledger_test
