// New places for the pods of failed nodes (KEP-2724).
#include <gtest/gtest.h>

#include "engine/topology/cluster.h"

namespace berth::engine::replacement_test {
namespace {

using Assignments = std::vector<api::kueue::TopologyAssignmentPtr>;

std::string replaced(Cluster& cluster, const std::vector<Gang>& gangs, const Assignments& current,
                     const std::vector<std::string>& failed) {
  const Placement placement = cluster.places.replace(cluster.requests(gangs), current, failed);
  EXPECT_EQ(cluster.broken(), "");
  return placement.ok ? cluster.text(placement) : placement.failure.text;
}

TEST(TopologyReplacement, TheOthersStayAndTheRackIsKept) {
  Cluster cluster;
  add_racks(cluster, 2, 3);
  const Gang gang = Gang{.count = 4, .requests = {{"cpu", "2"}}}.required("rack");
  EXPECT_EQ(cluster.admit(0, {gang}), "r1-n1:2 r1-n2:2");
  const auto now = Cluster::assigned({{"r1-n1", 2}, {"r1-n2", 2}});
  EXPECT_EQ(replaced(cluster, {gang}, {now}, {"r1-n1"}), "r1-n2:2 r1-n3:2");
  cluster.places.remove_node("r1-n1");
  EXPECT_EQ(replaced(cluster, {gang}, {now}, {"r1-n1"}), "r1-n2:2 r1-n3:2");
  cluster.pod("other", "r1-n3", {{"cpu", "1"}});
  EXPECT_EQ(replaced(cluster, {gang}, {now}, {"r1-n1"}),
            "topology \"t\" allows to fit only 1 out of 2 pod(s). Total nodes: 5; excluded: topologyDomain: "
            "3, resource \"cpu\": 1");
}

TEST(TopologyReplacement, SeveralNodesAtOnce) {
  Cluster cluster;
  add_racks(cluster, 1, 5);
  const Gang gang = Gang{.count = 6, .requests = {{"cpu", "2"}}}.required("rack");
  EXPECT_EQ(cluster.admit(0, {gang}), "r1-n1:2 r1-n2:2 r1-n3:2");
  EXPECT_EQ(
      replaced(cluster, {gang}, {Cluster::assigned({{"r1-n1", 2}, {"r1-n2", 2}, {"r1-n3", 2}})}, {"r1-n1", "r1-n3"}),
      "r1-n2:2 r1-n4:2 r1-n5:2");
}

TEST(TopologyReplacement, NothingFailedNothingChanges) {
  Cluster cluster;
  add_racks(cluster, 1, 2);
  EXPECT_EQ(replaced(cluster, {Gang{.count = 2}}, {Cluster::assigned({{"r1-n1", 2}})}, {"r1-n2"}), "");
  EXPECT_EQ(replaced(cluster, {Gang{.count = 2}}, {nullptr}, {"r1-n1"}), "");
}

TEST(TopologyReplacement, AnotherNodeThatIsGoneIsAFailure) {
  Cluster cluster;
  add_racks(cluster, 1, 3);
  EXPECT_EQ(replaced(cluster, {Gang{.count = 2}}, {Cluster::assigned({{"gone", 1}, {"r1-n1", 1}})}, {"r1-n1"}),
            "failed nodes cannot be replaced: the assignment also has node \"gone\", which does not exist "
            "any more");
}

TEST(TopologyReplacement, ATornSliceStaysInItsDomain) {
  Cluster cluster;
  add_racks(cluster, 3, 3, "2");
  const Gang gang = Gang{.count = 8}.preferred("rack").slices("rack", 4);
  EXPECT_EQ(cluster.admit(0, {gang}), "r1-n1:2 r1-n2:2 r2-n1:2 r2-n2:2");
  const auto now = Cluster::assigned({{"r1-n1", 2}, {"r1-n2", 2}, {"r2-n1", 2}, {"r2-n2", 2}});
  EXPECT_EQ(replaced(cluster, {gang}, {now}, {"r1-n2"}), "r1-n1:2 r1-n3:2 r2-n1:2 r2-n2:2");
  EXPECT_EQ(replaced(cluster, {gang}, {now}, {"r1-n2", "r2-n1"}), "r1-n1:2 r1-n3:2 r2-n2:2 r2-n3:2");
  EXPECT_EQ(replaced(cluster, {gang}, {now}, {"r1-n1", "r1-n2"}),
            "r2-n1:2 r2-n2:2 r3-n1:2 r3-n2:2");  // a whole slice moves
  cluster.pod("other", "r1-n3", {{"cpu", "2"}});
  EXPECT_EQ(replaced(cluster, {gang}, {now}, {"r1-n2"}),
            "topology \"t\" doesn't allow to fit any of 2 pod(s). Total nodes: 9; excluded: topologyDomain: "
            "7, resource \"cpu\": 2");
}

TEST(TopologyReplacement, TheSmallerSliceIsTheLastOne) {
  Cluster cluster;
  add_racks(cluster, 3, 3, "2");
  const Gang gang = Gang{.count = 7}.preferred("rack").slices("rack", 4);
  const auto now = Cluster::assigned({{"r2-n1", 2}, {"r2-n2", 2}, {"r1-n1", 2}, {"r1-n2", 1}});
  cluster.places.take_stated(WorkloadId(std::size_t{0}), "ns/w0", {{"f", cluster.amounts(gang.requests), now}});
  EXPECT_EQ(replaced(cluster, {gang}, {now}, {"r1-n2"}), "r2-n1:2 r2-n2:2 r1-n1:2 r1-n3:1");
  EXPECT_EQ(replaced(cluster, {gang}, {now}, {"r2-n2"}), "r2-n1:2 r2-n3:2 r1-n1:2 r1-n2:1");
  EXPECT_EQ(replaced(cluster, {gang}, {now}, {"r2-n2", "r1-n1"}), "r2-n1:2 r2-n3:2 r1-n2:1 r1-n3:2");
  EXPECT_EQ(replaced(cluster, {gang}, {now}, {"r1-n1", "r1-n2"}), "r2-n1:2 r2-n2:2 r3-n1:2 r3-n2:1")
      << "all of it was lost: it moves";
  EXPECT_EQ(replaced(cluster, {gang}, {now}, {"r2-n1", "r2-n2"}), "r3-n1:2 r3-n2:2 r1-n1:2 r1-n2:1");
}

TEST(TopologyReplacement, InnerSlicesStayWhole) {
  Cluster cluster;
  add_racks(cluster, 2, 4, "3");
  const Gang gang = Gang{.count = 6}.layers({{"rack", 6}, {"kubernetes.io/hostname", 2}});
  EXPECT_EQ(cluster.admit(0, {gang}), "r1-n1:2 r1-n2:2 r1-n3:2");
  const auto now = Cluster::assigned({{"r1-n1", 2}, {"r1-n2", 2}, {"r1-n3", 2}});
  EXPECT_EQ(replaced(cluster, {gang}, {now}, {"r1-n2"}), "r1-n1:2 r1-n3:2 r1-n4:2");
  EXPECT_EQ(replaced(cluster, {gang}, {now}, {"r1-n1", "r1-n2", "r1-n3"}), "r2-n1:2 r2-n2:2 r2-n3:2");
}

TEST(TopologyReplacement, RacksWhoseNamesStartAlike) {
  Cluster cluster;
  cluster.topology("t", {"rack", "kubernetes.io/hostname"});
  cluster.flavor("f", "t");
  for (const char* host : {"a", "b"}) cluster.node(host, {{"rack", "r1"}}, {{"cpu", "2"}});
  for (const char* host : {"c", "d"}) cluster.node(host, {{"rack", "r10"}}, {{"cpu", "2"}});
  cluster.pod("full", "b", {{"cpu", "2"}});
  const std::string text =
      replaced(cluster, {Gang{.count = 2}.required("rack")}, {Cluster::assigned({{"a", 2}})}, {"a"});
  EXPECT_TRUE(text.starts_with("topology \"t\" doesn't allow to fit any of 2 pod(s)")) << text;
}

TEST(TopologyReplacement, TheLeaderFollowsItsWorkers) {
  Cluster cluster;
  add_racks(cluster, 2, 3, "2");
  const std::vector<Gang> gangs{Gang{.count = 1, .group = "g"}.required("rack"),
                                Gang{.count = 3, .group = "g"}.required("rack")};
  EXPECT_EQ(cluster.admit(0, gangs), "r1-n1:1 | r1-n1:1 r1-n2:2");
  const Assignments now{Cluster::assigned({{"r1-n1", 1}}), Cluster::assigned({{"r1-n1", 1}, {"r1-n2", 2}})};
  EXPECT_EQ(replaced(cluster, gangs, now, {"r1-n1"}), "r1-n3:1 | r1-n2:2 r1-n3:1");
  EXPECT_EQ(replaced(cluster, gangs, now, {"r1-n2"}), " | r1-n1:1 r1-n3:2");
  cluster.places.give_back(WorkloadId(std::size_t{0}));
  cluster.node("r1-n1", {{"rack", "r1"}}, {{"cpu", "1"}});  // the leader does not fit there any more: it moves alone
  EXPECT_EQ(replaced(cluster, gangs,
                     {Cluster::assigned({{"r1-n1", 1}}), Cluster::assigned({{"r1-n2", 2}, {"r1-n3", 1}})}, {"r1-n1"}),
            "r1-n2:1 | ");
}

TEST(TopologyReplacement, PreferredStaysTogetherWhileItCan) {
  Cluster cluster;
  add_racks(cluster, 2, 3);
  cluster.pod("filler", "r2-n1", {{"cpu", "2"}});  // this would be the best fit
  const Gang gang = Gang{.count = 8}.preferred("rack");
  const auto now = Cluster::assigned({{"r1-n1", 4}, {"r1-n2", 4}});
  cluster.places.take_stated(WorkloadId(std::size_t{0}), "ns/w0", {{"f", cluster.amounts(gang.requests), now}});
  EXPECT_EQ(replaced(cluster, {gang}, {now}, {"r1-n2"}), "r1-n1:4 r1-n3:4");
  cluster.pod("other", "r1-n3", {{"cpu", "4"}});
  EXPECT_EQ(replaced(cluster, {gang}, {now}, {"r1-n2"}), "r1-n1:4 r2-n2:4");
}

}  // namespace
}  // namespace berth::engine::replacement_test
