// A job of the manager runs on a worker: its way there and back, and what happens when workers come and go.
#include "controller/multikueue_fixture.h"

namespace berth::controller::multikueue_test {
namespace {

using multikueue_fixture::Wire;
using std::chrono::minutes;
using std::chrono::seconds;

class MultiKueueJobs : public multikueue_fixture::MultiKueue {};

TEST_F(MultiKueueJobs, AJobRunsWhereQuotaIsFreeAndItsStatusComesBack) {
  EXPECT_EQ(activity("east"), "True Active: Connected");
  EXPECT_EQ(check_activity(), "True Active: The admission check is active");
  hold("east", true);
  job("a", 2, "1", "30s");
  EXPECT_EQ(string_at(job_on("", "a"), {"spec", "managedBy"}), "kueue.x-k8s.io/multikueue");
  pass(seconds(10));

  EXPECT_EQ(cluster_of("a"), "west");
  EXPECT_EQ(check_of("a"), "Ready: The workload was admitted on \"west\"");
  EXPECT_TRUE(find_path(workload("a"), {"status", "nominatedClusterNames"}) == nullptr);
  EXPECT_TRUE(copy_on("east", "a").is_null()) << "the loser's copy is deleted";
  const Json there = job_on("west", "a");
  EXPECT_EQ(string_at(there, {"metadata", "labels", "kueue.x-k8s.io/multikueue-origin"}), "multikueue");
  EXPECT_TRUE(find_path(there, {"spec", "managedBy"}) == nullptr);
  EXPECT_TRUE(find_path(there, {"spec", "template", "spec", "nodeSelector"}) == nullptr) << "not the manager's flavor";
  EXPECT_EQ(int_at(there, {"status", "active"}), 2);
  for (const auto& pod : list("west", api::kPods))
    EXPECT_EQ(string_at(pod, {"metadata", "labels", "kueue.x-k8s.io/multikueue-worker-workload-pod"}), "true");
  const Json here = job_on("", "a");
  EXPECT_FALSE(bool_at(here, {"spec", "suspend"}));
  EXPECT_EQ(int_at(here, {"status", "ready"}), 2);
  EXPECT_EQ(condition(workload("a"), "PodsReady").substr(0, 4), "True");
  EXPECT_EQ(running_on(""), 0u);

  pass(seconds(40));
  EXPECT_EQ(condition(job_on("", "a"), "Complete").substr(0, 4), "True");
  EXPECT_EQ(condition(workload("a"), "Finished").substr(0, 14), "True Succeeded");
  EXPECT_TRUE(job_on("west", "a").is_null()) << "what ended is cleaned up";
  EXPECT_TRUE(copy_on("west", "a").is_null());
  EXPECT_EQ(running_on("east"), 0u);
}

TEST_F(MultiKueueJobs, ALostWorkerIsWaitedForAndThenReplaced) {
  hold("west", true);
  job("a");
  pass(seconds(10));
  ASSERT_EQ(cluster_of("a"), "east");
  ASSERT_EQ(running_on("east"), 1u);
  hold("west", false);

  wires["east"]->cut();
  pass(minutes(1));
  EXPECT_EQ(activity("east").substr(0, 28), "False ClientConnectionFailed");
  EXPECT_EQ(check_activity(), "True SomeActiveClusters: Inactive clusters: [east]");
  EXPECT_EQ(cluster_of("a"), "east") << "shorter than workerLostTimeout";
  EXPECT_EQ(running_on("west"), 0u);
  job("b");  // the others go on
  pass(seconds(10));
  EXPECT_EQ(cluster_of("b"), "west");

  pass(minutes(2));
  EXPECT_EQ(cluster_of("a"), "west");
  EXPECT_EQ(running_on("west"), 2u);
  EXPECT_EQ(int_at(job_on("", "a"), {"status", "active"}), 1);
  EXPECT_EQ(running_on("east"), 1u) << "nobody can reach it";

  wires["east"]->state = Wire::State::kUp;
  pass(minutes(6));
  EXPECT_EQ(activity("east"), "True Active: Connected");
  EXPECT_EQ(cluster_of("a"), "west") << "the run that replaced it goes on";
  EXPECT_EQ(running_on("west"), 2u);
  EXPECT_EQ(running_on("east"), 0u);
  EXPECT_TRUE(copy_on("east", "a").is_null());
  EXPECT_TRUE(job_on("east", "a").is_null());
}

TEST_F(MultiKueueJobs, ABriefLossChangesNothing) {
  hold("west", true);
  job("a");
  pass(seconds(10));
  wires["east"]->cut();
  pass(minutes(1));
  wires["east"]->state = Wire::State::kUp;
  pass(minutes(2));
  hold("west", false);
  pass(minutes(2));
  EXPECT_EQ(cluster_of("a"), "east");
  EXPECT_EQ(running_on("east"), 1u);
  EXPECT_TRUE(copy_on("west", "a").is_null());
}

TEST_F(MultiKueueJobs, AWorkerThatDoesNotAnswerDelaysNoOther) {
  wires["east"]->cut(Wire::State::kSilent);
  job("a");  // asked for while east counts as connected
  pass(seconds(5));
  EXPECT_EQ(cluster_of("a"), "west");
  EXPECT_EQ(running_on("west"), 1u);
}

TEST_F(MultiKueueJobs, TheEndOnALostWorkerCounts) {
  hold("west", true);
  job("a", 1, "1", "30s");
  pass(seconds(10));
  ASSERT_EQ(cluster_of("a"), "east");
  wires["east"]->cut();
  pass(minutes(1));
  wires["east"]->state = Wire::State::kUp;
  pass(minutes(2));
  EXPECT_EQ(condition(workload("a"), "Finished").substr(0, 14), "True Succeeded");
  EXPECT_EQ(condition(job_on("", "a"), "Complete").substr(0, 4), "True");
  EXPECT_TRUE(job_on("east", "a").is_null());
}

TEST_F(MultiKueueJobs, AnotherControllerGoesOnWhereOneStopped) {
  hold("west", true);
  job("a", 1, "1", "10m");
  pass(seconds(10));
  restart_manager();
  pass(minutes(1));
  EXPECT_EQ(cluster_of("a"), "east");
  EXPECT_EQ(running_on("east"), 1u);
  EXPECT_EQ(list("east", api::kPods).size(), 1u);
  pass(minutes(11));
  EXPECT_EQ(condition(workload("a"), "Finished").substr(0, 14), "True Succeeded");
}

TEST_F(MultiKueueJobs, ADeactivatedWorkloadStopsThereAndGivesItsQuotaBack) {
  hold("west", true);
  job("a");
  pass(seconds(10));
  ASSERT_EQ(running_on("east"), 1u);
  const std::string name(string_at(workload("a"), {"metadata", "name"}));
  EXPECT_TRUE(patch("", api::kWorkloads, "default", name, "{spec: {active: false}}").ok());
  pass(seconds(30));
  EXPECT_EQ(running_on("east"), 0u);
  EXPECT_TRUE(bool_at(job_on("", "a"), {"spec", "suspend"}));
  EXPECT_EQ(condition(workload("a"), "QuotaReserved").substr(0, 5), "False");
  EXPECT_EQ(cluster_of("a"), "");
  EXPECT_TRUE(copy_on("east", "a").is_null());
  EXPECT_TRUE(patch("", api::kWorkloads, "default", name, "{spec: {active: true}}").ok());
  pass(seconds(30));
  EXPECT_EQ(running_on("east"), 1u);
}

TEST_F(MultiKueueJobs, AnEvictionByTheWorkerIsFollowedByAnotherRound) {
  hold("west", true);
  job("a");
  pass(seconds(10));
  ASSERT_EQ(cluster_of("a"), "east");
  hold("west", false);
  patch("east", api::kClusterQueues, "", "w-cq", "{spec: {stopPolicy: HoldAndDrain}}");
  pass(seconds(30));
  EXPECT_EQ(cluster_of("a"), "west");
  EXPECT_EQ(running_on("west"), 1u);
  EXPECT_EQ(running_on("east"), 0u);
  EXPECT_TRUE(copy_on("east", "a").is_null());
}

TEST_F(MultiKueueJobs, WhatIsDeletedOnTheManagerIsDeletedThere) {
  hold("west", true);
  job("a");
  pass(seconds(10));
  wires["east"]->cut();
  pass(seconds(20));
  remove("", api::kJobs, "a");
  pass(seconds(10));
  EXPECT_EQ(running_on("east"), 1u);
  wires["east"]->state = Wire::State::kUp;
  pass(minutes(2));
  EXPECT_EQ(running_on("east"), 0u);
  EXPECT_TRUE(list("east", api::kWorkloads).empty());
  EXPECT_TRUE(list("east", api::kJobs).empty());
}

TEST_F(MultiKueueJobs, ObjectsOfOthersAreNotTouched) {
  make_on(
      "east",
      "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, namespace: default}\nspec: {template: {metadata: "
      "{annotations: {berth.dev/run-for: 1h}}, spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}\n");
  job("a");
  hold("west", true);
  pass(minutes(3));
  EXPECT_EQ(string_at(job_on("east", "a"), {"metadata", "labels", "kueue.x-k8s.io/multikueue-origin"}), "");
  EXPECT_EQ(running_on("east"), 1u);
  hold("west", false);
  pass(minutes(3));
  EXPECT_EQ(cluster_of("a"), "west") << "the copy does not block the others";
  EXPECT_EQ(running_on("east"), 1u);
  EXPECT_TRUE(copy_on("east", "a").is_null());
}

TEST_F(MultiKueueJobs, WhatCannotBeDispatchedIsRejectedWithAReason) {
  make(
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: bare, namespace: default}\nspec: "
      "{queueName: q, podSets: [{name: main, count: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, "
      "image: i, resources: {requests: {cpu: 1}}}]}}}]}\n");
  pass(seconds(10));
  const Json bare = get("", api::kWorkloads, "bare");
  EXPECT_FALSE(bool_at(bare, {"spec", "active"}, true));
  EXPECT_NE(condition(bare, "Evicted").find("No multikueue adapter found"), std::string::npos)
      << condition(bare, "Evicted");
  job("foreign", 1, "1", "1h", ", managedBy: example.com/mine");
  pass(seconds(10));
  EXPECT_TRUE(workload("foreign").is_null()) << "another controller has it";
  EXPECT_TRUE(list("east", api::kWorkloads).empty());
}

TEST_F(MultiKueueJobs, KubeconfigsThatCannotBeTrustedAreRefusedBeforeAnyConnection) {
  const int before = connections;
  const auto becomes = [&](const std::string& user, const std::string& cluster) {
    const std::string text = "clusters: [{name: c, cluster: {" + cluster + "}}]\nusers: [{name: u, user: {" + user +
                             "}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n";
    EXPECT_TRUE(
        patch("", api::kSecrets, "kueue-system", "east", "{data: {kubeconfig: " + base64_encode(text) + "}}").ok());
    pass(seconds(2));
    return activity("east");
  };
  const std::string prefix = "False InsecureKubeConfig: load client config failed: ";
  EXPECT_EQ(becomes("tokenFile: /t", "server: 'https://east'"), prefix + "tokenFile is not allowed");
  EXPECT_EQ(becomes("exec: {command: sh, apiVersion: client.authentication.k8s.io/v1}", "server: 'https://east'"),
            prefix + "exec plugins are not allowed");
  EXPECT_EQ(becomes("username: me, password: secret", "server: 'https://east'"), prefix + "basic auth is not allowed");
  EXPECT_EQ(becomes("token: t", "server: 'https://east', insecure-skip-tls-verify: true"),
            prefix + "insecure TLS verification is not allowed for cluster c");
  EXPECT_EQ(becomes("token: t", "server: 'https://east', certificate-authority: /ca"),
            prefix + "certificate-authority file paths are not allowed, use certificate-authority-data for cluster c");
  EXPECT_EQ(becomes("token: t", "server: 'http://east'"), prefix + "untrusted server endpoint");
  EXPECT_EQ(becomes("token: t", "server: 'https://me:secret@east'"),
            prefix + "a user in the server URL is not allowed for cluster c");
  EXPECT_EQ(becomes("token: t", "server: 'https://east', proxy-url: 'http://me:secret@proxy'"),
            prefix + "proxy-url is not allowed for cluster c");
  EXPECT_EQ(becomes("token: t", "a: b"), prefix + "server URL is required for cluster c");
  EXPECT_EQ(connections, before);
  EXPECT_TRUE(patch("", api::kSecrets, "kueue-system", "east", "{data: {kubeconfig: null}}").ok());
  pass(seconds(2));
  EXPECT_EQ(activity("east"),
            "False BadKubeConfig: load client config failed: key \"kubeconfig\" not found in secret \"east\"");
  remove("", api::kSecrets, "east", "kueue-system");
  pass(seconds(2));
  EXPECT_EQ(activity("east"), "False BadKubeConfig: load client config failed: Secret \"east\" not found");
  add_secret("east", kubeconfig("east"));
  pass(seconds(10));
  EXPECT_EQ(activity("east"), "True Active: Connected");
}

TEST_F(MultiKueueJobs, AnotherKubeconfigOfTheSameClusterEvictsNothing) {
  hold("west", true);
  job("a");
  pass(seconds(10));
  ASSERT_EQ(running_on("east"), 1u);
  const int before = connections;
  wires["east"]->cut(Wire::State::kSilent);  // the new caches stay empty for a while
  EXPECT_TRUE(patch("", api::kSecrets, "kueue-system", "east",
                    "{data: {kubeconfig: " + base64_encode(kubeconfig("east") + "# another token\n") + "}}")
                  .ok());
  pass(seconds(2));
  // Any change of a workload is a reason to look at it.
  patch("", api::kWorkloads, "default", std::string(string_at(workload("a"), {"metadata", "name"})),
        "{metadata: {annotations: {n: m}}}");
  pass(seconds(2));
  wires["east"]->heal();
  pass(minutes(1));
  EXPECT_GT(connections, before);
  EXPECT_EQ(activity("east"), "True Active: Connected");
  EXPECT_EQ(condition(workload("a"), "Evicted"), "");
  EXPECT_EQ(cluster_of("a"), "east");
  EXPECT_EQ(running_on("east"), 1u);
}

TEST_F(MultiKueueJobs, AClusterWithoutASpecIsNotUsable) {
  make("apiVersion: kueue.x-k8s.io/v1beta2\nkind: MultiKueueCluster\nmetadata: {name: empty}\n");
  pass(seconds(2));
  EXPECT_EQ(activity("empty").substr(0, 5), "False");
  EXPECT_TRUE(patch("", api::kMultiKueueClusters, "", "empty", "{metadata: {labels: {a: b}}}").ok());
  pass(seconds(2));
  EXPECT_EQ(activity("east"), "True Active: Connected");
}

TEST_F(MultiKueueJobs, CopiesAreDeletedAlsoWhenAControllerStartsWithoutTheCheck) {
  hold("west", true);
  job("a");
  pass(seconds(10));
  ASSERT_EQ(running_on("east"), 1u);
  patch("", api::kClusterQueues, "", "cq", "{spec: {admissionChecksStrategy: null}}");
  pass(seconds(5));
  remove("", api::kAdmissionChecks, "mk", "");
  pass(seconds(5));
  ASSERT_TRUE(get("", api::kAdmissionChecks, "mk", "").is_null());
  restart_manager();
  pass(minutes(1));
  EXPECT_EQ(running_on("east"), 1u) << "the check may come back";
  remove("", api::kJobs, "a");
  pass(minutes(1));
  EXPECT_TRUE(list("east", api::kWorkloads).empty());
  EXPECT_EQ(running_on("east"), 0u);
}

TEST_F(MultiKueueJobs, AJobOfAUserOfTheWorkerIsNotTakenForTheOneThatWasMade) {
  hold("west", true);
  hold("east", true);
  job("b");
  pass(seconds(5));
  make_on(
      "east",
      "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, namespace: default, labels: "
      "{kueue.x-k8s.io/multikueue-origin: multikueue, kueue.x-k8s.io/prebuilt-workload-name: " +
          std::string(string_at(workload("b"), {"metadata", "name"})) +
          "}}\nspec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}\n");
  hold("east", false);
  pass(seconds(10));
  EXPECT_EQ(cluster_of("b"), "east");
  EXPECT_FALSE(job_on("east", "b").is_null());
}

TEST_F(MultiKueueJobs, TheCheckSaysWhichClustersItLacks) {
  remove("", api::kSecrets, "east", "kueue-system");
  remove("", api::kMultiKueueClusters, "west", "");
  pass(seconds(5));
  EXPECT_EQ(check_activity(), "False NoUsableClusters: Missing clusters: [west], Inactive clusters: [east]");
  EXPECT_EQ(condition(get("", api::kClusterQueues, "cq", ""), "Active").substr(0, 29), "False AdmissionCheckInactive:");
  remove("", api::kMultiKueueConfigs, "both", "");
  pass(seconds(5));
  EXPECT_EQ(check_activity(),
            "False BadConfig: Cannot load the AdmissionChecks parameters: MultiKueueConfig.kueue.x-k8s.io \"both\" not "
            "found");
}

}  // namespace
}  // namespace berth::controller::multikueue_test
