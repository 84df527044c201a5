// Reports of admission check controllers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/lifecycle/topology_moves.h"
#include "engine/lifecycle/words.h"
#include "engine/support/build.h"

namespace berth::engine::lifecycle::check_reports_test {
namespace {

using api::kueue::AdmissionCheckState;
using api::kueue::CheckState;
using test::at;
using test::condition;
using test::on_nodes;
using testing::ElementsAre;
using testing::IsEmpty;
using topology_moves::TopologyMoves;

AdmissionCheckState says(CheckState state, std::string message = "") {
  AdmissionCheckState out;
  out.name = "prov";
  out.state = state;
  out.message = std::move(message);
  return out;
}

TEST_F(TopologyMoves, AReportSetsTheCheckAndIsAnEventWhenTheStateChanges) {
  delay(CheckState::kPending);
  const Time since = w.status.admission_checks[0].last_transition;
  take(report_checks(w, {{"prov", says(CheckState::kPending, "in an hour")}}, at(5)));
  EXPECT_EQ(w.status.admission_checks[0].message, "in an hour");
  EXPECT_EQ(w.status.admission_checks[0].last_transition, since);
  EXPECT_THAT(notes, IsEmpty());
  auto ready = says(CheckState::kReady, "there");
  ready.pod_set_updates = {{"main", {}, {{"consume", "pr"}}, {}, {}}};
  take(report_checks(w, {{"prov", ready}}, at(6)));
  EXPECT_EQ(w.status.admission_checks[0].state, CheckState::kReady);
  EXPECT_EQ(w.status.admission_checks[0].last_transition, at(6));
  EXPECT_EQ(w.status.admission_checks[0].pod_set_updates, ready.pod_set_updates);
  EXPECT_THAT(notes, ElementsAre(Note{false, "AdmissionCheckUpdated",
                                      "Admission check prov updated state from Pending to Ready with message: there",
                                      Note::kByProvisioning}));
  take(report_checks(w, {{"prov", says(CheckState::kPending)}}, at(7)));
  EXPECT_EQ(notes.at(0).text, "Admission check prov updated state from Ready to Pending");
}

TEST_F(TopologyMoves, ReportsAboutUnknownOrResetChecksSayNothing) {
  delay(CheckState::kPending);
  w.status.admission_checks[0].retry_count = 1;
  auto stale = says(CheckState::kRetry);
  stale.retry_count = 0;
  auto unknown = says(CheckState::kReady);
  unknown.name = "x";
  EXPECT_FALSE(says_anything_new(w, {{"prov", stale}, {"x", unknown}}, at(1)));
  stale.retry_count = 1;
  EXPECT_TRUE(says_anything_new(w, {{"prov", stale}}, at(1)));
}

TEST_F(TopologyMoves, WhatAReportDoesNotStateStays) {
  delay(CheckState::kPending);
  w.status.admission_checks[0].retry_count = 2;
  w.status.admission_checks[0].requeue_after_seconds = 4;
  take(report_checks(w, {{"prov", says(CheckState::kReady)}}, at(1)));
  EXPECT_EQ(w.status.admission_checks[0].retry_count, 2);
  EXPECT_EQ(w.status.admission_checks[0].requeue_after_seconds, 4);
}

TEST_F(TopologyMoves, UpdatesOfAReadyCheckDoNotChangeWhileItIsReady) {
  delay(CheckState::kPending);
  auto ready = says(CheckState::kReady);
  ready.pod_set_updates = {{"main", {}, {{"consume", "pr-1"}}, {}, {}}};
  take(report_checks(w, {{"prov", ready}}, at(1)));
  auto other = ready;
  other.pod_set_updates[0].annotations["consume"] = "pr-2";
  EXPECT_FALSE(says_anything_new(w, {{"prov", other}}, at(2)));
}

TEST_F(TopologyMoves, AReportOfRetryEvictsAndTheCheckStartsOverWithItsBackOff) {
  delay(CheckState::kPending);
  auto retry = says(CheckState::kRetry, "Retrying after failure: no capacity");
  retry.requeue_after_seconds = 2;
  const CheckReports reports{{"prov", retry}};
  s.check_reports = &reports;
  EXPECT_EQ(follow(at(10)), "Evict");
  const auto& check = w.status.admission_checks[0];
  EXPECT_EQ(check.state, CheckState::kPending);
  EXPECT_EQ(check.message, "Reset to Pending after eviction. Previously: Retry");
  EXPECT_EQ(check.retry_count, 1);
  EXPECT_EQ(check.requeue_after_seconds, 2);
  EXPECT_EQ(w.status.requeue_state->requeue_at, at(12));
  EXPECT_EQ(condition(w.status, "Evicted"),
            "True AdmissionCheck: Evicted due to AdmissionCheck in Retry state: \"prov\" (Retrying after failure: no "
            "capacity)");
}

TEST_F(TopologyMoves, AReportOfRejectedDeactivatesEvenWhatRuns) {
  delay();
  take(place(w, {on_nodes({{"a", 4}})}, at(1)));
  w.status.admission_checks[0].pod_set_updates = {{"main", {}, {{"consume", "pr"}}, {}, {}}};
  auto rejected = says(CheckState::kRejected, "taken away");
  rejected.pod_set_updates = w.status.admission_checks[0].pod_set_updates;
  const CheckReports reports{{"prov", rejected}};
  s.check_reports = &reports;
  EXPECT_EQ(follow(at(2)), "MarkTarget");
  EXPECT_EQ(condition(w.status, "DeactivationTarget"),
            "True AdmissionCheck: AdmissionCheck in Rejected state: \"prov\" (taken away)");
  s.check_reports = nullptr;
  w.active = false;
  EXPECT_EQ(follow(at(3)), "Evict");
  EXPECT_EQ(condition(w.status, "Evicted").substr(0, 36), "True DeactivatedDueToAdmissionCheck:");
  EXPECT_EQ(w.status.admission_checks[0].message, "Reset to Pending after eviction. Previously: Rejected");
  EXPECT_EQ(w.status.admission_checks[0].pod_set_updates.size(), 1u);  // until the next report
}

TEST_F(TopologyMoves, ReportsCountForReservationsOnly) {
  const CheckReports reports{{"prov", says(CheckState::kRetry)}};
  s.check_reports = &reports;
  delay(CheckState::kPending);
  take(evict(w, {"Preempted", "", "m"}, at(1)));
  EXPECT_EQ(follow(at(2)), "");
  EXPECT_FALSE(report_checks(w, reports, at(2)).has_value());
}

}  // namespace
}  // namespace berth::engine::lifecycle::check_reports_test
