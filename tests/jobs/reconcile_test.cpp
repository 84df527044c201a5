// The steps in the life of a job, one reconciliation at a time.
#include "jobs/reconcile.h"

#include <gtest/gtest.h>

#include "jobs/prebuilt.h"
#include "jobs/reconcile_support.h"

namespace berth::jobs::reconcile_test {
namespace {

using namespace reconcile_support;

TEST(Reconcile, ANewJobGetsAWorkload) {
  const auto steps = steps_of(job(), {});
  const auto* create = first<CreateWorkload>(steps);
  ASSERT_NE(create, nullptr);
  const Json& w = create->object;
  EXPECT_EQ(string_at(w, {"metadata", "name"}), workload_name("batch", "Job", "train", "job-1"));
  EXPECT_EQ(string_at(w, {"spec", "queueName"}), "q");
  EXPECT_EQ(string_at(w, {"metadata", "labels", "kueue.x-k8s.io/job-uid"}), "job-1");
  EXPECT_EQ(array_at(w, {"metadata", "finalizers"}).size(), 1u);
  const Json& pod_set = array_at(w, {"spec", "podSets"})[0];
  EXPECT_EQ(int_at(pod_set, {"count"}), 3);
  EXPECT_EQ(canonical_json(Json(object_at(pod_set, {"template", "metadata", "labels"}))),
            R"({"app":"x","batch.kubernetes.io/job-name":"train"})");
  EXPECT_EQ(create->event.note, "Created Workload: ns/" + std::string(string_at(w, {"metadata", "name"})));
}

TEST(Reconcile, AnUnmanagedJobIsLeftAlone) {
  auto f = facts();
  f.managed = false;
  EXPECT_TRUE(reconcile(batch_job(), ptr(job()), {}, f).empty());
}

TEST(Reconcile, AJobThatLeavesTheQueueWhileItWaitsLosesItsWorkload) {
  auto f = facts();
  f.managed = false;
  for (const auto status : {std::string_view("{}"), kAdmittedStatus}) {
    const auto steps = reconcile(batch_job(), ptr(job()), {workload(status)}, f);
    ASSERT_NE(first<DeleteWorkload>(steps), nullptr) << status;
    EXPECT_EQ(first<JobEvent>(steps)->reason, "DeletedWorkload");
  }
  EXPECT_TRUE(reconcile(batch_job(), ptr(job("{spec: {suspend: false}}")), {workload(kAdmittedStatus)}, f).empty())
      << "a job that runs keeps its quota";
  const auto ended =
      reconcile(batch_job(), ptr(job("{status: {conditions: [{type: Complete, status: 'True'}]}}")), {workload()}, f);
  EXPECT_EQ(first<DeleteWorkload>(ended), nullptr);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(first<ReportJob>(ended)->report.finished->reason, "Succeeded")
      << "and it gives its quota back when it ends";
}

TEST(Reconcile, AJobThatRunsWithoutAWorkloadIsSuspendedFirst) {
  const auto steps = steps_of(job("{spec: {suspend: false}}"), {});
  EXPECT_EQ(first<CreateWorkload>(steps), nullptr);
  ASSERT_NE(first<PatchJob>(steps), nullptr);
  EXPECT_TRUE(bool_at(first<PatchJob>(steps)->body, {"spec", "suspend"}));
}

TEST(Reconcile, PriorityComesFromTheLabelThenThePodsThenTheGlobalDefault) {
  EXPECT_EQ(
      int_at(made(job("{metadata: {labels: {kueue.x-k8s.io/priority-class: high}}}"), facts()), {"spec", "priority"}),
      100);
  EXPECT_EQ(int_at(made(job("{spec: {template: {spec: {priorityClassName: pods}}}}"), facts()), {"spec", "priority"}),
            7);
  auto f = facts();
  f.global_default_priority_class = [] { return std::optional(std::pair(std::string("all"), 3)); };
  EXPECT_EQ(int_at(made(job(), f), {"spec", "priority"}), 3);
}

// The API server would refuse every pod of it.
TEST(Reconcile, AJobWaitsForThePriorityClassOfItsPods) {
  const Json waiting = job("{spec: {template: {spec: {priorityClassName: late}}}}");
  const auto steps = steps_of(waiting, {});
  EXPECT_EQ(first<CreateWorkload>(steps), nullptr);
  ASSERT_NE(first<JobEvent>(steps), nullptr);
  EXPECT_EQ(first<JobEvent>(steps)->reason, "ErrWorkloadCompose");
  EXPECT_EQ(first<JobEvent>(steps)->note, "PriorityClass \"late\" not found: no pod of the job could be created");
  auto f = facts();
  f.priority_class = [](std::string_view) { return std::optional(5); };
  EXPECT_EQ(int_at(made(waiting, f), {"spec", "priority"}), 5);
  const Json of_workloads =
      job("{metadata: {labels: {kueue.x-k8s.io/priority-class: high}}, spec: {template: {spec: {priorityClassName: "
          "late}}}}");
  EXPECT_EQ(int_at(made(of_workloads, facts()), {"spec", "priority"}), 100);
}

TEST(Reconcile, AnAdmittedJobStartsOnItsFlavor) {
  const auto steps = steps_of(job(), {workload(kAdmittedStatus)});
  const auto* patch = first<PatchJob>(steps);
  ASSERT_NE(patch, nullptr);
  const Json started = apply_merge_patch(job(), patch->body);
  EXPECT_FALSE(bool_at(started, {"spec", "suspend"}, true));
  EXPECT_EQ(string_at(started, {"spec", "template", "spec", "nodeSelector", "pool"}), "gpu");
  EXPECT_EQ(array_at(started, {"spec", "template", "spec", "tolerations"}).size(), 1u);
  EXPECT_EQ(string_at(started, {"spec", "template", "metadata", "labels", "kueue.x-k8s.io/podset"}), "main");
  EXPECT_EQ(string_at(started, {"spec", "template", "metadata", "labels", "kueue.x-k8s.io/cluster-queue-name"}), "cq");
  ASSERT_NE(first<JobEvent>(steps), nullptr);
  EXPECT_EQ(first<JobEvent>(steps)->note, "Admitted by clusterQueue cq");
}

TEST(Reconcile, AContradictingTemplateFinishesTheWorkloadAsFailedToStart) {
  const Json other = job("{spec: {template: {spec: {nodeSelector: {pool: cpu}}}}}");
  const auto steps = steps_of(other, {workload(kAdmittedStatus, other)});
  EXPECT_EQ(first<PatchJob>(steps), nullptr);
  bool failed = false;
  for (const auto& step : steps) {
    const auto* report = std::get_if<ReportJob>(&step);
    if (report == nullptr || !report->report.finished) continue;
    failed = true;
    EXPECT_EQ(report->report.finished->reason, "FailedToStart");
    EXPECT_NE(report->report.finished->message.find("\"pool\""), std::string::npos);
  }
  EXPECT_TRUE(failed);
}

TEST(Reconcile, AJobWhoseFlavorIsGoneWaitsForIt) {
  auto f = facts();
  f.flavors = [](std::string_view) { return nullptr; };
  const auto steps = reconcile(batch_job(), ptr(job()), {workload(kAdmittedStatus)}, f);
  EXPECT_EQ(first<PatchJob>(steps), nullptr);
  for (const auto& step : steps) {
    const auto* report = std::get_if<ReportJob>(&step);
    EXPECT_TRUE(report == nullptr || !report->report.finished);
  }
  ASSERT_NE(first<JobEvent>(steps), nullptr);
  EXPECT_EQ(first<JobEvent>(steps)->reason, "FailedToStart");
  EXPECT_TRUE(first<JobEvent>(steps)->note.starts_with("ResourceFlavor gpu does not exist: create it, or "))
      << first<JobEvent>(steps)->note;
}

// Runs the stop of a running job to its end, with the states that an API server without a Job controller shows.
TEST(Reconcile, AnEvictedJobStopsInStepsAndIsAsBefore) {
  const auto starting = steps_of(job(), {workload(kAdmittedStatus)});
  Json now = apply_merge_patch(job(), first<PatchJob>(starting)->body);
  now = apply_merge_patch(now, yaml("{status: {active: 3, startTime: \"2026-01-01T00:00:00Z\"}}"));
  const auto evicted = workload(kEvictedStatus);
  std::vector<std::string> notes;
  for (int i = 0; i < 5; ++i) {
    const auto steps = steps_of(now, {evicted});
    const auto* patch = first<PatchJob>(steps);
    if (patch == nullptr) break;
    EXPECT_FALSE(first<ReportJob>(steps)->report.stopped);
    now = apply_merge_patch(now, patch->body);
    if (const auto* event = first<JobEvent>(steps)) notes.push_back(event->reason + ": " + event->note);
  }
  EXPECT_EQ(notes, std::vector<std::string>{"Stopped: make room"});
  auto steps = steps_of(now, {evicted});
  EXPECT_FALSE(first<ReportJob>(steps)->report.stopped) << "pods are still active";
  now = apply_merge_patch(now, yaml("{status: {active: null}}"));
  steps = steps_of(now, {evicted});
  EXPECT_TRUE(first<ReportJob>(steps)->report.stopped);
  const Json wanted = job();
  Json left = now;
  erase_path(left, {"status"});
  erase_path(left, {"metadata", "annotations"});
  EXPECT_EQ(canonical_json(left), canonical_json(wanted));
}

TEST(Reconcile, PartialAdmissionReducesParallelismAndStoppingRestoresIt) {
  const Json elastic = job(
      R"({metadata: {annotations: {kueue.x-k8s.io/job-min-parallelism: "1", kueue.x-k8s.io/job-completions-equal-parallelism: "true"}}})");
  auto admitted = *workload(kAdmittedStatus, elastic);
  admitted.status.admission->pod_set_assignments[0].count = 2;
  const auto w = std::make_shared<const Workload>(admitted);
  const auto starting = steps_of(elastic, {w});
  Json now = apply_merge_patch(elastic, first<PatchJob>(starting)->body);
  EXPECT_EQ(int_at(now, {"spec", "parallelism"}), 2);
  EXPECT_EQ(int_at(now, {"spec", "completions"}), 2);
  EXPECT_EQ(first<DeleteWorkload>(steps_of(now, {w})), nullptr) << "the reduced job still matches its workload";
  auto evicted = admitted;
  evicted.status.conditions = workload(kEvictedStatus)->status.conditions;
  const auto e = std::make_shared<const Workload>(evicted);
  for (int i = 0; i < 4; ++i) {
    const auto steps = steps_of(now, {e});
    if (const auto* patch = first<PatchJob>(steps)) now = apply_merge_patch(now, patch->body);
  }
  EXPECT_EQ(int_at(now, {"spec", "parallelism"}), 3);
  EXPECT_EQ(int_at(now, {"spec", "completions"}), 3);
}

TEST(Reconcile, AFinishedJobFinishesItsWorkloadAndLetsItGo) {
  const Json done =
      job(R"({spec: {suspend: false}, status: {conditions: [{type: Complete, status: "True", message: all done}]}})");
  const auto steps = steps_of(done, {workload(kAdmittedStatus)});
  const auto* report = first<ReportJob>(steps);
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(report->report.finished->reason, "Succeeded");
  EXPECT_EQ(report->report.finished->message, "all done");
  const auto after =
      steps_of(done, {workload(R"({conditions: [{type: Finished, status: "True", reason: Succeeded}]})")});
  EXPECT_NE(first<DropWorkloadFinalizer>(after), nullptr);
  ASSERT_NE(first<JobEvent>(after), nullptr);
  EXPECT_EQ(first<JobEvent>(after)->reason, "FinishedWorkload");
}

TEST(Reconcile, AChangedWaitingJobUpdatesItsWorkload) {
  const auto old = workload();
  const auto steps = steps_of(job("{spec: {parallelism: 2}}"), {old});
  const auto* update = first<UpdateWorkload>(steps);
  ASSERT_NE(update, nullptr);
  EXPECT_EQ(int_at(array_at(update->patch, {"spec", "podSets"})[0], {"count"}), 2);
}

TEST(Reconcile, AnotherQueueIsTakenOverWhileNothingIsReserved) {
  const auto steps = steps_of(job("{metadata: {labels: {kueue.x-k8s.io/queue-name: other}}}"), {workload()});
  ASSERT_NE(first<UpdateWorkload>(steps), nullptr);
  EXPECT_EQ(string_at(first<UpdateWorkload>(steps)->patch, {"spec", "queueName"}), "other");
}

TEST(Reconcile, TheWorkloadOfALostJobIsFinishedThenLetGo) {
  const auto lost = reconcile(batch_job(), nullptr, {workload(kAdmittedStatus)}, facts());
  ASSERT_NE(first<ReportJob>(lost), nullptr);
  EXPECT_EQ(first<ReportJob>(lost)->report.finished->reason, "OwnerNotFound");
  const auto after =
      reconcile(batch_job(), nullptr,
                {workload(R"({conditions: [{type: Finished, status: "True", reason: OwnerNotFound}]})")}, facts());
  EXPECT_NE(first<DropWorkloadFinalizer>(after), nullptr);
}

TEST(Reconcile, ReclaimablePodsAreThoseThatNeedNoSuccessor) {
  struct Case {
    int parallelism, completions, succeeded, reclaimable;
  };
  for (const auto& c : {Case{3, 3, 0, 0}, Case{3, 3, 1, 1}, Case{3, 3, 2, 2}, Case{2, 5, 2, 0}, Case{2, 5, 4, 1},
                        Case{1, 1, 1, 0}, Case{10, 5, 1, 1}, Case{10, 5, 3, 3}, Case{4, 3, 1, 1}, Case{4, 3, 2, 2}}) {
    Json j = job();
    ensure_path(j, {"spec", "parallelism"}) = c.parallelism;
    ensure_path(j, {"spec", "completions"}) = c.completions;
    ensure_path(j, {"status", "succeeded"}) = c.succeeded;
    const auto pods = batch_job().reclaimable(j);
    EXPECT_EQ(pods.empty() ? 0 : pods[0].count, c.reclaimable)
        << c.parallelism << "/" << c.completions << "/" << c.succeeded;
  }
}

TEST(Reconcile, FailedIndexesNeedNoSuccessor) {
  const auto reclaimable = [](int succeeded, std::string_view failed, std::string_view mode = "Indexed") {
    Json j = job("{spec: {parallelism: 4, completions: 6}}");
    ensure_path(j, {"spec", "completionMode"}) = Json(mode);
    ensure_path(j, {"status"}) = JsonObject{{"succeeded", succeeded}, {"failedIndexes", failed}};
    const auto pods = batch_job().reclaimable(j);
    return pods.empty() ? 0 : pods[0].count;
  };
  EXPECT_EQ(reclaimable(0, "1"), 0) << "five indexes are left for four pods";
  EXPECT_EQ(reclaimable(0, "0,2-3"), 1);
  EXPECT_EQ(reclaimable(1, "1,3-5"), 3);
  EXPECT_EQ(reclaimable(0, "0-5"), 4);
  EXPECT_EQ(reclaimable(1, "4-9,20"), 1) << "indexes from 6 on are not counted";
  EXPECT_EQ(reclaimable(3, ""), 1);
  EXPECT_EQ(reclaimable(3, "x,-,5-4,7-,-3,1-99999999999999999999"), 1) << "what is no list of indexes counts as none";
  EXPECT_EQ(reclaimable(3, "1", "NonIndexed"), 1);
  EXPECT_TRUE(batch_job().pods_ready(job(R"({spec: {completionMode: Indexed, parallelism: 3, completions: 3},
    status: {ready: 2, failedIndexes: "1"}})")))
      << "no third pod comes";
}

// A Job that got 3 of its 10 pods. Its workload counts from 10.
TEST(Reconcile, APartiallyAdmittedJobSaysHowManyOfAllItsPodsAreDone) {
  const std::string_view kPartial = "{metadata: {annotations: {kueue.x-k8s.io/job-min-parallelism: '1'}}}";
  const Json asked = apply_merge_patch(job(kPartial), yaml("{spec: {parallelism: 10, completions: 10}}"));
  const auto reported = [&](int parallelism, int succeeded, std::string_view done_before) {
    const auto w = workload(R"({admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: )" +
                                std::to_string(parallelism) + R"(, flavors: {cpu: gpu}, resourceUsage: {cpu: "3"}}]},
      reclaimablePods: [)" + std::string(done_before) +
                                R"(], conditions: [{type: QuotaReserved, status: "True", reason: QuotaReserved},
                   {type: Admitted, status: "True", reason: Admitted}]})",
                            asked);
    Json running = asked;
    ensure_path(running, {"spec", "suspend"}) = false;
    ensure_path(running, {"spec", "parallelism"}) = parallelism;
    ensure_path(running, {"status"}) = JsonObject{{"active", 1}, {"succeeded", succeeded}};
    const auto steps = steps_of(running, {w});
    const auto* step = first<ReportJob>(steps);
    return step == nullptr || step->report.reclaimable->empty() ? 0 : step->report.reclaimable->front().count;
  };
  EXPECT_EQ(reported(3, 0, ""), 0);
  EXPECT_EQ(reported(3, 7, ""), 0) << "three pods are left to run";
  EXPECT_EQ(reported(3, 8, ""), 8);
  EXPECT_EQ(reported(2, 8, "{name: main, count: 8}"), 8) << "admitted again for the last two";
  EXPECT_EQ(reported(2, 9, "{name: main, count: 8}"), 9);
}

// A JobSet that its failure policy restarts has no succeeded Jobs until the new ones have.
TEST(Reconcile, PodsThatRunAgainAreInformedWhenTheyRun) {
  const auto w = workload(std::string(kAdmittedStatus) + "reclaimablePods: [{name: main, count: 2}]\n");
  const auto reported = [&](int active) {
    Json j = job("{spec: {suspend: false}, status: {succeeded: 0}}");
    ensure_path(j, {"status", "active"}) = active;
    const auto steps = steps_of(j, {w});
    const auto* step = first<ReportJob>(steps);
    return step == nullptr || step->report.reclaimable->empty() ? 0 : step->report.reclaimable->front().count;
  };
  EXPECT_EQ(reported(0), 2) << "nothing runs: the status may be in the making";
  EXPECT_EQ(reported(3), 0);
}

constexpr std::string_view kWaitsAgainStatus = R"(
conditions:
- {type: QuotaReserved, status: "False", reason: WaitingForQuota, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}
- {type: Evicted, status: "True", reason: Preempted, message: make room, lastTransitionTime: "2026-01-01T00:00:00Z"}
)";

TEST(Reconcile, AnEvictedWorkloadThatWaitsFollowsItsJob) {
  const auto steps =
      steps_of(job("{metadata: {labels: {kueue.x-k8s.io/queue-name: other, kueue.x-k8s.io/priority-class: high}}}"),
               {workload(kWaitsAgainStatus)});
  const auto* update = first<UpdateWorkload>(steps);
  ASSERT_NE(update, nullptr);
  EXPECT_EQ(string_at(update->patch, {"spec", "queueName"}), "other");
  EXPECT_EQ(int_at(update->patch, {"spec", "priority"}), 100);
  EXPECT_EQ(first<UpdateWorkload>(steps_of(job("{metadata: {labels: {kueue.x-k8s.io/priority-class: high}}}"),
                                           {workload(kEvictedStatus)})),
            nullptr)
      << "while it still holds its quota it is let go first";
}

TEST(Reconcile, AClassOfPodsGivesWayToAClassOfWorkloads) {
  const Json pods = job("{spec: {template: {spec: {priorityClassName: pods}}}}");
  const auto of_pods = workload("{}", pods);
  const Json now = apply_merge_patch(pods, yaml("{metadata: {labels: {kueue.x-k8s.io/priority-class: high}}}"));
  const auto waiting = steps_of(now, {of_pods});
  ASSERT_NE(first<UpdateWorkload>(waiting), nullptr);
  EXPECT_EQ(string_at(first<UpdateWorkload>(waiting)->patch, {"spec", "priorityClassRef", "kind"}),
            "WorkloadPriorityClass");
  EXPECT_EQ(first<JobEvent>(waiting)->note, "Updated workload priority class: ns/" + of_pods->meta.name);
  const auto holds = workload(kAdmittedStatus, pods);
  EXPECT_EQ(first<UpdateWorkload>(steps_of(now, {holds})), nullptr)
      << "the API refuses another kind of class while quota is held";
}

TEST(Reconcile, ANameThatIsTakenIsNoReasonToWaitInSilence) {
  JobFacts f = facts();
  Workload other = *workload();
  other.meta.owners[0].uid = "job-0";
  f.workload = [&](std::string_view ns, std::string_view name) {
    return ns == "ns" && name == other.meta.name ? std::make_shared<const Workload>(other) : nullptr;
  };
  auto steps = reconcile(batch_job(), ptr(job()), {}, f);
  EXPECT_EQ(first<CreateWorkload>(steps), nullptr);
  ASSERT_NE(first<JobEvent>(steps), nullptr);
  EXPECT_EQ(first<JobEvent>(steps)->reason, "ErrWorkloadCompose");
  other.meta.owners.clear();
  steps = reconcile(batch_job(), ptr(job()), {}, f);
  ASSERT_NE(first<UpdateWorkload>(steps), nullptr) << "of nobody: it is taken back";
  EXPECT_EQ(string_at(array_at(first<UpdateWorkload>(steps)->patch, {"metadata", "ownerReferences"})[0], {"uid"}),
            "job-1");
}

TEST(Reconcile, AFinishedWorkloadThatLostItsOwnerMakesRoom) {
  Workload lost = *workload(R"({conditions: [{type: Finished, status: "True", reason: OwnerNotFound}]})");
  lost.meta.owners.clear();
  const auto steps = steps_of(job(), {std::make_shared<const Workload>(lost)});
  EXPECT_NE(first<DeleteWorkload>(steps), nullptr);
  EXPECT_EQ(first<UpdateWorkload>(steps), nullptr);
}

TEST(Reconcile, WithoutTheGateTheWorkloadOfALostJobOnlyLosesItsFinalizer) {
  JobFacts f = facts();
  f.gates.finish_orphaned = false;
  const auto steps = reconcile(batch_job(), nullptr, {workload(kAdmittedStatus)}, f);
  EXPECT_EQ(first<ReportJob>(steps), nullptr);
  EXPECT_NE(first<DropWorkloadFinalizer>(steps), nullptr);
}

TEST(Prebuilt, AnnotationsCountOnlyWithTheirGate) {
  const Json both =
      job("{metadata: {labels: {kueue.x-k8s.io/prebuilt-workload-name: l}, annotations: "
          "{kueue.x-k8s.io/prebuilt-workload-name: a}}}");
  EXPECT_EQ(prebuilt_workload(both, true), "a");
  EXPECT_EQ(prebuilt_workload(both, false), "l");
  JobFacts f = facts();
  f.gates.identifier_annotations = false;
  const Json annotated = job("{metadata: {annotations: {kueue.x-k8s.io/prebuilt-workload-name: a}}}");
  EXPECT_NE(first<CreateWorkload>(reconcile(batch_job(), ptr(annotated), {}, f)), nullptr);
  EXPECT_EQ(first<CreateWorkload>(reconcile(batch_job(), ptr(annotated), {}, facts())), nullptr);
}

}  // namespace
}  // namespace berth::jobs::reconcile_test
