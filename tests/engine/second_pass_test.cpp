// Quota first, places later: workloads whose nodes are created by an admission check (KEP-2724, second pass).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "engine/support/scenario.h"

namespace berth::engine::second_pass_test {
namespace {

using api::kueue::CheckState;
using api::kueue::DelayedTopology;
using api::kueue::Workload;
using test::ClusterQueueBuilder;
using test::NodeBuilder;
using test::Scenario;
using test::WorkloadBuilder;
using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Outcome = Scenario::Outcome;

// Rack r1 has one node for two pods. A gang of four requires one rack, and its admission check creates the nodes.
struct Delayed : Scenario {
  explicit Delayed(
      const ClusterQueueBuilder& queue = ClusterQueueBuilder("cq").cpu({{"f", "100"}}).check("prov").preempt_lower()) {
    give(test::topology("t"));
    give(test::placed_flavor("f", "t"));
    give(test::provisioning_check("prov"));
    give(queue);
    give(test::local_queue("q", "cq"));
    give(NodeBuilder("r1-n1"));
  }
  void gang(const std::string& name, int priority = 0) {
    give(WorkloadBuilder(name).pods(4, "2").required("rack").priority(priority));
    run();
  }
  void second_rack() {
    give(NodeBuilder("r2-n1", "r2"));
    give(NodeBuilder("r2-n2", "r2"));
  }
  void ready(const std::string& name) {
    report_check(name, test::says("prov", CheckState::kReady, "there"));
    run();
  }
  DelayedTopology delayed(const std::string& name) const {
    return workload(name).status.admission->pod_set_assignments.at(0).delayed_topology;
  }
};

constexpr const char* kFailed =
    "Workload/a Warning SecondPassFailed: couldn't assign flavors to pod set main: topology \"t\" allows to fit only 2 "
    "out of 4 pod(s)";
constexpr const char* kWaits = "False PendingDelayedTopologyRequests: There are pending delayed topology requests";

TEST(SecondPass, QuotaIsReservedWithoutPlacesUntilTheCheckIsReady) {
  Delayed s;
  s.gang("a");
  EXPECT_EQ(s.state("a"), "Reserved");
  EXPECT_EQ(s.delayed("a"), DelayedTopology::kPending);
  EXPECT_EQ(s.places_of("a"), "");
  EXPECT_THAT(s.condition("a", "Admitted"), HasSubstr("UnsatisfiedAdmissionChecks"));
  s.second_rack();
  s.pass(100);
  EXPECT_EQ(s.state("a"), "Reserved");
  EXPECT_EQ(s.places_of("a"), "");
}

TEST(SecondPass, PlacesFollowASecondAfterTheCheckAndAdmitInTheSameWrite) {
  Delayed s;
  s.second_rack();
  s.gang("a");
  s.ready("a");
  EXPECT_EQ(s.condition("a", "Admitted"), kWaits);
  s.take_events();
  const int writes = s.writes();
  s.pass(1);
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.places_of("a"), "r2-n1:2 r2-n2:2");
  EXPECT_EQ(s.delayed("a"), DelayedTopology::kReady);
  EXPECT_EQ(s.writes(), writes + 1);
  EXPECT_THAT(
      s.take_events(),
      ElementsAre("Workload/a Normal Admitted: Admitted by ClusterQueue cq, wait time since reservation was 1s"));
}

TEST(SecondPass, ItIsTriedAfterOneTwoFourSecondsAndThenEveryHalfMinute) {
  Delayed s;
  s.gang("a");
  s.ready("a");
  s.take_events();
  std::vector<int> tried;
  for (int second = 1; second <= 130; ++second) {
    s.pass(1);
    for (const auto& event : s.take_events()) {
      EXPECT_THAT(event, HasSubstr(kFailed));
      tried.push_back(second);
    }
  }
  EXPECT_THAT(tried, ElementsAre(1, 3, 7, 15, 31, 61, 91, 121));
  const int writes = s.writes();
  s.second_rack();
  s.pass(20);
  EXPECT_EQ(s.condition("a", "Admitted"), kWaits);
  EXPECT_EQ(s.writes(), writes);
  s.pass(1);
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.places_of("a"), "r2-n1:2 r2-n2:2");
}

TEST(SecondPass, WhoFindsNoPlacesInTimeGivesItsQuotaBackAndComesBackLater) {
  Delayed s;
  s.gang("a");
  s.pass(3600);
  EXPECT_EQ(s.state("a"), "Reserved") << "the check may take any time";
  s.ready("a");
  s.pass(15 * 60 - 1);
  EXPECT_EQ(s.state("a"), "Reserved");
  s.take_events();
  s.pass(1);
  const std::string why =
      "No places for the pods within 15m0s after the quota was reserved and all admission checks were ready "
      "(topology.placesTimeout): "
      "couldn't assign flavors to pod set main: topology \"t\" allows to fit only 2 out of 4 pod(s). Make "
      "room in the topology, ask for a "
      "coarser level, or raise the limit";
  EXPECT_EQ(s.condition("a", "Evicted"), "True PlacesTimeout: " + why);
  EXPECT_THAT(s.take_events(), Contains("Workload/a Normal EvictedDueToPlacesTimeout: " + why));
  s.report_stopped("a");
  s.run();
  EXPECT_FALSE(s.workload("a").status.admission);
  EXPECT_EQ(s.condition("a", "Requeued"), "False PlacesTimeout: " + why);
  EXPECT_EQ(s.workload("a").status.requeue_state->count, 1);
  s.pass(59);
  EXPECT_FALSE(s.workload("a").status.admission);
  s.pass(1);
  EXPECT_EQ(s.state("a"), "Reserved");
  EXPECT_EQ(s.workload("a").status.admission_checks.at(0).state, CheckState::kPending);
  s.second_rack();
  s.ready("a");
  s.pass(1);
  EXPECT_EQ(s.state("a"), "Admitted");
}

TEST(SecondPass, ChecksOfOtherFlavorsDelayNothing) {
  Delayed s(ClusterQueueBuilder("cq").cpu({{"f", "100"}, {"g", "100"}}).check("prov", {"g"}));
  s.give(test::flavor("g"));
  s.second_rack();
  s.gang("a");
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.places_of("a"), "r2-n1:2 r2-n2:2");
  EXPECT_EQ(s.delayed("a"), DelayedTopology::kNone);
}

TEST(SecondPass, ACheckThatBecomesAProvisioningOneDelaysFromThenOn) {
  Delayed s;
  s.give(test::check("prov"));
  s.second_rack();
  s.gang("a");
  EXPECT_EQ(s.places_of("a"), "r2-n1:2 r2-n2:2");
  s.give(test::provisioning_check("prov"));
  s.give(NodeBuilder("r3-n1", "r3", "8"));
  s.gang("b");
  EXPECT_EQ(s.places_of("b"), "");
  EXPECT_EQ(s.delayed("b"), DelayedTopology::kPending);
}

TEST(SecondPass, OfTwoThatWantTheSamePlacesThePriorityDecides) {
  Delayed s(ClusterQueueBuilder("cq").cpu({{"f", "100"}}).check("prov"));
  s.second_rack();
  s.gang("a");
  s.gang("b", 5);
  s.report_check("a", test::says("prov", CheckState::kReady));
  s.ready("b");
  s.pass(1);
  EXPECT_EQ(s.state("b"), "Admitted");
  EXPECT_EQ(s.condition("a", "Admitted"), kWaits);
  s.finish("b");
  s.pass(2);
  EXPECT_EQ(s.places_of("a"), "r2-n1:2 r2-n2:2");
}

TEST(SecondPass, ItMayPreemptForPlaces) {
  Delayed s;
  s.second_rack();
  s.gang("a");
  s.ready("a");
  s.pass(1);
  ASSERT_EQ(s.state("a"), "Admitted");
  s.gang("b", 5);
  s.ready("b");
  s.take_events();
  s.pass(1);
  EXPECT_THAT(s.take_events(), testing::AllOf(Contains(HasSubstr("EvictedDueToPreempted")),
                                              Contains(HasSubstr("Workload/b Warning SecondPassFailed"))));
  s.pass(2);
  EXPECT_EQ(s.places_of("b"), "r2-n1:2 r2-n2:2");
  EXPECT_EQ(s.state("b"), "Admitted");
  EXPECT_EQ(s.state("a"), "Reserved");  // again, without places, and its check must become Ready again
  EXPECT_EQ(s.places_of("a"), "");
}

TEST(SecondPass, WhatReadyChecksAddToThePodsCounts) {
  Delayed s;
  s.give(NodeBuilder("r3-n1", "r3", "8").label("pool", "new"));
  s.give(NodeBuilder("r4-n1", "r4", "8").label("pool", "newest").taint("fresh", "NoSchedule"));
  s.second_rack();
  s.gang("a");
  auto ready = test::says("prov", CheckState::kReady);
  ready.pod_set_updates = {{"main", {}, {}, {{"pool", "newest"}}, {{"fresh", "Exists", "", "", {}}}}};
  s.report_check("a", ready);
  s.pass(1);
  EXPECT_EQ(s.places_of("a"), "r4-n1:4");
}

TEST(SecondPass, WhoLeavesBeforeTheTimerFiresIsNotTried) {
  const std::vector<std::function<void(Delayed&)>> leaves{
      [](Delayed& s) { s.finish("a"); },
      [](Delayed& s) { s.remove("a"); },
      [](Delayed& s) { s.change("a", [](Workload& w) { w.active = false; }, true); },
      [](Delayed& s) { s.change("a", [](Workload& w) { w.meta.deletion = test::at(0); }); },
      [](Delayed& s) { s.report_check("a", test::says("prov", CheckState::kRetry, "gone")); },
      [](Delayed& s) { s.report_check("a", test::says("prov", CheckState::kRejected, "gone")); },
      [](Delayed& s) { s.report_check("a", test::says("prov", CheckState::kPending, "not yet")); },
      [](Delayed& s) {
        s.give(ClusterQueueBuilder("cq").cpu({{"f", "100"}}).check("prov").stop(api::kueue::StopPolicy::kHold));
      },
      [](Delayed& s) { s.take(ClusterQueueGone{"cq"}); },
      [](Delayed& s) { s.give(ClusterQueueBuilder("cq").cpu({{"f", "100"}}).check("prov").check("another")); },
  };
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    SCOPED_TRACE(i);
    Delayed s;
    s.give(test::check("another"));
    s.second_rack();
    s.gang("a");
    s.ready("a");
    leaves[i](s);
    s.take_events();
    s.pass(100);
    for (const auto& event : s.take_events())
      EXPECT_THAT(event, Not(AnyOf(HasSubstr("SecondPass"), HasSubstr("Normal Admitted")))) << event;
    if (i != 1) {
      EXPECT_EQ(s.places_of("a"), "");
    }
  }
}

TEST(SecondPass, ANewReservationBeginsWithTheShortestDelay) {
  Delayed s;
  s.gang("a");
  s.ready("a");
  s.pass(40);
  s.report_check("a", test::says("prov", CheckState::kRetry));
  s.run();
  s.second_rack();
  s.pass(5);
  ASSERT_EQ(s.state("a"), "Reserved");
  s.ready("a");
  s.pass(1);
  EXPECT_EQ(s.state("a"), "Admitted");
}

TEST(SecondPass, ARestartLosesTheTimerAndNothingElse) {
  Delayed s;
  s.gang("a");
  s.ready("a");
  s.pass(40);
  s.second_rack();
  s.restart();
  s.run();
  EXPECT_EQ(s.condition("a", "Admitted"), kWaits);
  s.pass(1);
  EXPECT_EQ(s.places_of("a"), "r2-n1:2 r2-n2:2");
  s.restart();
  s.run();
  s.gang("b");
  s.ready("b");
  s.pass(1);
  EXPECT_EQ(s.places_of("b"), "");  // a holds the capacity
}

TEST(SecondPass, AfterARestartWithoutItsQueueNothingIsAdmitted) {
  Delayed s;
  s.second_rack();
  s.gang("a");
  s.report_check("a", test::says("prov", CheckState::kReady));
  s.run_once();
  s.take(ClusterQueueGone{"cq"});
  s.restart();
  s.pass(60);
  EXPECT_EQ(s.places_of("a"), "");
  EXPECT_THAT(s.condition("a", "Admitted"), HasSubstr("False"));
}

TEST(SecondPass, AfterARestartWithoutItsCheckItIsNotAdmitted) {
  Delayed s;
  s.second_rack();
  s.gang("a");
  s.take(AdmissionCheckGone{"prov"});
  s.restart();
  s.pass(60);
  EXPECT_EQ(s.state("a"), "Reserved");
  EXPECT_EQ(s.places_of("a"), "");
}

TEST(SecondPass, WritesThatFailAndConflictLeadToOneAssignment) {
  for (const Outcome failure : {Outcome::kFailed, Outcome::kConflict}) {
    for (const bool happen : {false, true}) {
      for (const int at : {0, 1, 2, 7}) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(failure) << happen << at);
        Delayed s;
        s.second_rack();
        s.gang("a");
        s.gang("b");
        s.failed_writes_happen = happen;
        int n = 0;
        s.outcome_of_write = [&](const std::string&) { return n++ <= at ? failure : Outcome::kDone; };
        s.report_check("a", test::says("prov", CheckState::kReady));
        s.ready("b");
        s.pass(600);
        EXPECT_EQ(s.places_of("a") + s.places_of("b"), "r2-n1:2 r2-n2:2");
        const std::string first = s.state("a") == "Admitted" ? "a" : "b", other = first == "a" ? "b" : "a";
        s.finish(first);
        s.pass(60);
        EXPECT_EQ(s.places_of(other), "r2-n1:2 r2-n2:2");
      }
    }
  }
}

TEST(SecondPass, AnAssignmentInUseIsNotComputedAgain) {
  Delayed s;
  s.second_rack();
  s.gang("a");
  s.answers_that_arrive = [](std::size_t n) { return std::min<std::size_t>(n, 1); };  // watch events come late
  s.report_check("a", test::says("prov", CheckState::kReady));
  s.pass(1);
  ASSERT_EQ(s.places_of("a"), "r2-n1:2 r2-n2:2");
  const int writes = s.writes();
  s.give(NodeBuilder("r0-n1", "r0", "64"));
  s.report_check("a", test::says("prov", CheckState::kReady, "again"));
  s.pass(100);
  s.restart();
  s.pass(100);
  EXPECT_EQ(s.places_of("a"), "r2-n1:2 r2-n2:2");
  EXPECT_LE(s.writes(), writes + 1);  // the check's message
}

TEST(Topologies, AQueueIsInactiveWithoutTheTopologyOfItsFlavor) {
  Delayed s;
  s.take(TopologyGone{"t"});
  s.run();
  EXPECT_EQ(s.cluster_queue("cq").reason, "TopologyNotFound");
  EXPECT_EQ(s.cluster_queue("cq").message,
            "Can't admit new workloads: there is no Topology \"t\" for TAS flavor \"f\".");
  s.second_rack();
  s.gang("a");
  EXPECT_EQ(s.state("a"), "Pending");
  s.give(test::topology("t"));
  s.run();
  EXPECT_TRUE(s.cluster_queue("cq").active);
  EXPECT_EQ(s.state("a"), "Reserved");
}

TEST(Topologies, TheFinalizerStaysWhileAFlavorNamesIt) {
  Delayed s;
  auto bare = test::topology("u");
  bare.meta.finalizers.clear();
  s.give(bare);
  s.run();
  EXPECT_THAT(s.take_finalizers(), ElementsAre("+Topology/u"));
  auto going = test::topology("t");
  going.meta.deletion = test::at(0);
  s.give(going);
  s.run();
  EXPECT_THAT(s.take_finalizers(), IsEmpty());
  s.take(ResourceFlavorGone{"f"});
  s.run();
  EXPECT_THAT(s.take_finalizers(), ElementsAre("-Topology/t"));
}

}  // namespace
}  // namespace berth::engine::second_pass_test
