// Spreading of workloads over domains (gate TASTopologySpreading). Facts: KEP-13746 of Kueue 0.20, its table for a
// share of 0.34 and its stories.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/topology/cluster.h"

namespace berth::engine::spreading_test {
namespace {

const api::StringMap kApp{{"app", "a"}};

// Zones a to c, each with one rack of four nodes with 4 cpu.
struct Zones : Cluster {
  explicit Zones(int zones = 3, const std::vector<std::string>& levels = {"zone", "rack", "kubernetes.io/hostname"}) {
    topology("t", levels);
    flavor("f", "t");
    for (int z = 0; z < zones; ++z) {
      const std::string zone(1, static_cast<char>('a' + z));
      for (int n = 1; n <= 4; ++n)
        node(zone + std::to_string(n), {{"zone", zone}, {"rack", zone + "-rack"}}, {{"cpu", "4"}});
    }
  }
  // Admits so many workloads of one pod one after another; their zones as "abc".
  std::string zones_of(int count, const Gang& gang) {
    std::string out;
    for (int i = 0; i < count; ++i) {
      const std::string where = admit(static_cast<std::size_t>(next_++), {gang}, kApp);
      out += where.starts_with("topology") ? "-" : where.substr(0, 1);
    }
    return out;
  }
  int next_ = 1;
};

Gang one() { return Gang{.count = 1}.required("zone"); }

TEST(Spreading, ADomainOverItsShareGetsNoMore) {
  Zones c;
  EXPECT_EQ(c.zones_of(6, one().spread("zone", 340)), "abcabc") << "the table of the KEP";
  EXPECT_EQ(c.broken(), "");
}

// Story 1: 6 replicas 3/2/1, because a share limits and does not balance.
TEST(Spreading, AShareLimitsAndDoesNotBalance) {
  Zones c;
  const std::string zones = c.zones_of(6, one().spread("zone", 450));
  EXPECT_EQ(zones.substr(0, 3), "abc");
  const auto in = [&](char zone) { return std::ranges::count(zones, zone); };
  EXPECT_EQ(in('a') + in('b') + in('c'), 6);
  EXPECT_LE(in('a'), 3);
}

TEST(Spreading, WithoutARuleAllGoToTheFirst) {
  Zones c;
  EXPECT_EQ(c.zones_of(4, one()), "aaaa");
}

TEST(Spreading, WhenAllOtherDomainsAreFullItWaitsAndSaysWhy) {
  Zones c(2);
  EXPECT_EQ(c.zones_of(2, one().spread("zone", 340)), "ab");
  EXPECT_EQ(c.where({one().spread("zone", 340)}),
            "topology \"t\" has no place left outside the domains of level \"zone\" that hold more than 34.0% of the "
            "workloads with app in (a): a, b");
  EXPECT_EQ(c.where({one()}), "a1:1");
  EXPECT_TRUE(c.place({one().spread("zone", 340)}, true).ok) << "on an empty cluster";
}

TEST(Spreading, APreferredRulePutsCrowdedDomainsLast) {
  Zones c(2);
  EXPECT_EQ(c.zones_of(6, one().spread("zone", 450, true)), "ababab") << "story 4: 3 and 3";
}

TEST(Spreading, AmongCrowdedDomainsTheLeastLoadedComesFirst) {
  Zones c(2);
  EXPECT_EQ(c.zones_of(3, one().likes("zone", "b").spread("zone", 900, true)), "bab");
  EXPECT_EQ(c.where({one().likes("zone", "b").spread("zone", 200, true)}), "a1:1") << "a holds one, b two";
}

TEST(Spreading, OnlyWorkloadsOfTheSelectionAndTheSameUnitCount) {
  Zones c;
  c.admit(1, {one()}, {{"app", "other"}});
  c.admit(2, {one()}, {});
  EXPECT_EQ(c.where({one().spread("zone", 340)}), "a1:1");
  Gang grouped = one().in("g");
  c.admit(3, {grouped}, kApp);
  EXPECT_EQ(c.where({one().spread("zone", 340)}), "a1:1") << "the group g is another unit";
  c.admit(4, {one()}, kApp);
  EXPECT_NE(c.where({one().spread("zone", 340)}).substr(0, 1), "a");
  Gang elsewhere = one().spread("zone", 340);
  elsewhere.spreading->ns = "another";
  EXPECT_EQ(c.where({elsewhere}).substr(0, 1), "a");
}

TEST(Spreading, ALeaderAndItsWorkersCountOnce) {
  Zones c;
  const auto replica = [](std::int32_t share) {
    Gang leader = Gang{.count = 1}.required("rack").in("g").spread("rack", share);
    Gang workers = Gang{.count = 2}.required("rack").in("g").spread("rack", share);
    return std::vector<Gang>{leader, workers};
  };
  EXPECT_EQ(c.admit(1, replica(340), kApp).substr(0, 1), "a");
  EXPECT_EQ(c.admit(2, replica(340), kApp).substr(0, 1), "b");
  EXPECT_EQ(c.admit(3, replica(340), kApp).substr(0, 1), "c");
  EXPECT_EQ(c.admit(4, replica(340), kApp).substr(0, 1), "a");
  EXPECT_EQ(c.broken(), "");
}

TEST(Spreading, ARuleAboveTheRequiredLevelForbidsAllBelowIt) {
  Zones c;
  Gang in_rack = Gang{.count = 1}.required("rack").spread("zone", 340);
  EXPECT_EQ(c.zones_of(4, in_rack), "abca");
}

TEST(Spreading, ARuleBelowTheRequiredLevelForbidsParts) {
  Zones c(1);
  Gang in_zone = Gang{.count = 4}.required("zone").spread("kubernetes.io/hostname", 340);
  EXPECT_EQ(c.admit(1, {in_zone}, kApp), "a1:4");
  EXPECT_EQ(c.admit(2, {in_zone}, kApp), "a2:4");
  c.places.give_back(WorkloadId(1));
  EXPECT_EQ(c.where({in_zone}), "a1:4") << "a2 holds all of them";
  c.node("a1", {{"zone", "a"}, {"rack", "a-rack"}}, {{"cpu", "3"}});
  EXPECT_EQ(c.where({in_zone}), "a3:4");
}

TEST(Spreading, TwoRulesHoldAtTheSameTime) {
  Zones c;
  Gang both = Gang{.count = 1}.required("rack").spread("zone", 600).spread("kubernetes.io/hostname", 100);
  EXPECT_EQ(c.admit(1, {both}, kApp), "a1:1");
  EXPECT_EQ(c.admit(2, {both}, kApp), "b1:1");
  EXPECT_EQ(c.admit(3, {both}, kApp), "a2:1") << "a1 holds half";
}

TEST(Spreading, ALevelThatTheTopologyLacksIsNoRule) {
  Zones c;
  EXPECT_EQ(c.zones_of(2, one().spread("hall", 340)), "aa");
}

TEST(Spreading, CountsInTopologiesWithoutHostnames) {
  Zones c(3, {"zone", "rack"});
  EXPECT_EQ(c.zones_of(4, one().spread("zone", 340)), "abca");
}

TEST(Spreading, WhatATrialTakesAwayDoesNotCount) {
  Zones c(2);
  EXPECT_EQ(c.zones_of(2, one().spread("zone", 340)), "ab");
  const Gang next = one().spread("zone", 340);
  EXPECT_FALSE(c.place({next}).ok);
  {
    Places::Trial trial(c.places);
    trial.without(WorkloadId(2));
    EXPECT_TRUE(c.place({next}).ok) << "b is empty then";
  }
  EXPECT_FALSE(c.place({next}).ok);
}

TEST(Spreading, AClaimThatChangesMayHelpThoseThatWait) {
  Zones c(2);
  c.zones_of(2, one().spread("zone", 340));
  EXPECT_FALSE(c.place({one().spread("zone", 340)}).ok);
  c.places.take_reliefs();
  c.admit(9, {one()}, kApp);
  EXPECT_EQ(c.places.take_reliefs().size(), 1u) << "b holds a smaller share now";
  EXPECT_EQ(c.where({one().spread("zone", 340)}).substr(0, 1), "b");
}

}  // namespace
}  // namespace berth::engine::spreading_test
