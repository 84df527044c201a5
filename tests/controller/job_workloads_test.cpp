// Which workload belongs to a job: when no workload may be created, and what happens to the workload when the job is
// deleted.
#include "controller/job_workloads_fixture.h"

namespace berth::controller::job_workloads_test {
namespace {

using namespace job_workloads_fixture;

// --- Priority classes.

TEST_F(JobWorkloads, AClassThatIsNotThereMakesNoWorkloadUntilItComes) {
  const std::string uid = job("j", ", kueue.x-k8s.io/priority-class: late");
  pass();
  EXPECT_TRUE(workloads().empty());
  EXPECT_TRUE(suspended("j"));
  EXPECT_TRUE(reported("j", "Warning WorkloadPriorityClassNotFound: WorkloadPriorityClass \"late\" not found"));
  make(api::kWorkloadPriorityClasses, "", "{metadata: {name: late}, value: 42}");
  pass();
  EXPECT_EQ(int_at(seen(name_of("j", uid)), {"spec", "priority"}), 42);
  EXPECT_FALSE(suspended("j"));
}

TEST_F(JobWorkloads, AnotherClassThatIsNotThereChangesNothingUntilItComes) {
  make(api::kWorkloadPriorityClasses, "", "{metadata: {name: low}, value: 1}");
  const std::string name = name_of("j", job("j", ", kueue.x-k8s.io/priority-class: low"));
  pass();
  ASSERT_TRUE(
      patch(apiserver::kJobs, "default", "j", R"({"metadata":{"labels":{"kueue.x-k8s.io/priority-class":"late"}}})")
          .ok());
  pass();
  EXPECT_EQ(int_at(seen(name), {"spec", "priority"}), 1);
  EXPECT_TRUE(reported("j", "Warning WorkloadPriorityClassNotFound: WorkloadPriorityClass \"late\" not found"));
  make(api::kWorkloadPriorityClasses, "", "{metadata: {name: late}, value: 42}");
  pass();
  EXPECT_EQ(int_at(seen(name), {"spec", "priority"}), 42);
  EXPECT_EQ(string_at(seen(name), {"spec", "priorityClassRef", "name"}), "late");
  EXPECT_TRUE(reported("j", "Normal UpdatedWorkload: Updated workload priority class: default/" + name));
}

TEST_F(JobWorkloads, AWorkloadFollowsTheValueOfItsClassUnlessItsPriorityWasSetByHand) {
  make(api::kWorkloadPriorityClasses, "", "{metadata: {name: low}, value: 1}");
  const std::string follows = name_of("follows", job("follows", ", kueue.x-k8s.io/priority-class: low"));
  const std::string by_hand = name_of("by-hand", job("by-hand", ", kueue.x-k8s.io/priority-class: low"));
  pass();
  ASSERT_FALSE(suspended("follows"));
  const auto priority = [&](const std::string& name) { return int_at(seen(name), {"spec", "priority"}); };
  ASSERT_TRUE(patch(api::kWorkloads, "default", by_hand, R"({"spec":{"priority":5}})").ok());
  ASSERT_TRUE(patch(api::kWorkloadPriorityClasses, "", "low", R"({"value":77})").ok());
  pass();
  EXPECT_EQ(priority(follows), 77) << "also of a workload that runs";
  EXPECT_EQ(priority(by_hand), 5);
  EXPECT_TRUE(reported("follows", "Normal UpdatedWorkload: Updated workload priority class: default/" + follows));
  ASSERT_TRUE(remove(api::kWorkloadPriorityClasses, "", "low").ok());
  pass();
  EXPECT_EQ(priority(follows), 77);
  make(api::kWorkloadPriorityClasses, "", "{metadata: {name: low}, value: 9}");
  pass();
  EXPECT_EQ(priority(follows), 9);
  EXPECT_EQ(priority(by_hand), 5);
  EXPECT_FALSE(suspended("follows"));
}

// The value of a PriorityClass cannot be edited. Pods that exist keep the priority that they were created with.
TEST_F(JobWorkloads, AClassOfPodsThatIsMadeAnewCountsForPodsThatAreYetToCome) {
  const auto with_class = [&](const std::string& name, const std::string& cpu) {
    return name_of(name, std::string(string_at(make(apiserver::kJobs, "default", "{metadata: {name: " + name + R"(,
      labels: {kueue.x-k8s.io/queue-name: q}}, spec: {template: {spec: {restartPolicy: Never, priorityClassName: pods,
      containers: [{name: c, image: i, resources: {requests: {cpu: ')" + cpu + "'}}}]}}}}"),
                                               {"metadata", "uid"})));
  };
  make(api::kPriorityClasses, "", "{metadata: {name: pods}, value: 10}");
  const std::string runs = with_class("runs", "3"), waits = with_class("waits", "4");
  pass();
  ASSERT_FALSE(suspended("runs"));
  ASSERT_TRUE(suspended("waits"));
  ASSERT_TRUE(remove(api::kPriorityClasses, "", "pods").ok());
  make(api::kPriorityClasses, "", "{metadata: {name: pods}, value: 20}");
  pass();
  EXPECT_EQ(int_at(seen(runs), {"spec", "priority"}), 10);
  EXPECT_EQ(int_at(seen(waits), {"spec", "priority"}), 20);
}

// --- Namespaces that are being deleted.

TEST_F(JobWorkloads, NoWorkloadIsMadeAgainAndAgainInANamespaceThatIsBeingDeleted) {
  make(api::kNamespaces, "", "{metadata: {name: team}}");
  make({"kueue.x-k8s.io", "v1beta2", "localqueues"}, "team", "{metadata: {name: q}, spec: {clusterQueue: cq}}");
  make(apiserver::kJobs, "team",
       "{metadata: {name: j, labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/priority-class: late}}, "
       "spec: {template: {spec: "
       "{restartPolicy: Never, containers: [{name: c, image: i}]}}}}");
  pass();
  ASSERT_FALSE(controller->request_counts().contains("create workloads")) << "its class is not there";
  ASSERT_TRUE(remove(api::kNamespaces, "", "team").ok());
  make(api::kWorkloadPriorityClasses, "", "{metadata: {name: late}, value: 42}");
  pass(3600);
  EXPECT_EQ(controller->request_counts().at("create workloads"), 1u);
  EXPECT_TRUE(list(api::kWorkloads, "team").body.at("items").as_array().empty());
}

// --- Jobs that are deleted.

TEST_F(JobWorkloads, WithoutACollectorADeletedJobsWorkloadEndsAndLosesTheFinalizer) {
  const std::string name = name_of("j", job("j"));
  pass();
  ASSERT_EQ(holders(), 1u);
  ASSERT_TRUE(remove(apiserver::kJobs, "default", "j", R"({"propagationPolicy":"Background"})").ok());
  pass();
  EXPECT_EQ(condition(seen(name), "Finished"), "True OwnerNotFound");
  EXPECT_FALSE(has_finalizer(seen(name)));
  EXPECT_EQ(holders(), 0u);
  EXPECT_TRUE(reported("j", "Normal FinishedWorkload: Workload 'default/" + name + "' is declared finished"));
}

TEST_F(JobWorkloads, TheWorkloadOfAJobThatIsBeingDeletedLosesTheFinalizerAtOnce) {
  const std::string name = name_of("j", job("j", "", "", ", finalizers: [example.com/slow]"));
  pass();
  ASSERT_TRUE(has_finalizer(seen(name)));
  ASSERT_TRUE(remove(apiserver::kJobs, "default", "j", R"({"propagationPolicy":"Background"})").ok());
  pass();
  EXPECT_FALSE(has_finalizer(seen(name)));
  EXPECT_EQ(holders(), 1u) << "its pods may still run";
  ASSERT_TRUE(patch(apiserver::kJobs, "default", "j", R"({"metadata":{"finalizers":[]}})").ok());
  pass();
  EXPECT_EQ(condition(seen(name), "Finished"), "True OwnerNotFound");
  EXPECT_EQ(holders(), 0u);
}

TEST_F(CollectedWorkloads, AnOrphanedWorkloadEndsAndGivesItsQuotaBack) {
  const std::string name = name_of("j", job("j"));
  pass();
  ASSERT_EQ(holders(), 1u);
  ASSERT_TRUE(remove(apiserver::kJobs, "default", "j", R"({"propagationPolicy":"Orphan"})").ok());
  pass();
  EXPECT_FALSE(exists(apiserver::kJobs, "default", "j"));
  EXPECT_EQ(owner(seen(name)), "");
  EXPECT_EQ(condition(seen(name), "Finished"), "True OwnerNotFound");
  EXPECT_FALSE(has_finalizer(seen(name)));
  EXPECT_EQ(holders(), 0u);
}

TEST_F(CollectedWorkloads, AnOrphanedPrebuiltWorkloadEndsToo) {
  workload("w1");
  job("j", ", kueue.x-k8s.io/prebuilt-workload-name: w1");
  pass();
  ASSERT_EQ(owner(seen("w1")), "j");
  ASSERT_TRUE(remove(apiserver::kJobs, "default", "j", R"({"propagationPolicy":"Orphan"})").ok());
  pass();
  EXPECT_EQ(condition(seen("w1"), "Finished"), "True OwnerNotFound");
  EXPECT_EQ(holders(), 0u);
}

TEST_F(CollectedWorkloads, AnOrphanIsFoundAfterARestart) {
  const std::string name = name_of("j", job("j"));
  pass();
  controller.reset();
  ASSERT_TRUE(remove(apiserver::kJobs, "default", "j", R"({"propagationPolicy":"Orphan"})").ok());
  pass();
  ASSERT_EQ(condition(seen(name), "Finished"), "");
  controller.emplace(*server, executor, ControllerOptions());
  controller->start();
  controller->lead();
  pass();
  EXPECT_EQ(condition(seen(name), "Finished"), "True OwnerNotFound");
  EXPECT_FALSE(has_finalizer(seen(name)));
}

TEST_F(CollectedWorkloads, AForegroundDeletionLeavesNothing) {
  job("j");
  pass();
  ASSERT_TRUE(remove(apiserver::kJobs, "default", "j", R"({"propagationPolicy":"Foreground"})").ok());
  pass();
  EXPECT_FALSE(exists(apiserver::kJobs, "default", "j"));
  EXPECT_TRUE(workloads().empty());
  EXPECT_EQ(holders(), 0u);
}

// --- Writes by other clients.

TEST_F(CollectedWorkloads, AWorkloadWhoseOwnerWasTakenAwayGoesBackToItsJob) {
  const std::string uid = job("j");
  const std::string name = name_of("j", uid);
  pass();
  ASSERT_TRUE(patch(api::kWorkloads, "default", name, R"({"metadata":{"ownerReferences":null}})").ok());
  pass();
  EXPECT_EQ(owner(seen(name)), "j");
  EXPECT_FALSE(suspended("j"));
  ASSERT_TRUE(patch(api::kWorkloads, "default", name, R"({"metadata":{"ownerReferences":null,"labels":null}})").ok());
  pass();
  EXPECT_EQ(owner(seen(name)), "j");
  EXPECT_EQ(string_at(seen(name), {"metadata", "labels", "kueue.x-k8s.io/job-uid"}), uid);
  EXPECT_FALSE(suspended("j"));
}

TEST_F(CollectedWorkloads, AWorkloadOfNobodyThatIsDeletedLosesTheFinalizer) {
  workload("w1", "1", ", finalizers: [kueue.x-k8s.io/resource-in-use]");
  pass();
  ASSERT_TRUE(remove(api::kWorkloads, "default", "w1").ok());
  pass();
  EXPECT_FALSE(exists(api::kWorkloads, "default", "w1"));
  EXPECT_EQ(holders(), 0u);
}

TEST_F(CollectedWorkloads, AWorkloadMadeByHandIsNobodysOrphan) {
  workload("w1");
  pass();
  EXPECT_EQ(condition(seen("w1"), "Finished"), "");
  EXPECT_EQ(holders(), 1u);
}

// --- Labels of the job.

TEST_F(JobWorkloads, ATimeLimitThatIsTakenAwayWhileTheJobWaitsLeavesItsWorkload) {
  const std::string name = name_of("j", job("j", ", kueue.x-k8s.io/max-exec-time-seconds: '3'"));
  pass(10);
  ASSERT_TRUE(suspended("j"));
  ASSERT_FALSE(bool_at(seen(name), {"spec", "active"}, true));
  ASSERT_TRUE(patch(apiserver::kJobs, "default", "j",
                    R"({"metadata":{"labels":{"kueue.x-k8s.io/max-exec-time-seconds":null}}})")
                  .ok());
  pass();
  EXPECT_EQ(find_path(seen(name), {"spec", "maximumExecutionTimeSeconds"}), nullptr);
  EXPECT_TRUE(
      reported("j", "Normal UpdatedWorkload: Updated not matching Workload for suspended job: default/" + name));
  ASSERT_TRUE(patch(api::kWorkloads, "default", name, R"({"spec":{"active":true}})").ok());
  pass(10);
  EXPECT_FALSE(suspended("j")) << "it can be activated again";
}

TEST_F(JobWorkloads, GatesThatGoAreReported) {
  const std::string name =
      name_of("j", job("j", "", "kueue.x-k8s.io/admission-gated-by: 'example.com/a,example.com/b'"));
  pass();
  EXPECT_TRUE(suspended("j"));
  const auto gates = [&](std::string_view value) {
    return patch(apiserver::kJobs, "default", "j",
                 R"({"metadata":{"annotations":{"kueue.x-k8s.io/admission-gated-by":)" + std::string(value) + "}}}")
        .ok();
  };
  ASSERT_TRUE(gates(R"("example.com/b")"));
  pass();
  EXPECT_TRUE(reported("j", "Normal UpdatedWorkload: Updated workload AdmissionGatedBy to \"example.com/b\""));
  ASSERT_TRUE(gates("null"));
  pass();
  EXPECT_TRUE(reported("j", "Normal UpdatedWorkload: Updated workload AdmissionGatedBy to \"\""));
  EXPECT_FALSE(suspended("j"));
}

TEST_F(JobWorkloads, AJobThatCannotStartSaysWhy) {
  const Json made =
      make(apiserver::kJobs, "default",
           "{metadata: {name: j, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {template: {metadata: {labels: "
           "{kueue.x-k8s.io/cluster-queue-name: other}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, "
           "resources: "
           "{requests: {cpu: 1}}}]}}}}");
  pass();
  const std::string name = name_of("j", std::string(string_at(made, {"metadata", "uid"})));
  EXPECT_EQ(condition(seen(name), "Finished"), "True FailedToStart");
  EXPECT_TRUE(suspended("j"));
  EXPECT_TRUE(
      reported("j",
               "Warning FailedToStart: the pod template already has the label \"kueue.x-k8s.io/cluster-queue-name\" "
               "with the value \"other\", "
               "admission needs \"cq\""));
}

}  // namespace
}  // namespace berth::controller::job_workloads_test
