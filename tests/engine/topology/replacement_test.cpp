// New places for the pods of failed nodes (KEP-2724).
#include <gtest/gtest.h>

#include "engine/topology/room.h"

namespace berth::engine::replacement_test {
namespace {

using Assignments = std::vector<api::kueue::TopologyAssignmentPtr>;

std::string replaced(Room& room, const std::vector<Gang>& gangs, const Assignments& current,
                     const std::vector<std::string>& failed) {
  const Placement placement = room.places.replace(room.asks(gangs), current, failed);
  EXPECT_EQ(room.broken(), "");
  return placement.ok ? room.text(placement) : placement.failure.text;
}

TEST(TopologyReplacement, TheOthersStayAndTheRackIsKept) {
  Room room;
  furnish(room, 2, 3);
  const Gang gang = Gang{.count = 4, .requests = {{"cpu", "2"}}}.required("rack");
  EXPECT_EQ(room.admit(0, {gang}), "r1-n1:2 r1-n2:2");
  const auto now = Room::assigned({{"r1-n1", 2}, {"r1-n2", 2}});
  EXPECT_EQ(replaced(room, {gang}, {now}, {"r1-n1"}), "r1-n2:2 r1-n3:2");
  room.places.remove_node("r1-n1");
  EXPECT_EQ(replaced(room, {gang}, {now}, {"r1-n1"}), "r1-n2:2 r1-n3:2");
  room.pod("other", "r1-n3", {{"cpu", "1"}});
  EXPECT_EQ(replaced(room, {gang}, {now}, {"r1-n1"}),
            "topology \"t\" allows to fit only 1 out of 2 pod(s). Total nodes: 5; excluded: topologyDomain: "
            "3, resource \"cpu\": 1");
}

TEST(TopologyReplacement, SeveralNodesAtOnce) {
  Room room;
  furnish(room, 1, 5);
  const Gang gang = Gang{.count = 6, .requests = {{"cpu", "2"}}}.required("rack");
  EXPECT_EQ(room.admit(0, {gang}), "r1-n1:2 r1-n2:2 r1-n3:2");
  EXPECT_EQ(replaced(room, {gang}, {Room::assigned({{"r1-n1", 2}, {"r1-n2", 2}, {"r1-n3", 2}})}, {"r1-n1", "r1-n3"}),
            "r1-n2:2 r1-n4:2 r1-n5:2");
}

TEST(TopologyReplacement, NothingFailedNothingChanges) {
  Room room;
  furnish(room, 1, 2);
  EXPECT_EQ(replaced(room, {Gang{.count = 2}}, {Room::assigned({{"r1-n1", 2}})}, {"r1-n2"}), "");
  EXPECT_EQ(replaced(room, {Gang{.count = 2}}, {nullptr}, {"r1-n1"}), "");
}

TEST(TopologyReplacement, AnotherNodeThatIsGoneIsAFailure) {
  Room room;
  furnish(room, 1, 3);
  EXPECT_EQ(replaced(room, {Gang{.count = 2}}, {Room::assigned({{"gone", 1}, {"r1-n1", 1}})}, {"r1-n1"}),
            "failed nodes cannot be replaced: the assignment also has node \"gone\", which does not exist "
            "any more");
}

TEST(TopologyReplacement, ATornSliceStaysInItsDomain) {
  Room room;
  furnish(room, 3, 3, "2");
  const Gang gang = Gang{.count = 8}.preferred("rack").slices("rack", 4);
  EXPECT_EQ(room.admit(0, {gang}), "r1-n1:2 r1-n2:2 r2-n1:2 r2-n2:2");
  const auto now = Room::assigned({{"r1-n1", 2}, {"r1-n2", 2}, {"r2-n1", 2}, {"r2-n2", 2}});
  EXPECT_EQ(replaced(room, {gang}, {now}, {"r1-n2"}), "r1-n1:2 r1-n3:2 r2-n1:2 r2-n2:2");
  EXPECT_EQ(replaced(room, {gang}, {now}, {"r1-n2", "r2-n1"}), "r1-n1:2 r1-n3:2 r2-n2:2 r2-n3:2");
  EXPECT_EQ(replaced(room, {gang}, {now}, {"r1-n1", "r1-n2"}),
            "r2-n1:2 r2-n2:2 r3-n1:2 r3-n2:2");  // a whole slice moves
  room.pod("other", "r1-n3", {{"cpu", "2"}});
  EXPECT_EQ(replaced(room, {gang}, {now}, {"r1-n2"}),
            "topology \"t\" doesn't allow to fit any of 2 pod(s). Total nodes: 9; excluded: topologyDomain: "
            "7, resource \"cpu\": 2");
}

TEST(TopologyReplacement, InnerSlicesStayWhole) {
  Room room;
  furnish(room, 2, 4, "3");
  const Gang gang = Gang{.count = 6}.layers({{"rack", 6}, {"kubernetes.io/hostname", 2}});
  EXPECT_EQ(room.admit(0, {gang}), "r1-n1:2 r1-n2:2 r1-n3:2");
  const auto now = Room::assigned({{"r1-n1", 2}, {"r1-n2", 2}, {"r1-n3", 2}});
  EXPECT_EQ(replaced(room, {gang}, {now}, {"r1-n2"}), "r1-n1:2 r1-n3:2 r1-n4:2");
  EXPECT_EQ(replaced(room, {gang}, {now}, {"r1-n1", "r1-n2", "r1-n3"}), "r2-n1:2 r2-n2:2 r2-n3:2");
}

TEST(TopologyReplacement, RacksWhoseNamesStartAlike) {
  Room room;
  room.topology("t", {"rack", "kubernetes.io/hostname"});
  room.flavor("f", "t");
  for (const char* host : {"a", "b"}) room.node(host, {{"rack", "r1"}}, {{"cpu", "2"}});
  for (const char* host : {"c", "d"}) room.node(host, {{"rack", "r10"}}, {{"cpu", "2"}});
  room.pod("full", "b", {{"cpu", "2"}});
  const std::string text = replaced(room, {Gang{.count = 2}.required("rack")}, {Room::assigned({{"a", 2}})}, {"a"});
  EXPECT_TRUE(text.starts_with("topology \"t\" doesn't allow to fit any of 2 pod(s)")) << text;
}

TEST(TopologyReplacement, TheLeaderFollowsItsWorkers) {
  Room room;
  furnish(room, 2, 3, "2");
  const std::vector<Gang> gangs{Gang{.count = 1, .group = "g"}.required("rack"),
                                Gang{.count = 3, .group = "g"}.required("rack")};
  EXPECT_EQ(room.admit(0, gangs), "r1-n1:1 | r1-n1:1 r1-n2:2");
  const Assignments now{Room::assigned({{"r1-n1", 1}}), Room::assigned({{"r1-n1", 1}, {"r1-n2", 2}})};
  EXPECT_EQ(replaced(room, gangs, now, {"r1-n1"}), "r1-n3:1 | r1-n2:2 r1-n3:1");
  EXPECT_EQ(replaced(room, gangs, now, {"r1-n2"}), " | r1-n1:1 r1-n3:2");
  room.places.give_back(WorkloadId(std::size_t{0}));
  room.node("r1-n1", {{"rack", "r1"}}, {{"cpu", "1"}});  // the leader does not fit there any more: it moves alone
  EXPECT_EQ(
      replaced(room, gangs, {Room::assigned({{"r1-n1", 1}}), Room::assigned({{"r1-n2", 2}, {"r1-n3", 1}})}, {"r1-n1"}),
      "r1-n2:1 | ");
}

TEST(TopologyReplacement, PreferredStaysTogetherWhileItCan) {
  Room room;
  furnish(room, 2, 3);
  room.pod("filler", "r2-n1", {{"cpu", "2"}});  // this would be the best fit
  const Gang gang = Gang{.count = 8}.preferred("rack");
  const auto now = Room::assigned({{"r1-n1", 4}, {"r1-n2", 4}});
  room.places.take_stated(WorkloadId(std::size_t{0}), "ns/w0", {{"f", room.amounts(gang.requests), now}});
  EXPECT_EQ(replaced(room, {gang}, {now}, {"r1-n2"}), "r1-n1:4 r1-n3:4");
  room.pod("other", "r1-n3", {{"cpu", "4"}});
  EXPECT_EQ(replaced(room, {gang}, {now}, {"r1-n2"}), "r1-n1:4 r2-n2:4");
}

}  // namespace
}  // namespace berth::engine::replacement_test
