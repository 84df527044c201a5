// The next move of a workload in each situation: the eviction matrix, stop policies, checks, gates and deadlines.
#include "engine/lifecycle/next.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/support/build.h"

namespace berth::engine::lifecycle::next_test {
namespace {

using api::kueue::CheckState;
using api::kueue::StopPolicy;
using test::at;
using test::condition;
using test::WorkloadBuilder;

constexpr int kMaxMoves = 8;

class World : public testing::Test {
 protected:
  World() {
    s.local_queue_name = "q";
    s.cluster_queue_name = "cq";
    s.local_queue = s.cluster_queue = {true, false, true, StopPolicy::kNone};
  }
  // Makes all moves that follow, and returns whether spec.active=false is requested.
  bool run(Time now) {
    bool deactivate = false;
    for (int i = 0; i < kMaxMoves; ++i) {
      auto n = next(w, s, now);
      deactivate = n.deactivate;
      if (!n.change) return deactivate;
      EXPECT_TRUE(n.change->has_value()) << (*n.change ? "" : n.change->error().message);
      if (!*n.change) return deactivate;
      w.status = (*n.change)->status;
      for (auto& note : (*n.change)->notes) notes.push_back(note.reason);
    }
    ADD_FAILURE() << "does not come to rest";
    return deactivate;
  }
  void reserve_now(Time now, std::vector<std::string> checks = {}) {
    s.checks = checks;
    auto change = reserve(w, test::admission("cq", "f", 1, "1"), checks, "", now);
    ASSERT_TRUE(change.has_value()) << change.error().message;
    w.status = change->status;
  }
  void stop_job(Time now) {
    s.job_stopped = true;
    run(now);
    s.job_stopped = false;
  }
  void check_says(CheckState state, std::optional<int> requeue_after, Time now) {
    auto& c = w.status.admission_checks.at(0);
    c.state = state;
    c.message = "said so";
    c.requeue_after_seconds = requeue_after;
    c.last_transition = now;
  }
  std::string quota() const { return condition(w.status, "QuotaReserved"); }
  std::string evicted() const { return condition(w.status, "Evicted"); }
  std::string requeued() const { return condition(w.status, "Requeued"); }

  Workload w = WorkloadBuilder("w");
  Situation s;
  std::vector<std::string> notes;
};

// --- The eviction matrix: reason, Requeued after the job has stopped, and what makes the workload eligible again.

using Eviction = World;

TEST_F(Eviction, PreemptedIsEligibleAtOnce) {
  reserve_now(at(0));
  w.status = preempt(w, "InClusterQueue", "Preempted by x", "", at(1))->status;
  run(at(2));
  EXPECT_EQ(state_of(w), State::kEvicting) << "the job still runs";
  stop_job(at(3));
  EXPECT_EQ(state_of(w), State::kPending);
  EXPECT_EQ(requeued(), "True Preempted: Preempted by x");
}

TEST_F(Eviction, NodeFailuresIsEligibleAtOnce) {
  reserve_now(at(0));
  w.status = evict(w, {"NodeFailures", "", "m"}, at(1))->status;
  stop_job(at(3));
  EXPECT_EQ(state_of(w), State::kPending);
  EXPECT_EQ(requeued(), "True NodeFailures: m");
}

TEST_F(Eviction, AdmissionCheckRetryWaitsForItsBackoff) {
  reserve_now(at(0), {"ck"});
  check_says(CheckState::kRetry, 3, at(5));
  run(at(5));
  EXPECT_EQ(evicted(), R"(True AdmissionCheck: Evicted due to AdmissionCheck in Retry state: "ck" (said so))");
  stop_job(at(6));
  EXPECT_EQ(state_of(w), State::kHeld);
  EXPECT_EQ(requeued(), R"(False AdmissionCheck: Evicted due to AdmissionCheck in Retry state: "ck" (said so))");
  EXPECT_EQ(next_time(w, {}), at(8));
  run(at(7));
  EXPECT_EQ(state_of(w), State::kHeld);
  run(at(8));
  EXPECT_EQ(state_of(w), State::kPending);
  EXPECT_EQ(requeued(), "True BackoffFinished: The workload backoff was finished");
  EXPECT_FALSE(w.status.requeue_state);
  EXPECT_EQ(next_time(w, {}), std::nullopt);
}

TEST_F(Eviction, AdmissionCheckRetryWithoutDelayIsEligibleWhenTheJobStopped) {
  reserve_now(at(0), {"ck"});
  check_says(CheckState::kReady, {}, at(1));
  run(at(1));
  EXPECT_EQ(state_of(w), State::kAdmitted);
  check_says(CheckState::kRetry, {}, at(17));
  run(at(17));
  stop_job(at(17));
  EXPECT_EQ(requeued(), "True BackoffFinished: The workload backoff was finished");
  EXPECT_EQ(w.status.accumulated_past_execution_time_seconds, 16);
}

TEST_F(Eviction, ClusterQueueDrainedWaitsForItsRestart) {
  reserve_now(at(0));
  s.cluster_queue.stop = StopPolicy::kHoldAndDrain;
  s.cluster_queue.active = false;
  run(at(1));
  EXPECT_EQ(evicted(), "True ClusterQueueStopped: The ClusterQueue is stopped");
  stop_job(at(2));
  EXPECT_EQ(requeued(), "False ClusterQueueStopped: The ClusterQueue is stopped");
  EXPECT_EQ(quota(), "False Suspended: ClusterQueue cq is inactive");
  s.cluster_queue.stop = StopPolicy::kNone;
  s.cluster_queue.active = true;
  run(at(3));
  EXPECT_EQ(requeued(), "True ClusterQueueRestarted: The ClusterQueue was restarted after being stopped");
  EXPECT_EQ(state_of(w), State::kPending);
}

TEST_F(Eviction, LocalQueueDrainedWaitsForItsRestart) {
  reserve_now(at(0));
  s.local_queue.stop = StopPolicy::kHoldAndDrain;
  run(at(1));
  EXPECT_EQ(evicted(), "True LocalQueueStopped: The LocalQueue is stopped");
  stop_job(at(2));
  EXPECT_EQ(requeued(), "False LocalQueueStopped: The LocalQueue is stopped");
  EXPECT_EQ(quota(), "False Suspended: LocalQueue q is inactive");
  s.local_queue.stop = StopPolicy::kNone;
  run(at(3));
  EXPECT_EQ(requeued(), "True LocalQueueRestarted: The LocalQueue was restarted after being stopped");
}

TEST_F(Eviction, DeactivatedByHandWaitsForItsReactivation) {
  reserve_now(at(0));
  w.active = false;
  w.status.requeue_state = api::kueue::RequeueState{3, std::nullopt};
  run(at(1));
  EXPECT_EQ(evicted(), "True Deactivated: The workload is deactivated");
  EXPECT_FALSE(w.status.requeue_state);
  stop_job(at(2));
  EXPECT_EQ(state_of(w), State::kInactive);
  EXPECT_EQ(requeued(), "False Deactivated: The workload is deactivated");
  EXPECT_EQ(quota(), "False Deactivated: The workload is deactivated");
  w.active = true;
  run(at(3));
  EXPECT_EQ(requeued(), "True Reactivated: The workload was reactivated");
  EXPECT_EQ(state_of(w), State::kPending);
}

TEST_F(Eviction, RejectedCheckDeactivates) {
  reserve_now(at(0), {"ck"});
  check_says(CheckState::kRejected, {}, at(5));
  EXPECT_TRUE(run(at(5))) << "spec.active=false is asked for";
  EXPECT_THAT(notes, testing::ElementsAre("AdmissionCheckRejected"));
  EXPECT_EQ(condition(w.status, "DeactivationTarget"),
            R"(True AdmissionCheck: AdmissionCheck in Rejected state: "ck" (said so))");
  EXPECT_EQ(state_of(w), State::kReserved);
  w.active = false;
  run(at(6));
  const std::string why = R"(The workload is deactivated due to AdmissionCheck in Rejected state: "ck" (said so))";
  EXPECT_EQ(evicted(), "True DeactivatedDueToAdmissionCheck: " + why);
  EXPECT_EQ(condition(w.status, "DeactivationTarget"), "");
  EXPECT_THAT(notes, testing::ElementsAre("AdmissionCheckRejected", "EvictedDueToDeactivatedDueToAdmissionCheck"));
  EXPECT_THAT(w.status.evictions, testing::ElementsAre(api::kueue::EvictionCount{"Deactivated", "AdmissionCheck", 1}));
  stop_job(at(7));
  EXPECT_EQ(requeued(), "False DeactivatedDueToAdmissionCheck: " + why);
  EXPECT_EQ(w.status.admission_checks[0].message, "Reset to Pending after eviction. Previously: Rejected");
  EXPECT_FALSE(w.status.admission_checks[0].retry_count);
}

TEST_F(Eviction, ACheckThatRejectsTheInactiveDoesNotDeactivateAgain) {
  w.active = false;
  run(at(0));
  w.status.admission_checks.push_back({});
  check_says(CheckState::kRejected, {}, at(1));
  run(at(1));
  EXPECT_EQ(w.status.admission_checks[0].state, CheckState::kPending);
  w.active = true;
  EXPECT_FALSE(run(at(2)));
  EXPECT_EQ(state_of(w), State::kPending);
}

TEST_F(Eviction, UsedUpExecutionTimeDeactivates) {
  w.maximum_execution_time_seconds = 10;
  w.status.accumulated_past_execution_time_seconds = 4;
  reserve_now(at(0));
  EXPECT_EQ(next_time(w, {}), at(6));
  EXPECT_FALSE(run(at(5)));
  EXPECT_EQ(state_of(w), State::kAdmitted);
  EXPECT_TRUE(run(at(6)));
  EXPECT_EQ(next_time(w, {}), std::nullopt) << "asked for already";
  w.active = false;
  run(at(7));
  EXPECT_EQ(evicted(),
            "True DeactivatedDueToMaximumExecutionTimeExceeded: The workload is deactivated due to exceeding the "
            "maximum execution time");
  EXPECT_THAT(notes, testing::ElementsAre("MaximumExecutionTimeExceeded",
                                          "EvictedDueToDeactivatedDueToMaximumExecutionTimeExceeded"));
}

TEST_F(Eviction, NeedsAStoppedJobWhateverElseHappens) {
  reserve_now(at(0));
  w.status = preempt(w, "InClusterQueue", "m", "", at(1))->status;
  w.active = false;
  s.cluster_queue.stop = s.local_queue.stop = StopPolicy::kHoldAndDrain;
  run(at(100));
  EXPECT_EQ(state_of(w), State::kEvicting);
  EXPECT_THAT(w.status.evictions.size(), 1u);
}

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
