// StatefulSets on the pretend cluster: numbered pods, order, updates, losses, restarts.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "embedded/cluster/apps/apps_cluster.h"
#include "embedded/cluster/apps/stateful_set_sync.h"

namespace berth::cluster::stateful_set_test {
namespace {

using namespace testing_support;
using Names = std::vector<std::string>;

constexpr std::string_view kParallel = "{podManagementPolicy: Parallel}";

TEST(StatefulSets, NumberTheirPods) {
  AppsCluster cluster;
  cluster.stateful_set("s", 2,
                       "{serviceName: x, ordinals: {start: 3}, volumeClaimTemplates: [{metadata: {name: data}, spec: "
                       "{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}");
  cluster.pass(3);
  EXPECT_EQ(cluster.pod_names("s"), (Names{"s-3", "s-4"}));
  const auto revisions = cluster.list(kControllerRevisions);
  ASSERT_EQ(revisions.size(), 1u);
  const std::string revision(string_at(revisions[0], {"metadata", "name"}));
  EXPECT_EQ(int_at(revisions[0], {"revision"}), 1);

  const Json pod = cluster.get(kPods, "s-4");
  EXPECT_EQ(string_at(pod, {"metadata", "labels", "statefulset.kubernetes.io/pod-name"}), "s-4");
  EXPECT_EQ(string_at(pod, {"metadata", "labels", "apps.kubernetes.io/pod-index"}), "4");
  EXPECT_EQ(string_at(pod, {"metadata", "labels", "controller-revision-hash"}), revision);
  EXPECT_EQ(string_at(pod, {"metadata", "generateName"}), "s-");
  EXPECT_EQ(string_at(pod, {"spec", "hostname"}), "s-4");
  EXPECT_EQ(string_at(pod, {"spec", "subdomain"}), "x");
  EXPECT_EQ(string_at(array_at(pod, {"spec", "volumes"})[0], {"persistentVolumeClaim", "claimName"}), "data-s-4");
  const Json& owner = array_at(pod, {"metadata", "ownerReferences"})[0];
  EXPECT_EQ(string_at(owner, {"kind"}), "StatefulSet");
  EXPECT_TRUE(bool_at(owner, {"controller"}) && bool_at(owner, {"blockOwnerDeletion"}));

  const Json set = cluster.get(kStatefulSets, "s");
  for (std::string_view key : {"replicas", "readyReplicas", "availableReplicas", "currentReplicas", "updatedReplicas"})
    EXPECT_EQ(int_at(set, {"status", key}), 2) << key;
  EXPECT_EQ(string_at(set, {"status", "currentRevision"}), revision);
  EXPECT_EQ(string_at(set, {"status", "updateRevision"}), revision);
  cluster.pass(3600);
  EXPECT_EQ(string_at(cluster.get(kPods, "s-4"), {"metadata", "uid"}), string_at(pod, {"metadata", "uid"}));
  EXPECT_EQ(cluster.phase("s-4"), "Running");
}

TEST(StatefulSets, MakeNoRevisionWhileTheyAreDeleted) {
  Json set = yaml(
      "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s, namespace: default, uid: u}, spec: {replicas: 1, "
      "selector: {matchLabels: {app: s}}, template: {metadata: {labels: {app: s}}, spec: {containers: [{name: c, "
      "image: i}]}}}}");
  const std::vector<JobPod> no_pods;
  const std::vector<StoredRevision> no_revisions;
  EXPECT_TRUE(next_step(StatefulSetView{set, no_pods, no_revisions, Time(), true, false}).create_revision.has_value());
  ensure_path(set, {"metadata", "deletionTimestamp"}) = "2026-01-01T00:00:00Z";
  EXPECT_FALSE(next_step(StatefulSetView{set, no_pods, no_revisions, Time(), true, false}).create_revision.has_value());
}

TEST(StatefulSets, StartAndStopOnePodAfterTheOther) {
  AppsCluster cluster;
  cluster.stateful_set("s", 3, "{minReadySeconds: 10}");
  cluster.pass(5);
  EXPECT_EQ(cluster.pod_names("s"), (Names{"s-0"}));
  cluster.pass(10);
  EXPECT_EQ(cluster.pod_names("s"), (Names{"s-0", "s-1"}));
  cluster.pass(20);
  EXPECT_EQ(cluster.pod_names("s"), (Names{"s-0", "s-1", "s-2"}));
  EXPECT_EQ(cluster.status(kStatefulSets, "s", "availableReplicas"), 3);
  for (const char* pod : {"s-0", "s-1", "s-2"})
    cluster.patch(kPods, pod, "{metadata: {annotations: {berth.dev/stop-after: 10s}}}");
  cluster.scale(kStatefulSets, "s", 1);
  cluster.pass(5);
  const Json second = cluster.get(kPods, "s-1"), third = cluster.get(kPods, "s-2");
  EXPECT_EQ(find_path(second, {"metadata", "deletionTimestamp"}), nullptr);
  EXPECT_NE(find_path(third, {"metadata", "deletionTimestamp"}), nullptr) << "the highest first";
  cluster.pass(30);
  EXPECT_EQ(cluster.pod_names("s"), (Names{"s-0"}));
  EXPECT_EQ(cluster.status(kStatefulSets, "s", "replicas"), 1);
}

TEST(StatefulSets, WaitForAGatedPod) {
  AppsCluster cluster;
  constexpr std::string_view kGated =
      "template: {metadata: {labels: {app: s}}, spec: {schedulingGates: [{name: example.com/g}], containers: [{name: "
      "c, image: i}]}}}";
  cluster.stateful_set("s", 2, "{" + std::string(kGated));
  cluster.pass(300);
  EXPECT_EQ(cluster.pod_names("s"), (Names{"s-0"}));
  const Json gated = cluster.get(kPods, "s-0");
  cluster.patch(kPods, "s-0", "{spec: {schedulingGates: null}}");
  cluster.pass(2);
  EXPECT_EQ(cluster.pod_names("s"), (Names{"s-0", "s-1"}));
  EXPECT_EQ(string_at(cluster.get(kPods, "s-0"), {"metadata", "uid"}), string_at(gated, {"metadata", "uid"}));
}

TEST(StatefulSets, InParallelWaitForNoPod) {
  AppsCluster cluster;
  cluster.stateful_set("s", 3,
                       "{podManagementPolicy: Parallel, template: {metadata: {labels: {app: s}}, spec: "
                       "{schedulingGates: [{name: example.com/g}], containers: [{name: c, image: i}]}}}");
  cluster.pass(1);
  EXPECT_EQ(cluster.pod_names("s"), (Names{"s-0", "s-1", "s-2"}));
  EXPECT_EQ(cluster.status(kStatefulSets, "s", "replicas"), 3);
  EXPECT_EQ(cluster.status(kStatefulSets, "s", "readyReplicas"), 0);
  cluster.scale(kStatefulSets, "s", 0);
  cluster.pass(1);
  EXPECT_TRUE(cluster.pod_names("s").empty());
  EXPECT_EQ(cluster.status(kStatefulSets, "s", "replicas"), 0);
  cluster.scale(kStatefulSets, "s", 3);
  cluster.pass(1);
  EXPECT_EQ(cluster.pod_names("s"), (Names{"s-0", "s-1", "s-2"}));
}

TEST(StatefulSets, RollFromTheHighestPod) {
  AppsCluster cluster;
  cluster.stateful_set("s", 3, "{podManagementPolicy: Parallel, minReadySeconds: 10}");
  cluster.pass(15);
  cluster.set_image(kStatefulSets, "s", "i:2");
  cluster.pass(5);
  EXPECT_EQ(cluster.image_of("s-2"), "i:2");
  EXPECT_EQ(cluster.image_of("s-1"), "i:1") << "one pod at a time";
  Json set = cluster.get(kStatefulSets, "s");
  EXPECT_NE(string_at(set, {"status", "currentRevision"}), string_at(set, {"status", "updateRevision"}));
  EXPECT_EQ(int_at(set, {"status", "currentReplicas"}), 2);
  EXPECT_EQ(int_at(set, {"status", "updatedReplicas"}), 1);
  cluster.pass(10);
  EXPECT_EQ(cluster.image_of("s-1"), "i:2");
  EXPECT_EQ(cluster.image_of("s-0"), "i:1");
  cluster.pass(30);
  EXPECT_EQ(cluster.images("s"), "3 of i:2");
  set = cluster.get(kStatefulSets, "s");
  EXPECT_EQ(string_at(set, {"status", "currentRevision"}), string_at(set, {"status", "updateRevision"}));
  EXPECT_EQ(int_at(set, {"status", "currentReplicas"}), 3);

  cluster.set_image(kStatefulSets, "s", "i:1");
  cluster.pass(60);
  EXPECT_EQ(cluster.images("s"), "3 of i:1");
  const auto revisions = cluster.list(kControllerRevisions);
  ASSERT_EQ(revisions.size(), 2u) << "the first revision is used again";
  std::set<std::int64_t> numbers;
  for (const Json& revision : revisions) numbers.insert(int_at(revision, {"revision"}));
  EXPECT_EQ(numbers, (std::set<std::int64_t>{2, 3}));
}

TEST(StatefulSets, KeepTheEarlierTemplateBelowThePartition) {
  AppsCluster cluster;
  cluster.stateful_set("s", 3, "{updateStrategy: {rollingUpdate: {partition: 2}}}");
  cluster.pass(5);
  cluster.set_image(kStatefulSets, "s", "i:2");
  cluster.pass(10);
  EXPECT_EQ(cluster.images("s"), "2 of i:1, 1 of i:2");
  cluster.remove(kPods, "s-1");
  cluster.remove(kPods, "s-2");
  cluster.pass(10);
  EXPECT_EQ(cluster.image_of("s-1"), "i:1") << "made anew from the earlier revision";
  EXPECT_EQ(cluster.image_of("s-2"), "i:2");
  cluster.patch(kStatefulSets, "s", "{spec: {updateStrategy: {rollingUpdate: {partition: 0}}}}");
  cluster.pass(10);
  EXPECT_EQ(cluster.images("s"), "3 of i:2");
}

TEST(StatefulSets, OnDeleteWaitForTheDeletion) {
  AppsCluster cluster;
  cluster.stateful_set("s", 2, "{updateStrategy: {type: OnDelete}}");
  cluster.pass(5);
  cluster.set_image(kStatefulSets, "s", "i:2");
  cluster.pass(30);
  EXPECT_EQ(cluster.images("s"), "2 of i:1");
  cluster.remove(kPods, "s-0");
  cluster.pass(5);
  EXPECT_EQ(cluster.image_of("s-0"), "i:2");
  EXPECT_EQ(cluster.image_of("s-1"), "i:1");
}

TEST(StatefulSets, MakeFailedAndEndedAndDeletedPodsAnew) {
  for (const std::string_view policy : {std::string_view("{}"), kParallel}) {
    AppsCluster cluster;
    cluster.stateful_set("s", 3, policy);
    cluster.pass(5);
    std::set<std::string> before;
    for (const Json& pod : cluster.list(kPods)) before.emplace(string_at(pod, {"metadata", "uid"}));
    ASSERT_EQ(before.size(), 3u);
    cluster.patch(kPods, "s-0", "{status: {phase: Failed}}", "status");
    cluster.patch(kPods, "s-1", "{status: {phase: Succeeded}}", "status");
    cluster.remove(kPods, "s-2");
    cluster.pass(10);
    EXPECT_EQ(cluster.pod_names("s"), (Names{"s-0", "s-1", "s-2"}));
    for (const Json& pod : cluster.list(kPods)) {
      EXPECT_FALSE(before.contains(std::string(string_at(pod, {"metadata", "uid"}))));
      EXPECT_EQ(string_at(pod, {"status", "phase"}), "Running");
    }
  }
}

TEST(StatefulSets, MovePodsWhenTheirNodeIsGone) {
  AppsCluster cluster;
  cluster.stateful_set("s", 2);
  cluster.pass(5);
  const Json before = cluster.get(kPods, "s-0");
  const std::string node = cluster.node_of("s-0");
  cluster.patch(kNodes, node, "{metadata: {annotations: {berth.dev/fail: NotReady}}}");
  cluster.pass(320);
  EXPECT_EQ(string_at(cluster.get(kPods, "s-0"), {"metadata", "uid"}), string_at(before, {"metadata", "uid"}))
      << "a pod that may still run keeps its name";
  cluster.remove(kNodes, node);
  cluster.pass(120);
  EXPECT_NE(string_at(cluster.get(kPods, "s-0"), {"metadata", "uid"}), string_at(before, {"metadata", "uid"}));
  EXPECT_NE(cluster.node_of("s-0"), node);
  EXPECT_EQ(cluster.status(kStatefulSets, "s", "readyReplicas"), 2);
}

TEST(StatefulSets, TakeTheirPodsAndRevisionsWithThem) {
  AppsCluster cluster;
  cluster.stateful_set("s", 3);
  cluster.pass(5);
  cluster.remove(kStatefulSets, "s");
  cluster.pass(60);
  EXPECT_TRUE(cluster.pod_names("s").empty());
  EXPECT_TRUE(cluster.list(kControllerRevisions).empty());
}

TEST(StatefulSets, TakeOverThePodsThatAnEarlierOneLeftBehind) {
  AppsCluster cluster;
  cluster.stateful_set("s", 2);
  cluster.pass(5);
  const Json before = cluster.get(kPods, "s-0");
  cluster.remove(kStatefulSets, "s", yaml("{kind: DeleteOptions, apiVersion: v1, propagationPolicy: Orphan}"));
  cluster.pass(10);
  ASSERT_EQ(cluster.pod_names("s").size(), 2u);
  ASSERT_EQ(cluster.list(kControllerRevisions).size(), 1u);
  cluster.stateful_set("s", 3, kParallel);
  cluster.pass(10);
  EXPECT_EQ(cluster.pod_names("s"), (Names{"s-0", "s-1", "s-2"}));
  EXPECT_EQ(string_at(cluster.get(kPods, "s-0"), {"metadata", "uid"}), string_at(before, {"metadata", "uid"}));
  EXPECT_EQ(cluster.status(kStatefulSets, "s", "readyReplicas"), 3);
  EXPECT_EQ(cluster.list(kControllerRevisions).size(), 1u) << "the revision of its pods is taken over, too";
}

TEST(StatefulSets, PutBackLabelsAndGiveUpPodsOfOthers) {
  AppsCluster cluster;
  cluster.stateful_set("s", 2, kParallel);
  cluster.pass(5);
  cluster.patch(kPods, "s-0", "{metadata: {labels: {statefulset.kubernetes.io/pod-name: null}}}");
  cluster.patch(kPods, "s-1", "{metadata: {labels: {app: other}}}");
  cluster.pass(5);
  EXPECT_EQ(string_at(cluster.get(kPods, "s-0"), {"metadata", "labels", "statefulset.kubernetes.io/pod-name"}), "s-0");
  EXPECT_TRUE(array_at(cluster.get(kPods, "s-1"), {"metadata", "ownerReferences"}).empty());
  EXPECT_EQ(cluster.status(kStatefulSets, "s", "replicas"), 1) << "the name is not free";
  cluster.remove(kPods, "s-1");
  cluster.pass(120);
  EXPECT_EQ(cluster.pod_names("s"), (Names{"s-0", "s-1"}));
}

TEST(StatefulSets, KeepSoManyRevisions) {
  AppsCluster cluster;
  cluster.stateful_set("s", 1, "{revisionHistoryLimit: 1}");
  for (const char* image : {"i:2", "i:3", "i:4"}) {
    cluster.pass(10);
    cluster.set_image(kStatefulSets, "s", image);
  }
  cluster.pass(10);
  std::set<std::int64_t> numbers;
  for (const Json& revision : cluster.list(kControllerRevisions)) numbers.insert(int_at(revision, {"revision"}));
  EXPECT_EQ(numbers, (std::set<std::int64_t>{3, 4}));
}

TEST(StatefulSets, GoOnAfterARestart) {
  AppsCluster cluster;
  cluster.stateful_set("s", 3, "{minReadySeconds: 5}");
  cluster.pass(30);
  cluster.set_image(kStatefulSets, "s", "i:2");
  cluster.pass(2);
  cluster.cluster.reset();
  cluster.remove(kPods, "s-0");
  cluster.scale(kStatefulSets, "s", 4);
  for (const Json& revision : cluster.list(kControllerRevisions))
    cluster.remove(kControllerRevisions, string_at(revision, {"metadata", "name"}));
  cluster.pass(40);
  cluster.restart();
  cluster.pass(90);
  EXPECT_EQ(cluster.pod_names("s"), (Names{"s-0", "s-1", "s-2", "s-3"}));
  EXPECT_EQ(cluster.images("s"), "4 of i:2");
  EXPECT_EQ(cluster.status(kStatefulSets, "s", "availableReplicas"), 4);
}

TEST(StatefulSets, KnowTheNumberOfAPodByItsName) {
  const Json set = yaml("{metadata: {name: a-b}}");
  const auto ordinal = [&](const std::string& name) {
    return pod_ordinal(set, yaml("{metadata: {name: " + name + "}}"));
  };
  EXPECT_EQ(ordinal("a-b-0"), 0);
  EXPECT_EQ(ordinal("a-b-12"), 12);
  for (const char* name : {"a-b", "a-b-", "a-b-01", "a-b-x", "a-c-1", "a-b--1", "a-b-1x", "a-b-99999999999999999999"})
    EXPECT_EQ(ordinal(name), std::nullopt) << name;
}

}  // namespace
}  // namespace berth::cluster::stateful_set_test
