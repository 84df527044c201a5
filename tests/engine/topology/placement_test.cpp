// Which domains a gang gets: the rules of KEP-2724 with worked examples.
#include <gtest/gtest.h>

#include "engine/topology/room.h"

namespace berth::engine::placement_test {
namespace {

TEST(TopologyPlacement, TheRecordedChoices) {
  Room room;
  furnish(room, 3, 4);
  const Amounts two{{"cpu", "2"}};
  EXPECT_EQ(room.admit(0, {Gang{.count = 6, .requests = two}.required("rack")}), "r1-n1:2 r1-n2:2 r1-n3:2");
  EXPECT_EQ(room.admit(1, {Gang{.count = 10, .requests = two}.preferred("rack")}),
            "r1-n4:2 r2-n1:2 r2-n2:2 r2-n3:2 r2-n4:2");
  EXPECT_EQ(room.where({Gang{.count = 9, .requests = two}.required("rack")}),
            "topology \"t\" allows to fit only 8 out of 9 pod(s). Total nodes: 12; excluded: resource \"cpu\": 8");
  EXPECT_EQ(room.admit(2, {Gang{.count = 4}.required("kubernetes.io/hostname")}), "r3-n1:4");
  EXPECT_EQ(room.admit(3, {Gang{.count = 3}.unconstrained()}), "r3-n2:3");
  EXPECT_EQ(room.admit(4, {Gang{.count = 2}}), "r3-n3:2");
  EXPECT_EQ(room.broken(), "");
}

TEST(TopologyPlacement, TheRecordedSlices) {
  Room room;
  furnish(room, 3, 4);
  const Amounts two{{"cpu", "2"}};
  EXPECT_EQ(room.admit(0, {Gang{.count = 3, .requests = two}.required("rack")}), "r1-n1:2 r1-n2:1");
  EXPECT_EQ(room.admit(1, {Gang{.count = 12, .requests = two}.preferred("rack").slices("rack", 4)}),
            "r1-n2:1 r1-n3:2 r1-n4:1 r2-n1:2 r2-n2:2 r2-n3:2 r2-n4:2");
  EXPECT_EQ(room.admit(2, {Gang{.count = 4, .requests = two}.slices("kubernetes.io/hostname", 2)}), "r3-n1:2 r3-n2:2");
  EXPECT_EQ(room.broken(), "");
}

TEST(TopologyPlacement, BestFitAndLeastFreeCapacity) {
  Room room;
  room.topology("t", {"kubernetes.io/hostname"});
  room.flavor("f", "t");
  for (const char* cpu : {"7", "5", "4", "3"}) room.node(std::string("n") + cpu, {}, {{"cpu", cpu}});
  EXPECT_EQ(room.where({Gang{.count = 8}.preferred("kubernetes.io/hostname")}), "n3:1 n7:7");
  EXPECT_EQ(room.where({Gang{.count = 8}.unconstrained()}), "n3:3 n4:4 n5:1");
  EXPECT_EQ(room.where({Gang{.count = 4}.required("kubernetes.io/hostname")}), "n4:4");
  EXPECT_EQ(room.where({Gang{.count = 5}.unconstrained()}), "n5:5");

  Room plain({.mixed_profile = false});
  plain.topology("t", {"kubernetes.io/hostname"});
  plain.flavor("f", "t");
  for (const char* cpu : {"7", "5", "4", "3"}) plain.node(std::string("n") + cpu, {}, {{"cpu", cpu}});
  EXPECT_EQ(plain.where({Gang{.count = 8}.unconstrained()}), "n3:1 n7:7");
}

TEST(TopologyPlacement, SliceArithmetic) {
  Room room;
  room.topology("t", {"block", "rack"});
  room.flavor("f", "t");
  room.node("a", {{"block", "b"}, {"rack", "r1"}}, {{"cpu", "7"}});
  room.node("b", {{"block", "b"}, {"rack", "r2"}}, {{"cpu", "9"}});
  EXPECT_EQ(room.where({Gang{.count = 12}.preferred("rack").slices("rack", 4)}), "b/r1:4 b/r2:8");
  EXPECT_EQ(room.where({Gang{.count = 12}.preferred("rack")}), "b/r1:3 b/r2:9");
  EXPECT_EQ(room.where({Gang{.count = 16}.preferred("rack").slices("rack", 4)}),
            "topology \"t\" allows to fit only 3 out of 4 slice(s)");
}

TEST(TopologyPlacement, SlicesOfSlices) {
  Room room;
  room.topology("t", {"block", "rack", "kubernetes.io/hostname"});
  room.flavor("f", "t");
  for (const char* block : {"b1", "b2"}) {
    for (const char* rack : {"r1", "r2"}) {
      for (const char* node : {"n1", "n2"}) {
        const std::string name = std::string(block) + rack + node;
        room.node(name, {{"block", block}, {"rack", std::string(block) + rack}}, {{"cpu", "3"}});
      }
    }
  }
  // A block has 12 cpu, a rack 6. In pairs per host only 2 of 3 cpu count: 4 per rack, 8 per block.
  EXPECT_EQ(room.where({Gang{.count = 8}.layers({{"block", 8}, {"kubernetes.io/hostname", 2}})}),
            "b1r1n1:2 b1r1n2:2 b1r2n1:2 b1r2n2:2");
  EXPECT_EQ(room.where({Gang{.count = 12}.layers({{"block", 12}, {"rack", 4}, {"kubernetes.io/hostname", 2}})}),
            "topology \"t\" doesn't allow to fit any of 1 slice(s) in layers of 12 pods per block, 4 per rack, 2 "
            "per "
            "kubernetes.io/hostname");
  EXPECT_EQ(room.where({Gang{.count = 12}.layers({{"block", 6}, {"rack", 3}})}), "b1r1n1:3 b1r1n2:3 b1r2n1:3 b1r2n2:3");
}

TEST(TopologyPlacement, LeaderAndWorkersShareTheirDomain) {
  Room room;
  furnish(room, 2, 2);
  room.pod("p", "r1-n1", {{"cpu", "3"}});
  // Rack r1 has 5 cpu, r2 has 8; the leader needs 2, each worker 1.
  auto gangs = [](std::int32_t workers) {
    return std::vector<Gang>{Gang{.count = 1, .requests = {{"cpu", "2"}}, .group = "g"}.required("rack"),
                             Gang{.count = workers, .group = "g"}.required("rack")};
  };
  EXPECT_EQ(room.where(gangs(3)), "r1-n2:1 | r1-n1:1 r1-n2:2");
  EXPECT_EQ(room.where(gangs(6)), "r2-n1:1 | r2-n1:2 r2-n2:4");
  EXPECT_EQ(room.where(gangs(7)), "topology \"t\" allows to fit only 6 out of 7 pod(s)");
}

TEST(TopologyPlacement, TheLeaderDoesNotTakeRoomThatTheWorkersNeed) {
  // The leader's 1 gpu fits on both nodes. On "big" it would take capacity from the workers that "small" cannot
  // replace.
  Room room;
  room.topology("t", {"kubernetes.io/hostname"});
  room.flavor("f", "t");
  room.node("big", {}, {{"cpu", "10"}});
  room.node("small", {}, {{"cpu", "4"}});
  const Amounts five{{"cpu", "5"}}, four{{"cpu", "4"}};
  EXPECT_EQ(room.where({Gang{.count = 1, .requests = four, .group = "g"}.preferred("kubernetes.io/hostname"),
                        Gang{.count = 2, .requests = five, .group = "g"}.preferred("kubernetes.io/hostname")}),
            "small:1 | big:2");
}

TEST(TopologyPlacement, PodSetsOfOneWorkloadSeeEachOther) {
  Room room;
  furnish(room, 1, 2);
  EXPECT_EQ(room.where({Gang{.count = 4}.required("kubernetes.io/hostname"),
                        Gang{.count = 4}.required("kubernetes.io/hostname")}),
            "r1-n1:4 | r1-n2:4");
  EXPECT_EQ(room.where({Gang{.count = 4}.required("kubernetes.io/hostname"), Gang{.count = 5}.required("rack")}),
            "topology \"t\" allows to fit only 4 out of 5 pod(s). Total nodes: 2; excluded: resource \"cpu\": 1");
  EXPECT_EQ(room.broken(), "");
}

TEST(TopologyPlacement, NodesThatDoNotSuit) {
  Room room;
  furnish(room, 1, 2);
  api::Node tainted = Room::a_node("r1-n3", {{"rack", "r1"}, {"kind", "gpu"}}, {{"cpu", "4"}});
  tainted.taints = {{"gpu", "yes", "NoSchedule"}, {"soft", "", "PreferNoSchedule"}};
  room.places.set_node(tainted);
  api::Node down = Room::a_node("r1-n4", {{"rack", "r1"}}, {{"cpu", "4"}});
  down.ready = false;
  room.places.set_node(down);
  EXPECT_EQ(room.where({Gang{.count = 12}.required("rack")}),
            "topology \"t\" allows to fit only 8 out of 12 pod(s). Total nodes: 3; excluded: taint "
            "\"gpu=yes:NoSchedule\": 1");
  Gang tolerant{.count = 12};
  tolerant.constraints.tolerations = {{"gpu", "Exists", "", "", std::nullopt}};
  EXPECT_EQ(room.where({tolerant.required("rack")}), "r1-n1:4 r1-n2:4 r1-n3:4");
  Gang picky{.count = 5};
  picky.constraints.node_selector = {{"kind", "gpu"}};
  EXPECT_EQ(room.where({picky.required("rack")}),
            "topology \"t\" doesn't allow to fit any of 5 pod(s). Total nodes: 3; excluded: nodeSelector: 2, taint "
            "\"gpu=yes:NoSchedule\": 1");
  Gang named{.count = 2};
  named.constraints.required_terms = {{{}, {{"metadata.name", "In", {"r1-n2"}}}}};
  EXPECT_EQ(room.where({named.required("rack")}), "r1-n2:2");
  named.count = 5;
  EXPECT_EQ(room.where({named}),
            "topology \"t\" allows to fit only 4 out of 5 pod(s). Total nodes: 3; excluded: affinity: 2");
  room.flavor("f", "t", {}, {{"gpu", "Exists", "", "", std::nullopt}});
  EXPECT_EQ(room.where({Gang{.count = 12}.required("rack")}), "r1-n1:4 r1-n2:4 r1-n3:4");
  EXPECT_EQ(room.broken(), "");
}

TEST(TopologyPlacement, GroupsOfNodesAreNotFiltered) {
  Room room;
  room.topology("t", {"rack"});
  room.flavor("f", "t");
  api::Node tainted = Room::a_node("n1", {{"rack", "r1"}}, {{"cpu", "4"}});
  tainted.taints = {{"x", "", "NoSchedule"}};
  room.places.set_node(tainted);
  room.node("n2", {{"rack", "r1"}}, {{"cpu", "3"}});
  EXPECT_EQ(room.where({Gang{.count = 7}.required("rack")}), "r1:7");
  EXPECT_EQ(room.where({Gang{.count = 1, .requests = {{"cpu", "8"}}}}),
            "topology \"t\" doesn't allow to fit any of 1 pod(s). Total nodes: 2; excluded: resource \"cpu\": 2");
}

TEST(TopologyPlacement, RequestsOfNothingExcludeNothing) {
  Room room;
  furnish(room, 1, 1);
  EXPECT_EQ(room.where({Gang{.count = 1, .requests = {{"cpu", "1"}, {"nvidia.com/gpu", "0"}}}}), "r1-n1:1");
  EXPECT_EQ(room.where({Gang{.count = 1, .requests = {{"cpu", "1"}, {"nvidia.com/gpu", "1"}}}}),
            "topology \"t\" doesn't allow to fit any of 1 pod(s). Total nodes: 1; excluded: resource "
            "\"nvidia.com/gpu\": 1");
}

TEST(TopologyPlacement, HugeAmountsDoNotOverflow) {
  Room room;
  room.topology("t", {"block", "kubernetes.io/hostname"});
  room.flavor("f", "t");
  for (const char* name : {"a", "b", "c"}) {
    room.node(name, {{"block", "b"}}, {{"cpu", "9223372036854775807"}, {"pods", "9223372036854775807"}});
  }
  EXPECT_EQ(room.where({Gang{.count = 2147483647, .requests = {}}.required("block")}), "a:2147483647");
  EXPECT_EQ(room.admit(0, {Gang{.count = 3, .requests = {{"cpu", "9000000000000000000"}}}}), "a:1 b:1 c:1");
  room.pod("p", "a", {{"cpu", "9223372036854775807"}});
  room.pod("q", "a", {{"cpu", "9223372036854775807"}});
  room.places.remove_pod("uid-p");
  room.places.remove_pod("uid-q");
  room.places.give_back(WorkloadId(std::size_t{0}));
  EXPECT_EQ(room.where({Gang{.count = 3, .requests = {{"cpu", "9000000000000000000"}}}}), "a:1 b:1 c:1");
  EXPECT_EQ(room.broken(), "");
}

TEST(TopologyPlacement, PreferredGoesUpLevelByLevel) {
  Room room;
  room.topology("t", {"block", "rack", "kubernetes.io/hostname"});
  room.flavor("f", "t");
  for (const char* at : {"b1 r1 a", "b1 r1 b", "b1 r2 c", "b2 r3 d", "b2 r4 e", "b2 r4 f"}) {
    const std::string text(at);
    room.node(text.substr(6), {{"block", text.substr(0, 2)}, {"rack", text.substr(3, 2)}}, {{"cpu", "2"}});
  }
  EXPECT_EQ(room.where({Gang{.count = 4}.preferred("rack")}), "a:2 b:2");
  EXPECT_EQ(room.where({Gang{.count = 6}.preferred("rack")}), "a:2 b:2 c:2");  // one block
  EXPECT_EQ(room.where({Gang{.count = 7}.preferred("rack")}),
            "a:2 b:2 e:2 f:1");  // both blocks, and as few racks as possible
}

}  // namespace
}  // namespace berth::engine::placement_test
