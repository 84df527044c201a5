// The next move of a workload in each situation: stop policies, checks, gates and deadlines.
#include "engine/lifecycle/next.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/lifecycle/next_moves.h"
#include "engine/support/build.h"

namespace berth::engine::lifecycle::next_test {
namespace {

using api::kueue::CheckState;
using api::kueue::StopPolicy;
using next_moves::World;
using test::at;
using test::condition;
using test::WorkloadBuilder;

// --- Stop policies.

using Stop = World;

TEST_F(Stop, HoldLetsRunWhatRuns) {
  reserve_now(at(0));
  s.cluster_queue.stop = s.local_queue.stop = StopPolicy::kHold;
  run(at(1));
  EXPECT_EQ(state_of(w), State::kAdmitted);
}

TEST_F(Stop, TakesBackQuotaThatIsNotUsedYet) {
  for (const StopPolicy policy : {StopPolicy::kHold, StopPolicy::kHoldAndDrain}) {
    w = WorkloadBuilder("w").build();
    reserve_now(at(0), {"ck"});
    s.cluster_queue = {true, false, false, policy};
    run(at(1));
    EXPECT_EQ(state_of(w), State::kPending);
    EXPECT_EQ(quota(), "False Suspended: ClusterQueue cq is inactive");
    EXPECT_EQ(evicted(), "") << "nothing ran";
    s.cluster_queue = {true, false, true, StopPolicy::kNone};
  }
}

TEST_F(Stop, AMissingQueueTakesBackQuotaThatIsNotUsedYet) {
  reserve_now(at(0), {"ck"});
  s.local_queue = {};
  run(at(1));
  EXPECT_EQ(quota(), "False Misconfigured: LocalQueue q doesn't exist");
}

TEST_F(Stop, AMissingQueueLetsRunWhatRuns) {
  reserve_now(at(0));
  s.local_queue = s.cluster_queue = {};
  run(at(1));
  EXPECT_EQ(state_of(w), State::kAdmitted);
}

// --- Why there is no quota, for reasons other than quota.

struct Missing {
  std::string name;
  QueueView local, cluster;
  std::string expected;
};

TEST_F(World, PendingReasonsOfQueues) {
  const QueueView fine{true, false, true, StopPolicy::kNone};
  const std::vector<Missing> cases{
      {"no local queue", {}, fine, "False Misconfigured: LocalQueue q doesn't exist"},
      {"held local queue", {true, false, false, StopPolicy::kHold}, fine, "False Suspended: LocalQueue q is inactive"},
      {"no cluster queue", fine, {}, "False Misconfigured: ClusterQueue cq doesn't exist"},
      {"inactive cluster queue",
       fine,
       {true, false, false, StopPolicy::kNone},
       "False Suspended: ClusterQueue cq is inactive"},
      {"nothing wrong", fine, fine, ""},
  };
  for (const auto& c : cases) {
    w = WorkloadBuilder("w").build();
    s.local_queue = c.local;
    s.cluster_queue = c.cluster;
    run(at(1));
    EXPECT_EQ(quota(), c.expected) << c.name;
  }
}

TEST_F(World, GatesKeepOutOfTheQueueUntilTheyAreGone) {
  w = WorkloadBuilder("w").annotate("kueue.x-k8s.io/admission-gated-by", "example.com/a,example.com/b").build();
  run(at(1));
  EXPECT_EQ(state_of(w), State::kHeld);
  EXPECT_EQ(quota(), "False AdmissionGated: Admission is gated by: example.com/a,example.com/b");
  w.meta.annotations.clear();
  EXPECT_EQ(state_of(w), State::kPending);
}

TEST_F(World, ChecksFollowTheQueueUntilAdmission) {
  reserve_now(at(0), {"a"});
  s.checks = {"b"};
  run(at(1));
  ASSERT_EQ(w.status.admission_checks.size(), 1u);
  EXPECT_EQ(w.status.admission_checks[0].name, "b");
  check_says(CheckState::kReady, {}, at(2));
  run(at(2));
  EXPECT_EQ(state_of(w), State::kAdmitted);
  s.checks = {"b", "c"};
  run(at(3));
  EXPECT_EQ(state_of(w), State::kAdmitted) << "a check that is required later does not stop what runs";
}

// A client reserves quota and admits in two writes. A workload that waits for checks still needs its local queue.
TEST_F(World, AReservationIsNotLostBecauseTheLocalQueueIsMissing) {
  s.local_queue = {};
  reserve_now(at(0));
  api::remove_condition(w.status.conditions, "Admitted");
  run(at(1));
  EXPECT_EQ(state_of(w), State::kAdmitted);
  w = WorkloadBuilder("w").build();
  reserve_now(at(2), {"a"});
  run(at(3));
  EXPECT_EQ(quota(), "False Misconfigured: LocalQueue q doesn't exist");
}

TEST_F(World, LosingItsLastCheckAdmits) {
  reserve_now(at(0), {"a"});
  s.checks = {};
  run(at(1));
  EXPECT_EQ(state_of(w), State::kAdmitted);
}

TEST_F(World, ARetryWithoutQuotaStartsOverAfterItsDelay) {
  w.status.admission_checks.push_back({});
  check_says(CheckState::kRetry, 5, at(0));
  EXPECT_EQ(state_of(w), State::kHeld);
  EXPECT_EQ(hold_of(w), Hold::kFailedChecks);
  run(at(1));
  EXPECT_EQ(state_of(w), State::kHeld);
  EXPECT_EQ(hold_of(w), Hold::kRequeuedFalse);
  EXPECT_EQ(w.status.admission_checks[0].retry_count, 1);
  EXPECT_EQ(evicted(), "") << "nothing ran";
  EXPECT_EQ(next_time(w, {}), at(5));
  run(at(5));
  EXPECT_EQ(state_of(w), State::kPending);
}

TEST_F(World, FinishedJobsEndTheWorkloadInAnyState) {
  api::kueue::JobReport report;
  report.finished = api::kueue::JobReport::Outcome{"Failed", "no more"};
  s.report = &report;
  run(at(1));
  EXPECT_EQ(state_of(w), State::kFinished);
  EXPECT_EQ(condition(w.status, "Finished"), "True Failed: no more");
  const auto before = w.status;
  run(at(2));
  EXPECT_EQ(w.status, before);
}

TEST_F(World, WhatIsBeingDeletedIsNotQueued) {
  w.meta.deletion = at(0);
  EXPECT_EQ(state_of(w), State::kHeld);
  EXPECT_EQ(hold_of(w), Hold::kDeleting);
}

// A StatefulSet that is scaled to zero holds its workload back.
TEST_F(World, AWorkloadOnHoldGivesItsQuotaBackWithoutAnEvictionAndWaits) {
  reserve_now(at(0), {"check"});
  check_says(CheckState::kReady, {}, at(1));
  run(at(1));
  EXPECT_EQ(state_of(w), State::kAdmitted);
  api::kueue::JobReport report;
  report.on_hold = "scaled to zero";
  s.report = &report;
  run(at(2));
  EXPECT_EQ(state_of(w), State::kAdmitted) << "pods still run";
  report.stopped = true;
  run(at(3));
  EXPECT_EQ(state_of(w), State::kHeld);
  EXPECT_EQ(quota(), "False OnHold: scaled to zero");
  EXPECT_EQ(condition(w.status, "Admitted"), "False NoReservation: The workload has no reservation");
  EXPECT_EQ(condition(w.status, "Evicted"), "");
  EXPECT_FALSE(w.status.admission);
  EXPECT_EQ(w.status.admission_checks.at(0).state, CheckState::kPending) << "it is asked again";
  report.on_hold = "";
  run(at(4));
  EXPECT_EQ(state_of(w), State::kPending);
  EXPECT_EQ(quota(), "False PendingEvaluation: The workload is no longer on hold, waiting for quota reservation");
}

TEST_F(World, AWaitingWorkloadIsHeldBackAtOnce) {
  api::kueue::JobReport report;
  report.on_hold = "scaled to zero";
  s.report = &report;
  run(at(0));
  EXPECT_EQ(quota(), "False OnHold: scaled to zero");
  // A deactivation and an admission gate say why it waits, too.
  w.active = false;
  run(at(1));
  EXPECT_EQ(quota(), "False Deactivated: The workload is deactivated");
  w.active = true;
  run(at(2));
  EXPECT_EQ(quota(), "False OnHold: scaled to zero");
  w.meta.annotations["kueue.x-k8s.io/admission-gated-by"] = "example.com/gate";
  run(at(3));
  EXPECT_EQ(quota(), "False AdmissionGated: Admission is gated by: example.com/gate");
}

}  // namespace
}  // namespace berth::engine::lifecycle::next_test
