// Balanced placement, where it is switched on (kueue.md 4.8).
#include <gtest/gtest.h>

#include "engine/topology/room.h"

namespace berth::engine {
namespace {

TEST(TopologyBalanced, AboutTheSameInAsFewDomainsAsThereCanBe) {
  Room room({.balanced_placement = true});
  furnish(room, 3, 2);  // racks of 8
  EXPECT_EQ(room.where({Gang{.count = 12}.preferred("rack")}), "r1-n1:4 r1-n2:2 r2-n1:4 r2-n2:2");
  EXPECT_EQ(room.where({Gang{.count = 13}.preferred("rack")}), "r1-n1:4 r1-n2:3 r2-n1:4 r2-n2:2");
  EXPECT_EQ(room.where({Gang{.count = 6}.preferred("rack")}), "r1-n1:4 r1-n2:2");
  EXPECT_EQ(room.where({Gang{.count = 12}.preferred("rack").slices("rack", 4)}),
            "r1-n1:4 r1-n2:4 r2-n1:4");  // three slices: two and one
  EXPECT_EQ(room.where({Gang{.count = 25}.preferred("rack")}),
            "topology \"t\" allows to fit only 24 out of 25 pod(s)");

  Room usual;
  furnish(usual, 3, 2);
  EXPECT_EQ(usual.where({Gang{.count = 12}.preferred("rack")}), "r1-n1:4 r1-n2:4 r2-n1:4");
}

TEST(TopologyBalanced, DomainsThatAreTooSmallAreLeftOutAndTheTightestSetIsTaken) {
  Room room({.balanced_placement = true});
  room.topology("t", {"block", "rack", "kubernetes.io/hostname"});
  room.flavor("f", "t");
  const std::vector<std::pair<std::string, std::string>> racks{
      {"a", "3"}, {"b", "9"}, {"c", "7"}, {"d", "6"}};
  for (const auto& [rack, cpu] : racks) room.node(rack, {{"block", "b"}, {"rack", rack}}, {{"cpu", cpu}});
  EXPECT_EQ(room.where({Gang{.count = 12}.preferred("rack")}), "c:6 d:6");
  EXPECT_EQ(room.where({Gang{.count = 13}.preferred("rack")}), "c:7 d:6");
  EXPECT_EQ(room.where({Gang{.count = 14}.preferred("rack")}), "b:7 c:7");
  EXPECT_EQ(room.where({Gang{.count = 1, .group = "g"}.preferred("rack"),
                        Gang{.count = 12, .group = "g"}.preferred("rack")}),
            "c:1 | c:6 d:6");
  // Required and unconstrained requests are not balanced.
  EXPECT_EQ(room.where({Gang{.count = 12}.required("block")}), "a:3 b:9");
}

}  // namespace
}  // namespace berth::engine
