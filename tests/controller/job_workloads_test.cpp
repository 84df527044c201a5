// Which workload belongs to a job: when no workload may be created, when a job takes a prebuilt one, and what happens
// to the workload when the job is deleted.
#include <gtest/gtest.h>

#include <map>
#include <string_view>

#include "api/resources.h"
#include "base/embedded.h"
#include "base/yaml.h"
#include "controller/controller.h"
#include "embedded/apiserver/kueue_webhooks.h"
#include "embedded/apiserver/server/harness.h"
#include "jobs/workload_name.h"

namespace berth::controller::job_workloads_test {
namespace {

class JobWorkloads : public apiserver::ServerTest {
 protected:
  explicit JobWorkloads(bool collector = false, ControllerOptions controller_options = {},
                        api::kueue::AdmissionPolicy policy = {})
      : ServerTest({.seed = 7, .admission = apiserver::kueue_webhooks(std::move(policy)), .controllers = collector}) {
    for (const auto& file : embedded::crds()) {
      auto crd = request(api::Verb::kCreate, apiserver::kCrds, "");
      crd.body = parse_yaml(file.content).value().front();
      EXPECT_TRUE(call(std::move(crd)).ok()) << file.name;
    }
    make({"kueue.x-k8s.io", "v1beta2", "resourceflavors"}, "", "{metadata: {name: f}, spec: {}}");
    make({"kueue.x-k8s.io", "v1beta2", "clusterqueues"}, "",
         "{metadata: {name: cq}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], "
         "flavors: [{name: f, "
         "resources: [{name: cpu, nominalQuota: 4}]}]}]}}");
    make({"kueue.x-k8s.io", "v1beta2", "localqueues"}, "default", "{metadata: {name: q}, spec: {clusterQueue: cq}}");
    controller.emplace(*server, executor, std::move(controller_options));
    controller->start();
    controller->lead();
    pass();
  }
  void pass(int seconds = 5) { executor.run_until(executor.now() + std::chrono::seconds(seconds)); }

  Json make(const api::GroupVersionResource& resource, std::string_view ns, std::string_view yaml) {
    auto r = request(api::Verb::kCreate, resource, ns);
    r.body = parse_yaml(yaml).value().front();
    const std::map<std::string_view, std::string_view> kinds = {{"resourceflavors", "ResourceFlavor"},
                                                                {"clusterqueues", "ClusterQueue"},
                                                                {"localqueues", "LocalQueue"},
                                                                {"workloads", "Workload"},
                                                                {"jobs", "Job"},
                                                                {"workloadpriorityclasses", "WorkloadPriorityClass"},
                                                                {"priorityclasses", "PriorityClass"},
                                                                {"namespaces", "Namespace"}};
    r.body.as_object()["apiVersion"] =
        resource.group.empty() ? resource.version : resource.group + "/" + resource.version;
    r.body.as_object()["kind"] = kinds.at(resource.resource);
    const auto made = call(std::move(r));
    EXPECT_TRUE(made.ok()) << to_string(made.body);
    return made.body;
  }
  // Creates a Job in queue q with one pod that requests one cpu. Returns its uid.
  std::string job(const std::string& name, const std::string& labels = "", const std::string& annotations = "",
                  const std::string& more = "") {
    const Json made =
        make(apiserver::kJobs, "default",
             "{metadata: {name: " + name + ", labels: {kueue.x-k8s.io/queue-name: q" + labels + "}, annotations: {" +
                 annotations + "}" + more +
                 "}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: "
                 "{requests: {cpu: '1'}}}]}}}}");
    return std::string(string_at(made, {"metadata", "uid"}));
  }
  // Creates a Workload that matches such a Job: its template has the defaults that the API server sets on Jobs.
  Json workload(const std::string& name, const std::string& cpu = "1", const std::string& more = "") {
    return make(api::kWorkloads, "default",
                "{metadata: {name: " + name + more +
                    "}, spec: {queueName: q, podSets: [{name: main, count: 1, template: {spec: "
                    "{restartPolicy: Never, " +
                    "dnsPolicy: ClusterFirst, schedulerName: default-scheduler, securityContext: {}, "
                    "terminationGracePeriodSeconds: 30, " +
                    "containers: [{name: c, image: i, imagePullPolicy: Always, terminationMessagePath: "
                    "/dev/termination-log, " +
                    "terminationMessagePolicy: File, resources: {requests: {cpu: '" + cpu + "'}}}]}}}]}}");
  }
  Json seen(const std::string& name) { return get(api::kWorkloads, "default", name).body; }
  Json seen_job(const std::string& name) { return get(apiserver::kJobs, "default", name).body; }
  bool suspended(const std::string& job) { return bool_at(seen_job(job), {"spec", "suspend"}); }
  static std::string name_of(const std::string& job, const std::string& uid) {
    return jobs::workload_name("batch", "Job", job, uid);
  }
  static std::string owner(const Json& workload) {
    for (const auto& one : array_at(workload, {"metadata", "ownerReferences"}))
      if (bool_at(one, {"controller"})) return std::string(string_at(one, {"name"}));
    return {};
  }
  static bool has_finalizer(const Json& workload) { return !array_at(workload, {"metadata", "finalizers"}).empty(); }
  static std::string condition(const Json& workload, std::string_view type) {
    for (const auto& one : array_at(workload, {"status", "conditions"}))
      if (string_at(one, {"type"}) == type)
        return std::string(string_at(one, {"status"})) + " " + std::string(string_at(one, {"reason"}));
    return {};
  }
  std::vector<Json> workloads() {
    std::vector<Json> all;
    const Json found = list(api::kWorkloads, "default").body;
    for (const auto& one : array_at(found, {"items"})) all.push_back(one);
    return all;
  }
  // "Type Reason: note" of all events about the object, such as "Warning Reason: note".
  std::vector<std::string> events(std::string_view kind, std::string_view name) {
    std::vector<std::string> texts;
    const Json found = list(api::kEvents, "default").body;
    for (const auto& one : array_at(found, {"items"})) {
      if (string_at(one, {"regarding", "kind"}) != kind || string_at(one, {"regarding", "name"}) != name) continue;
      texts.push_back(std::string(string_at(one, {"type"})) + " " + std::string(string_at(one, {"reason"})) + ": " +
                      std::string(string_at(one, {"note"})));
    }
    return texts;
  }
  bool told(std::string_view job, const std::string& event) {
    const auto all = events("Job", job);
    return std::find(all.begin(), all.end(), event) != all.end();
  }
  std::size_t holders() { return controller->engine().held_quotas().size(); }

  std::optional<Controller> controller;
};

// With the garbage collector.
class CollectedWorkloads : public JobWorkloads {
 protected:
  CollectedWorkloads() : JobWorkloads(true) {}
};

// --- Priority classes.

TEST_F(JobWorkloads, AClassThatIsNotThereMakesNoWorkloadUntilItComes) {
  const std::string uid = job("j", ", kueue.x-k8s.io/priority-class: late");
  pass();
  EXPECT_TRUE(workloads().empty());
  EXPECT_TRUE(suspended("j"));
  EXPECT_TRUE(told("j", "Warning WorkloadPriorityClassNotFound: WorkloadPriorityClass \"late\" not found"));
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
  EXPECT_TRUE(told("j", "Warning WorkloadPriorityClassNotFound: WorkloadPriorityClass \"late\" not found"));
  make(api::kWorkloadPriorityClasses, "", "{metadata: {name: late}, value: 42}");
  pass();
  EXPECT_EQ(int_at(seen(name), {"spec", "priority"}), 42);
  EXPECT_EQ(string_at(seen(name), {"spec", "priorityClassRef", "name"}), "late");
  EXPECT_TRUE(told("j", "Normal UpdatedWorkload: Updated workload priority class: default/" + name));
}

// --- Prebuilt workloads.

TEST_F(JobWorkloads, AWorkloadThatTheLabelNamesIsTaken) {
  workload("w1");
  pass();
  EXPECT_EQ(condition(seen("w1"), "Admitted"), "True Admitted") << "also before its job comes";
  const std::string uid = job("j", ", kueue.x-k8s.io/prebuilt-workload-name: w1");
  pass();
  const Json taken = seen("w1");
  EXPECT_EQ(owner(taken), "j");
  EXPECT_EQ(string_at(taken, {"metadata", "labels", "kueue.x-k8s.io/job-uid"}), uid);
  EXPECT_FALSE(has_finalizer(taken));
  EXPECT_EQ(workloads().size(), 1u);
  EXPECT_FALSE(suspended("j"));
  EXPECT_EQ(string_at(seen_job("j"), {"spec", "template", "metadata", "annotations", "kueue.x-k8s.io/workload"}), "w1");
}

TEST_F(JobWorkloads, AWorkloadThatTheAnnotationNamesIsTakenWhenItComes) {
  job("j", "", "kueue.x-k8s.io/prebuilt-workload-name: w1");
  pass();
  EXPECT_TRUE(workloads().empty());
  EXPECT_TRUE(suspended("j"));
  workload("w1");
  pass();
  EXPECT_EQ(owner(seen("w1")), "j");
  EXPECT_FALSE(suspended("j"));
}

TEST_F(JobWorkloads, TheAnnotationComesBeforeTheLabel) {
  workload("of-the-label");
  workload("of-the-annotation");
  job("j", ", kueue.x-k8s.io/prebuilt-workload-name: of-the-label",
      "kueue.x-k8s.io/prebuilt-workload-name: of-the-annotation");
  pass();
  EXPECT_EQ(owner(seen("of-the-annotation")), "j");
  EXPECT_EQ(owner(seen("of-the-label")), "");
}

TEST_F(JobWorkloads, AWorkloadOfAnotherJobIsNotTaken) {
  workload("w1");
  job("first", ", kueue.x-k8s.io/prebuilt-workload-name: w1");
  pass();
  job("second", ", kueue.x-k8s.io/prebuilt-workload-name: w1");
  pass();
  EXPECT_EQ(owner(seen("w1")), "first");
  EXPECT_TRUE(suspended("second"));
  EXPECT_FALSE(suspended("first"));
}

TEST_F(JobWorkloads, APrebuiltWorkloadThatDoesNotFitIsOutOfSync) {
  job("j", ", kueue.x-k8s.io/prebuilt-workload-name: w1");
  workload("w1", "2");
  pass();
  EXPECT_EQ(condition(seen("w1"), "Finished"), "True OutOfSync");
  EXPECT_TRUE(suspended("j"));
  EXPECT_EQ(holders(), 0u);
}

TEST_F(JobWorkloads, AJobWhosePrebuiltWorkloadGoesStopsAndGoesOnWithTheNext) {
  workload("w1");
  job("j", ", kueue.x-k8s.io/prebuilt-workload-name: w1");
  pass();
  ASSERT_FALSE(suspended("j"));
  ASSERT_TRUE(remove(api::kWorkloads, "default", "w1").ok());
  pass();
  EXPECT_TRUE(suspended("j"));
  EXPECT_TRUE(told("j", "Normal Stopped: missing workload"));
  EXPECT_TRUE(workloads().empty()) << "none is made for it";
  workload("w1");
  pass();
  EXPECT_FALSE(suspended("j"));
}

TEST_F(JobWorkloads, APrebuiltWorkloadFinishesWithItsJob) {
  workload("w1");
  job("j", ", kueue.x-k8s.io/prebuilt-workload-name: w1");
  pass();
  ASSERT_TRUE(
      patch(
          apiserver::kJobs, "default", "j",
          R"({"status":{"succeeded":1,"startTime":"2020-01-01T00:00:00Z","completionTime":"2020-01-01T00:00:00Z","conditions":[
                       {"type":"SuccessCriteriaMet","status":"True","reason":"R","message":"m","lastTransitionTime":"2020-01-01T00:00:00Z"},
                       {"type":"Complete","status":"True","reason":"R","message":"m","lastTransitionTime":"2020-01-01T00:00:00Z"}]}})",
          api::PatchType::kMerge, "status")
          .ok());
  pass();
  EXPECT_EQ(condition(seen("w1"), "Finished"), "True Succeeded");
  EXPECT_TRUE(told("j", "Normal FinishedWorkload: Workload 'default/w1' is declared finished"));
}

TEST_F(JobWorkloads, AJobThatNamesAWorkloadLaterLeavesItsOwn) {
  const std::string own = name_of("j", job("j", "", "kueue.x-k8s.io/admission-gated-by: example.com/a"));
  pass();
  ASSERT_TRUE(exists(api::kWorkloads, "default", own));
  workload("w1");
  ASSERT_TRUE(patch(apiserver::kJobs, "default", "j",
                    R"({"metadata":{"labels":{"kueue.x-k8s.io/prebuilt-workload-name":"w1"}}})")
                  .ok());
  pass();
  EXPECT_EQ(owner(seen("w1")), "j");
  EXPECT_FALSE(exists(api::kWorkloads, "default", own));
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
  EXPECT_TRUE(told("j", "Normal FinishedWorkload: Workload 'default/" + name + "' is declared finished"));
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
  EXPECT_TRUE(told("j", "Normal UpdatedWorkload: Updated not matching Workload for suspended job: default/" + name));
  ASSERT_TRUE(patch(api::kWorkloads, "default", name, R"({"spec":{"active":true}})").ok());
  pass(10);
  EXPECT_FALSE(suspended("j")) << "it can be activated again";
}

TEST_F(JobWorkloads, GatesThatGoAreTold) {
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
  EXPECT_TRUE(told("j", "Normal UpdatedWorkload: Updated workload AdmissionGatedBy to \"example.com/b\""));
  ASSERT_TRUE(gates("null"));
  pass();
  EXPECT_TRUE(told("j", "Normal UpdatedWorkload: Updated workload AdmissionGatedBy to \"\""));
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
      told("j",
           "Warning FailedToStart: the pod template already has the label \"kueue.x-k8s.io/cluster-queue-name\" "
           "with the value \"other\", "
           "admission needs \"cq\""));
}

}  // namespace
}  // namespace berth::controller::job_workloads_test
