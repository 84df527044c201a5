// Reports of admission check controllers reach the status exactly once, whatever happens to the writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/support/scenario.h"

namespace berth::engine::check_report_test {
namespace {

using api::kueue::AdmissionCheckState;
using api::kueue::CheckState;
using test::ClusterQueueBuilder;
using test::Scenario;
using test::WorkloadBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Outcome = Scenario::Outcome;

struct Checked : Scenario {
  Checked() {
    give(test::flavor("f"));
    give(test::check("prov"));
    give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}).check("prov"));
    give(test::local_queue("q", "cq"));
    give(WorkloadBuilder("a").pods(4, "1"));
    run();
    take_events();
  }
  const AdmissionCheckState& check_of_a() const { return workload("a").status.admission_checks.at(0); }
};

AdmissionCheckState says(CheckState state, std::string message, std::string name = "prov") {
  AdmissionCheckState out;
  out.name = std::move(name);
  out.state = state;
  out.message = std::move(message);
  return out;
}

TEST(CheckReports, ReadyAdmitsInTheSameWrite) {
  Checked s;
  ASSERT_EQ(s.state("a"), "Reserved");
  const int writes = s.writes();
  auto ready = says(CheckState::kReady, "there");
  ready.pod_set_updates = {{"main", {}, {{"consume", "pr"}}, {{"pool", "p"}}, {}}};
  s.report_check("a", ready);
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.writes(), writes + 1);
  EXPECT_EQ(s.check_of_a().pod_set_updates, ready.pod_set_updates);
  EXPECT_EQ(s.check_of_a().last_transition, s.now());
  EXPECT_THAT(
      s.take_events(),
      ElementsAre("Workload/a Normal AdmissionCheckUpdated: Admission check prov updated state from Pending to Ready "
                  "with message: there",
                  "Workload/a Normal Admitted: Admitted by ClusterQueue cq, wait time since reservation was 0s"));
}

TEST(CheckReports, TheSameAgainCostsNothing) {
  Checked s;
  s.report_check("a", says(CheckState::kPending, "in an hour"));
  s.run();
  const int writes = s.writes();
  EXPECT_THAT(s.take_events(), IsEmpty());
  EXPECT_EQ(s.check_of_a().message, "in an hour");
  s.report_check("a", says(CheckState::kPending, "in an hour"));
  s.run();
  EXPECT_EQ(s.writes(), writes);
}

TEST(CheckReports, NobodyElsesChecksAndWorkloadsAreTouched) {
  Checked s;
  const int writes = s.writes();
  s.report_check("a", says(CheckState::kReady, "x", "unknown"));
  s.report_check("nobody", says(CheckState::kReady, "x"));
  s.give(WorkloadBuilder("b").pods(4, "1").created(test::at(1)));
  s.report_check("b", says(CheckState::kReady, "too early"));
  s.run();
  EXPECT_EQ(s.state("a"), "Reserved");
  EXPECT_EQ(s.state("b"), "Pending");
  EXPECT_EQ(s.writes(), writes + 1);  // the status of b: it waits
  s.finish("a");
  s.run();
  s.report_check("a", says(CheckState::kRejected, "too late"));
  s.run();
  EXPECT_EQ(s.state("a"), "Finished");
  EXPECT_EQ(s.state("b"), "Reserved");
  EXPECT_EQ(s.workload("b").status.admission_checks.at(0).state, CheckState::kPending);
}

TEST(CheckReports, AReportSurvivesWritesThatFailAndConflict) {
  for (const Outcome failure : {Outcome::kFailed, Outcome::kConflict}) {
    Checked s;
    int failures = 12;
    s.outcome_of_write = [&](const std::string&) { return failures-- > 0 ? failure : Outcome::kDone; };
    s.report_check("a", says(CheckState::kReady, "there"));
    s.run();
    EXPECT_EQ(s.state("a"), "Reserved");
    s.pass(1200);
    EXPECT_EQ(s.state("a"), "Admitted");
  }
}

TEST(CheckReports, AReportSurvivesAChangeThatCrossesIt) {
  Checked s;
  s.report_check("a", says(CheckState::kReady, "there"));
  s.change("a", [](api::kueue::Workload& w) { w.meta.labels["a"] = "b"; });
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
}

TEST(CheckReports, RetryEvictsWaitsAndStartsTheSecondAttempt) {
  Checked s;
  auto retry = says(CheckState::kRetry, "Retrying after failure: no capacity");
  retry.requeue_after_seconds = 2;
  s.report_check("a", retry);
  s.run();
  EXPECT_EQ(s.state("a"), "Held");
  EXPECT_THAT(s.condition("a", "Requeued"), HasSubstr("False AdmissionCheck"));
  EXPECT_THAT(s.take_events(), ElementsAre("Workload/a Normal AdmissionCheckUpdated: Admission check prov updated "
                                           "state from Pending to Retry with message: "
                                           "Retrying after failure: no capacity",
                                           "Workload/a Normal EvictedDueToAdmissionCheck: Evicted due to "
                                           "AdmissionCheck in Retry state: \"prov\" (Retrying "
                                           "after failure: no capacity)"));
  // A report about the first attempt is outdated, even when it is repeated.
  retry.retry_count = 0;
  s.report_check("a", retry);
  s.pass(2);
  EXPECT_EQ(s.state("a"), "Reserved");
  EXPECT_EQ(s.condition("a", "Requeued"), "True BackoffFinished: The workload backoff was finished");
  s.report_check("a", retry);
  s.run();
  EXPECT_EQ(s.state("a"), "Reserved");
  EXPECT_EQ(s.check_of_a().retry_count, 1);
  EXPECT_EQ(s.check_of_a().requeue_after_seconds, 2);
  s.report_check("a", says(CheckState::kReady, "there"));
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.check_of_a().retry_count, 1);
}

TEST(CheckReports, RejectedDeactivatesWhatRuns) {
  Checked s;
  s.report_check("a", says(CheckState::kReady, "there"));
  s.run();
  s.report_check("a", says(CheckState::kRejected, "taken away"));
  s.run();
  EXPECT_EQ(s.state("a"), "Inactive");
  EXPECT_FALSE(s.workload("a").active);
  EXPECT_EQ(s.condition("a", "Evicted"),
            "True DeactivatedDueToAdmissionCheck: The workload is deactivated due to AdmissionCheck in Rejected state: "
            "\"prov\" (taken away)");
  EXPECT_EQ(s.check_of_a().message, "Reset to Pending after eviction. Previously: Rejected");
  // After activation it starts over: the old report does not reject it again.
  s.change("a", [](api::kueue::Workload& w) { w.active = true; }, true);
  s.run();
  EXPECT_EQ(s.state("a"), "Reserved");
  EXPECT_EQ(s.check_of_a().state, CheckState::kPending);
}

TEST(CheckReports, PreemptionAndRestartForgetWhatWasReported) {
  Checked s;
  s.report_check("a", says(CheckState::kReady, "there"));
  s.run();
  s.restart();
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
  s.change("a", [](api::kueue::Workload& w) { w.active = false; }, true);
  s.run();
  s.change("a", [](api::kueue::Workload& w) { w.active = true; }, true);
  s.run();
  EXPECT_EQ(s.state("a"), "Reserved");
}

}  // namespace
}  // namespace berth::engine::check_report_test
