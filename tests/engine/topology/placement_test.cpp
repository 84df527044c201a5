// Which domains a gang gets: the rules of KEP-2724 with worked examples.
#include <gtest/gtest.h>

#include "engine/topology/cluster.h"

namespace berth::engine::placement_test {
namespace {

TEST(TopologyPlacement, TheRecordedChoices) {
  Cluster cluster;
  add_racks(cluster, 3, 4);
  const Amounts two{{"cpu", "2"}};
  EXPECT_EQ(cluster.admit(0, {Gang{.count = 6, .requests = two}.required("rack")}), "r1-n1:2 r1-n2:2 r1-n3:2");
  EXPECT_EQ(cluster.admit(1, {Gang{.count = 10, .requests = two}.preferred("rack")}),
            "r1-n4:2 r2-n1:2 r2-n2:2 r2-n3:2 r2-n4:2");
  EXPECT_EQ(cluster.where({Gang{.count = 9, .requests = two}.required("rack")}),
            "topology \"t\" allows to fit only 8 out of 9 pod(s). Total nodes: 12; excluded: resource \"cpu\": 8");
  EXPECT_EQ(cluster.admit(2, {Gang{.count = 4}.required("kubernetes.io/hostname")}), "r3-n1:4");
  EXPECT_EQ(cluster.admit(3, {Gang{.count = 3}.unconstrained()}), "r3-n2:3");
  EXPECT_EQ(cluster.admit(4, {Gang{.count = 2}}), "r3-n3:2");
  EXPECT_EQ(cluster.broken(), "");
}

TEST(TopologyPlacement, TheRecordedSlices) {
  Cluster cluster;
  add_racks(cluster, 3, 4);
  const Amounts two{{"cpu", "2"}};
  EXPECT_EQ(cluster.admit(0, {Gang{.count = 3, .requests = two}.required("rack")}), "r1-n1:2 r1-n2:1");
  EXPECT_EQ(cluster.admit(1, {Gang{.count = 12, .requests = two}.preferred("rack").slices("rack", 4)}),
            "r1-n2:1 r1-n3:2 r1-n4:1 r2-n1:2 r2-n2:2 r2-n3:2 r2-n4:2");
  EXPECT_EQ(cluster.admit(2, {Gang{.count = 4, .requests = two}.slices("kubernetes.io/hostname", 2)}),
            "r3-n1:2 r3-n2:2");
  EXPECT_EQ(cluster.broken(), "");
}

TEST(TopologyPlacement, BestFitAndLeastFreeCapacity) {
  Cluster cluster;
  cluster.topology("t", {"kubernetes.io/hostname"});
  cluster.flavor("f", "t");
  for (const char* cpu : {"7", "5", "4", "3"}) cluster.node(std::string("n") + cpu, {}, {{"cpu", cpu}});
  EXPECT_EQ(cluster.where({Gang{.count = 8}.preferred("kubernetes.io/hostname")}), "n3:1 n7:7");
  EXPECT_EQ(cluster.where({Gang{.count = 8}.unconstrained()}), "n3:3 n4:4 n5:1");
  EXPECT_EQ(cluster.where({Gang{.count = 4}.required("kubernetes.io/hostname")}), "n4:4");
  EXPECT_EQ(cluster.where({Gang{.count = 5}.unconstrained()}), "n5:5");

  Cluster plain({.mixed_profile = false});
  plain.topology("t", {"kubernetes.io/hostname"});
  plain.flavor("f", "t");
  for (const char* cpu : {"7", "5", "4", "3"}) plain.node(std::string("n") + cpu, {}, {{"cpu", cpu}});
  EXPECT_EQ(plain.where({Gang{.count = 8}.unconstrained()}), "n3:1 n7:7");
}

// Two slices, one in each rack; within the rack whole nodes are filled, unless the request wants the nodes with the
// least free capacity.
TEST(TopologyPlacement, BelowTheLevelOfSlicesWholeNodesAreFilled) {
  Cluster cluster;
  cluster.topology("t", {"rack", "kubernetes.io/hostname"});
  cluster.flavor("f", "t");
  cluster.node("x1", {{"rack", "r1"}}, {{"cpu", "6"}});
  cluster.node("x2", {{"rack", "r1"}}, {{"cpu", "8"}});
  cluster.node("x3", {{"rack", "r2"}}, {{"cpu", "2"}});
  cluster.node("x4", {{"rack", "r2"}}, {{"cpu", "8"}});
  EXPECT_EQ(cluster.where({Gang{.count = 16}.preferred("rack").slices("rack", 8)}), "x2:8 x4:8");
  EXPECT_EQ(cluster.where({Gang{.count = 16}.slices("rack", 8)}), "x1:6 x2:2 x3:2 x4:6");
  EXPECT_EQ(cluster.where({Gang{.count = 16}.unconstrained().slices("rack", 8)}), "x1:6 x2:2 x3:2 x4:6");
}

TEST(TopologyPlacement, SliceArithmetic) {
  Cluster cluster;
  cluster.topology("t", {"block", "rack"});
  cluster.flavor("f", "t");
  cluster.node("a", {{"block", "b"}, {"rack", "r1"}}, {{"cpu", "7"}});
  cluster.node("b", {{"block", "b"}, {"rack", "r2"}}, {{"cpu", "9"}});
  EXPECT_EQ(cluster.where({Gang{.count = 12}.preferred("rack").slices("rack", 4)}), "b/r1:4 b/r2:8");
  EXPECT_EQ(cluster.where({Gang{.count = 12}.preferred("rack")}), "b/r1:3 b/r2:9");
  EXPECT_EQ(cluster.where({Gang{.count = 16}.preferred("rack").slices("rack", 4)}),
            "topology \"t\" allows to fit only 3 out of 4 slice(s)");
}

TEST(TopologyPlacement, TheLastSliceMayBeSmaller) {
  Cluster cluster;
  cluster.topology("t", {"rack", "kubernetes.io/hostname"});
  cluster.flavor("f", "t");
  cluster.node("a", {{"rack", "r1"}}, {{"cpu", "4"}});
  cluster.node("b", {{"rack", "r1"}}, {{"cpu", "2"}});
  cluster.node("c", {{"rack", "r2"}}, {{"cpu", "4"}});
  auto pods = [](std::int32_t count) { return Gang{.count = count}.preferred("rack").slices("rack", 4); };
  EXPECT_EQ(cluster.where({pods(3)}), "c:3") << "the best fit of the smaller slice alone";
  EXPECT_EQ(cluster.where({pods(6)}), "a:4 b:2");
  EXPECT_EQ(cluster.where({pods(10)}), "c:4 a:4 b:2") << "the smaller slice has the last ranks";
  EXPECT_EQ(cluster.where({pods(11)}), "topology \"t\" allows to fit only 2 out of 3 slice(s)");
  EXPECT_EQ(cluster.where({Gang{.count = 7}.required("rack").slices("rack", 4)}),
            "topology \"t\" allows to fit only 1 out of 2 slice(s)");
}

TEST(TopologyPlacement, ALeaderBesideSlices) {
  Cluster cluster;
  add_racks(cluster, 1, 2, "5");
  const Gang leader = Gang{.count = 1}.required("rack").in("g");
  auto workers = [](std::int32_t count) {
    return Gang{.count = count, .requests = {{"cpu", "2"}}}
        .required("rack")
        .slices("kubernetes.io/hostname", 2)
        .in("g");
  };
  EXPECT_EQ(cluster.where({leader, workers(4)}), "r1-n1:1 | r1-n1:2 r1-n2:2");
  cluster.pod("other", "r1-n1", {{"cpu", "1"}});
  EXPECT_EQ(cluster.where({leader, workers(4)}), "r1-n2:1 | r1-n1:2 r1-n2:2");
  cluster.pod("another", "r1-n2", {{"cpu", "1"}});
  EXPECT_EQ(cluster.where({leader, workers(3)}), "r1-n1:1 | r1-n2:2 r1-n1:1") << "the smaller slice leaves space";
}

TEST(TopologyPlacement, SlicesOfSlices) {
  Cluster cluster;
  cluster.topology("t", {"block", "rack", "kubernetes.io/hostname"});
  cluster.flavor("f", "t");
  for (const char* block : {"b1", "b2"}) {
    for (const char* rack : {"r1", "r2"}) {
      for (const char* node : {"n1", "n2"}) {
        const std::string name = std::string(block) + rack + node;
        cluster.node(name, {{"block", block}, {"rack", std::string(block) + rack}}, {{"cpu", "3"}});
      }
    }
  }
  // A block has 12 cpu, a rack 6. In pairs per host only 2 of 3 cpu count: 4 per rack, 8 per block.
  EXPECT_EQ(cluster.where({Gang{.count = 8}.layers({{"block", 8}, {"kubernetes.io/hostname", 2}})}),
            "b1r1n1:2 b1r1n2:2 b1r2n1:2 b1r2n2:2");
  EXPECT_EQ(cluster.where({Gang{.count = 12}.layers({{"block", 12}, {"rack", 4}, {"kubernetes.io/hostname", 2}})}),
            "topology \"t\" doesn't allow to fit any of 1 slice(s) in layers of 12 pods per block, 4 per rack, 2 "
            "per "
            "kubernetes.io/hostname");
  EXPECT_EQ(cluster.where({Gang{.count = 12}.layers({{"block", 6}, {"rack", 3}})}),
            "b1r1n1:3 b1r1n2:3 b1r2n1:3 b1r2n2:3");
}

TEST(TopologyPlacement, LeaderAndWorkersShareTheirDomain) {
  Cluster cluster;
  add_racks(cluster, 2, 2);
  cluster.pod("p", "r1-n1", {{"cpu", "3"}});
  // Rack r1 has 5 cpu, r2 has 8; the leader needs 2, each worker 1.
  auto gangs = [](std::int32_t workers) {
    return std::vector<Gang>{Gang{.count = 1, .requests = {{"cpu", "2"}}, .group = "g"}.required("rack"),
                             Gang{.count = workers, .group = "g"}.required("rack")};
  };
  EXPECT_EQ(cluster.where(gangs(3)), "r1-n2:1 | r1-n1:1 r1-n2:2");
  EXPECT_EQ(cluster.where(gangs(6)), "r2-n1:1 | r2-n1:2 r2-n2:4");
  EXPECT_EQ(cluster.where(gangs(7)), "topology \"t\" allows to fit only 6 out of 7 pod(s)");
}

TEST(TopologyPlacement, TheLeaderDoesNotTakeCapacityThatTheWorkersNeed) {
  // The leader's 1 gpu fits on both nodes. On "big" it would take capacity from the workers that "small" cannot
  // replace.
  Cluster cluster;
  cluster.topology("t", {"kubernetes.io/hostname"});
  cluster.flavor("f", "t");
  cluster.node("big", {}, {{"cpu", "10"}});
  cluster.node("small", {}, {{"cpu", "4"}});
  const Amounts five{{"cpu", "5"}}, four{{"cpu", "4"}};
  EXPECT_EQ(cluster.where({Gang{.count = 1, .requests = four, .group = "g"}.preferred("kubernetes.io/hostname"),
                           Gang{.count = 2, .requests = five, .group = "g"}.preferred("kubernetes.io/hostname")}),
            "small:1 | big:2");
}

TEST(TopologyPlacement, PodSetsOfOneWorkloadSeeEachOther) {
  Cluster cluster;
  add_racks(cluster, 1, 2);
  EXPECT_EQ(cluster.where({Gang{.count = 4}.required("kubernetes.io/hostname"),
                           Gang{.count = 4}.required("kubernetes.io/hostname")}),
            "r1-n1:4 | r1-n2:4");
  EXPECT_EQ(cluster.where({Gang{.count = 4}.required("kubernetes.io/hostname"), Gang{.count = 5}.required("rack")}),
            "topology \"t\" allows to fit only 4 out of 5 pod(s). Total nodes: 2; excluded: resource \"cpu\": 1");
  EXPECT_EQ(cluster.broken(), "");
}

TEST(TopologyPlacement, NodesThatDoNotSuit) {
  Cluster cluster;
  add_racks(cluster, 1, 2);
  api::Node tainted = Cluster::a_node("r1-n3", {{"rack", "r1"}, {"kind", "gpu"}}, {{"cpu", "4"}});
  tainted.taints = {{"gpu", "yes", "NoSchedule"}, {"soft", "", "PreferNoSchedule"}};
  cluster.places.set_node(tainted);
  api::Node down = Cluster::a_node("r1-n4", {{"rack", "r1"}}, {{"cpu", "4"}});
  down.ready = false;
  cluster.places.set_node(down);
  EXPECT_EQ(cluster.where({Gang{.count = 12}.required("rack")}),
            "topology \"t\" allows to fit only 8 out of 12 pod(s). Total nodes: 3; excluded: taint "
            "\"gpu=yes:NoSchedule\": 1");
  Gang tolerant{.count = 12};
  tolerant.constraints.tolerations = {{"gpu", "Exists", "", "", std::nullopt}};
  EXPECT_EQ(cluster.where({tolerant.required("rack")}), "r1-n1:4 r1-n2:4 r1-n3:4");
  Gang picky{.count = 5};
  picky.constraints.node_selector = {{"kind", "gpu"}};
  EXPECT_EQ(cluster.where({picky.required("rack")}),
            "topology \"t\" doesn't allow to fit any of 5 pod(s). Total nodes: 3; excluded: nodeSelector: 2, taint "
            "\"gpu=yes:NoSchedule\": 1");
  Gang named{.count = 2};
  named.constraints.required_terms = {{{}, {{"metadata.name", "In", {"r1-n2"}}}}};
  EXPECT_EQ(cluster.where({named.required("rack")}), "r1-n2:2");
  named.count = 5;
  EXPECT_EQ(cluster.where({named}),
            "topology \"t\" allows to fit only 4 out of 5 pod(s). Total nodes: 3; excluded: affinity: 2");
  cluster.flavor("f", "t", {}, {{"gpu", "Exists", "", "", std::nullopt}});
  EXPECT_EQ(cluster.where({Gang{.count = 12}.required("rack")}), "r1-n1:4 r1-n2:4 r1-n3:4");
  EXPECT_EQ(cluster.broken(), "");
}

// Racks as leaves: r1 has n1 (tainted, 4 cpu) and n2 (3 cpu), r2 has n3 (2 cpu).
void add_leaf_racks(Cluster& cluster) {
  cluster.topology("t", {"rack"});
  cluster.flavor("f", "t");
  api::Node tainted = Cluster::a_node("n1", {{"rack", "r1"}}, {{"cpu", "4"}});
  tainted.taints = {{"x", "", "NoSchedule"}};
  cluster.places.set_node(tainted);
  cluster.node("n2", {{"rack", "r1"}}, {{"cpu", "3"}});
  cluster.node("n3", {{"rack", "r2"}}, {{"cpu", "2"}});
}

TEST(TopologyPlacement, NodesCountInTopologiesOfRacks) {
  Cluster cluster;
  add_leaf_racks(cluster);
  auto pods = [](std::int32_t count, std::string cpu) { return Gang{.count = count, .requests = {{"cpu", cpu}}}; };
  EXPECT_EQ(cluster.where({pods(5, "1")}), "r1:3 r2:2");
  EXPECT_EQ(cluster.where({pods(6, "1")}),
            "topology \"t\" allows to fit only 5 out of 6 pod(s). Total nodes: 3; excluded: taint \"x:NoSchedule\": 1");
  Gang tolerant = pods(7, "1");
  tolerant.constraints.tolerations = {{"x", "Exists", "", "", std::nullopt}};
  EXPECT_EQ(cluster.where({tolerant.required("rack")}), "r1:7");
  tolerant.requests = {{"cpu", "2"}};
  EXPECT_EQ(cluster.where({tolerant}), "topology \"t\" allows to fit only 3 out of 7 pod(s)")
      << "no node has 2 + 2 cpu of two";
  EXPECT_EQ(cluster.where({pods(1, "4")}),
            "topology \"t\" doesn't allow to fit any of 1 pod(s). Total nodes: 3; excluded: taint \"x:NoSchedule\": 1, "
            "resource \"cpu\": 2");
  Gang named = pods(1, "1");
  named.constraints.required_terms = {{{}, {{"metadata.name", "In", {"n3"}}}}};
  EXPECT_EQ(cluster.where({named}), "r2:1");
}

TEST(TopologyPlacement, ClaimsOnARackLimitWhatItsNodesTake) {
  Cluster cluster;
  add_leaf_racks(cluster);
  cluster.node("n4", {{"rack", "r2"}}, {{"cpu", "2"}});
  auto pods = [](std::int32_t count) { return Gang{.count = count, .requests = {{"cpu", "2"}}}; };
  Gang named = pods(1);
  named.constraints.required_terms = {{{}, {{"metadata.name", "In", {"n3"}}}}};
  EXPECT_EQ(cluster.admit(0, {named}), "r2:1") << "its pod is not there yet";
  EXPECT_EQ(cluster.where({pods(2)}), "r1:1 r2:1");
  const std::string short_of_one = "topology \"t\" allows to fit only 2 out of 3 pod(s). Total nodes: 4; excluded: ";
  EXPECT_EQ(cluster.where({pods(3)}), short_of_one + "taint \"x:NoSchedule\": 1");
  cluster.pod("w0", "n3", {{"cpu", "2"}}, "w0");
  EXPECT_EQ(cluster.where({pods(3)}), short_of_one + "taint \"x:NoSchedule\": 1, resource \"cpu\": 1");
  EXPECT_EQ(cluster.broken(), "");
  cluster.places.give_back_with_pods(WorkloadId(std::size_t{0}));
  EXPECT_EQ(cluster.where({pods(3)}), "r1:1 r2:2");
}

TEST(TopologyPlacement, NodesOfRacksCanBeSwitchedOff) {
  Cluster cluster({.every_node = false});
  add_leaf_racks(cluster);
  EXPECT_EQ(cluster.where({Gang{.count = 7}.required("rack")}), "r1:7");
  EXPECT_EQ(cluster.where({Gang{.count = 1, .requests = {{"cpu", "7"}}}}), "r1:1");
  EXPECT_EQ(cluster.where({Gang{.count = 1, .requests = {{"cpu", "8"}}}}),
            "topology \"t\" doesn't allow to fit any of 1 pod(s). Total nodes: 3; excluded: resource \"cpu\": 3");
}

TEST(TopologyPlacement, RequestsOfNothingExcludeNothing) {
  Cluster cluster;
  add_racks(cluster, 1, 1);
  EXPECT_EQ(cluster.where({Gang{.count = 1, .requests = {{"cpu", "1"}, {"nvidia.com/gpu", "0"}}}}), "r1-n1:1");
  EXPECT_EQ(cluster.where({Gang{.count = 1, .requests = {{"cpu", "1"}, {"nvidia.com/gpu", "1"}}}}),
            "topology \"t\" doesn't allow to fit any of 1 pod(s). Total nodes: 1; excluded: resource "
            "\"nvidia.com/gpu\": 1");
}

TEST(TopologyPlacement, HugeAmountsDoNotOverflow) {
  Cluster cluster;
  cluster.topology("t", {"block", "kubernetes.io/hostname"});
  cluster.flavor("f", "t");
  for (const char* name : {"a", "b", "c"}) {
    cluster.node(name, {{"block", "b"}}, {{"cpu", "9223372036854775807"}, {"pods", "9223372036854775807"}});
  }
  EXPECT_EQ(cluster.where({Gang{.count = 2147483647, .requests = {}}.required("block")}), "a:2147483647");
  EXPECT_EQ(cluster.admit(0, {Gang{.count = 3, .requests = {{"cpu", "9000000000000000000"}}}}), "a:1 b:1 c:1");
  cluster.pod("p", "a", {{"cpu", "9223372036854775807"}});
  cluster.pod("q", "a", {{"cpu", "9223372036854775807"}});
  cluster.places.remove_pod("uid-p");
  cluster.places.remove_pod("uid-q");
  cluster.places.give_back(WorkloadId(std::size_t{0}));
  EXPECT_EQ(cluster.where({Gang{.count = 3, .requests = {{"cpu", "9000000000000000000"}}}}), "a:1 b:1 c:1");
  EXPECT_EQ(cluster.broken(), "");
}

TEST(TopologyPlacement, PreferredGoesUpLevelByLevel) {
  Cluster cluster;
  cluster.topology("t", {"block", "rack", "kubernetes.io/hostname"});
  cluster.flavor("f", "t");
  for (const char* at : {"b1 r1 a", "b1 r1 b", "b1 r2 c", "b2 r3 d", "b2 r4 e", "b2 r4 f"}) {
    const std::string text(at);
    cluster.node(text.substr(6), {{"block", text.substr(0, 2)}, {"rack", text.substr(3, 2)}}, {{"cpu", "2"}});
  }
  EXPECT_EQ(cluster.where({Gang{.count = 4}.preferred("rack")}), "a:2 b:2");
  EXPECT_EQ(cluster.where({Gang{.count = 6}.preferred("rack")}), "a:2 b:2 c:2");  // one block
  EXPECT_EQ(cluster.where({Gang{.count = 7}.preferred("rack")}),
            "a:2 b:2 e:2 f:1");  // both blocks, and as few racks as possible
}

}  // namespace
}  // namespace berth::engine::placement_test
