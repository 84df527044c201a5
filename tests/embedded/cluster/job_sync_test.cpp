// The decisions of the Job controller, step by step and without a server.
#include "embedded/cluster/job_sync.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "embedded/cluster/job_bench.h"
#include "embedded/cluster/job_pod_changes.h"

namespace berth::cluster::job_sync_test {
namespace {

using namespace job_sync_tests;
using Names = std::vector<std::string>;

TEST(JobSync, MakesPodsThatTheJobControlsAndTracks) {
  Bench job("{parallelism: 2, completions: 5}");
  EXPECT_EQ(job.active(), (Names{"j-1", "j-2"}));
  const Json& pod = job.pod("j-1");
  EXPECT_EQ(string_at(pod, {"metadata", "namespace"}), "n");
  EXPECT_EQ(string_at(pod, {"metadata", "labels", "l"}), "m");
  EXPECT_EQ(string_at(pod.at_pointer("/metadata/ownerReferences/0"), {"uid"}), "job-uid");
  EXPECT_EQ(pod.at_pointer("/metadata/finalizers/0"), Json("batch.kubernetes.io/job-tracking"));
  EXPECT_EQ(job.count("active"), 2);
  EXPECT_EQ(job.status_writes, 1) << "pods first, then one status";
}

TEST(JobSync, WritesDownAPodBeforeItLetsItGoAndCountsItAfter) {
  Bench job("{parallelism: 1, completions: 2}");
  ensure_path(job.pod("j-1"), {"status", "phase"}) = "Succeeded";
  auto step = job.plan();
  ASSERT_EQ(step.kind, JobStep::Kind::kWriteStatus);
  EXPECT_EQ(to_string(step.status.at_pointer("/uncountedTerminatedPods/succeeded")), R"(["uid-1"])");
  EXPECT_EQ(find(step.status, "succeeded"), nullptr);
  job.carry_out(step);
  step = job.plan();
  ASSERT_EQ(step.kind, JobStep::Kind::kChangePods);
  ASSERT_EQ(step.release.size(), 1u);
  EXPECT_EQ(step.release[0].name, "j-1");
  job.carry_out(step);
  job.run();
  EXPECT_EQ(job.count("succeeded"), 1);
  EXPECT_EQ(to_string(*find(job.status(), "uncountedTerminatedPods")), "{}");
}

TEST(JobSync, CountsAPodOnceWhereverItWasInterrupted) {
  // The controller restarts after each step: it remembers only the objects.
  for (int interrupted = 0; interrupted < 4; ++interrupted) {
    Bench job("{parallelism: 1, completions: 2, backoffLimit: 3}");
    ensure_path(job.pod("j-1"), {"status", "phase"}) = "Failed";
    for (int i = 0; i < interrupted; ++i) {
      const auto step = job.plan();
      if (step.kind != JobStep::Kind::kNothing) job.carry_out(step);
    }
    job.pods_.erase("j-1");  // deleted by force
    job.pass(60);
    EXPECT_EQ(job.count("failed"), interrupted == 0 ? 0 : 1) << "after " << interrupted << " steps";
    EXPECT_EQ(job.active().size(), 1u);
  }
}

TEST(JobSync, StopsAtTheBackoffLimitAndTakesAllPodsWithIt) {
  Bench job("{parallelism: 3, completions: 3, backoffLimit: 0}");
  job.finish("j-2", 1);
  EXPECT_EQ(job.conditions(), "FailureTarget/BackoffLimitExceeded Failed/BackoffLimitExceeded");
  EXPECT_EQ(job.active(), Names{});
  EXPECT_EQ(job.count("failed"), 3);
  EXPECT_EQ(job.events, Names{"BackoffLimitExceeded"});
}

TEST(JobSync, WaitsForThePodsOfAFailedJobToEnd) {
  Bench job("{parallelism: 2, completions: 2, backoffLimit: 0}");
  job.linger = true;
  job.finish("j-1", 1);
  EXPECT_EQ(job.conditions(), "FailureTarget/BackoffLimitExceeded");
  EXPECT_EQ(job.count("terminating"), 1);
  job.linger = false;
  job.drop_deleted();
  job.run();
  EXPECT_EQ(job.conditions(), "FailureTarget/BackoffLimitExceeded Failed/BackoffLimitExceeded");
  EXPECT_EQ(job.count("terminating"), 0);
}

TEST(JobSync, WaitsLongerAfterEachFailureUntilASuccess) {
  Bench job("{parallelism: 1, completions: 9, backoffLimit: 99}");
  for (const int delay : {10, 20, 40, 80, 160, 320, 600, 600}) {
    job.finish(job.active().at(0), 1);
    EXPECT_EQ(job.active(), Names{});
    ASSERT_TRUE(job.wake.has_value());
    EXPECT_EQ(*job.wake - job.now, std::chrono::seconds(delay));
    job.pass(delay - 1);
    EXPECT_EQ(job.active(), Names{});
    job.pass(1);
    EXPECT_EQ(job.active().size(), 1u);
  }
  job.finish(job.active().at(0), 0);
  EXPECT_EQ(job.active().size(), 1u);
  job.finish(job.active().at(0), 1);
  EXPECT_EQ(*job.wake - job.now, std::chrono::seconds(10));
}

TEST(JobSync, EndsAtTheDeadlineCountedFromTheLastStart) {
  Bench job("{activeDeadlineSeconds: 30}");
  EXPECT_EQ(*job.wake - job.now, std::chrono::seconds(30));
  job.pass(20);
  job.spec("suspend", true);
  EXPECT_FALSE(job.wake.has_value());
  EXPECT_EQ(find(job.status(), "startTime"), nullptr);
  job.pass(100);
  EXPECT_EQ(job.conditions(), "Suspended/JobSuspended");
  job.spec("suspend", false);
  job.pass(29);
  EXPECT_EQ(job.conditions(), "");
  job.pass(1);
  EXPECT_EQ(job.conditions(), "FailureTarget/DeadlineExceeded Failed/DeadlineExceeded");
  EXPECT_EQ(job.events, (Names{"Suspended", "Resumed", "DeadlineExceeded"}));
}

TEST(JobSync, CountsNoPodThatASuspensionRemoved) {
  Bench job("{parallelism: 2, completions: 2}");
  job.spec("suspend", true);
  EXPECT_TRUE(job.pods_.empty());
  EXPECT_EQ(job.count("failed"), 0);
  EXPECT_EQ(job.count("active"), 0);
}

// Kueue stops a job by suspending it and removing its start time.
TEST(JobSync, EndsAlsoWhenItIsStoppedInTheMomentItsPodsEnd) {
  Bench job("{}");
  ensure_path(job.job_, {"spec", "suspend"}) = true;
  erase_path(job.job_, {"status", "startTime"});
  job.finish("j-1", 0);
  EXPECT_EQ(job.conditions(), "SuccessCriteriaMet/CompletionsReached Complete/CompletionsReached");
  EXPECT_EQ(string_at(job.status(), {"startTime"}), format_time(job.now));
}

TEST(JobSync, CountsADeletedPodAsFailedAndReplacesItAtOnceOrWhenItEnded) {
  Bench at_once("{backoffLimit: 6}");
  at_once.linger = true;
  at_once.erase("j-1");
  EXPECT_EQ(at_once.count("failed"), 1);
  at_once.pass(10);
  EXPECT_EQ(at_once.active(), Names{"j-2"});

  Bench patient("{backoffLimit: 6, podReplacementPolicy: Failed}");
  patient.linger = true;
  patient.erase("j-1");
  patient.pass(10);
  EXPECT_EQ(patient.active(), Names{});
  EXPECT_EQ(patient.count("terminating"), 1);
  EXPECT_EQ(patient.count("failed"), 0);
  patient.finish("j-1", 143);
  patient.pass(10);
  EXPECT_EQ(patient.active(), Names{"j-2"});
  EXPECT_EQ(patient.count("failed"), 1);
}

TEST(JobSync, RemovesWhatDidTheLeastWorkWhenScaledDown) {
  Bench job("{parallelism: 4, completions: null}");
  const auto phase = [&](const std::string& name, std::string_view value) {
    ensure_path(job.pod(name), {"status", "phase"}) = value;
  };
  ensure_path(job.pod("j-2"), {"spec", "nodeName"}) = "x";
  ensure_path(job.pod("j-4"), {"spec", "nodeName"}) = "x";
  phase("j-4", "Running");
  job.spec("parallelism", 2);
  EXPECT_EQ(job.active(), (Names{"j-2", "j-4"}));
  job.spec("parallelism", 1);
  EXPECT_EQ(job.active(), Names{"j-4"});
}

TEST(JobSync, WithoutCompletionsMakesNoPodsAfterTheFirstSuccess) {
  Bench job("{parallelism: 3, completions: null}");
  job.finish("j-1", 0);
  EXPECT_EQ(job.active().size(), 2u);
  job.finish("j-2", 1);
  job.pass(60);
  EXPECT_EQ(job.active(), Names{"j-3"});
  job.finish("j-3", 0);
  EXPECT_EQ(job.conditions(), "SuccessCriteriaMet/CompletionsReached Complete/CompletionsReached");
}

TEST(JobSync, WithNothingToCompleteIsComplete) {
  Bench job("{completions: 0}");
  EXPECT_EQ(job.conditions(), "SuccessCriteriaMet/CompletionsReached Complete/CompletionsReached");
  EXPECT_EQ(job.made, 0);
}

TEST(JobSync, GivesEveryIndexAPodAndNoIndexTwo) {
  Bench job("{completionMode: Indexed, parallelism: 2, completions: 4}");
  EXPECT_EQ(job.active(), (Names{"j-0-1", "j-1-2"}));
  EXPECT_EQ(string_at(job.pod("j-1-2"), {"spec", "hostname"}), "j-1");
  EXPECT_EQ(string_at(job.pod("j-1-2"), {"metadata", "labels", kIndexKey}), "1");
  job.finish("j-1-2", 0);
  EXPECT_EQ(string_at(job.status(), {"completedIndexes"}), "1");
  EXPECT_EQ(job.active(), (Names{"j-0-1", "j-2-3"}));
  job.finish("j-0-1", 1);
  job.pass(10);
  EXPECT_EQ(job.active(), (Names{"j-0-4", "j-2-3"}));
  // A second pod of an index is deleted.
  Json twin = job.pod("j-2-3");
  ensure_path(twin, {"metadata", "name"}) = "twin";
  ensure_path(twin, {"metadata", "uid"}) = "uid-twin";
  job.pods_.emplace("twin", twin);
  job.run();
  EXPECT_EQ(job.active().size(), 2u);
  job.finish("j-0-4", 0);
  for (int i = 0; i < 2; ++i) job.finish(job.active().at(0), 0);
  EXPECT_EQ(string_at(job.status(), {"completedIndexes"}), "0-3");
  EXPECT_EQ(job.count("succeeded"), 4);
  EXPECT_EQ(job.conditions(), "SuccessCriteriaMet/CompletionsReached Complete/CompletionsReached");
}

TEST(JobSync, RetriesEachIndexWithinItsOwnLimit) {
  Bench job("{completionMode: Indexed, parallelism: 2, completions: 2, backoffLimitPerIndex: 1}");
  EXPECT_EQ(string_at(job.pod("j-0-1"), {"metadata", "annotations", kIndexFailures}), "0");
  job.finish("j-0-1", 1);
  EXPECT_EQ(job.active(), Names{"j-1-2"});
  EXPECT_EQ(*job.wake - job.now, std::chrono::seconds(10));
  job.pass(10);
  EXPECT_EQ(job.active(), (Names{"j-0-3", "j-1-2"}));
  EXPECT_EQ(string_at(job.pod("j-0-3"), {"metadata", "annotations", kIndexFailures}), "1");
  job.finish("j-0-3", 1);
  EXPECT_EQ(string_at(job.status(), {"failedIndexes"}), "0");
  EXPECT_EQ(job.conditions(), "") << "the other index may still succeed";
  job.finish("j-1-2", 0);
  EXPECT_EQ(job.conditions(), "FailureTarget/FailedIndexes Failed/FailedIndexes");
  EXPECT_EQ(job.count("failed"), 2);
  EXPECT_EQ(job.count("succeeded"), 1);
}

TEST(JobSync, StopsWhenTooManyIndexesFailed) {
  Bench job(
      "{completionMode: Indexed, parallelism: 3, completions: 9, backoffLimitPerIndex: 0, maxFailedIndexes: "
      "1}");
  job.finish("j-0-1", 1);
  EXPECT_EQ(job.conditions(), "");
  job.finish("j-1-2", 1);
  EXPECT_EQ(job.conditions(), "FailureTarget/MaxFailedIndexesExceeded Failed/MaxFailedIndexesExceeded");
}

TEST(JobSync, FollowsItsPodFailurePolicy) {
  const char* policy =
      "{completionMode: Indexed, parallelism: 3, completions: 3, backoffLimitPerIndex: 5, podFailurePolicy: "
      "{rules: ["
      "{action: FailJob, onExitCodes: {operator: In, values: [42]}},"
      "{action: FailIndex, onExitCodes: {containerName: c, operator: In, values: [7]}},"
      "{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}}";
  Bench job(policy);
  ensure_path(job.pod("j-0-1"), {"status", "conditions"}) =
      JsonArray{{{"type", "DisruptionTarget"}, {"status", "True"}}};
  job.finish("j-0-1", 137);
  job.pass(10);
  EXPECT_EQ(job.count("failed"), 0) << "a disruption does not count";
  EXPECT_EQ(string_at(job.pod("j-0-4"), {"metadata", "annotations", kIndexFailures}), "0");
  EXPECT_EQ(string_at(job.pod("j-0-4"), {"metadata", "annotations", kIndexIgnoredFailures}), "1");
  job.finish("j-1-2", 7);
  EXPECT_EQ(string_at(job.status(), {"failedIndexes"}), "1");
  job.finish("j-2-3", 42);
  EXPECT_EQ(job.conditions(), "FailureTarget/PodFailurePolicy Failed/PodFailurePolicy");
  const auto& conditions = array_at(job.status(), {"conditions"});
  EXPECT_EQ(string_at(conditions.back(), {"message"}),
            "Container c for pod n/j-2-3 failed with exit code 42 matching FailJob rule at index 0");
}

TEST(JobSync, EndsEarlyByItsSuccessPolicy) {
  Bench job(
      "{completionMode: Indexed, parallelism: 4, completions: 4, successPolicy: {rules: [{succeededIndexes: "
      "'0,2-3', "
      "succeededCount: 2}]}}");
  job.finish("j-1-2", 0);
  EXPECT_EQ(job.conditions(), "");
  job.finish("j-0-1", 0);
  job.finish("j-3-4", 0);
  EXPECT_EQ(job.conditions(), "SuccessCriteriaMet/SuccessPolicy Complete/SuccessPolicy");
  EXPECT_EQ(job.active(), Names{});
  EXPECT_EQ(job.count("succeeded"), 3);
  EXPECT_EQ(job.count("failed"), 0);
}

TEST(JobSync, RestartsInPlaceCountAgainstTheBackoffLimit) {
  Bench job("{backoffLimit: 2, template: {spec: {restartPolicy: OnFailure, containers: [{name: c, image: i}]}}}");
  Json& status = ensure_path(job.pod("j-1"), {"status"});
  ensure_path(status, {"phase"}) = "Running";
  ensure_path(status, {"containerStatuses"}) = JsonArray{{{"name", "c"}, {"restartCount", 1}}};
  job.run();
  EXPECT_EQ(job.conditions(), "");
  ensure_path(job.pod("j-1"), {"status", "containerStatuses"}) = JsonArray{{{"name", "c"}, {"restartCount", 2}}};
  job.run();
  EXPECT_EQ(job.conditions(), "FailureTarget/BackoffLimitExceeded Failed/BackoffLimitExceeded");
}

TEST(JobSync, IsDeletedSomeTimeAfterItFinished) {
  Bench job("{ttlSecondsAfterFinished: 60}");
  job.finish("j-1", 0);
  EXPECT_EQ(*job.wake - job.now, std::chrono::seconds(60));
  EXPECT_FALSE(job.deleted);
  job.pass(60);
  EXPECT_TRUE(job.deleted);
}

TEST(JobSync, LeavesJobsOfOtherControllersAlone) {
  Bench job("{managedBy: example.com/other}");
  EXPECT_EQ(job.made, 0);
  EXPECT_EQ(find(job.job_, "status"), nullptr);
}

TEST(JobSync, LetsPodsOfADeletedJobGoAndMakesNone) {
  Bench job("{parallelism: 2, completions: 2}");
  ensure_path(job.job_, {"metadata", "deletionTimestamp"}) = format_time(job.now);
  job.pods_.erase("j-1");
  job.run();
  EXPECT_EQ(job.made, 2);
  EXPECT_TRUE(array_at(job.pod("j-2"), {"metadata", "finalizers"}).empty());
}

TEST(JobSync, ChangesNoMoreThanAHandfulOfPodsAtOnce) {
  Bench job("{parallelism: 1200, completions: 1200}");
  EXPECT_EQ(job.active().size(), 1200u);
  job.job_.at("spec").as_object()["suspend"] = true;
  const auto step = job.plan();
  EXPECT_EQ(step.remove.size(), kMaxPodChanges);
  job.run();
  EXPECT_TRUE(job.pods_.empty());
}

TEST(JobSync, WritesItsStatusAlsoWhenPodsCannotBeMade) {
  Bench job("{suspend: true}");
  job.may_create = false;
  job.spec("suspend", false);
  EXPECT_EQ(job.count("active"), 0);
  EXPECT_NE(find(job.status(), "startTime"), nullptr);
  job.may_create = true;
  job.run();
  EXPECT_EQ(job.count("active"), 1);
}

}  // namespace
}  // namespace berth::cluster::job_sync_test
