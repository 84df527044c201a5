// Jobs that change, end, or are deactivated or deleted in the middle of a start or a stop.
#include <gtest/gtest.h>

#include "jobs/reconcile_support.h"

namespace berth::jobs::reconcile_turns_test {
namespace {

using namespace reconcile_support;

// Evicted when one of its pods had succeeded, the workload is admitted again with two pods. The Job keeps its three.
TEST(ReconcileTurns, AnAdmissionWithoutThePodsThatSucceededLeavesTheCountAlone) {
  constexpr std::string_view kRest = R"(
admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 2, flavors: {cpu: gpu}, resourceUsage: {cpu: "2"}}]}
conditions:
- {type: QuotaReserved, status: "True", reason: QuotaReserved, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}
- {type: Admitted, status: "True", reason: Admitted, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}
reclaimablePods: [{name: main, count: 1}]
)";
  // A minimum below 1 is none.
  for (const std::string minimum : {"", "metadata: {annotations: {kueue.x-k8s.io/job-min-parallelism: '0'}}\n"}) {
    const Json waiting = job(minimum + "status: {succeeded: 1}");
    const auto admitted = workload(kRest, waiting);
    const auto steps = steps_of(waiting, {admitted});
    ASSERT_NE(first<PatchJob>(steps), nullptr);
    const Json started = apply_merge_patch(waiting, first<PatchJob>(steps)->body);
    EXPECT_FALSE(bool_at(started, {"spec", "suspend"}, true));
    EXPECT_EQ(int_at(started, {"spec", "parallelism"}), 3) << minimum;
    const auto later = steps_of(started, {admitted});
    EXPECT_EQ(first<PatchJob>(later), nullptr) << "it runs on";
    EXPECT_EQ(first<DeleteWorkload>(later), nullptr);
  }
}

// Another client changes the template in the moment in which the job ends.
TEST(ReconcileTurns, AFinishedJobFinishesAWorkloadThatDoesNotDescribeItAnyMore) {
  const auto admitted = workload(kAdmittedStatus);
  const Json over = job(R"(
spec: {suspend: false, template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]}}}
status: {conditions: [{type: Complete, status: "True", message: done}]})");
  const auto steps = steps_of(over, {admitted});
  const auto* report = first<ReportJob>(steps);
  ASSERT_NE(report, nullptr);
  ASSERT_TRUE(report->report.finished.has_value());
  EXPECT_EQ(report->report.finished->reason, "Succeeded");
  EXPECT_EQ(first<PatchJob>(steps), nullptr);
}

TEST(ReconcileTurns, ADeactivatedWorkloadDoesNotStartItsJob) {
  auto deactivated = *workload(kAdmittedStatus);
  deactivated.active = false;  // the engine has not evicted it yet
  EXPECT_EQ(first<PatchJob>(steps_of(job(), {std::make_shared<const Workload>(deactivated)})), nullptr);
}

TEST(ReconcileTurns, ADeactivatedJobThatIsEditedWhileItStopsStaysDeactivated) {
  auto deactivated = *workload(kEvictedStatus);
  deactivated.active = false;
  const auto w = std::make_shared<const Workload>(deactivated);
  constexpr std::string_view kEdit = "spec: {template: {spec: {containers: [{name: c, image: newer}]}}}";
  const auto ends = steps_of(job(std::string(kEdit) + "\nstatus: {active: 1}"), {w});
  EXPECT_EQ(first<DeleteWorkload>(ends), nullptr);
  ASSERT_NE(first<ReportJob>(ends), nullptr);
  EXPECT_FALSE(first<ReportJob>(ends)->report.stopped);
  const auto ended = steps_of(job(kEdit), {w});
  EXPECT_EQ(first<DeleteWorkload>(ended), nullptr);
  ASSERT_NE(first<ReportJob>(ended), nullptr);
  EXPECT_TRUE(first<ReportJob>(ended)->report.stopped) << "it gives its quota back";
}

// A finalizer keeps it.
TEST(ReconcileTurns, AJobThatIsBeingDeletedStopsWhenItIsEvictedAndEndsWhenItIsOver) {
  constexpr std::string_view kLeaving = "metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}\nspec: {suspend: false}";
  EXPECT_EQ(first<PatchJob>(steps_of(job(kLeaving), {workload(kAdmittedStatus)})), nullptr) << "it runs on";
  const auto evicted = workload(kEvictedStatus);
  const auto steps = steps_of(job(kLeaving), {evicted});
  ASSERT_NE(first<PatchJob>(steps), nullptr);
  EXPECT_TRUE(bool_at(first<PatchJob>(steps)->body, {"spec", "suspend"}));
  const auto stopped = steps_of(job("metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}"), {evicted});
  ASSERT_NE(first<ReportJob>(stopped), nullptr);
  EXPECT_TRUE(first<ReportJob>(stopped)->report.stopped);
  EXPECT_TRUE(first<ReportJob>(stopped)->report.for_good);
  const auto over = steps_of(job(std::string(kLeaving) + "\nstatus: {conditions: [{type: Complete, status: 'True'}]}"),
                             {workload(kAdmittedStatus)});
  ASSERT_NE(first<ReportJob>(over), nullptr);
  EXPECT_EQ(first<ReportJob>(over)->report.finished->reason, "Succeeded");
}

}  // namespace
}  // namespace berth::jobs::reconcile_turns_test
