// Deployments and ReplicaSets on the pretend cluster: pods, scaling, rollouts, losses, restarts.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "embedded/cluster/apps/apps_cluster.h"

namespace berth::cluster::deployment_test {
namespace {

using namespace testing_support;

TEST(Deployments, RunTheirPodsForEver) {
  AppsCluster cluster;
  cluster.deployment("d", 3);
  cluster.pass(2);
  const auto sets = cluster.list(kReplicaSets);
  ASSERT_EQ(sets.size(), 1u);
  const std::string set_name(string_at(sets[0], {"metadata", "name"}));
  const std::string hash(string_at(sets[0], {"metadata", "labels", "pod-template-hash"}));
  EXPECT_EQ(set_name, "d-" + hash);
  EXPECT_EQ(string_at(sets[0], {"spec", "selector", "matchLabels", "pod-template-hash"}), hash);
  EXPECT_EQ(string_at(sets[0], {"metadata", "annotations", "deployment.kubernetes.io/revision"}), "1");
  EXPECT_EQ(string_at(sets[0], {"metadata", "annotations", "deployment.kubernetes.io/desired-replicas"}), "3");
  EXPECT_EQ(string_at(sets[0], {"metadata", "annotations", "deployment.kubernetes.io/max-replicas"}), "4");
  const Json& owner = array_at(sets[0], {"metadata", "ownerReferences"})[0];
  EXPECT_EQ(string_at(owner, {"kind"}), "Deployment");
  EXPECT_TRUE(bool_at(owner, {"controller"}) && bool_at(owner, {"blockOwnerDeletion"}));
  EXPECT_EQ(cluster.status(kReplicaSets, set_name, "availableReplicas"), 3);

  const auto pods = cluster.list(kPods, "pod-template-hash=" + hash);
  ASSERT_EQ(pods.size(), 3u);
  for (const Json& pod : pods) {
    EXPECT_EQ(string_at(pod, {"metadata", "generateName"}), set_name + "-");
    const Json& ref = array_at(pod, {"metadata", "ownerReferences"})[0];
    EXPECT_EQ(string_at(ref, {"kind"}), "ReplicaSet");
    EXPECT_TRUE(bool_at(ref, {"controller"}) && bool_at(ref, {"blockOwnerDeletion"}));
  }
  const Json deployment = cluster.get(kDeployments, "d");
  EXPECT_EQ(string_at(deployment, {"metadata", "annotations", "deployment.kubernetes.io/revision"}), "1");
  for (std::string_view key : {"replicas", "updatedReplicas", "readyReplicas", "availableReplicas"})
    EXPECT_EQ(int_at(deployment, {"status", key}), 3) << key;
  EXPECT_EQ(int_at(deployment, {"status", "observedGeneration"}), 1);
  EXPECT_EQ(cluster.reason("d", "Available"), "True MinimumReplicasAvailable");
  EXPECT_EQ(cluster.reason("d", "Progressing"), "True NewReplicaSetAvailable");

  const auto before = cluster.pod_names("d");
  cluster.pass(3600);
  EXPECT_EQ(cluster.pod_names("d"), before);
  for (const auto& name : before) {
    EXPECT_EQ(cluster.phase(name), "Running");
    EXPECT_EQ(int_at(cluster.get(kPods, name).at_pointer("/status/containerStatuses/0"), {"restartCount"}), 0);
  }
}

TEST(Deployments, AreScaled) {
  AppsCluster cluster;
  cluster.deployment("d", 2);
  cluster.pass(1);
  const auto two = cluster.pod_names("d");
  cluster.scale(kDeployments, "d", 5);
  cluster.pass(2);
  const auto five = cluster.pod_names("d");
  EXPECT_EQ(five.size(), 5u);
  EXPECT_TRUE(std::includes(five.begin(), five.end(), two.begin(), two.end()));
  EXPECT_EQ(cluster.status(kDeployments, "d", "availableReplicas"), 5);
  cluster.scale(kDeployments, "d", 0);
  cluster.pass(2);
  EXPECT_TRUE(cluster.pod_names("d").empty());
  EXPECT_EQ(cluster.status(kDeployments, "d", "replicas"), 0);
  cluster.scale(kDeployments, "d", 1);
  cluster.pass(2);
  EXPECT_EQ(cluster.pod_names("d").size(), 1u);
  EXPECT_EQ(cluster.list(kReplicaSets).size(), 1u);
  std::set<std::string> notes;
  for (const Json& event : cluster.list(kEvents)) {
    if (string_at(event, {"reason"}) == "ScalingReplicaSet") notes.emplace(string_at(event, {"note"}));
  }
  const std::string set(string_at(cluster.list(kReplicaSets)[0], {"metadata", "name"}));
  EXPECT_EQ(notes,
            (std::set<std::string>{
                "Scaled up replica set " + set + " from 0 to 2", "Scaled up replica set " + set + " from 2 to 5",
                "Scaled down replica set " + set + " from 5 to 0", "Scaled up replica set " + set + " from 0 to 1"}));
}

TEST(Deployments, RollWithinTheirBounds) {
  AppsCluster cluster;
  cluster.deployment("d", 4, "{minReadySeconds: 5, strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}}");
  cluster.pass(10);
  ASSERT_EQ(cluster.status(kDeployments, "d", "availableReplicas"), 4);
  cluster.set_image(kDeployments, "d", "i:2");
  int seconds = 0;
  for (; seconds < 120 && cluster.images("d") != "4 of i:2"; ++seconds) {
    cluster.pass(1);
    std::int64_t there = 0;
    for (const Json& pod : cluster.list(kPods, "app=d")) {
      if (find_path(pod, {"metadata", "deletionTimestamp"}) == nullptr) ++there;
    }
    EXPECT_LE(there, 5);
    std::int64_t available = 0;
    for (const Json& set : cluster.list(kReplicaSets)) available += int_at(set, {"status", "availableReplicas"});
    EXPECT_GE(available, 3);
  }
  EXPECT_GE(seconds, 5) << "new pods count only after minReadySeconds";
  cluster.pass(10);
  EXPECT_EQ(cluster.images("d"), "4 of i:2");
  EXPECT_EQ(cluster.list(kReplicaSets).size(), 2u) << "the old one stays for a rollback";
  EXPECT_EQ(cluster.reason("d", "Progressing"), "True NewReplicaSetAvailable");
  const Json deployment = cluster.get(kDeployments, "d");
  EXPECT_EQ(string_at(deployment, {"metadata", "annotations", "deployment.kubernetes.io/revision"}), "2");
  EXPECT_EQ(int_at(deployment, {"status", "replicas"}), 4);

  cluster.set_image(kDeployments, "d", "i:1");
  cluster.pass(60);
  EXPECT_EQ(cluster.images("d"), "4 of i:1");
  EXPECT_EQ(cluster.list(kReplicaSets).size(), 2u) << "the first one is used again";
  EXPECT_EQ(string_at(cluster.get(kDeployments, "d"), {"metadata", "annotations", "deployment.kubernetes.io/revision"}),
            "3");
}

TEST(Deployments, ThatRecreateHaveNoPodsOfTwoTemplatesAtATime) {
  AppsCluster cluster;
  cluster.deployment("d", 3,
                     "{strategy: {type: Recreate}, template: {metadata: {labels: {app: d}, annotations: "
                     "{berth.dev/stop-after: 10s}}, spec: {containers: [{name: c, image: 'i:1'}]}}}");
  cluster.pass(2);
  EXPECT_EQ(cluster.images("d"), "3 of i:1");
  cluster.set_image(kDeployments, "d", "i:2");
  for (int second = 0; second < 20; ++second) {
    cluster.pass(1);
    std::set<std::string> images;
    for (const Json& pod : cluster.list(kPods, "app=d"))
      images.emplace(string_at(array_at(pod, {"spec", "containers"})[0], {"image"}));
    EXPECT_LE(images.size(), 1u);
  }
  EXPECT_EQ(cluster.images("d"), "3 of i:2");
}

TEST(Deployments, KeepSoManyOldReplicaSets) {
  AppsCluster cluster;
  cluster.deployment("d", 1, "{revisionHistoryLimit: 2}");
  for (const char* image : {"i:2", "i:3", "i:4", "i:5"}) {
    cluster.pass(5);
    cluster.set_image(kDeployments, "d", image);
  }
  cluster.pass(10);
  std::set<std::string> revisions;
  for (const Json& set : cluster.list(kReplicaSets))
    revisions.emplace(string_at(set, {"metadata", "annotations", "deployment.kubernetes.io/revision"}));
  EXPECT_EQ(revisions, (std::set<std::string>{"3", "4", "5"}));
}

TEST(Deployments, ThatArePausedAreScaledButNotChanged) {
  AppsCluster cluster;
  cluster.deployment("d", 2);
  cluster.pass(2);
  cluster.patch(kDeployments, "d", "{spec: {paused: true}}");
  cluster.set_image(kDeployments, "d", "i:2");
  cluster.scale(kDeployments, "d", 3);
  cluster.pass(5);
  EXPECT_EQ(cluster.images("d"), "3 of i:1");
  EXPECT_EQ(cluster.reason("d", "Progressing"), "Unknown DeploymentPaused");
  cluster.patch(kDeployments, "d", "{spec: {paused: false}}");
  cluster.pass(5);
  EXPECT_EQ(cluster.images("d"), "3 of i:2");
  EXPECT_EQ(cluster.reason("d", "Progressing"), "True NewReplicaSetAvailable");
}

TEST(Deployments, SayWhenTheyAreStuck) {
  AppsCluster cluster;
  cluster.deployment("d", 2, "{progressDeadlineSeconds: 30}");
  cluster.pass(2);
  cluster.patch(kDeployments, "d", "{spec: {template: {spec: {nodeSelector: {no: where}}}}}");
  cluster.pass(25);
  EXPECT_EQ(cluster.reason("d", "Progressing").substr(0, 4), "True");
  cluster.pass(10);
  EXPECT_EQ(cluster.reason("d", "Progressing"), "False ProgressDeadlineExceeded");
  EXPECT_EQ(cluster.reason("d", "Available"), "True MinimumReplicasAvailable") << "the old pods serve";
  cluster.patch(kDeployments, "d", "{spec: {template: {spec: {nodeSelector: null}}}}");
  cluster.pass(5);
  EXPECT_EQ(cluster.reason("d", "Progressing"), "True NewReplicaSetAvailable");
}

TEST(Deployments, ReplaceWhatOthersDelete) {
  AppsCluster cluster;
  cluster.deployment("d", 3);
  cluster.pass(2);
  const auto before = cluster.pod_names("d");
  cluster.remove(kPods, before[0]);
  cluster.remove(kPods, before[1]);
  cluster.pass(2);
  const auto after = cluster.pod_names("d");
  EXPECT_EQ(after.size(), 3u);
  EXPECT_EQ(std::count(after.begin(), after.end(), before[2]), 1);
  const std::string set(string_at(cluster.list(kReplicaSets)[0], {"metadata", "name"}));
  cluster.remove(kReplicaSets, set);
  cluster.pass(5);
  EXPECT_EQ(cluster.list(kReplicaSets).size(), 1u);
  const auto anew = cluster.pod_names("d");
  EXPECT_EQ(anew.size(), 3u);
  for (const auto& name : after) EXPECT_EQ(std::count(anew.begin(), anew.end(), name), 0) << name;
  EXPECT_EQ(cluster.status(kDeployments, "d", "availableReplicas"), 3);
}

TEST(Deployments, MovePodsFromANodeThatIsLost) {
  AppsCluster cluster;
  cluster.deployment("d", 2);
  cluster.pass(2);
  const auto before = cluster.pod_names("d");
  const std::string node = cluster.node_of(before[0]);
  cluster.patch(kNodes, node, "{metadata: {annotations: {berth.dev/fail: NotReady}}}");
  cluster.pass(2);
  EXPECT_EQ(cluster.reason("d", "Available"), "False MinimumReplicasUnavailable");
  cluster.pass(310);
  std::vector<std::string> running;
  for (const auto& name : cluster.pod_names("d")) {
    if (cluster.node_of(name) != node && cluster.condition(name, "Ready") == "True") running.push_back(name);
  }
  EXPECT_EQ(running.size(), 2u);
  EXPECT_EQ(cluster.status(kDeployments, "d", "availableReplicas"), 2);
  cluster.remove(kNodes, node);
  cluster.pass(120);
  EXPECT_EQ(cluster.pod_names("d"), running) << "the pods of the lost node are collected";
}

TEST(Deployments, TakeTheirPodsWithThem) {
  AppsCluster cluster;
  cluster.deployment("d", 3);
  cluster.pass(2);
  cluster.remove(kDeployments, "d");
  cluster.pass(60);
  EXPECT_TRUE(cluster.list(kReplicaSets).empty());
  EXPECT_TRUE(cluster.pod_names("d").empty());
  cluster.deployment("f", 3);
  cluster.pass(2);
  cluster.remove(kDeployments, "f", yaml("{kind: DeleteOptions, apiVersion: v1, propagationPolicy: Foreground}"));
  cluster.pass(60);
  EXPECT_TRUE(cluster.get(kDeployments, "f").is_null());
  EXPECT_TRUE(cluster.pod_names("f").empty());
}

TEST(Deployments, TakeOverWhatAnEarlierOneLeftBehind) {
  AppsCluster cluster;
  cluster.deployment("d", 2);
  cluster.pass(2);
  const auto before = cluster.pod_names("d");
  cluster.remove(kDeployments, "d", yaml("{kind: DeleteOptions, apiVersion: v1, propagationPolicy: Orphan}"));
  cluster.pass(10);
  ASSERT_EQ(cluster.list(kReplicaSets).size(), 1u);
  EXPECT_TRUE(array_at(cluster.list(kReplicaSets)[0], {"metadata", "ownerReferences"}).empty());
  cluster.deployment("d", 2);
  cluster.pass(5);
  EXPECT_EQ(cluster.list(kReplicaSets).size(), 1u);
  EXPECT_EQ(array_at(cluster.list(kReplicaSets)[0], {"metadata", "ownerReferences"}).size(), 1u);
  EXPECT_EQ(cluster.pod_names("d"), before);
}

TEST(Deployments, FindAnotherNameWhenTheirsIsTaken) {
  AppsCluster cluster;
  cluster.deployment("d", 1);
  cluster.pass(1);
  const std::string name(string_at(cluster.list(kReplicaSets)[0], {"metadata", "name"}));
  cluster.remove(kDeployments, "d");
  cluster.pass(60);
  Json other = yaml(
      "{apiVersion: apps/v1, kind: ReplicaSet, spec: {replicas: 0, selector: {matchLabels: {x: y}}, "
      "template: {metadata: {labels: {x: y}}, spec: {containers: [{name: c, image: i}]}}}}");
  ensure_path(other, {"metadata", "name"}) = name;
  cluster.create(kReplicaSets, other);
  cluster.deployment("d", 1);
  cluster.pass(10);
  EXPECT_EQ(cluster.list(kReplicaSets).size(), 2u);
  EXPECT_EQ(cluster.pod_names("d").size(), 1u);
  EXPECT_EQ(cluster.status(kDeployments, "d", "collisionCount"), 1);
}

TEST(Deployments, GoOnAfterARestart) {
  AppsCluster cluster;
  cluster.deployment("d", 4, "{minReadySeconds: 5}");
  cluster.pass(8);
  cluster.set_image(kDeployments, "d", "i:2");
  cluster.pass(4);
  ASSERT_NE(cluster.images("d"), "4 of i:2") << "half done";
  cluster.cluster.reset();
  const auto left = cluster.pod_names("d");
  cluster.remove(kPods, left[0]);
  cluster.scale(kDeployments, "d", 5);
  cluster.pass(10);
  cluster.restart();
  cluster.pass(60);
  EXPECT_EQ(cluster.images("d"), "5 of i:2");
  EXPECT_EQ(cluster.status(kDeployments, "d", "availableReplicas"), 5);
  EXPECT_EQ(cluster.list(kReplicaSets).size(), 2u);
}

TEST(ReplicaSets, ReplacePodsThatEndAndGiveUpThoseThatAreRelabelled) {
  AppsCluster cluster;
  cluster.replica_set("r", 2);
  cluster.pass(2);
  const auto before = cluster.pod_names("r");
  ASSERT_EQ(before.size(), 2u);
  cluster.patch(kPods, before[0], "{status: {phase: Failed}}", "status");
  cluster.pass(2);
  EXPECT_EQ(cluster.status(kReplicaSets, "r", "replicas"), 2);
  EXPECT_EQ(cluster.pod_names("r").size(), 3u) << "the failed one stays as evidence";
  cluster.patch(kPods, before[1], "{metadata: {labels: {app: other}}}");
  cluster.pass(2);
  EXPECT_TRUE(array_at(cluster.get(kPods, before[1]), {"metadata", "ownerReferences"}).empty());
  EXPECT_EQ(cluster.phase(before[1]), "Running");
  EXPECT_EQ(cluster.status(kReplicaSets, "r", "availableReplicas"), 2);
}

TEST(ReplicaSets, TellWhyTheyCannotMakePodsAndGoOnLater) {
  AppsCluster cluster;
  const auto set = cluster.replica_set("r", 3,
                                       "{template: {metadata: {labels: {app: r}}, spec: {priorityClassName: "
                                       "none-yet, containers: [{name: c, image: i}]}}}");
  cluster.pass(30);
  EXPECT_TRUE(cluster.pod_names("r").empty());
  const Json waiting = cluster.get(kReplicaSets, "r");
  const auto& conditions = array_at(waiting, {"status", "conditions"});
  ASSERT_EQ(conditions.size(), 1u);
  EXPECT_EQ(string_at(conditions[0], {"type"}), "ReplicaFailure");
  EXPECT_EQ(string_at(conditions[0], {"reason"}), "FailedCreate");
  EXPECT_NE(string_at(conditions[0], {"message"}).find("none-yet"), std::string_view::npos);
  auto request = cluster.request(api::Verb::kCreate, api::kPriorityClasses);
  request.ns.clear();
  request.body = yaml("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: none-yet}, value: 5}");
  cluster.expect_ok(cluster.call(std::move(request)));
  cluster.pass(70);
  EXPECT_EQ(cluster.pod_names("r").size(), 3u);
  EXPECT_TRUE(array_at(cluster.get(kReplicaSets, "r"), {"status", "conditions"}).empty());
}

TEST(ReplicaSets, WithGatedPodsWait) {
  AppsCluster cluster;
  cluster.replica_set("r", 2,
                      "{template: {metadata: {labels: {app: r}}, spec: {schedulingGates: [{name: example.com/g}], "
                      "containers: [{name: c, image: i}]}}}");
  cluster.pass(600);
  const auto pods = cluster.pod_names("r");
  ASSERT_EQ(pods.size(), 2u);
  EXPECT_EQ(cluster.status(kReplicaSets, "r", "readyReplicas"), 0);
  for (const auto& pod : pods) cluster.patch(kPods, pod, "{spec: {schedulingGates: null}}");
  cluster.pass(2);
  EXPECT_EQ(cluster.pod_names("r"), pods);
  EXPECT_EQ(cluster.status(kReplicaSets, "r", "readyReplicas"), 2);
}

}  // namespace
}  // namespace berth::cluster::deployment_test
