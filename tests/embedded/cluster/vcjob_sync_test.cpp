// The steps of a Volcano Job: which objects it creates and deletes, and which phase follows which.
#include "embedded/cluster/vcjob_sync.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml.h"

namespace berth::cluster::vcjob_sync_test {
namespace {

using api::volcano::Job;
using api::volcano::JobPhase;
using api::volcano::PodGroup;
using api::volcano::PodGroupPhase;

const Time kNow{std::chrono::seconds(1'000'000)};

struct Case {
  explicit Case(std::string_view spec, JobPhase phase = JobPhase::kRunning) {
    object = parse_yaml("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j, namespace: n, uid: u}}")
                 ->front();
    ensure_path(object, {"spec"}) = parse_yaml(spec)->front();
    job = api::volcano::decode_job(object).value();
    job.status.phase = phase;
    job.status.last_transition = kNow - std::chrono::seconds(60);
    group.emplace();
    group->meta.name = "j-u";
    group->status.phase = PodGroupPhase::kRunning;
  }
  void pod(std::string_view task, int index, std::string_view phase, bool deleting = false, int exit_code = 0) {
    for (const auto& each : job.tasks) {
      if (each.name != task) continue;
      Json made = make_vcjob_pod(job, each, index, "j-u");
      ensure_path(made, {"status", "phase"}) = phase;
      if (deleting) ensure_path(made, {"metadata", "deletionTimestamp"}) = "2026-01-01T00:00:00Z";
      if (exit_code != 0)
        ensure_path(made, {"status", "containerStatuses"}) =
            JsonArray{JsonObject{{"state", JsonObject{{"terminated", JsonObject{{"exitCode", exit_code}}}}}}};
      pods.emplace_back(std::make_shared<const Json>(std::move(made)));
    }
  }
  VcJobStep step() const { return next_step({object, job, group ? &*group : nullptr, pods, order, kNow, may_create}); }
  // The phase that the step writes; the job's phase when the step writes no status.
  JobPhase next_phase() const {
    const auto step = this->step();
    return step.status ? step.status->phase : job.status.phase;
  }

  Json object;
  Job job;
  std::optional<PodGroup> group;
  std::vector<VcJobPod> pods;
  std::string order;
  bool may_create = true;
};

constexpr std::string_view kTwo =
    "{minAvailable: 2, tasks: [{name: a, replicas: 2, template: {spec: {containers: [{name: c, image: i}]}}}]}";

TEST(VcJobSync, ANewJobWaitsWithAGroupAndWithoutPods) {
  Case fresh(kTwo, JobPhase::kNone);
  fresh.group.reset();
  EXPECT_EQ(fresh.next_phase(), JobPhase::kPending);
  EXPECT_EQ(fresh.step().status->min_available, 2);
  Case waits(kTwo, JobPhase::kPending);
  waits.group.reset();
  EXPECT_TRUE(waits.step().create_group);
  waits.group.emplace();
  for (const auto phase : {PodGroupPhase::kNone, PodGroupPhase::kPending}) {
    waits.group->status.phase = phase;
    EXPECT_TRUE(waits.step().create.empty());
  }
}

TEST(VcJobSync, PodsKnowTheirJobAndTheirGroup) {
  Case c(kTwo, JobPhase::kPending);
  c.group->status.phase = PodGroupPhase::kInqueue;
  const auto step = c.step();
  ASSERT_EQ(step.create.size(), 2u);
  const Json& pod = step.create[1];
  EXPECT_EQ(string_at(pod, {"metadata", "name"}), "j-a-1");
  EXPECT_EQ(string_at(pod, {"metadata", "annotations", "scheduling.k8s.io/group-name"}), "j-u");
  EXPECT_EQ(string_at(pod, {"metadata", "labels", "volcano.sh/job-name"}), "j");
  EXPECT_EQ(string_at(pod, {"metadata", "labels", "volcano.sh/task-spec"}), "a");
  EXPECT_EQ(string_at(pod, {"spec", "schedulerName"}), "volcano");
  c.may_create = false;
  EXPECT_TRUE(c.step().create.empty());
}

TEST(VcJobSync, OnlyWhatIsMissingIsMadeAndWhatIsTooMuchGoes) {
  Case c(kTwo);
  c.pod("a", 0, "Running");
  c.pod("a", 2, "Running");
  const auto step = c.step();
  ASSERT_EQ(step.create.size(), 1u);
  EXPECT_EQ(string_at(step.create[0], {"metadata", "name"}), "j-a-1");
  ASSERT_EQ(step.remove.size(), 1u);
  EXPECT_EQ(string_at(*step.remove[0], {"metadata", "name"}), "j-a-2");
}

// The group's quota covers the pods of its minimum.
TEST(VcJobSync, PodsAboveTheMinimumWaitBehindTheGate) {
  const auto gated = [](std::int32_t min_member) {
    Case c(
        "{tasks: [{name: a, replicas: 3, minAvailable: 1, template: {spec: {schedulingGates: [{name: other}]}}}, "
        "{name: b, replicas: 2}]}");
    c.group->min_member = min_member;
    std::vector<std::string> out;
    for (const Json& pod : c.step().create) {
      const JsonArray& gates = array_at(pod, {"spec", "schedulingGates"});
      if (!gates.empty() &&
          string_at(gates[gates.size() - 1], {"name"}) == "scheduling.volcano.sh/queue-allocation-gate")
        out.emplace_back(string_at(pod, {"metadata", "name"}));
    }
    return out;
  };
  EXPECT_THAT(gated(3), testing::ElementsAre("j-a-1", "j-a-2"));
  EXPECT_THAT(gated(4), testing::ElementsAre("j-a-2"));
  EXPECT_THAT(gated(2), testing::ElementsAre("j-a-1", "j-a-2", "j-b-1"));
  EXPECT_THAT(gated(5), testing::IsEmpty());
}

TEST(VcJobSync, RunsWhenEnoughPodsRun) {
  Case c(kTwo, JobPhase::kPending);
  c.pod("a", 0, "Running");
  EXPECT_EQ(c.next_phase(), JobPhase::kPending);
  c.pod("a", 1, "Running");
  EXPECT_EQ(c.next_phase(), JobPhase::kRunning);
}

TEST(VcJobSync, WaitsAgainWhenItsQuotaWentToOthers) {
  Case c(kTwo);
  c.group->status.phase = PodGroupPhase::kPending;
  c.pod("a", 0, "Running", true);
  EXPECT_EQ(c.next_phase(), JobPhase::kRunning) << "until its pods are gone";
  c.pods.clear();
  EXPECT_EQ(c.next_phase(), JobPhase::kPending);
  EXPECT_EQ(c.step().status->version, 0);
}

TEST(VcJobSync, EndsWithItsPods) {
  Case good(kTwo);
  good.pod("a", 0, "Succeeded");
  good.pod("a", 1, "Running");
  EXPECT_EQ(good.next_phase(), JobPhase::kRunning);
  good.pods.pop_back();
  good.pod("a", 1, "Succeeded");
  EXPECT_EQ(good.next_phase(), JobPhase::kCompleted);
  Case bad(kTwo);
  bad.pod("a", 0, "Succeeded");
  bad.pod("a", 1, "Failed");
  EXPECT_EQ(bad.next_phase(), JobPhase::kFailed);
  Case early("{minAvailable: 2, minSuccess: 1, tasks: [{name: a, replicas: 2}]}");
  early.pod("a", 0, "Succeeded");
  early.pod("a", 1, "Running");
  EXPECT_EQ(early.next_phase(), JobPhase::kCompleted);
  early.job.status.phase = JobPhase::kCompleted;
  EXPECT_EQ(early.step().remove.size(), 1u);
}

TEST(VcJobSync, EveryTaskHasToSucceedAsOftenAsItMust) {
  const std::string_view tasks =
      "tasks: [{name: a, replicas: 2, minAvailable: 1}, {name: b, replicas: 2, minAvailable: 1}]}";
  for (const auto& [least, end] :
       {std::pair("{minAvailable: 2, ", JobPhase::kFailed), std::pair("{minAvailable: 1, ", JobPhase::kCompleted)}) {
    Case c(std::string(least) + std::string(tasks));
    for (int i = 0; i < 2; ++i) {
      c.pod("a", i, "Succeeded");
      c.pod("b", i, "Failed");
    }
    EXPECT_EQ(c.next_phase(), end) << least;
  }
}

TEST(VcJobSync, FollowsPolicies) {
  const struct {
    std::string policies, of_task;
    JobPhase next;
  } cases[] = {
      {"[]", "[]", JobPhase::kRunning},
      {"[{event: PodFailed, action: AbortJob}]", "[]", JobPhase::kAborting},
      {"[{event: PodFailed, action: AbortJob}]", "[{event: PodFailed, action: RestartJob}]", JobPhase::kRestarting},
      {"[{events: [PodEvicted, PodFailed], action: TerminateJob}]", "[]", JobPhase::kTerminating},
      {"[{event: '*', action: CompleteJob}]", "[]", JobPhase::kCompleting},
      {"[{exitCode: 3, action: RestartJob}]", "[]", JobPhase::kRestarting},
      {"[{exitCode: 4, action: RestartJob}]", "[]", JobPhase::kRunning},
      {"[{event: PodEvicted, action: RestartJob}]", "[]", JobPhase::kRunning},
      {"[{event: TaskCompleted, action: CompleteJob}]", "[]", JobPhase::kRunning},
  };
  for (const auto& c : cases) {
    Case job("{minAvailable: 1, policies: " + c.policies + ", tasks: [{name: a, replicas: 2, policies: " + c.of_task +
             "}]}");
    job.pod("a", 0, "Failed", false, 3);
    job.pod("a", 1, "Running");
    EXPECT_EQ(job.next_phase(), c.next) << c.policies << c.of_task;
  }
  Case master(
      "{minAvailable: 2, tasks: [{name: a, replicas: 1, policies: [{event: TaskCompleted, action: CompleteJob}]}, "
      "{name: b, replicas: 1}]}");
  master.pod("a", 0, "Succeeded");
  master.pod("b", 0, "Running");
  EXPECT_EQ(master.next_phase(), JobPhase::kCompleting);
}

TEST(VcJobSync, AnEvictedPodIsAnEventUnlessItsWholeGroupHadToGo) {
  Case c("{minAvailable: 2, policies: [{event: PodEvicted, action: RestartJob}], tasks: [{name: a, replicas: 2}]}");
  c.pod("a", 0, "Running", true);
  c.pod("a", 1, "Running");
  EXPECT_EQ(c.next_phase(), JobPhase::kRestarting);
  c.group->status.phase = PodGroupPhase::kPending;
  EXPECT_EQ(c.next_phase(), JobPhase::kRunning);
}

TEST(VcJobSync, StopsItsPodsThenGivesItsQuotaBack) {
  Case c(kTwo, JobPhase::kAborting);
  c.pod("a", 0, "Succeeded");
  c.pod("a", 1, "Running");
  EXPECT_EQ(c.step().remove.size(), 1u) << "what has ended stays";
  EXPECT_FALSE(c.step().delete_group);
  c.pods.pop_back();
  c.pod("a", 1, "Running", true);
  EXPECT_TRUE(c.step().remove.empty());
  EXPECT_FALSE(c.step().delete_group) << "it is going, and not gone";
  c.pods.pop_back();
  EXPECT_TRUE(c.step().delete_group);
  EXPECT_EQ(c.next_phase(), JobPhase::kAborting);
  c.group.reset();
  EXPECT_EQ(c.next_phase(), JobPhase::kAborted);
}

TEST(VcJobSync, RestartsAsOftenAsItMay) {
  Case c(kTwo);
  c.order = "RestartJob";
  const auto restarting = c.step();
  ASSERT_EQ(restarting.status->phase, JobPhase::kRestarting);
  EXPECT_EQ(restarting.status->retry_count, 1);
  EXPECT_FALSE(restarting.order_done) << "not before it is written";
  c.job.status = *restarting.status;
  EXPECT_TRUE(c.step().order_done);
  c.order.clear();
  c.group.reset();
  EXPECT_EQ(c.next_phase(), JobPhase::kPending);
  EXPECT_EQ(c.step().status->version, 1);
  c.job.status.retry_count = 3;
  EXPECT_EQ(c.next_phase(), JobPhase::kFailed);
}

TEST(VcJobSync, PodsFromBeforeTheRestartGo) {
  Case c(kTwo);
  c.pod("a", 0, "Succeeded");
  c.job.status.version = 1;
  const auto step = c.step();
  EXPECT_EQ(step.remove.size(), 1u);
  ASSERT_EQ(step.create.size(), 1u) << "its name is still taken";
  EXPECT_EQ(string_at(step.create[0], {"metadata", "annotations", "volcano.sh/job-version"}), "1");
}

TEST(VcJobSync, CommandsLeadFromPhaseToPhase) {
  const struct {
    JobPhase now;
    std::string order;
    JobPhase next;
  } cases[] = {
      {JobPhase::kPending, "AbortJob", JobPhase::kAborting},
      {JobPhase::kRunning, "AbortJob", JobPhase::kAborting},
      {JobPhase::kRunning, "TerminateJob", JobPhase::kTerminating},
      {JobPhase::kRunning, "CompleteJob", JobPhase::kCompleting},
      {JobPhase::kAborted, "ResumeJob", JobPhase::kPending},
      {JobPhase::kRunning, "ResumeJob", JobPhase::kRunning},
      {JobPhase::kCompleted, "AbortJob", JobPhase::kCompleted},
      {JobPhase::kRunning, "DanceJob", JobPhase::kRunning},
  };
  for (const auto& c : cases) {
    Case job(kTwo, c.now);
    job.order = c.order;
    EXPECT_EQ(job.next_phase(), c.next) << c.order;
    EXPECT_EQ(job.step().order_done, c.next == c.now) << c.order;
    if (c.now == JobPhase::kAborted) {
      EXPECT_EQ(job.step().status->retry_count, 0);
    }
  }
}

TEST(VcJobSync, GoesWhenItsTimeIsOver) {
  for (const auto& [ttl, gone] : {std::pair("30", true), std::pair("90", false)}) {
    Case c("{ttlSecondsAfterFinished: " + std::string(ttl) + ", tasks: [{name: a, replicas: 1}]}",
           JobPhase::kCompleted);
    EXPECT_EQ(c.step().delete_job, gone);
    EXPECT_EQ(c.step().wake.has_value(), !gone);
    c.job.status.phase = JobPhase::kAborted;
    EXPECT_FALSE(c.step().delete_job);
  }
}

TEST(VcJobSync, ADeletedJobIsLeftAlone) {
  Case c(kTwo);
  ensure_path(c.object, {"metadata", "deletionTimestamp"}) = "2026-01-01T00:00:00Z";
  const auto step = c.step();
  EXPECT_TRUE(step.create.empty() && step.remove.empty() && !step.status && !step.create_group);
}

}  // namespace
}  // namespace berth::cluster::vcjob_sync_test
