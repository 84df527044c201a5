// The eviction matrix: reason, Requeued after the job has stopped, and what makes the workload eligible again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/lifecycle/next_moves.h"
#include "engine/support/build.h"

namespace berth::engine::lifecycle::eviction_test {
namespace {

using api::kueue::CheckState;
using api::kueue::StopPolicy;
using test::at;
using test::condition;

using Eviction = next_moves::World;

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

TEST_F(Eviction, FailedChecksAreNamedInOrderAndWithTheirMessages) {
  reserve_now(at(0), {"b", "a", "c"});
  for (auto& check : w.status.admission_checks) {
    check.state = check.name == "c" ? CheckState::kPending : CheckState::kRejected;
    if (check.name == "b") check.message = "said so";
    if (check.name == "a") check.message.clear();
  }
  EXPECT_EQ(checks_in_state(w, CheckState::kRejected), R"(AdmissionChecks in Rejected state: "a"; "b" (said so))");
  w.status.admission_checks[1].state = CheckState::kReady;
  EXPECT_EQ(checks_in_state(w, CheckState::kRejected), R"(AdmissionCheck in Rejected state: "a")") << "no empty ()";
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

}  // namespace
}  // namespace berth::engine::lifecycle::eviction_test
