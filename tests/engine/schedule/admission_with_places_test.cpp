// Admission with places: which workload gets which places, which message the others get, and effects between entries
// of one cycle.
#include <gtest/gtest.h>

#include "hall.h"

namespace berth::engine::admission_with_places_test {
namespace {

using Texts = std::vector<std::string>;

QueueSpec queue_of(const std::string& name, const std::string& cpu = "100") {
  return QueueSpec(name).flavor("f", {{"cpu", cpu}});
}

TEST(PlacesInAdmission, RequiredStaysInOneRackPreferredMaySpillOver) {
  Hall hall(2, 2, "4");
  hall.queue(queue_of("q"));
  hall.job({.name = "req", .queue = "q", .count = 6, .topology = required("rack")});
  EXPECT_EQ(hall.moves(), Texts{"admit req"});
  EXPECT_EQ(hall.racks("req"), "r1");
  EXPECT_EQ(Hall::pods(*hall.assignment_of("req")), 6);
  EXPECT_EQ(hall.assignment_of("req")->levels, Texts{kHost});
  hall.job({.name = "pref", .queue = "q", .count = 9, .topology = preferred("rack")});
  EXPECT_EQ(hall.moves(), Texts{"admit pref"});
  EXPECT_EQ(hall.racks("pref"), "r1 r2");
  const auto admission = hall.scheduler.admission(std::get<Admit>(hall.last.at(0)));
  EXPECT_EQ(admission.pod_set_assignments[0].topology_assignment.get(), hall.assignment_of("pref"));
  EXPECT_EQ(admission.pod_set_assignments[0].delayed_topology, api::kueue::DelayedTopology::kNone);
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(PlacesInAdmission, WhoNeverFitsIsInformedHowManyWould) {
  Hall hall(3, 4, "4");
  hall.queue(queue_of("q"));
  hall.job({.name = "wide", .queue = "q", .count = 17, .topology = required("rack")});
  EXPECT_EQ(hall.schedule(), Texts{"wait wide TopologyPlacementFailed: couldn't assign flavors to pod set main: "
                                   "topology \"t\" allows to fit only 16 out of 17 pod(s). It can never fit: no rack "
                                   "has place for its pods, even without other workloads; at most 16 of 17 pods of pod "
                                   "set main fit"});
  EXPECT_TRUE(hall.scheduler.parked(hall.id("wide")));
  EXPECT_EQ(hall.schedule(), Texts{});
  hall.job({.name = "behind", .queue = "q", .count = 16, .topology = required("rack")});
  EXPECT_EQ(hall.moves(), Texts{"admit behind"});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(PlacesInAdmission, WhereNoPlaceWillEverBeQuotaThatIsFreedDoesNotHelp) {
  Hall hall(1, 1, "3");
  hall.queue(queue_of("q", "4").within(api::kueue::WithinClusterQueue::kLowerPriority));
  hall.job({.name = "low", .queue = "q", .count = 2});
  EXPECT_EQ(hall.moves(), Texts{"admit low"});
  hall.job({.name = "high", .queue = "q", .count = 4, .priority = 1});
  const Texts texts = hall.schedule();
  ASSERT_EQ(texts.size(), 1u);  // and no preemption is necessary
  EXPECT_TRUE(
      texts[0].starts_with("wait high TopologyPlacementFailed: couldn't assign flavors to pod set main: "
                           "insufficient unused quota for cpu in flavor f, 2 more needed, topology \"t\" "
                           "allows to fit only 3 out of 4 pod(s)"))
      << texts[0];
}

TEST(PlacesInAdmission, WhoMustWaitForCapacityIsInformedSo) {
  Hall hall(1, 2, "2");
  hall.queue(queue_of("q"));
  hall.job({.name = "a", .queue = "q", .count = 3, .topology = required("rack")});
  hall.job({.name = "b", .queue = "q", .count = 2, .topology = required("rack")});
  const Texts texts = hall.schedule();
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[0], "admit a");
  EXPECT_TRUE(
      texts[1].starts_with("wait b TopologyPlacementFailed: couldn't assign flavors to pod set main: topology "
                           "\"t\" allows to fit only 1 out of 2 pod(s)"))
      << texts[1];
  hall.finish("a");
  EXPECT_EQ(hall.moves(), Texts{"admit b"});
}

TEST(PlacesInAdmission, EveryPodIsPlacedWhereAllFlavorsHaveATopology) {
  Hall hall(1, 2, "2");
  hall.queue(queue_of("q"));
  hall.job({.name = "plain", .queue = "q", .count = 3});
  EXPECT_EQ(hall.moves(), Texts{"admit plain"});
  ASSERT_NE(hall.assignment_of("plain"), nullptr);
  EXPECT_EQ(Hall::pods(*hall.assignment_of("plain")), 3);
  hall.job({.name = "more", .queue = "q", .count = 2});
  EXPECT_EQ(hall.moves(), Texts{});
}

TEST(PlacesInAdmission, PodsAndFlavorsThatDoNotMatchAreInformedWhy) {
  Hall hall(1, 1, "8");
  hall.flavor("plain");
  hall.topology_flavor("lost", "nowhere");
  hall.queue(queue_of("placed"));
  hall.queue(QueueSpec("plains").flavor("plain", {{"cpu", "8"}}));
  hall.queue(QueueSpec("losts").flavor("lost", {{"cpu", "8"}}));
  hall.queue(QueueSpec("mixed").flavor("f", {{"cpu", "8"}}).flavor("plain", {{"cpu", "8"}}));
  hall.job({.name = "level", .queue = "placed", .topology = required("zone")});
  hall.job({.name = "on-plain", .queue = "plains", .topology = unconstrained()});
  hall.job({.name = "on-lost", .queue = "losts"});
  const std::string prefix = " NoMatchingFlavor: couldn't assign flavors to pod set main: Flavor ";
  Texts texts = hall.schedule();
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(texts, (Texts{"wait level" + prefix + "\"f\" does not contain the requested level",
                          "wait on-lost" + prefix + "\"lost\" information missing in TAS cache",
                          "wait on-plain" + prefix + "\"plain\" does not support TopologyAwareScheduling"}));
  // Pods without a topology request get the flavor without a topology; pods with one get the other flavor.
  hall.job({.name = "anywhere", .queue = "mixed"});
  hall.job({.name = "placed", .queue = "mixed", .topology = unconstrained()});
  EXPECT_EQ(hall.moves(), (Texts{"admit anywhere", "admit placed"}));
  EXPECT_EQ(hall.placed("anywhere"), "");
  EXPECT_EQ(hall.placed("placed"), "r1-n1:1");
  hall.job({.name = "too-many", .queue = "mixed", .count = 8});
  texts = hall.schedule();
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_NE(texts[0].find("Flavor \"f\" supports only TopologyAwareScheduling"), std::string::npos) << texts[0];
  // A topology that is added later, or gains a level, allows them.
  hall.topology("nowhere", {kHost});
  hall.node(7, 1, "8", true, "lost");
  hall.topology("t", {"zone", "rack", kHost});
  EXPECT_EQ(hall.moves(), Texts{"admit on-lost"});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(PlacesInAdmission, ResourcesThatPodsDoNotAskForMayHaveFlavorsWithoutATopology) {
  Hall hall(1, 1, "8");
  hall.flavor("pods-only");
  hall.queue(queue_of("q").flavor("pods-only", {{"pods", "3"}}));
  hall.job({.name = "a", .queue = "q", .count = 2, .topology = unconstrained()});
  EXPECT_EQ(hall.moves(), Texts{"admit a"});
  EXPECT_EQ(hall.placed("a"), "r1-n1:2");
  hall.job({.name = "b", .queue = "q", .count = 2, .topology = unconstrained()});
  EXPECT_EQ(hall.moves(), Texts{});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(PlacesInAdmission, OnePodCannotBeOnNodesOfTwoFlavors) {
  Hall hall(1, 1, "8");
  hall.topology_flavor("g");
  hall.queue(QueueSpec("q").flavor("f", {{"cpu", "8"}}).flavor("g", {{"memory", "8"}}));
  hall.job({.name = "a", .queue = "q", .requests = {{"cpu", "1"}, {"memory", "1"}}, .topology = unconstrained()});
  EXPECT_EQ(hall.schedule(),
            Texts{"wait a TopologyPlacementFailed: couldn't assign flavors to pod set main: more than "
                  "one flavor with a topology assigned: f, g. It can never fit: the nodes have no place for "
                  "its pods, even without other workloads; not even one pod of pod set main fits"});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(PlacesInAdmission, PodSetsOfOneWorkloadSeeEachOther) {
  Hall hall(2, 1, "4");
  hall.queue(queue_of("q"));
  Pending pending = World::pending({.queue = "q", .count = 3, .topology = required(kHost)}, 1);
  pending.pod_sets.push_back(pending.pod_sets[0]);
  pending.pod_sets[1].name = "more";
  pending.pod_sets.push_back(pending.pod_sets[0]);
  pending.pod_sets[2].name = "none";
  pending.pod_sets[2].count = 0;
  hall.submit("a", pending);
  EXPECT_EQ(hall.moves(), Texts{"admit a"});
  EXPECT_EQ(hall.placed("a", 0), "r1-n1:3");
  EXPECT_EQ(hall.placed("a", 1), "r2-n1:3");
  EXPECT_EQ(hall.placed("a", 2), "");
  EXPECT_EQ(hall.scheduler.held_places(hall.id("a")).size(), 2u);
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(PlacesInAdmission, LeaderAndWorkersShareARack) {
  Hall hall(2, 2, "4");
  hall.queue(queue_of("q"));
  hall.pod("other", "r1-n1", "2");
  Pending pending = World::pending({.queue = "q", .count = 1, .topology = required("rack")}, 1);
  pending.pod_sets[0].name = "leader";
  pending.pod_sets[0].group = "g";
  pending.pod_sets[0].topology->pod_set_group_name = "g";
  pending.pod_sets.push_back(pending.pod_sets[0]);
  pending.pod_sets[1].name = "workers";
  pending.pod_sets[1].count = 6;
  hall.submit("a", pending);
  EXPECT_EQ(hall.moves(), Texts{"admit a"});
  EXPECT_EQ(hall.racks("a", 0), "r2");
  EXPECT_EQ(hall.racks("a", 1), "r2");
  EXPECT_EQ(Hall::pods(*hall.assignment_of("a", 0)), 1);
  EXPECT_EQ(Hall::pods(*hall.assignment_of("a", 1)), 6);
}

TEST(PlacesInAdmission, EqualRequestsForOtherPlacesDoNotShareAVerdict) {
  Hall hall(2, 1, "4");
  hall.queue(queue_of("q"));
  hall.job({.name = "host", .queue = "q", .count = 6, .topology = required(kHost)});
  hall.job({.name = "anywhere", .queue = "q", .count = 6, .topology = unconstrained()});
  EXPECT_EQ(hall.moves(), Texts{"admit anywhere"});
  EXPECT_EQ(hall.placed("anywhere"), "r1-n1:4 r2-n1:2");
}

TEST(PlacesInAdmission, TheNextFlavorIsTriedWhenTheFirstHasNoPlace) {
  Hall hall(1, 1, "2");
  hall.topology_flavor("g");
  hall.node(2, 1, "4", true, "g");
  hall.queue(queue_of("q").flavor("g", {{"cpu", "100"}}));
  hall.job({.name = "small", .queue = "q", .count = 2});
  EXPECT_EQ(hall.moves(), Texts{"admit small"});
  EXPECT_EQ(hall.placed("small"), "r1-n1:2");
  hall.job({.name = "big", .queue = "q", .count = 4, .topology = required(kHost)});
  EXPECT_EQ(hall.moves(), Texts{"admit big"});
  EXPECT_EQ(hall.placed("big"), "r2-n1:4");
  // Free capacity in the flavor that was tried last wakes it, too.
  hall.job({.name = "next", .queue = "q", .count = 4, .topology = required(kHost)});
  EXPECT_EQ(hall.moves(), Texts{});
  EXPECT_TRUE(hall.scheduler.parked(hall.id("next")));
  hall.finish("big");
  EXPECT_EQ(hall.moves(), Texts{"admit next"});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(PlacesInAdmission, FewerPodsAreAdmittedWhenOnlyTheseHavePlaces) {
  Hall hall(2, 1, "4");
  hall.queue(queue_of("q"));
  hall.job({.name = "a", .queue = "q", .count = 6, .min_count = 2, .topology = required("rack")});
  EXPECT_EQ(hall.moves(), Texts{"admit a"});
  EXPECT_EQ(hall.placed("a"), "r1-n1:4");
  EXPECT_EQ(hall.scheduler.admission(std::get<Admit>(hall.last.at(0))).pod_set_assignments[0].count, 4);
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(PlacesInAdmission, HeadsOfOneCycleCompeteForOneRack) {
  for (bool one_tree : {true, false}) {
    Hall hall(2, 1, "4");
    for (const char* name : {"a", "b", "c"}) {
      hall.queue(one_tree ? queue_of(name).in("team") : queue_of(name));
      hall.job({.name = std::string("job-") + name, .queue = name, .count = 3, .topology = required("rack")});
    }
    // All three were nominated for the same rack; the second is placed again elsewhere, the third finds no place.
    EXPECT_EQ(hall.moves(), (Texts{"admit job-a", "admit job-b"})) << one_tree;
    EXPECT_EQ(hall.placed("job-a"), "r1-n1:3");
    EXPECT_EQ(hall.placed("job-b"), "r2-n1:3");
    EXPECT_TRUE(hall.scheduler.parked(hall.id("job-c")));
    EXPECT_EQ(hall.scheduler.check(), Texts{});
    hall.finish("job-a");
    EXPECT_EQ(hall.moves(), Texts{"admit job-c"});
  }
}

TEST(PlacesInAdmission, ImportanceCountsBetweenTreesThatShareNodes) {
  Hall hall(1, 1, "4");
  hall.queue(queue_of("a"));
  hall.queue(queue_of("b"));
  hall.job({.name = "low", .queue = "a", .count = 4, .priority = 1});
  hall.job({.name = "high", .queue = "b", .count = 4, .priority = 2});
  EXPECT_EQ(hall.moves(), Texts{"admit high"});
  hall.job({.name = "higher", .queue = "b", .count = 4, .priority = 3});
  hall.finish("high");
  EXPECT_EQ(hall.moves(), Texts{"admit higher"});
  hall.finish("higher");
  EXPECT_EQ(hall.moves(), Texts{"admit low"});
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(PlacesInAdmission, AStrictHeadKeepsThePlaceItCouldHave) {
  Hall hall(2, 1, "4");
  hall.queue(queue_of("strict").in("team").strict());
  hall.queue(queue_of("greedy").in("team"));
  hall.job({.name = "other", .queue = "greedy", .count = 3, .topology = required("rack")});
  EXPECT_EQ(hall.moves(), Texts{"admit other"});
  EXPECT_EQ(hall.racks("other"), "r1");
  hall.job({.name = "else", .queue = "greedy", .count = 2, .topology = required("rack")});
  EXPECT_EQ(hall.moves(), Texts{"admit else"});
  hall.job({.name = "head", .queue = "strict", .count = 4, .topology = required("rack")});
  hall.job({.name = "small", .queue = "greedy", .count = 1, .topology = required("rack")});
  // On an empty cluster the head would get r1: that rack is reserved for it, r2 is not.
  EXPECT_EQ(hall.moves(), Texts{"admit small"});
  EXPECT_EQ(hall.racks("small"), "r2");
}

}  // namespace
}  // namespace berth::engine::admission_with_places_test
