// Topology assignments and states: which workloads need the second pass, what it may write, and failed nodes.
#include "engine/lifecycle/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "engine/lifecycle/topology_moves.h"
#include "engine/lifecycle/words.h"
#include "engine/support/build.h"

namespace berth::engine::lifecycle::topology_test {
namespace {

using api::kueue::CheckState;
using api::kueue::DelayedTopology;
using test::at;
using test::condition;
using test::on_nodes;
using test::WorkloadBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using topology_moves::delayed_admission;
using topology_moves::TopologyMoves;

TEST_F(TopologyMoves, AReservationWithDelayedPlacesIsNotAdmittedThoughNoCheckIsMissing) {
  take(reserve(w, delayed_admission(), {}, "", at(0)));
  EXPECT_EQ(state_of(w), State::kReserved);
  EXPECT_EQ(condition(w.status, "Admitted"),
            "False PendingDelayedTopologyRequests: There are pending delayed topology requests");
  EXPECT_FALSE(admit(w, at(1)).has_value());
}

TEST_F(TopologyMoves, PlacesAreWaitedForUntilTheLimitAndFromTheLastReadyCheckOn) {
  constexpr Duration kLimit = std::chrono::minutes(10);
  EXPECT_EQ(places_deadline(w, kLimit), std::nullopt);
  delay(CheckState::kPending);
  EXPECT_EQ(places_deadline(w, kLimit), std::nullopt);
  w.status.admission_checks[0].state = CheckState::kReady;
  w.status.admission_checks[0].last_transition = at(50);
  EXPECT_EQ(places_deadline(w, kLimit), at(650));
  EXPECT_EQ(places_deadline(w, Duration(0)), std::nullopt);
  EXPECT_EQ(places_deadline(w, Duration::max()), std::nullopt);
  EXPECT_EQ(next_time(w, {}, kLimit), at(650));
  w.status.admission_checks[0].last_transition = at(-50);
  EXPECT_EQ(places_deadline(w, kLimit), at(600)) << "ready before there was quota";
}

TEST_F(TopologyMoves, WhoCameBackTooOftenWithoutPlacesIsDeactivated) {
  s.places_timeout = std::chrono::minutes(1);
  s.wait_for_pods_ready.backoff_limit_count = 1;
  delay();
  w.status.requeue_state = api::kueue::RequeueState{1, std::nullopt};
  follow(at(1));
  EXPECT_EQ(follow(at(59)), "");
  EXPECT_EQ(follow(at(60)), "MarkTarget");
  EXPECT_EQ(condition(w.status, "DeactivationTarget"),
            "True RequeuingLimitExceeded: exceeding the maximum number of re-queuing retries");
}

TEST_F(TopologyMoves, AdmittedSaysWhatIsMissingAsTheCheckBecomesReadyAndUnready) {
  delay(CheckState::kPending);
  EXPECT_EQ(condition(w.status, "Admitted"), "False UnsatisfiedAdmissionChecks: The workload has not all checks ready");
  EXPECT_EQ(follow(at(1)), "");
  w.status.admission_checks[0].state = CheckState::kReady;
  EXPECT_EQ(follow(at(2)), "StayReserved");
  EXPECT_EQ(condition(w.status, "Admitted"),
            "False PendingDelayedTopologyRequests: There are pending delayed topology requests");
  EXPECT_EQ(follow(at(3)), "");
  w.status.admission_checks[0].state = CheckState::kPending;
  EXPECT_EQ(follow(at(4)), "StayReserved");
  EXPECT_EQ(condition(w.status, "Admitted"), "False UnsatisfiedAdmissionChecks: The workload has not all checks ready");
}

TEST_F(TopologyMoves, DelayedPlacesNeedTheSecondPassOnceEveryCheckIsReady) {
  delay();
  EXPECT_EQ(need(), SecondPassNeed::kDelayedPlaces);
  for (const auto state : {CheckState::kPending, CheckState::kRetry, CheckState::kRejected}) {
    w.status.admission_checks[0].state = state;
    EXPECT_EQ(need(), SecondPassNeed::kNone);
  }
  w.status.admission_checks[0].state = CheckState::kReady;
  s.checks = {"prov", "another"};
  EXPECT_EQ(need(), SecondPassNeed::kNone);
  s.checks = {"prov"};
  w.status.admission->pod_set_assignments[0].topology_assignment = on_nodes({{"a", 4}});
  EXPECT_EQ(need(), SecondPassNeed::kNone);
}

TEST_F(TopologyMoves, WhoeverIsOnHisWayOutNeverNeedsTheSecondPass) {
  const auto leave = std::vector<std::function<void(Workload&)>>{
      [](Workload& x) { x.active = false; },
      [](Workload& x) { x.meta.deletion = at(1); },
      [](Workload& x) { x.status = mark_target(x, "AdmissionCheck", "m", std::nullopt, at(1))->status; },
      [](Workload& x) { x.status = evict(x, {"NodeFailures", "", "m"}, at(1))->status; },
      [](Workload& x) {
        x.status = evict(x, {"NodeFailures", "", "m"}, at(1))->status;
        x.status = release(x, at(2))->status;
      },
      [](Workload& x) { x.status = finish(x, {"Succeeded", "m"}, at(1))->status; },
      [](Workload& x) { x.status.admission.reset(); },
  };
  delay();
  const Workload reserved = w;
  w = WorkloadBuilder("w").pods(4, "1").build();
  s.checks.clear();
  admit_on({{"a", 2}, {"b", 2}});
  take(mark_nodes(w, {"a"}, at(0)));
  const Workload failed = w;
  for (std::size_t i = 0; i < leave.size(); ++i) {
    SCOPED_TRACE(i);
    s.checks = {"prov"};
    w = reserved;
    ASSERT_EQ(need(), SecondPassNeed::kDelayedPlaces);
    leave[i](w);
    EXPECT_EQ(need(), SecondPassNeed::kNone);
    s.checks = {};
    w = failed;
    ASSERT_EQ(need(), SecondPassNeed::kFailedNodes);
    leave[i](w);
    EXPECT_EQ(need(), SecondPassNeed::kNone);
  }
}

TEST_F(TopologyMoves, OnHoldAndPendingWorkloadsNeverNeedTheSecondPass) {
  take(note_pending(w, {std::string(reason::kOnHold), "scaled to zero", {}, false}, at(0)));
  EXPECT_EQ(need(), SecondPassNeed::kNone);
  w = WorkloadBuilder("w").build();
  w.status.unhealthy_nodes = {"a"};
  EXPECT_EQ(need(), SecondPassNeed::kNone);
}

TEST_F(TopologyMoves, WithoutItsClusterQueueNothingIsKnownAboutChecks) {
  delay();
  s.checks.clear();
  s.cluster_queue = {};
  EXPECT_EQ(need(), SecondPassNeed::kNone);
}

TEST_F(TopologyMoves, AnUnhealthyNodeCountsOnlyWhenItIsAmongThePlacesOfAnAdmittedWorkload) {
  admit_on({{"a", 2}, {"b", 2}});
  EXPECT_EQ(need(), SecondPassNeed::kNone);
  w.status.unhealthy_nodes = {"c"};
  EXPECT_EQ(need(), SecondPassNeed::kNone);
  w.status.unhealthy_nodes = {"c", "b"};
  EXPECT_EQ(need(), SecondPassNeed::kFailedNodes);
  auto racks =
      std::make_shared<api::kueue::TopologyAssignment>(*w.status.admission->pod_set_assignments[0].topology_assignment);
  racks->levels = {"rack"};
  w.status.admission->pod_set_assignments[0].topology_assignment = racks;
  EXPECT_EQ(need(), SecondPassNeed::kNone);
}

TEST_F(TopologyMoves, TheBackOffDoublesUpToHalfAMinute) {
  std::vector<std::int64_t> delays;
  for (int i = 1; i <= 8; ++i) delays.push_back(second_pass_delay(i).count());
  EXPECT_THAT(delays, ElementsAre(1, 2, 4, 8, 16, 30, 30, 30));
  EXPECT_EQ(second_pass_delay(1'000'000).count(), 30);
}

TEST_F(TopologyMoves, PlacesAdmitInTheSameWrite) {
  delay();
  take(place(w, {on_nodes({{"a", 2}, {"b", 2}})}, at(9)));
  EXPECT_EQ(state_of(w), State::kAdmitted);
  EXPECT_EQ(w.status.admission->pod_set_assignments[0].delayed_topology, DelayedTopology::kReady);
  EXPECT_EQ(condition(w.status, "Admitted"), "True Admitted: The workload is admitted");
  EXPECT_THAT(notes,
              ElementsAre(Note{false, "Admitted", "Admitted by ClusterQueue cq, wait time since reservation was 9s",
                               Note::kByScheduler}));
}

TEST_F(TopologyMoves, PlacesThatExistAreNeverOverwritten) {
  delay();
  const Workload before = w;
  take(place(w, {on_nodes({{"a", 4}})}, at(9)));
  EXPECT_FALSE(place(w, {on_nodes({{"b", 4}})}, at(10)).has_value());
  w = before;
  w.status.admission->pod_set_assignments[0].topology_assignment = on_nodes({{"a", 4}});
  const auto again = place(w, {on_nodes({{"b", 4}})}, at(10));
  ASSERT_FALSE(again.has_value());
  EXPECT_THAT(again.error().message, HasSubstr("has its places already"));
}

TEST_F(TopologyMoves, PlacesAreForAllPodsOfAllPodSets) {
  delay();
  EXPECT_FALSE(place(w, {}, at(1)).has_value());
  EXPECT_FALSE(place(w, {nullptr}, at(1)).has_value());
  EXPECT_FALSE(place(w, {on_nodes({{"a", 3}})}, at(1)).has_value());
}

TEST_F(TopologyMoves, FailedNodesAreMarkedInTheOrderInWhichTheyFailed) {
  admit_on({{"a", 1}, {"b", 1}, {"c", 2}});
  s.failed_nodes = {{"b"}};
  EXPECT_EQ(follow(at(1)), "MarkNodes");
  s.failed_nodes = {{"a", "b"}};
  EXPECT_EQ(follow(at(2)), "MarkNodes");
  EXPECT_THAT(w.status.unhealthy_nodes, ElementsAre("b", "a"));
  EXPECT_EQ(follow(at(3)), "");
  s.failed_nodes = {{"a"}};
  EXPECT_EQ(follow(at(4)), "MarkNodes");
  EXPECT_THAT(w.status.unhealthy_nodes, ElementsAre("a"));
  s.failed_nodes.emplace();
  EXPECT_EQ(follow(at(5)), "MarkNodes");
  EXPECT_THAT(w.status.unhealthy_nodes, IsEmpty());
}

TEST_F(TopologyMoves, ASecondFailingNodeEvictsWhenTheyAreReplacedOneByOne) {
  admit_on({{"a", 1}, {"b", 1}, {"c", 2}});
  s.replace_several_nodes = false;
  s.failed_nodes = {{"b"}};
  EXPECT_EQ(follow(at(1)), "MarkNodes");
  s.failed_nodes = {{"a", "b"}};
  EXPECT_EQ(follow(at(2)), "Evict");
  EXPECT_EQ(
      condition(w.status, "Evicted"),
      "True NodeFailures: Workload eviction triggered due to multiple TAS assigned node failures, including: b, a");
  EXPECT_THAT(
      notes, ElementsAre(Note{false, "EvictedDueToNodeFailures",
                              "Workload eviction triggered due to multiple TAS assigned node failures, including: b, a",
                              Note::kByNodeWatch}));
  EXPECT_THAT(w.status.unhealthy_nodes, IsEmpty());
  EXPECT_EQ(follow(at(3)), "");  // evicted: never marked again
  s.job_stopped = true;
  follow(at(4));
  EXPECT_EQ(condition(w.status, "Requeued").substr(0, 17), "True NodeFailures");
  EXPECT_EQ(state_of(w), State::kPending);
}

TEST_F(TopologyMoves, MoreFailedNodesThanTheStatusCanListEvict) {
  std::vector<std::string> nodes;
  std::vector<std::pair<std::string, int>> places;
  for (int i = 1; i <= 9; ++i) nodes.push_back("n" + std::to_string(i));
  for (const auto& node : nodes) places.emplace_back(node, 1);
  admit_on(places);
  s.failed_nodes = {nodes.begin(), nodes.end() - 1};
  EXPECT_EQ(follow(at(1)), "MarkNodes");
  EXPECT_EQ(w.status.unhealthy_nodes.size(), 8u);
  s.failed_nodes = nodes;
  EXPECT_EQ(follow(at(2)), "Evict");
}

TEST_F(TopologyMoves, NodesOfWhatIsNotAdmittedAreNotMarked) {
  s.checks = {"c"};
  auto admission = test::admission("cq", "f", 4, "4");
  admission.pod_set_assignments[0].topology_assignment = on_nodes({{"a", 4}});
  take(reserve(w, admission, s.checks, "", at(0)));
  s.failed_nodes = {{"a"}};
  EXPECT_EQ(follow(at(1)), "");
  EXPECT_FALSE(mark_nodes(w, {"a"}, at(1)).has_value());
  w.status.admission_checks[0].state = CheckState::kReady;
  EXPECT_EQ(follow(at(2)), "MarkNodes");  // admitted, then marked
}

TEST_F(TopologyMoves, AReplacementChangesTheShareOfFailedNodesAndNothingElse) {
  admit_on({{"a", 1}, {"b", 1}, {"c", 2}});
  take(mark_nodes(w, {"a"}, at(1)));
  const Workload marked = w;
  for (const auto& wrong : {on_nodes({{"b", 1}, {"c", 2}}), on_nodes({{"b", 1}, {"c", 2}, {"d", 2}}),
                            on_nodes({{"a", 1}, {"b", 1}, {"c", 2}}), on_nodes({{"c", 2}, {"d", 2}}),
                            on_nodes({{"b", 2}, {"c", 1}, {"d", 1}})}) {
    EXPECT_FALSE(replace_nodes(marked, {wrong}, at(2)).has_value());
  }
  EXPECT_FALSE(replace_nodes(marked, {nullptr}, at(2)).has_value());
  EXPECT_FALSE(replace_nodes(marked, {}, at(2)).has_value());
  for (const auto& right :
       {on_nodes({{"b", 1}, {"c", 2}, {"d", 1}}), on_nodes({{"b", 2}, {"c", 2}}), on_nodes({{"b", 1}, {"c", 3}})}) {
    w = marked;
    take(replace_nodes(w, {right}, at(2)));
    EXPECT_EQ(*w.status.admission->pod_set_assignments[0].topology_assignment, *right);
    EXPECT_THAT(w.status.unhealthy_nodes, IsEmpty());
    EXPECT_EQ(condition(w.status, "Admitted"), condition(marked.status, "Admitted"));
  }
}

TEST_F(TopologyMoves, AReplayedReplacementIsRefused) {
  admit_on({{"a", 2}, {"b", 2}});
  take(mark_nodes(w, {"a"}, at(1)));
  take(replace_nodes(w, {on_nodes({{"b", 2}, {"c", 2}})}, at(2)));
  EXPECT_FALSE(replace_nodes(w, {on_nodes({{"b", 2}, {"d", 2}})}, at(3)).has_value());
}

TEST_F(TopologyMoves, WithoutAReplacementItIsEvictedAsKueueSaysIt) {
  admit_on({{"a", 2}, {"b", 2}});
  take(mark_nodes(w, {"b", "a"}, at(1)));
  take(evict(w, no_replacement(w), at(2)));
  EXPECT_EQ(condition(w.status, "Evicted"),
            "True NodeFailures: Workload was evicted as there was no replacement for unhealthy node(s): b, a");
  EXPECT_THAT(notes, ElementsAre(Note{false, "EvictedDueToNodeFailures",
                                      "Workload was evicted as there was no replacement for unhealthy node(s): b, a",
                                      Note::kByScheduler}));
  EXPECT_THAT(w.status.unhealthy_nodes, IsEmpty());
  EXPECT_EQ(w.status.evictions.at(0).reason, "NodeFailures");
}

}  // namespace
}  // namespace berth::engine::lifecycle::topology_test
