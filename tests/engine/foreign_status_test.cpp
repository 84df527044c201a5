// Statuses written by other clients: incomplete evictions, quota without an admission, and an admission without
// quota.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "engine/support/one_queue.h"

namespace berth::engine::foreign_status_test {
namespace {

using api::kueue::Workload;
using test::OneQueue;
using test::totals;
using test::WorkloadBuilder;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

void set_condition(Workload& w, std::string type, bool status, std::string reason, Time now) {
  api::Condition c;
  c.type = std::move(type);
  c.status = status;
  c.reason = std::move(reason);
  c.message = "by another controller";
  c.last_transition = to_seconds(now);
  api::set_condition(w.status.conditions, std::move(c));
}

// A queue in which a workload of higher priority preempts the running one, whose job never stops by itself.
struct Preempting : OneQueue {
  Preempting() {
    jobs_stop_at_once = false;
    give(queue().preempt_lower());
    give(WorkloadBuilder("low").pods(4, "1").priority(1));
    run();
    give(WorkloadBuilder("high").pods(4, "1").priority(9).created(now()));
    run();
  }
  // Completes the eviction as a job controller of another vendor may do: it leaves the admission.
  void release_low(std::optional<bool> requeued = {}) {
    change("low", [&](Workload& w) {
      set_condition(w, "QuotaReserved", false, "Pending", now());
      if (requeued) set_condition(w, "Requeued", *requeued, "Preempted", now());
    });
    run();
  }
};

TEST(ForeignStatus, AnEvictionEndedWithoutClearingTheAdmissionIsEnded) {
  Preempting s;
  ASSERT_EQ(s.state("low"), "Evicting");
  s.release_low();
  EXPECT_EQ(s.state("high"), "Admitted");
  EXPECT_FALSE(s.workload("low").status.admission) << "quota that is given back is admitted nowhere";
  EXPECT_THAT(s.condition("low", "QuotaReserved"), StartsWith("False WaitingForQuota"));
  EXPECT_THAT(s.condition("low", "Admitted"), StartsWith("False NoReservation"));
  EXPECT_THAT(s.condition("low", "Requeued"), StartsWith("True Preempted"));
  EXPECT_EQ(s.cluster_queue("cq").pending, 1);
  s.finish("high");
  s.run();
  EXPECT_EQ(s.state("low"), "Admitted");
}

TEST(ForeignStatus, WhatTheOtherControllerSaysAboutRequeueingStays) {
  Preempting s;
  s.release_low(true);
  EXPECT_EQ(s.condition("low", "Requeued"), "True Preempted: by another controller");
}

TEST(ForeignStatus, AnUnknownRequeuedConditionHoldsNoWorkloadBack) {
  OneQueue s;
  s.give(s.queue());
  s.give(WorkloadBuilder("w").pods(1, "1"));
  s.change("w", [&](Workload& w) {
    set_condition(w, "Requeued", false, "Deactivated", s.now());
    w.status.conditions.back().unknown = true;
  });
  s.run();
  EXPECT_EQ(s.state("w"), "Admitted");
}

TEST(ForeignStatus, AWorkloadThatIsNotQueuedYetSaysSoWhenNothingElseDoes) {
  OneQueue s;
  Workload later = WorkloadBuilder("later").pods(1, "1");
  later.status.requeue_state = api::kueue::RequeueState{1, s.now() + std::chrono::hours(1)};
  Workload never = WorkloadBuilder("never").pods(1, "1");
  set_condition(never, "Requeued", false, "Unheard", s.now());
  s.give(later);
  s.give(never);
  s.run();
  EXPECT_EQ(s.condition("later", "QuotaReserved"),
            "False PendingEvaluation: The workload waits for the end of a back-off");
  EXPECT_THAT(s.condition("never", "QuotaReserved"),
              StartsWith("False PendingEvaluation: The condition Requeued is False"));
  s.pass(3'601);
  s.run();
  EXPECT_EQ(s.state("later"), "Admitted");
  EXPECT_EQ(s.state("never"), "Held");
}

TEST(ForeignStatus, TheSameAfterARestart) {
  Preempting s;
  s.change("low", [&](Workload& w) { set_condition(w, "QuotaReserved", false, "Pending", s.now()); });
  s.restart();
  s.sync();
  s.run();
  EXPECT_EQ(s.state("high"), "Admitted");
  EXPECT_FALSE(s.workload("low").status.admission);
  EXPECT_THAT(s.condition("low", "QuotaReserved"), StartsWith("False WaitingForQuota"));
}

TEST(ForeignStatus, AnEvictionAfterTheReadyTimeoutKeepsItsBackOff) {
  Options options;
  options.wait_for_pods_ready.enabled = true;
  options.wait_for_pods_ready.timeout = std::chrono::seconds(30);
  options.wait_for_pods_ready.backoff_base_seconds = 60;
  test::Scenario s(options);
  s.jobs_stop_at_once = false;
  s.give(test::flavor("f"));
  s.give(OneQueue::queue());
  s.give(test::local_queue("q", "cq"));
  s.give(WorkloadBuilder("a").pods(4, "1"));
  s.run();
  s.pass(31);
  s.run();
  ASSERT_EQ(s.state("a"), "Evicting");
  s.change("a", [&](Workload& w) { set_condition(w, "QuotaReserved", false, "Pending", s.now()); });
  s.run();
  EXPECT_FALSE(s.workload("a").status.admission);
  EXPECT_THAT(s.condition("a", "Requeued"), StartsWith("False PodsReadyTimeout"));
  EXPECT_EQ(s.state("a"), "Held");
  s.pass(65);
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
}

TEST(ForeignStatus, ReservedQuotaWithoutAnAdmissionStartsOver) {
  for (const bool blocked : {false, true}) {
    OneQueue s;
    s.give(WorkloadBuilder("a").pods(4, "1"));
    s.run();
    ASSERT_EQ(s.state("a"), "Admitted");
    if (blocked) s.give(WorkloadBuilder("b").pods(4, "1").priority(9).created(s.now()));
    s.change("a", [](Workload& w) { w.status.admission.reset(); });
    s.run();
    if (blocked) {
      EXPECT_EQ(s.state("b"), "Admitted") << "what nobody is charged for is free";
      EXPECT_THAT(s.condition("a", "QuotaReserved"), StartsWith("False WaitingForQuota"));
      EXPECT_THAT(s.condition("a", "Admitted"), StartsWith("False NoReservation"));
    } else {
      EXPECT_EQ(s.state("a"), "Admitted");
      ASSERT_TRUE(s.workload("a").status.admission);
      EXPECT_EQ(totals(s.cluster_queue("cq").reservation), "f/cpu=4");
    }
  }
}

TEST(ForeignStatus, AnAdmissionWithoutReservedQuotaIsDropped) {
  OneQueue s;
  s.give(WorkloadBuilder("a").pods(4, "1"));
  s.run();
  Workload b = WorkloadBuilder("b").created(s.now());
  b.status.admission = s.workload("a").status.admission;
  s.give(b);
  s.run();
  EXPECT_FALSE(s.workload("b").status.admission);
  EXPECT_THAT(s.condition("b", "QuotaReserved"), StartsWith("False WaitingForQuota"));
  EXPECT_EQ(totals(s.cluster_queue("cq").reservation), "f/cpu=4");
}

}  // namespace
}  // namespace berth::engine::foreign_status_test
