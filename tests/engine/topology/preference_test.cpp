// Preferred node affinity (gate TASRespectNodeAffinityPreferred): what the pods prefer comes before how well they fit.
// Facts: KEP-2724 "Support for Preferred Node Affinity", Kueue 0.18 to 0.20.
#include <gtest/gtest.h>

#include "engine/topology/cluster.h"

namespace berth::engine::preference_test {
namespace {

// Racks r1 to r3 of two nodes with 4 cpu. Nodes of "hot" racks have the label hot=yes.
struct Racks : Cluster {
  explicit Racks(const std::vector<std::string>& hot, TopologyOptions options = {}) : Cluster(options) {
    topology("t", {"rack", "kubernetes.io/hostname"});
    flavor("f", "t");
    for (int r = 1; r <= 3; ++r) {
      for (int n = 1; n <= 2; ++n) {
        const std::string rack = "r" + std::to_string(r);
        api::StringMap labels{{"rack", rack}};
        for (const auto& each : hot) {
          if (rack == each || rack + "-n" + std::to_string(n) == each) labels.emplace("hot", "yes");
        }
        node(rack + "-n" + std::to_string(n), labels, {{"cpu", "4"}});
      }
    }
  }
};

Gang hot(std::int32_t count) { return Gang{.count = count}.likes("hot", "yes"); }

TEST(Preference, ADomainThatIsPreferredComesBeforeOneThatFitsBetter) {
  Racks c({"r3"});
  EXPECT_EQ(c.where({hot(2).required("rack")}), "r3-n1:2");
  EXPECT_EQ(c.where({Gang{.count = 2}.required("rack")}), "r1-n1:2") << "without a wish";
  EXPECT_EQ(c.where({hot(2).unconstrained()}), "r3-n1:2");
}

TEST(Preference, ADomainThatIsFullIsNotWaitedFor) {
  Racks c({"r3"});
  c.admit(1, {Gang{.count = 4}.required("rack").likes("hot", "yes")});
  EXPECT_EQ(c.where({hot(6).required("rack")}), "r1-n1:4 r1-n2:2");
  EXPECT_EQ(c.where({hot(4).required("rack")}), "r3-n2:4");
}

TEST(Preference, PodsThatMayBeSplitAreSplitForIt) {
  Racks c({"r3"});
  c.admit(1, {Gang{.count = 4}.required("rack").likes("hot", "yes")});
  EXPECT_EQ(c.where({hot(6).preferred("rack")}), "r1-n1:2 r3-n2:4") << "one rack would hold all";
  EXPECT_EQ(c.where({hot(6).unconstrained()}), "r1-n1:2 r3-n2:4");
  EXPECT_EQ(c.where({Gang{.count = 6}.preferred("rack")}), "r1-n1:4 r1-n2:2");
}

TEST(Preference, WeightsOfTheNodesOfADomainAddUp) {
  Racks c({"r2", "r3-n1"});
  EXPECT_EQ(c.where({hot(2).required("rack")}), "r2-n1:2") << "two nodes against one";
  EXPECT_EQ(c.where({hot(2).likes("rack", "r3", 2).required("rack")}), "r3-n1:2");
  EXPECT_EQ(c.where({hot(2).likes("rack", "r1", 1).required("rack")}), "r1-n1:2") << "equal, so the first";
}

TEST(Preference, AmongEqualsTheTightestIsTaken) {
  Racks c({"r2", "r3"});
  c.admit(1, {Gang{.count = 3}.required("rack").likes("rack", "r3")});
  EXPECT_EQ(c.where({hot(5).required("rack")}), "r3-n1:1 r3-n2:4");
}

TEST(Preference, ALeaderGoesWithIt) {
  Racks c({"r2"});
  Gang leader{.count = 1};
  EXPECT_EQ(c.where({leader.likes("hot", "yes").required("rack").in("g"), hot(3).required("rack").in("g")}),
            "r2-n1:1 | r2-n1:3");
}

TEST(Preference, NodesThatComeAndGoChangeIt) {
  Racks c({});
  EXPECT_EQ(c.where({hot(2).required("rack")}), "r1-n1:2");
  c.node("r2-n1", {{"rack", "r2"}, {"hot", "yes"}}, {{"cpu", "4"}});
  EXPECT_EQ(c.where({hot(2).required("rack")}), "r2-n1:2");
  c.node("r2-n1", {{"rack", "r2"}}, {{"cpu", "4"}});
  EXPECT_EQ(c.where({hot(2).required("rack")}), "r1-n1:2");
  EXPECT_EQ(c.broken(), "");
}

}  // namespace
}  // namespace berth::engine::preference_test
