// Every row of the table that maps a ProvisioningRequest to the state of its check, and the order of the rows.
#include "jobs/provisioning_check.h"

#include "jobs/provisioning_support.h"

namespace berth::jobs::provisioning_check_test {
namespace {

using namespace provisioning_test;
using api::kueue::CheckState;

struct Given {
  std::string_view workload = "{}";
  ConfigPtr conf = config();
  bool needed = true;
  // Of the request; nullopt: there is no request.
  std::optional<api::Conditions> conditions = {};
  std::int32_t attempt = 1;
};

api::kueue::AdmissionCheckState decide(const Given& given) {
  const auto w = workload(given.workload);
  std::optional<api::autoscaling::ProvisioningRequest> r;
  if (given.conditions) {
    r = request("wl-chk-" + std::to_string(given.attempt), *given.conditions);
    r->details = {{"pool", "p7"}};
  }
  return decide_check(
      {w, w.status.admission_checks.at(0), given.conf.get(), given.needed, r ? &*r : nullptr, given.attempt});
}

constexpr std::string_view kReady = R"({status: {admissionChecks: [{name: chk, state: Ready, message: there,
  podSetUpdates: [{name: main, labels: {a: b}}], lastTransitionTime: "2026-01-01T00:00:00Z"}]}})";
constexpr std::string_view kSecondTry =
    R"({status: {admissionChecks: [{name: chk, state: Pending, message: old,
  retryCount: 1, requeueAfterSeconds: 60, lastTransitionTime: "2026-01-01T00:00:00Z"}]}})";

TEST(ProvisioningTable, WithoutAConfigurationTheCheckIsInactive) {
  const auto state = decide({.conf = nullptr, .conditions = api::Conditions{condition("Provisioned", true, "x")}});
  EXPECT_EQ(state.state, CheckState::kPending);
  EXPECT_EQ(state.message, "the check is not active");
}

TEST(ProvisioningTable, WhatNeedsNoRequestIsReady) {
  const auto state = decide({.workload = kReady, .needed = false});
  EXPECT_EQ(state.state, CheckState::kReady);
  EXPECT_EQ(state.message, "the provisioning request is not needed");
  EXPECT_TRUE(state.pod_set_updates.empty());
}

TEST(ProvisioningTable, WithoutARequestNothingChanges) {
  EXPECT_EQ(decide({.workload = kReady}), workload(kReady).status.admission_checks[0]);
  EXPECT_EQ(decide({}), workload().status.admission_checks[0]);
}

TEST(ProvisioningTable, AFailureIsRetriedUpToTheLimit) {
  const api::Conditions failed{condition("Failed", true, "no room")};
  const auto first = decide({.conditions = failed});
  EXPECT_EQ(first.state, CheckState::kRetry);
  EXPECT_EQ(first.message, "Retrying after failure: no room");
  EXPECT_EQ(first.requeue_after_seconds, 60);
  EXPECT_EQ(first.retry_count, std::nullopt) << "the eviction counts it";

  const auto second = decide({.workload = kSecondTry, .conditions = failed, .attempt = 2});
  EXPECT_EQ(second.state, CheckState::kRetry);
  EXPECT_EQ(second.requeue_after_seconds, 100) << "doubled, at most the maximum";
  EXPECT_EQ(second.retry_count, 1);

  const auto last = decide({.workload = kSecondTry, .conditions = failed, .attempt = 3});
  EXPECT_EQ(last.state, CheckState::kRejected);
  EXPECT_EQ(last.message, "no room");
}

TEST(ProvisioningTable, AFailureCountsBeforeAllOtherConditions) {
  const auto state = decide({.conditions = api::Conditions{
                                 condition("Provisioned", true, "there"), condition("BookingExpired", true, "late"),
                                 condition("CapacityRevoked", true, "gone"), condition("Failed", true, "no room")}});
  EXPECT_EQ(state.message, "Retrying after failure: no room");
}

TEST(ProvisioningTable, RevokedCapacityRejectsBeforeAnExpiredBookingRetries) {
  const api::Conditions both{condition("BookingExpired", true, "late"), condition("CapacityRevoked", true, "gone"),
                             condition("Provisioned", true, "there")};
  for (const auto& w : {std::string_view("{}"), kAdmittedToo}) {
    const auto state = decide({.workload = w, .conditions = both});
    EXPECT_EQ(state.state, CheckState::kRejected);
    EXPECT_EQ(state.message, "gone");
  }
}

TEST(ProvisioningTable, AnExpiredBookingIsRetriedUnlessThePodsRun) {
  const api::Conditions expired{condition("BookingExpired", true, "late"), condition("Provisioned", true, "there")};
  const auto waiting = decide({.conditions = expired});
  EXPECT_EQ(waiting.state, CheckState::kRetry);
  EXPECT_EQ(waiting.message, "Retrying after booking expired: late");
  EXPECT_EQ(waiting.requeue_after_seconds, 60);
  EXPECT_EQ(decide({.conditions = expired, .attempt = 3}).state, CheckState::kRejected);
  EXPECT_EQ(decide({.workload = kAdmittedToo, .conditions = expired}),
            workload(kAdmittedToo).status.admission_checks[0]);
}

TEST(ProvisioningTable, ProvisionedNodesMakeTheCheckReady) {
  const auto state = decide({.conf = config(R"({podSetUpdates: {nodeSelector: [
                                 {key: node-pool, valueFromProvisioningClassDetail: pool},
                                 {key: other, valueFromProvisioningClassDetail: unknown}]}})"),
                             .conditions = api::Conditions{condition("Provisioned", true, "there")}});
  EXPECT_EQ(state.state, CheckState::kReady);
  EXPECT_EQ(state.message, "there");
  ASSERT_EQ(state.pod_set_updates.size(), 1u);
  EXPECT_EQ(state.pod_set_updates[0].name, "main");
  EXPECT_EQ(state.pod_set_updates[0].annotations,
            (api::StringMap{{"autoscaling.x-k8s.io/consume-provisioning-request", "wl-chk-1"},
                            {"autoscaling.x-k8s.io/provisioning-class-name", "class.example.com"}}));
  EXPECT_EQ(state.pod_set_updates[0].node_selector, (api::StringMap{{"node-pool", "p7"}}));
}

TEST(ProvisioningTable, AReadyCheckStaysAsItIs) {
  EXPECT_EQ(decide({.workload = kReady, .conditions = api::Conditions{condition("Provisioned", true, "changed")}}),
            workload(kReady).status.admission_checks[0]);
}

TEST(ProvisioningTable, AnAcceptedRequestTellsWhenItExpectsTheNodes) {
  const auto state = decide({.conditions = api::Conditions{condition("Accepted", true, "wait"),
                                                           condition("Provisioned", false, "in about 5 minutes")}});
  EXPECT_EQ(state.state, CheckState::kPending);
  EXPECT_EQ(state.message, "in about 5 minutes");
}

TEST(ProvisioningTable, OtherwiseTheCheckWaitsAndSaysNothing) {
  const std::vector<api::Conditions> silent = {{},
                                               {condition("Accepted", true, "wait")},
                                               {condition("Provisioned", false, "not yet")},
                                               {condition("Failed", false, "no")}};
  for (const auto& conditions : silent) {
    const auto state = decide({.workload = kSecondTry, .conditions = conditions, .attempt = 2});
    EXPECT_EQ(state.state, CheckState::kPending);
    EXPECT_EQ(state.message, "");
    EXPECT_EQ(state.retry_count, 1);
    EXPECT_EQ(state.requeue_after_seconds, 60);
  }
}

TEST(ProvisioningTable, MessagesAreCutWhereAStatusEnds) {
  const auto state = decide({.conditions = api::Conditions{condition("Failed", true, std::string(32 * 1024, 'x'))}});
  EXPECT_EQ(state.message.size(), 32u * 1024);
  EXPECT_TRUE(state.message.starts_with("Retrying after failure: x"));
}

TEST(RetryDelay, DoublesUpToTheMaximum) {  // base * 2^(n-1), not base^n
  const api::kueue::ProvisioningRequestConfig::Retry retry{10, 60, 1800};
  const std::int32_t expected[] = {60, 120, 240, 480, 960, 1800, 1800};
  for (int n = 1; n <= 7; ++n) EXPECT_EQ(retry_delay(retry, n), expected[n - 1]) << n;
  EXPECT_EQ(retry_delay(retry, std::numeric_limits<std::int32_t>::max()), 1800);
  EXPECT_EQ(retry_delay({1, std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::max()}, 40),
            std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(retry_delay({1, 0, 10}, 5), 0);
  EXPECT_EQ(retry_delay({1, -5, 10}, 1), 0);
  EXPECT_EQ(retry_delay({1, 5, -10}, 1), 0);
}

}  // namespace
}  // namespace berth::jobs::provisioning_check_test
