// Admission checks (quota is reserved first, then they decide), and the maximum execution time, which deactivates
// like a rejection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/support/one_queue.h"

namespace berth::engine::admission_checks_test {
namespace {

using api::kueue::CheckState;
using api::kueue::Workload;
using test::ClusterQueueBuilder;
using test::OneQueue;
using test::Scenario;
using test::totals;
using test::WorkloadBuilder;
using testing::ElementsAre;
using testing::HasSubstr;

struct Checked : Scenario {
  Checked() {
    give(test::flavor("f"));
    give(test::flavor("g"));
    give(ClusterQueueBuilder("cq").cpu({{"f", "4"}, {"g", "4"}}).check("ck").check("only-g", {"g"}));
    give(test::local_queue("q", "cq"));
    give(test::check("only-g"));
  }
  void say(const std::string& name, CheckState state, std::optional<int> requeue_after = {}) {
    change(name, [&](Workload& w) {
      auto& c = w.status.admission_checks.at(0);
      c.state = state;
      c.message = "said so";
      c.requeue_after_seconds = requeue_after;
      c.last_transition = now();
    });
  }
};

TEST(Checks, AQueueNeedsActiveChecks) {
  Checked s;
  s.run();
  EXPECT_EQ(s.cluster_queue("cq").message, "Can't admit new workloads: references missing AdmissionCheck(s): ck.");
  s.give(test::check("ck", false));
  s.run();
  EXPECT_EQ(s.cluster_queue("cq").reason + ": " + s.cluster_queue("cq").message,
            "AdmissionCheckInactive: Can't admit new workloads: references inactive AdmissionCheck(s): ck.");
  s.give(test::check("ck"));
  s.run();
  EXPECT_TRUE(s.cluster_queue("cq").active);
}

TEST(Checks, QuotaIsReservedAndAdmissionFollowsTheCheck) {
  Checked s;
  s.give(test::check("ck"));
  s.give(WorkloadBuilder("a").pods(2, "1"));
  s.run();
  EXPECT_EQ(s.state("a"), "Reserved");
  EXPECT_EQ(s.condition("a", "Admitted"), "False UnsatisfiedAdmissionChecks: The workload has not all checks ready");
  ASSERT_EQ(s.workload("a").status.admission_checks.size(), 1u) << "the other check is for another flavor";
  EXPECT_EQ(totals(s.cluster_queue("cq").reservation), "f/cpu=2 g/cpu=0");
  EXPECT_EQ(totals(s.cluster_queue("cq").usage), "f/cpu=0 g/cpu=0");
  EXPECT_EQ(s.cluster_queue("cq").reserving, 1);
  EXPECT_EQ(s.cluster_queue("cq").admitted, 0);
  s.say("a", CheckState::kReady);
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(totals(s.cluster_queue("cq").usage), "f/cpu=2 g/cpu=0");

  s.give(WorkloadBuilder("b").pods(4, "1"));
  s.run();
  EXPECT_EQ(s.flavor_of("b"), "g");
  EXPECT_EQ(s.workload("b").status.admission_checks.size(), 2u);
}

TEST(Checks, RetryEvictsAndReservesAgainAfterTheDelay) {
  Checked s;
  s.give(test::check("ck"));
  s.give(WorkloadBuilder("b"));
  s.run();
  s.say("b", CheckState::kRetry, 3);
  s.run();
  EXPECT_EQ(s.state("b"), "Held");
  EXPECT_EQ(s.cluster_queue("cq").pending, 1);
  EXPECT_EQ(s.wake(), s.now() + std::chrono::seconds(3));
  s.pass(2);
  EXPECT_EQ(s.state("b"), "Held");
  s.pass(1);
  EXPECT_EQ(s.state("b"), "Reserved");
  EXPECT_EQ(s.condition("b", "Requeued"), "True BackoffFinished: The workload backoff was finished");
  EXPECT_EQ(s.condition("b", "Evicted"),
            R"(False QuotaReserved: Previously: Evicted due to AdmissionCheck in Retry state: "ck" (said so))");
  EXPECT_EQ(s.workload("b").status.admission_checks[0].retry_count, 1);
  EXPECT_FALSE(s.workload("b").status.requeue_state);
}

TEST(Checks, RejectionDeactivates) {
  Checked s;
  s.give(test::check("ck"));
  s.give(WorkloadBuilder("b"));
  s.run();
  s.take_events();
  s.say("b", CheckState::kRejected);
  s.run();
  EXPECT_EQ(s.state("b"), "Inactive");
  EXPECT_FALSE(s.workload("b").active);
  EXPECT_EQ(s.condition("b", "Requeued"), R"(False DeactivatedDueToAdmissionCheck: The workload is deactivated due to )"
                                          R"(AdmissionCheck in Rejected state: "ck" (said so))");
  EXPECT_EQ(s.condition("b", "QuotaReserved"), "False Deactivated: The workload is deactivated");
  EXPECT_THAT(
      s.take_events(),
      ElementsAre(
          R"(Workload/b Warning AdmissionCheckRejected: Deactivated due to AdmissionCheck in Rejected state: "ck" (said so))",
          R"(Workload/b Normal EvictedDueToDeactivatedDueToAdmissionCheck: The workload is deactivated due to AdmissionCheck in Rejected state: "ck" (said so))"));
  EXPECT_EQ(totals(s.cluster_queue("cq").reservation), "f/cpu=0 g/cpu=0");
}

TEST(Checks, UsedUpTimeDeactivatesOnTheSecond) {
  OneQueue s;
  s.give(WorkloadBuilder("a").max_seconds(30));
  s.run();
  s.pass(29);
  EXPECT_EQ(s.state("a"), "Admitted");
  s.pass(1);
  EXPECT_EQ(s.state("a"), "Inactive");
  EXPECT_THAT(s.condition("a", "Evicted"), HasSubstr("True DeactivatedDueToMaximumExecutionTimeExceeded: "));
}

}  // namespace
}  // namespace berth::engine::admission_checks_test
