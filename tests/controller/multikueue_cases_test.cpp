// Single cases of docs/multikueue-cases.md: what changes while a job waits or runs, by anybody's hand.
#include "controller/multikueue_fixture.h"

namespace berth::controller::multikueue_cases_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class MultiKueueCases : public multikueue_fixture::MultiKueue {
 protected:
  void clusters_are(const std::string& names) {
    EXPECT_TRUE(patch("", api::kMultiKueueConfigs, "", "both", "{spec: {clusters: [" + names + "]}}").ok());
    pass(seconds(10));
  }
  std::string nominated(const std::string& job) {
    std::string out;
    const Json w = workload(job);
    for (const auto& name : array_at(w, {"status", "nominatedClusterNames"}))
      out += (out.empty() ? "" : " ") + std::string(view(name.as_string()));
    return out;
  }
  void run_on_east(const std::string& name, const std::string& run_for = "1h", const std::string& more = "") {
    hold("west", true);
    job(name, 1, "1", run_for, more);
    pass(seconds(10));
    ASSERT_EQ(cluster_of(name), "east");
    ASSERT_EQ(running_on("east"), 1u);
    hold("west", false);
  }
};

TEST_F(MultiKueueCases, ClustersThatComeAndGoWhileAJobWaits) {
  clusters_are("east");
  hold("east", true);
  hold("west", true);
  job("a");
  pass(seconds(10));
  EXPECT_EQ(nominated("a"), "east");
  clusters_are("east, west");
  EXPECT_EQ(nominated("a"), "east west");
  EXPECT_FALSE(copy_on("west", "a").is_null());
  clusters_are("west");
  EXPECT_EQ(nominated("a"), "west");
  EXPECT_TRUE(copy_on("east", "a").is_null());
}

TEST_F(MultiKueueCases, AClusterThatConnectsLaterIsAsked) {
  wires["east"]->cut();
  pass(minutes(1));
  hold("west", true);
  job("a");
  pass(seconds(10));
  EXPECT_EQ(nominated("a"), "west");
  wires["east"]->heal();
  pass(minutes(6));
  EXPECT_EQ(cluster_of("a"), "east");
}

TEST_F(MultiKueueCases, AJobThatIsPreemptedOnTheManagerStopsOnItsWorker) {
  make_of("", {"kueue.x-k8s.io", "v1beta2", "workloadpriorityclasses"},
          "{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: high}, value: 10}");
  EXPECT_TRUE(patch("", api::kClusterQueues, "", "cq",
                    "{spec: {preemption: {withinClusterQueue: LowerPriority}, resourceGroups: [{coveredResources: "
                    "[cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}]}]}]}}")
                  .ok());
  job("low", 4);
  pass(seconds(10));
  const std::string where = cluster_of("low");
  ASSERT_EQ(running_on(where), 4u);
  make(
      "apiVersion: batch/v1\nkind: Job\nmetadata: {name: high, namespace: default, labels: {kueue.x-k8s.io/queue-name: "
      "q, kueue.x-k8s.io/priority-class: high}}\nspec: {parallelism: 4, completions: 4, template: {metadata: "
      "{annotations: {berth.dev/run-for: 1m}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, "
      "resources: "
      "{requests: {cpu: 1}}}]}}}\n");
  pass(seconds(40));
  EXPECT_EQ(cluster_of("low"), "");
  EXPECT_NE(cluster_of("high"), "");
  EXPECT_EQ(running_on("east") + running_on("west"), 4u);
  for (const char* worker : {"east", "west"}) EXPECT_TRUE(copy_on(worker, "low").is_null()) << worker;
  pass(minutes(2));
  EXPECT_NE(cluster_of("low"), "") << "it runs again";
  EXPECT_EQ(running_on(cluster_of("low")), 4u);
}

TEST_F(MultiKueueCases, AJobThatIsDeletedOnItsWorkerRunsAgain) {
  run_on_east("a");
  remove("east", api::kJobs, "a");
  pass(minutes(1));
  const std::string where = cluster_of("a");
  ASSERT_FALSE(where.empty()) << check_of("a");
  EXPECT_EQ(running_on("east") + running_on("west"), 1u);
  EXPECT_EQ(running_on(where), 1u);
  EXPECT_EQ(condition(workload("a"), "Finished"), "");
}

TEST_F(MultiKueueCases, ACopyThatIsDeletedOnItsWorkerIsReplaced) {
  run_on_east("a");
  remove("east", api::kWorkloads, std::string(string_at(workload("a"), {"metadata", "name"})));
  pass(minutes(1));
  const std::string where = cluster_of("a");
  ASSERT_FALSE(where.empty()) << check_of("a");
  EXPECT_EQ(running_on("east") + running_on("west"), 1u);
  EXPECT_EQ(running_on(where), 1u);
}

TEST_F(MultiKueueCases, AJobThatGoesAtItsEndRunsOnce) {
  run_on_east("a", "20s", ", ttlSecondsAfterFinished: 0");
  const auto uid = std::string(string_at(workload("a"), {"metadata", "uid"}));
  pass(minutes(2));
  for (const char* worker : {"east", "west"}) {
    EXPECT_EQ(running_on(worker), 0u) << worker;
    EXPECT_TRUE(list(worker, api::kJobs).empty()) << worker;
    EXPECT_TRUE(list(worker, api::kWorkloads).empty()) << worker;
  }
  const Json w = workload("a");
  EXPECT_TRUE(w.is_null() ||
              (string_at(w, {"metadata", "uid"}) == uid && condition(w, "Finished").substr(0, 14) == "True Succeeded"));
}

TEST_F(MultiKueueCases, AClusterThatLeavesTheConfigurationIsCleanedUpFirst) {
  run_on_east("a");
  clusters_are("west");
  pass(minutes(1));
  EXPECT_EQ(cluster_of("a"), "west");
  EXPECT_EQ(running_on("west"), 1u);
  EXPECT_EQ(running_on("east"), 0u);
  EXPECT_TRUE(copy_on("east", "a").is_null());
}

TEST_F(MultiKueueCases, ADeletedClusterCountsAsLost) {
  run_on_east("a");
  remove("", api::kMultiKueueClusters, "east", "");
  pass(minutes(1));
  EXPECT_EQ(cluster_of("a"), "east");
  pass(minutes(3));
  EXPECT_EQ(cluster_of("a"), "west");
  EXPECT_EQ(running_on("east"), 1u) << "nobody knows where it is";
  make(
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: MultiKueueCluster\nmetadata: {name: east}\nspec: {clusterSource: "
      "{kubeConfig: {locationType: Secret, location: east}}}\n");
  pass(minutes(1));
  EXPECT_EQ(running_on("east"), 0u);
  EXPECT_EQ(running_on("west"), 1u);
}

TEST_F(MultiKueueCases, ANamespaceThatAWorkerLacksDelaysNobodyElse) {
  const std::string space = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n";
  const auto queue = [](const std::string& of) {
    return "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: q, namespace: team}\nspec: "
           "{clusterQueue: " +
           of + "}\n";
  };
  make(space + queue("cq"));
  make(
      "apiVersion: batch/v1\nkind: Job\nmetadata: {name: t, namespace: team, labels: {kueue.x-k8s.io/queue-name: "
      "q}}\nspec: {template: {metadata: {annotations: {berth.dev/run-for: 1h}}, spec: {restartPolicy: Never, "
      "containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}\n");
  job("a");
  pass(minutes(1));
  EXPECT_NE(cluster_of("a"), "");
  EXPECT_TRUE(bool_at(get("", api::kJobs, "t", "team"), {"spec", "suspend"}));
  make_on("west", space + queue("w-cq"));
  pass(minutes(2));
  EXPECT_FALSE(bool_at(get("", api::kJobs, "t", "team"), {"spec", "suspend"}, true));
  EXPECT_EQ(int_at(get("", api::kJobs, "t", "team"), {"status", "active"}), 1);
}

TEST_F(MultiKueueCases, WhatAQueueMayNotHaveBesideTheCheck) {
  const auto check = [&](const std::string& name, const std::string& controller) {
    make("apiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {name: " + name +
         "}\nspec: {controllerName: " + controller +
         ", parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: both}}\n");
  };
  make("apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: g}\n");
  EXPECT_TRUE(patch("", api::kClusterQueues, "", "cq",
                    "{spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, "
                    "nominalQuota: 4}]}, {name: g, resources: [{name: cpu, nominalQuota: 4}]}]}]}}")
                  .ok());
  check("second", "kueue.x-k8s.io/multikueue");
  check("nodes", "kueue.x-k8s.io/provisioning-request");
  const auto becomes = [&](const std::string& checks) {
    EXPECT_TRUE(patch("", api::kClusterQueues, "", "cq",
                      "{spec: {admissionChecksStrategy: {admissionChecks: [" + checks + "]}}}")
                    .ok());
    pass(seconds(5));
    const std::string active = condition(get("", api::kClusterQueues, "cq", ""), "Active");
    return active.substr(0, active.find(':'));
  };
  EXPECT_EQ(becomes("{name: mk}"), "True Ready");
  EXPECT_EQ(becomes("{name: mk}, {name: second}"), "False MultipleMultiKueueAdmissionChecks");
  EXPECT_EQ(becomes("{name: mk, onFlavors: [f]}"), "False MultiKueueAdmissionCheckAppliedPerFlavor");
  EXPECT_NE(becomes("{name: mk}, {name: nodes}").substr(0, 5), "True ");
  EXPECT_EQ(becomes("{name: mk}"), "True Ready");
}

TEST_F(MultiKueueCases, ObjectsThatTheDefinitionsRefuse) {
  const auto refused = [&](const api::GroupVersionResource& resource, const std::string& kind,
                           const std::string& spec) {
    api::RestRequest request;
    request.verb = api::Verb::kCreate;
    request.resource = resource;
    request.body =
        parse_yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: " + kind + ", metadata: {name: x}, spec: " + spec + "}")
            .value()
            .front();
    return call("", std::move(request)).code == 422;
  };
  std::string many;
  for (int i = 0; i < 21; ++i) many += "c" + std::to_string(i) + ",";
  EXPECT_TRUE(refused(api::kMultiKueueConfigs, "MultiKueueConfig", "{clusters: [a, a]}"));
  EXPECT_TRUE(refused(api::kMultiKueueConfigs, "MultiKueueConfig", "{clusters: []}"));
  EXPECT_TRUE(refused(api::kMultiKueueConfigs, "MultiKueueConfig", "{clusters: [" + many + "]}"));
  EXPECT_TRUE(refused(api::kMultiKueueConfigs, "MultiKueueConfig", "{clusters: [" + std::string(257, 'a') + "]}"));
  EXPECT_TRUE(refused(api::kMultiKueueClusters, "MultiKueueCluster", "{clusterSource: {}}"));
  EXPECT_TRUE(refused(api::kMultiKueueClusters, "MultiKueueCluster",
                      "{clusterSource: {kubeConfig: {location: a}, clusterProfileRef: {name: a}}}"));
  EXPECT_FALSE(refused(api::kMultiKueueConfigs, "MultiKueueConfig", "{clusters: [a, b]}"));
}

ControllerOptions external() {
  ControllerOptions options;
  options.multikueue.dispatch.dispatcher = multikueue::Dispatcher::kExternal;
  return options;
}

class ExternalDispatcher : public multikueue_fixture::MultiKueue {
 protected:
  ExternalDispatcher() : MultiKueue(external()) {}
  void nominate(const std::string& job, const std::string& names) {
    const auto done = patch("", api::kWorkloads, "default", std::string(string_at(workload(job), {"metadata", "name"})),
                            "{status: {nominatedClusterNames: [" + names + "]}}", "status");
    EXPECT_TRUE(done.ok()) << api::status_message(done);
    pass(seconds(10));
  }
};

TEST_F(ExternalDispatcher, DecidesWhichClustersAreAsked) {
  hold("west", true);
  job("a");
  pass(seconds(30));
  EXPECT_TRUE(copy_on("east", "a").is_null());
  nominate("a", "west");
  EXPECT_FALSE(copy_on("west", "a").is_null());
  EXPECT_TRUE(copy_on("east", "a").is_null());
  nominate("a", "east");
  EXPECT_TRUE(copy_on("west", "a").is_null());
  EXPECT_EQ(cluster_of("a"), "east");
  EXPECT_EQ(running_on("east"), 1u);
  EXPECT_TRUE(find_path(workload("a"), {"status", "nominatedClusterNames"}) == nullptr);
}

TEST_F(MultiKueueCases, AWorkerAlsoRunsJobsOfItsOwn) {
  make_on("east",
          "apiVersion: batch/v1\nkind: Job\nmetadata: {name: own, namespace: default, labels: "
          "{kueue.x-k8s.io/queue-name: q}}\nspec: {template: {metadata: {annotations: {berth.dev/run-for: 1h}}, spec: "
          "{restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 4}}}]}}}\n");
  pass(seconds(10));
  job("a");
  pass(seconds(10));
  EXPECT_EQ(cluster_of("a"), "west") << "the own job has the quota of east";
  for (const auto& pod : list("east", api::kPods))
    EXPECT_EQ(string_at(pod, {"metadata", "labels", "kueue.x-k8s.io/multikueue-worker-workload-pod"}), "");
}

}  // namespace
}  // namespace berth::controller::multikueue_cases_test
