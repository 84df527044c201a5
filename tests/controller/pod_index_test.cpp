// Pods by uid and by what they are looked at with.
#include "controller/pod_index.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace berth::controller::pod_index_test {
namespace {

jobs::ManagedPodPtr pod(const std::string& name, const std::string& uid, const std::string& group = "",
                        const std::string& version = "1") {
  auto made = std::make_shared<jobs::ManagedPod>();
  made->ns = "ns";
  made->name = name;
  made->uid = uid;
  made->group = group;
  made->version = version;
  return made;
}

TEST(PodIndex, ASinglePodIsAUnitByItsNameAndAGroupByIts) {
  EXPECT_EQ(unit_of(*pod("a", "1")), (PodUnit{PodUnit::What::kSingle, "ns/a"}));
  EXPECT_EQ(unit_of(*pod("a", "1", "g")), (PodUnit{PodUnit::What::kGroup, "ns/g"}));
}

TEST(PodIndex, FindsPodsByUidAndByUnit) {
  PodIndex pods;
  const auto a = pod("a", "1", "g"), b = pod("b", "2", "g"), c = pod("c", "3");
  for (const auto& one : {b, a, c}) pods.put(one);
  EXPECT_EQ(pods.find("2"), b);
  EXPECT_EQ(pods.find("4"), nullptr);
  const auto& group = pods.of(unit_of(*a));
  EXPECT_EQ(std::vector(group.begin(), group.end()), (std::vector{a, b}));
  EXPECT_EQ(pods.of(unit_of(*c)).size(), 1u);
  std::vector<std::string> units;
  pods.for_each_unit([&](const PodUnit& unit) { units.push_back(unit.key); });
  EXPECT_EQ(units, (std::vector<std::string>{"ns/c", "ns/g"}));
}

TEST(PodIndex, AnotherVersionTakesThePlaceOfTheKnownOne) {
  PodIndex pods;
  pods.put(pod("a", "1", "g"));
  const auto newer = pod("a", "1", "g", "2");
  pods.put(newer);
  EXPECT_EQ(pods.find("1"), newer);
  EXPECT_EQ(*pods.of(unit_of(*newer)).begin(), newer);
  pods.erase(*newer);
  EXPECT_EQ(pods.find("1"), nullptr);
  EXPECT_TRUE(pods.of(unit_of(*newer)).empty());
}

// A pod is deleted, and another one gets its name before the cache sees that.
TEST(PodIndex, TwoPodsOfOneNameAreBothKnown) {
  PodIndex pods;
  const auto before = pod("a", "1"), after = pod("a", "2");
  pods.put(before);
  pods.put(after);
  EXPECT_EQ(pods.of(unit_of(*after)).size(), 2u);
  pods.erase(*before);
  EXPECT_EQ(*pods.of(unit_of(*after)).begin(), after);
}

}  // namespace
}  // namespace berth::controller::pod_index_test
