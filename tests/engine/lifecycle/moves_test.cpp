// Each move: what it writes, which events it records, and that the table refuses forbidden moves.
#include "engine/lifecycle/moves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/lifecycle/words.h"
#include "engine/support/build.h"

namespace berth::engine::lifecycle::moves_test {
namespace {

using api::kueue::CheckState;
using test::at;
using test::condition;
using test::WorkloadBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Workload after(Workload w, const Result<Change>& change) {
  EXPECT_TRUE(change.has_value()) << (change ? "" : change.error().message);
  if (change) w.status = change->status;
  return w;
}

Workload reserved(Workload w, const std::vector<std::string>& checks = {}, Time now = at(0)) {
  return after(w, reserve(w, test::admission("cq", "f", 1, "1"), checks, "", now));
}

Workload with_check(Workload w, CheckState state, std::optional<int> requeue_after = {}) {
  auto& check = w.status.admission_checks.at(0);
  check.state = state;
  check.message = "said so";
  check.last_transition = at(5);
  check.requeue_after_seconds = requeue_after;
  return w;
}

TEST(Reserve, AdmitsAtOnceWhenNoCheckIsRequired) {
  Workload w = WorkloadBuilder("w").build();
  w.status.resource_requests = {{"main", {}}};
  const auto change = reserve(w, test::admission("cq", "f", 1, "1"), {}, "Flavors considered: x", at(7));
  w = after(w, change);
  EXPECT_EQ(state_of(w), State::kAdmitted);
  EXPECT_EQ(condition(w.status, "QuotaReserved"), "True QuotaReserved: Quota reserved in ClusterQueue cq");
  EXPECT_EQ(condition(w.status, "Admitted"), "True Admitted: The workload is admitted");
  EXPECT_EQ(condition(w.status, "PodsReady"), "False WaitForStart: Not all pods are ready or succeeded");
  EXPECT_THAT(w.status.resource_requests, IsEmpty());
  EXPECT_THAT(
      change->notes,
      ElementsAre(Note{false, "QuotaReserved",
                       "Quota reserved in ClusterQueue cq, wait time since queued was 7s; Flavors considered: x",
                       Note::kByScheduler},
                  Note{false, "Admitted", "Admitted by ClusterQueue cq, wait time since reservation was 0s",
                       Note::kByScheduler}));
}

TEST(Reserve, WaitsForChecksAndAdmitsWhenAllAreReady) {
  Workload w = reserved(WorkloadBuilder("w"), {"b", "a"});
  EXPECT_EQ(state_of(w), State::kReserved);
  EXPECT_EQ(condition(w.status, "Admitted"), "False UnsatisfiedAdmissionChecks: The workload has not all checks ready");
  ASSERT_EQ(w.status.admission_checks.size(), 2u);
  EXPECT_EQ(w.status.admission_checks[0].name, "a");
  EXPECT_EQ(w.status.admission_checks[0].state, CheckState::kPending);
  EXPECT_FALSE(all_checks_ready(w, {"a", "b"}));
  for (auto& c : w.status.admission_checks) c.state = CheckState::kReady;
  EXPECT_TRUE(all_checks_ready(w, {"a", "b"}));
  const auto change = admit(w, at(9));
  w = after(w, change);
  EXPECT_EQ(state_of(w), State::kAdmitted);
  EXPECT_THAT(change->notes,
              ElementsAre(Note{false, "Admitted", "Admitted by ClusterQueue cq, wait time since reservation was 9s"}));
}

TEST(Reserve, RemembersWhatTheEvictionWas) {
  Workload w = reserved(WorkloadBuilder("w"));
  w = after(w, preempt(w, "InClusterQueue", "Preempted by x", "", at(1)));
  w = after(w, release(w, at(2)));
  w = reserved(w, {}, at(3));
  EXPECT_EQ(condition(w.status, "Evicted"), "False QuotaReserved: Previously: Preempted by x");
  EXPECT_EQ(condition(w.status, "Preempted"), "False QuotaReserved: Previously: Preempted by x");
  EXPECT_EQ(condition(w.status, "Requeued"), "True Preempted: Preempted by x");
}

TEST(NotePending, SaysWhyAndWarnsOnceAboutTheSame) {
  Workload w = WorkloadBuilder("w").build();
  const PendingReason why{"WaitingForQuota", "1 more needed", {{"main", {}}}, true};
  const auto first = note_pending(w, why, at(1));
  w = after(w, first);
  EXPECT_EQ(condition(w.status, "QuotaReserved"), "False WaitingForQuota: 1 more needed");
  EXPECT_EQ(condition(w.status, "Admitted"), "False NoReservation: The workload has no reservation");
  EXPECT_EQ(w.status.resource_requests.size(), 1u);
  EXPECT_THAT(first->notes, ElementsAre(Note{true, "WaitingForQuota", "1 more needed", Note::kByScheduler}));
  const auto again = note_pending(w, why, at(2));
  EXPECT_THAT(again->notes, IsEmpty());
  EXPECT_EQ(again->status, w.status) << "nothing changed, so nothing is to be written";
}

TEST(Evict, KeepsQuotaUntilTheJobStopped) {
  Workload w = reserved(WorkloadBuilder("w"));
  const auto change = evict(w, {"ClusterQueueStopped", "", "The ClusterQueue is stopped"}, at(6));
  w = after(w, change);
  EXPECT_EQ(state_of(w), State::kEvicting);
  EXPECT_TRUE(holds_quota(w.status));
  EXPECT_EQ(condition(w.status, "Admitted"), "True Admitted: The workload is admitted");
  EXPECT_THAT(change->notes,
              ElementsAre(Note{false, "EvictedDueToClusterQueueStopped", "The ClusterQueue is stopped"}));

  w = after(w, release(w, at(8)));
  EXPECT_FALSE(holds_quota(w.status));
  EXPECT_FALSE(w.status.admission);
  EXPECT_EQ(condition(w.status, "QuotaReserved"), "False PendingEvaluation: The ClusterQueue is stopped");
  EXPECT_EQ(condition(w.status, "Admitted"), "False NoReservation: The workload has no reservation");
  EXPECT_EQ(w.status.accumulated_past_execution_time_seconds, 8);
}

TEST(Evict, AddsUpExecutionTimeAndCountsEvictionsByReasonAndCause) {
  Workload w = reserved(WorkloadBuilder("w"), {}, at(0));
  w = after(w, evict(w, {"ClusterQueueStopped", "", "m"}, at(6)));
  w = after(w, release(w, at(6)));
  w = after(w, requeue(w, reason::kClusterQueueRestarted, "m", at(7)));
  w = reserved(w, {}, at(10));
  w = after(w, evict(w, {"ClusterQueueStopped", "", "m"}, at(15)));
  w = after(w, release(w, at(15)));
  EXPECT_EQ(w.status.accumulated_past_execution_time_seconds, 11);
  EXPECT_THAT(w.status.evictions, ElementsAre(api::kueue::EvictionCount{"ClusterQueueStopped", "", 2}));
}

TEST(Evict, ResetsChecksAndKeepsHowLongToWait) {
  Workload w = with_check(reserved(WorkloadBuilder("w"), {"ck"}), CheckState::kRetry, 3);
  w = after(w, evict(w, {"AdmissionCheck", "", "Evicted due to " + checks_in_state(w, CheckState::kRetry)}, at(6)));
  EXPECT_EQ(condition(w.status, "Evicted"),
            R"(True AdmissionCheck: Evicted due to AdmissionCheck in Retry state: "ck" (said so))");
  const auto& check = w.status.admission_checks[0];
  EXPECT_EQ(check.state, CheckState::kPending);
  EXPECT_EQ(check.message, "Reset to Pending after eviction. Previously: Retry");
  EXPECT_EQ(check.retry_count, 1);
  EXPECT_EQ(check.requeue_after_seconds, 3);
  EXPECT_EQ(w.status.requeue_state->requeue_at, at(8));
}

TEST(Evict, NeverMovesTheBackoffBackwards) {
  Workload w = with_check(reserved(WorkloadBuilder("w"), {"ck"}), CheckState::kRetry, 3);
  w.status.requeue_state = api::kueue::RequeueState{2, at(100)};
  w = after(w, evict(w, {"AdmissionCheck", "", "m"}, at(6)));
  EXPECT_EQ(w.status.requeue_state->requeue_at, at(100));
  EXPECT_EQ(w.status.requeue_state->count, 2);
}

TEST(Evict, CountsTheBackoffFromNowWhenTheCheckChangesInTheFuture) {
  Workload w = with_check(reserved(WorkloadBuilder("w"), {"ck"}), CheckState::kRetry, 2147483647);
  w.status.admission_checks[0].last_transition = parse_time("9999-12-31T23:59:59Z").value();
  w = after(w, evict(w, {"AdmissionCheck", "", "m"}, at(6)));
  EXPECT_EQ(w.status.requeue_state->requeue_at, at(6) + std::chrono::seconds(2147483647));
}

TEST(Evict, OfAnInactiveWorkloadWithoutQuotaIsCompleteAtOnce) {
  Workload w = WorkloadBuilder("w").inactive().build();
  const auto change = evict(w, {"Deactivated", "", "The workload is deactivated"}, at(1));
  w = after(w, change);
  EXPECT_EQ(state_of(w), State::kInactive);
  EXPECT_EQ(condition(w.status, "Evicted"), "True Deactivated: The workload is deactivated");
  EXPECT_EQ(condition(w.status, "Requeued"), "False Deactivated: The workload is deactivated");
  EXPECT_EQ(condition(w.status, "QuotaReserved"), "False Deactivated: The workload is deactivated");
  EXPECT_THAT(change->notes, IsEmpty()) << "nothing that ran was evicted";
}

TEST(Finish, KeepsTheAdmissionAsItWas) {
  Workload w = reserved(WorkloadBuilder("w"));
  w = after(w, finish(w, {"Succeeded", "Reached expected number of succeeded pods"}, at(9)));
  EXPECT_EQ(state_of(w), State::kFinished);
  EXPECT_FALSE(holds_quota(w.status)) << "finished: the quota is free";
  EXPECT_TRUE(w.status.admission);
  EXPECT_EQ(condition(w.status, "Finished"), "True Succeeded: Reached expected number of succeeded pods");
  EXPECT_EQ(condition(w.status, "Admitted"), "True Admitted: The workload is admitted");
}

TEST(Pods, GoFromStartToReadyToRecoveryAndBack) {
  Workload w = reserved(WorkloadBuilder("w"));
  const auto report = [&](bool ready) {
    api::kueue::JobReport report;
    report.pods_ready = ready;
    if (says_anything_new(w, report, at(1))) w = after(w, report_pods(w, report, at(1)));
    return condition(w.status, "PodsReady");
  };
  EXPECT_EQ(report(false), "False WaitForStart: Not all pods are ready or succeeded");
  EXPECT_EQ(report(true), "True Started: All pods reached readiness and the workload is running");
  EXPECT_EQ(report(false), "False WaitForRecovery: At least one pod has failed, waiting for recovery");
  EXPECT_EQ(report(false), "False WaitForRecovery: At least one pod has failed, waiting for recovery");
  EXPECT_EQ(report(true), "True Recovered: All pods reached readiness and the workload is running");
  EXPECT_EQ(report(true), "True Recovered: All pods reached readiness and the workload is running");
}

TEST(Pods, AreNotReadyOnceTheQuotaIsGone) {
  Workload w = reserved(WorkloadBuilder("w"));
  api::kueue::JobReport report;
  report.pods_ready = true;
  w = after(w, report_pods(w, report, at(1)));
  w = after(w, evict(w, {"LocalQueueStopped", "", "m"}, at(2)));
  w = after(w, release(w, at(3)));
  EXPECT_EQ(condition(w.status, "PodsReady"), "False WaitForStart: Not all pods are ready or succeeded");
}

TEST(Pods, ReclaimedWhileReservedStayReclaimed) {
  Workload w = reserved(WorkloadBuilder("w").pods(5, "1"));
  api::kueue::JobReport report;
  report.reclaimable = {{"main", 3}};
  w = after(w, report_pods(w, report, at(1)));
  report.reclaimable = {{"main", 1}};
  EXPECT_FALSE(says_anything_new(w, report, at(2)));
  report.reclaimable = std::vector<api::kueue::ReclaimablePod>{};
  EXPECT_FALSE(says_anything_new(w, report, at(2)));
  report.reclaimable = {{"main", 4}};
  w = after(w, report_pods(w, report, at(2)));
  EXPECT_THAT(w.status.reclaimable_pods, ElementsAre(api::kueue::ReclaimablePod{"main", 4}));
}

TEST(Requeue, GivesNewTimeToWhoRanOutOfIt) {
  Workload w = reserved(WorkloadBuilder("w"));
  w.active = false;
  w = after(w, evict(w, {"Deactivated", "MaximumExecutionTimeExceeded", "m"}, at(10)));
  EXPECT_THAT(w.status.evictions,
              ElementsAre(api::kueue::EvictionCount{"Deactivated", "MaximumExecutionTimeExceeded", 1}));
  w = after(w, release(w, at(10)));
  EXPECT_EQ(w.status.accumulated_past_execution_time_seconds, 10);
  w.active = true;
  EXPECT_EQ(state_of(w), State::kHeld);
  w = after(w, requeue(w, reason::kReactivated, message::kReactivated, at(20)));
  EXPECT_EQ(state_of(w), State::kPending);
  EXPECT_FALSE(w.status.accumulated_past_execution_time_seconds);
}

TEST(Messages, AreCutWhereKubernetesWouldRefuseThem) {
  Workload w = WorkloadBuilder("w").build();
  std::string text(40'000, 'x');
  text.replace(32 * 1024 - 1, 2, "\xC3\xA4");  // a character that crosses the limit is removed as a whole
  w = after(w, note_pending(w, {"Misconfigured", text, {}, false}, at(1)));
  EXPECT_EQ(api::find_condition(w.status.conditions, "QuotaReserved")->message.size(), 32u * 1024 - 1);
}

TEST(Messages, OfPreemptionTellPriorities) {
  const Priority preemptor{90, 10}, victim{0, -1};
  EXPECT_EQ(preemption_priorities(preemptor, victim),
            "; preemptor effective priority: 100 (base: 90, boost: 10); preemptee effective priority: -1 "
            "(base: 0, boost: -1)");
}

struct Impossible {
  std::string name;
  Result<Change> change;
};

TEST(Table, RefusesWhatMustNotFollow) {
  const Workload pending = WorkloadBuilder("w").build();
  const Workload gated = WorkloadBuilder("w").annotate("kueue.x-k8s.io/admission-gated-by", "x").build();
  const Workload inactive = WorkloadBuilder("w").inactive().build();
  const Workload admitted = reserved(pending);
  const Workload waiting = reserved(pending, {"ck"});
  const Workload evicting = after(admitted, evict(admitted, {"Preempted", "", "m"}, at(1)));
  const Workload finished = after(admitted, finish(admitted, {"Succeeded", "m"}, at(1)));
  const auto one = test::admission("cq", "f", 1, "1");
  const std::vector<Impossible> cases{
      {"reserve twice", reserve(admitted, one, {}, "", at(2))},
      {"reserve while being evicted", reserve(evicting, one, {}, "", at(2))},
      {"reserve what is finished", reserve(finished, one, {}, "", at(2))},
      {"reserve what is gated", reserve(gated, one, {}, "", at(2))},
      {"reserve what is inactive", reserve(inactive, one, {}, "", at(2))},
      {"admit without quota", admit(pending, at(2))},
      {"evict twice", evict(evicting, {"Preempted", "", "m"}, at(2))},
      {"evict what waits", evict(pending, {"Preempted", "", "m"}, at(2))},
      {"evict what is finished", evict(finished, {"Preempted", "", "m"}, at(2))},
      {"preempt what is finished", preempt(finished, "InClusterQueue", "m", "", at(2))},
      {"release without eviction", release(admitted, at(2))},
      {"release what is finished", release(finished, at(2))},
      {"withdraw quota that is used", withdraw(admitted, {"Suspended", "m", {}, false}, at(2))},
      {"note a reason over a reservation", note_pending(waiting, {"WaitingForQuota", "m", {}, false}, at(2))},
      {"requeue what runs", requeue(admitted, "Reactivated", "m", at(2))},
      {"finish twice", finish(finished, {"Failed", "m"}, at(2))},
  };
  for (const auto& c : cases) {
    EXPECT_FALSE(c.change.has_value()) << c.name;
    if (c.change) continue;
    EXPECT_THAT(c.change.error().message, HasSubstr("workload ns/w: ")) << c.name;
  }
}

}  // namespace
}  // namespace berth::engine::lifecycle::moves_test
