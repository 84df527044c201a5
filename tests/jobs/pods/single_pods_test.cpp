// Which pods are managed, what is kept of them, and the steps in the life of single pods, one look at a time.
#include <gtest/gtest.h>

#include "jobs/pods/pods_support.h"

namespace berth::jobs::single_pods_test {
namespace {

using namespace pods_support;

TEST(ManagedPods, AMarkOfBerthIsEnough) {
  EXPECT_TRUE(belongs_to_berth(pod()));
  EXPECT_TRUE(belongs_to_berth(pod(R"({metadata: {labels: null, finalizers: null}})")));
  EXPECT_TRUE(belongs_to_berth(pod(R"({metadata: {labels: null}, spec: {schedulingGates: null}})")));
  EXPECT_TRUE(belongs_to_berth(pod(R"({metadata: {finalizers: null}, spec: {schedulingGates: null}})")));
  EXPECT_FALSE(belongs_to_berth(pod(
      R"({metadata: {labels: {kueue.x-k8s.io/queue-name: null}, finalizers: null}, spec: {schedulingGates: null}})")))
      << "the label alone";
  EXPECT_FALSE(belongs_to_berth(
      pod(R"({metadata: {labels: {kueue.x-k8s.io/managed: null}, finalizers: null}, spec: {schedulingGates: null}})")))
      << "a queue alone, for example of a pod whose Job is managed";
}

TEST(ManagedPods, AnAnnotationNamesTheGroupBeforeTheLabelDoes) {
  const Json both = pod(R"({metadata: {labels: {kueue.x-k8s.io/pod-group-name: by-label},
                                       annotations: {kueue.x-k8s.io/pod-group-name: by-annotation}}})");
  EXPECT_EQ(decode_managed_pod(both, true)->group, "by-annotation");
  EXPECT_EQ(decode_managed_pod(both, false)->group, "by-label");
}

TEST(ManagedPods, OnlyGatedPodsKeepTheirSpec) {
  EXPECT_EQ(managed(pod())->spec(), *find_path(pod(), {"spec"}));
  EXPECT_EQ(managed(pod(kRunning))->pod_template, nullptr);
  EXPECT_TRUE(managed(pod(kRunning))->spec().is_null());
}

TEST(ManagedPods, NothingIsKeptOfASinglePodThatIsOver) {
  const std::string ended = R"({spec: {schedulingGates: null}, status: {phase: Succeeded}})";
  EXPECT_NE(find(*managed(pod(ended))->object, "metadata"), nullptr) << "its finalizer must be removed";
  const auto over = managed(apply_merge_patch(pod(ended), yaml("{metadata: {finalizers: null}}")));
  EXPECT_TRUE(over->ended());
  EXPECT_EQ(find(*over->object, "metadata"), nullptr);
}

// So thousands of equal pods share one document.
TEST(ManagedPods, WhatIsKeptOfEqualPodsIsEqual) {
  const auto a = managed(pod("{metadata: {name: a, uid: uid-1, resourceVersion: '8'}}")),
             b = managed(pod("{metadata: {name: b, uid: uid-2, resourceVersion: '9', creationTimestamp: x}}"));
  EXPECT_EQ(to_string(*a->object), to_string(*b->object));
  EXPECT_EQ(to_string(*a->pod_template), to_string(*b->pod_template));
  EXPECT_EQ(object_at(*a->object, {"metadata"}).size(), 4u) << to_string(*a->object);
}

TEST(SinglePods, ANewPodGetsAWorkload) {
  const PodPlan plan = single(pod(), {});
  const Json w = all<CreateWorkload>(plan).at(0).object;
  EXPECT_TRUE(string_at(w, {"metadata", "name"}).starts_with("pod-p-"));
  EXPECT_EQ(string_at(w, {"metadata", "labels", "kueue.x-k8s.io/job-uid"}), "uid-p");
  EXPECT_EQ(string_at(w, {"spec", "queueName"}), "q");
  const Json& pod_set = array_at(w, {"spec", "podSets"}).at(0);
  EXPECT_EQ(string_at(pod_set, {"name"}), "main");
  EXPECT_EQ(int_at(pod_set, {"count"}), 1);
  EXPECT_EQ(string_at(pod_set, {"topologyRequest", "podIndexLabel"}), "kueue.x-k8s.io/pod-group-pod-index");
  EXPECT_TRUE(object_at(pod_set, {"template", "metadata"}).empty());
  const Json& owner = array_at(w, {"metadata", "ownerReferences"}).at(0);
  EXPECT_EQ(string_at(owner, {"kind"}), "Pod");
  EXPECT_TRUE(bool_at(owner, {"controller"}));
  EXPECT_EQ(events(plan),
            Texts{"CreatedWorkload: Created Workload: ns/" + std::string(string_at(w, {"metadata", "name"}))});
}

TEST(SinglePods, APriorityClassThatDoesNotExistIsReported) {
  const PodPlan plan = single(pod("{metadata: {labels: {kueue.x-k8s.io/priority-class: none}}}"), {});
  EXPECT_TRUE(all<CreateWorkload>(plan).empty());
  EXPECT_EQ(events(plan), Texts{"WorkloadPriorityClassNotFound: WorkloadPriorityClass \"none\" not found"});
}

TEST(SinglePods, AWaitingPodStaysGated) {
  const PodPlan plan = single(pod(), {single_workload("")});
  EXPECT_TRUE(plan.actions.empty());
  ASSERT_EQ(all<ReportJob>(plan).size(), 1u);
  EXPECT_TRUE(all<ReportJob>(plan)[0].report.stopped);
  EXPECT_EQ(plan.steps.size(), 1u);
}

TEST(SinglePods, AnAdmittedPodIsLetGoInOneRequest) {
  const PodPlan plan = single(pod(R"({metadata: {resourceVersion: "8"}})"), {single_workload(kAdmitted)});
  ASSERT_EQ(plan.actions.size(), 1u);
  const Json& patch = plan.actions[0].patch->body;
  EXPECT_TRUE(find_path(patch, {"spec", "schedulingGates"})->is_null()) << "without a place both gates go";
  EXPECT_EQ(string_at(patch, {"spec", "nodeSelector", "tier"}), "a");
  EXPECT_EQ(array_at(patch, {"spec", "tolerations"}).size(), 1u);
  EXPECT_EQ(string_at(patch, {"metadata", "labels", "kueue.x-k8s.io/podset"}), "main");
  EXPECT_EQ(string_at(patch, {"metadata", "labels", "kueue.x-k8s.io/cluster-queue-name"}), "cq");
  EXPECT_EQ(events(plan), Texts{"p Started: Admitted by clusterQueue cq"});
}

TEST(SinglePods, APodThatContradictsItsAdmissionFinishesTheWorkload) {
  const auto before = single_workload(kAdmitted);
  Json other = pod("{spec: {nodeSelector: {tier: b}}}");
  const auto workload = stored(single(other, {}), kAdmitted);
  const PodPlan plan = single(other, {workload});
  EXPECT_TRUE(plan.actions.empty());
  const auto reports = all<ReportJob>(plan);
  ASSERT_FALSE(reports.empty());
  ASSERT_TRUE(reports.back().report.finished);
  EXPECT_EQ(reports.back().report.finished->reason, "FailedToStart");
}

TEST(SinglePods, APodWhoseFlavorIsGoneWaitsForIt) {
  const auto workload = single_workload(kAdmitted);
  JobFacts without = facts(workload);
  without.flavors = [](std::string_view) { return nullptr; };
  const PodPlan plan = reconcile_pod(managed(pod()), {workload}, without, kNow);
  EXPECT_TRUE(plan.actions.empty());
  for (const auto& report : all<ReportJob>(plan)) EXPECT_FALSE(report.report.finished);
  ASSERT_EQ(events(plan).size(), 1u);
  EXPECT_TRUE(events(plan)[0].starts_with("FailedToStart: ResourceFlavor f does not exist: create it, or "));
}

TEST(SinglePods, AnEvictedPodIsMarkedAndDeleted) {
  const PodPlan plan = single(pod(kRunning), {single_workload(kEvicted)});
  ASSERT_EQ(plan.actions.size(), 1u);
  EXPECT_TRUE(plan.actions[0].remove);
  EXPECT_EQ(plan.actions[0].patch->subresource, "status");
  const JsonArray& conditions = array_at(plan.actions[0].patch->body, {"status", "conditions"});
  ASSERT_EQ(conditions.size(), 2u) << "the conditions of others stay";
  EXPECT_EQ(string_at(conditions[1], {"type"}), "TerminationTarget");
  EXPECT_EQ(string_at(conditions[1], {"reason"}), "WorkloadEvictedDueToPreempted");
  EXPECT_EQ(events(plan), Texts{"p Stopped: because"});
  EXPECT_FALSE(all<ReportJob>(plan)[0].report.stopped);
}

TEST(SinglePods, ADeletedPodIsReleasedAndGivesItsQuotaBackForGood) {
  Json gone = apply_merge_patch(pod(kRunning), yaml(kDeleted));
  const PodPlan evicted = single(gone, {single_workload(kEvicted)});
  ASSERT_EQ(evicted.actions.size(), 1u);
  EXPECT_TRUE(array_at(evicted.actions[0].patch->body, {"metadata", "finalizers"}).empty());
  EXPECT_TRUE(all<ReportJob>(evicted)[0].report.stopped);
  EXPECT_TRUE(all<ReportJob>(evicted)[0].report.for_good);
  gone = apply_merge_patch(gone, yaml("{metadata: {finalizers: null}}"));
  const PodPlan released = single(gone, {single_workload(kAdmitted)});
  EXPECT_TRUE(released.actions.empty());
  EXPECT_EQ(all<ReportJob>(released).at(0).report.finished->reason, "OwnerNotFound");
}

TEST(SinglePods, TheResultIsStoredBeforeThePodIsReleased) {
  const Json done = apply_merge_patch(pod(kRunning), yaml("{status: {phase: Succeeded, message: all done}}"));
  const PodPlan ended = single(done, {single_workload(kAdmitted)});
  EXPECT_TRUE(ended.actions.empty());
  EXPECT_EQ(all<ReportJob>(ended).at(0).report.finished->reason, "Succeeded");
  EXPECT_EQ(all<ReportJob>(ended).at(0).report.finished->message, "all done");
  const auto workload = single_workload(kAdmitted + ", " + true_condition("Finished", "Succeeded"));
  const PodPlan reported = single(done, {workload});
  EXPECT_EQ(reported.actions.size(), 1u);
  EXPECT_EQ(all<DropWorkloadFinalizer>(reported).size(), 1u);
  EXPECT_EQ(events(reported),
            Texts{"FinishedWorkload: Workload 'ns/" + workload->meta.name + "' is declared finished"});
}

TEST(SinglePods, APodThatRunsWithoutAdmissionIsDeleted) {
  EXPECT_EQ(events(single(pod(kRunning), {})), Texts{"p Stopped: Missing Workload; unable to run the job"});
  EXPECT_EQ(events(single(pod(kRunning), {single_workload(kReserved)})),
            Texts{"p Stopped: Not admitted by cluster queue"});
}

TEST(SinglePods, ADeletedWorkloadStopsARunningPodAndIsMadeAnewForAGatedOne) {
  Workload leaving = *single_workload(kAdmitted);
  leaving.meta.deletion = kNow;
  const auto workload = std::make_shared<const Workload>(leaving);
  EXPECT_EQ(events(single(pod(kRunning), {workload})), Texts{"p Stopped: Workload is deleted"});
  EXPECT_EQ(all<DropWorkloadFinalizer>(single(pod(), {workload})).size(), 1u);
}

TEST(SinglePods, AChangedQueueAndATightenedNodeSelectorReachTheWaitingWorkload) {
  const PodPlan moved = single(pod("{metadata: {labels: {kueue.x-k8s.io/queue-name: q2}}}"), {single_workload("")});
  EXPECT_EQ(string_at(all<UpdateWorkload>(moved).at(0).patch, {"spec", "queueName"}), "q2");
  const PodPlan tightened = single(pod("{spec: {nodeSelector: {disk: ssd}}}"), {single_workload("")});
  const Json patch = all<UpdateWorkload>(tightened).at(0).patch;
  EXPECT_EQ(string_at(array_at(patch, {"spec", "podSets"}).at(0), {"template", "spec", "nodeSelector", "disk"}), "ssd");
}

TEST(SinglePods, InANamespaceThatIsNotManagedNothingKeepsAPod) {
  JobFacts f = facts();
  f.managed = false;
  EXPECT_TRUE(single(pod(), {}, f).steps.empty());
  EXPECT_TRUE(single(pod(kRunning), {}, f).actions.empty());
  EXPECT_EQ(single(apply_merge_patch(pod(), yaml(kDeleted)), {}, f).actions.size(), 1u);
}

}  // namespace
}  // namespace berth::jobs::single_pods_test
