// Nodes that fail, are tainted, cordoned, deleted and recover, and the effects on their pods.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "embedded/cluster/pod_collector.h"
#include "embedded/cluster/pretend_cluster.h"

namespace berth::cluster::node_life_test {
namespace {

using namespace testing_support;

ClusterOptions nodes(std::string shape, std::string resources = "") {
  ClusterOptions options;
  options.nodes = std::move(shape);
  options.node_resources = std::move(resources);
  return options;
}

constexpr std::string_view kNode = "b1-r1-n1";
constexpr std::string_view kHour = "{berth.dev/run-for: 1h}";
constexpr std::string_view kFail = "{metadata: {annotations: {berth.dev/fail: NotReady}}}";
constexpr std::string_view kMend = "{metadata: {annotations: {berth.dev/fail: null}}}";

// "key:effect key:effect".
std::string taints(Cluster& cluster, std::string_view name = kNode) {
  std::string out;
  const Json node = cluster.get(kNodes, name);
  for (const auto& taint : array_at(node, {"spec", "taints"})) {
    out += (out.empty() ? "" : " ") + std::string(string_at(taint, {"key"})) + ":" +
           std::string(string_at(taint, {"effect"}));
  }
  return out;
}

bool terminating(Cluster& cluster, std::string_view pod) {
  const Json object = cluster.get(kPods, pod);
  return find_path(object, {"metadata", "deletionTimestamp"}) != nullptr;
}

TEST(NodeLife, AFailedNodeIsTaintedAndItsPodsAreNotReady) {
  Cluster cluster(nodes("1"));
  cluster.pod("p", "{}", kHour);
  cluster.pass(1);
  ASSERT_EQ(cluster.condition("p", "Ready"), "True");
  cluster.patch(kNodes, kNode, kFail);
  cluster.pass(1);
  EXPECT_EQ(taints(cluster), "node.kubernetes.io/not-ready:NoSchedule node.kubernetes.io/not-ready:NoExecute");
  EXPECT_EQ(cluster.condition("p", "Ready"), "False/NodeNotReady");
  EXPECT_EQ(cluster.phase("p"), "Running") << "nobody knows better";
  cluster.pod("waits");
  cluster.pass(1);
  EXPECT_EQ(cluster.node_of("waits"), "");

  cluster.patch(kNodes, kNode, kMend);
  cluster.pass(1);
  EXPECT_EQ(taints(cluster), "");
  EXPECT_EQ(cluster.condition("p", "Ready"), "True");
  EXPECT_EQ(cluster.node_of("waits"), kNode);
}

TEST(NodeLife, AStatusThatPeoplePatchStays) {
  Cluster cluster(nodes("1"));
  cluster.patch(kNodes, kNode, "{status: {conditions: [{type: Ready, status: Unknown, reason: Silence}]}}", "status");
  cluster.pass(60);
  EXPECT_EQ(taints(cluster), "node.kubernetes.io/unreachable:NoSchedule node.kubernetes.io/unreachable:NoExecute");
  cluster.cluster.reset();
  cluster.cluster = PretendCluster::make(*cluster.server, cluster.executor, nodes("1")).value();
  cluster.cluster->start();
  cluster.pass(1);
  EXPECT_EQ(condition_status(cluster.get(kNodes, kNode), "Ready"), "Unknown") << "also after a restart";
  cluster.patch(kNodes, kNode, "{status: {conditions: [{type: Ready, status: 'True'}]}}", "status");
  cluster.pass(1);
  EXPECT_EQ(taints(cluster), "");
}

TEST(NodeLife, PodsAreEvictedWhenTheirTolerationEndsAndStayUntilTheNodeIsBack) {
  Cluster cluster(nodes("1"));
  cluster.pod("usual", "{}", kHour);
  cluster.pod("patient", "{tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists}]}", kHour);
  cluster.pod("hasty",
              "{tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, "
              "tolerationSeconds: 20}]}",
              kHour);
  cluster.pass(1);
  cluster.patch(kNodes, kNode, kFail);
  cluster.pass(19);
  EXPECT_FALSE(terminating(cluster, "hasty"));
  cluster.pass(2);
  EXPECT_TRUE(terminating(cluster, "hasty"));
  EXPECT_EQ(cluster.condition("hasty", "DisruptionTarget"), "True/DeletionByTaintManager");
  EXPECT_FALSE(terminating(cluster, "usual"));
  cluster.pass(280);
  EXPECT_TRUE(terminating(cluster, "usual")) << "tolerations of 300 s are given to every pod";
  EXPECT_EQ(cluster.phase("usual"), "Running") << "its kubelet confirms nothing";
  cluster.pass(3600);
  EXPECT_TRUE(terminating(cluster, "usual"));
  EXPECT_FALSE(terminating(cluster, "patient"));
  EXPECT_EQ(cluster.phase("patient"), "Running") << "nor that one has ended";

  cluster.patch(kNodes, kNode, kMend);
  cluster.pass(1);
  EXPECT_TRUE(cluster.get(kPods, "usual").is_null());
  EXPECT_TRUE(cluster.get(kPods, "hasty").is_null());
  EXPECT_EQ(cluster.phase("patient"), "Succeeded");
}

TEST(NodeLife, AnEvictionIsCalledOffWhenTheNodeIsBackInTime) {
  Cluster cluster(nodes("1"));
  cluster.pod("p", "{}", kHour);
  cluster.pass(1);
  cluster.patch(kNodes, kNode, kFail);
  cluster.pass(200);
  cluster.patch(kNodes, kNode, kMend);
  cluster.pass(200);
  EXPECT_FALSE(terminating(cluster, "p"));
  EXPECT_EQ(cluster.condition("p", "Ready"), "True");
}

TEST(NodeLife, ForceDeletedPodsOfAFailedNodeAreGone) {
  Cluster cluster(nodes("1"));
  cluster.pod("p", "{}", kHour);
  cluster.pass(1);
  cluster.patch(kNodes, kNode, kFail);
  cluster.pass(1);
  EXPECT_TRUE(cluster.remove(kPods, "p").ok());
  cluster.pass(120);
  EXPECT_TRUE(terminating(cluster, "p"));
  EXPECT_TRUE(cluster.remove(kPods, "p", yaml("{gracePeriodSeconds: 0}")).ok());
  cluster.pass(1);
  EXPECT_TRUE(cluster.get(kPods, "p").is_null());
}

TEST(NodeLife, ATaintOfPeopleEvictsWhoDoesNotTolerateIt) {
  Cluster cluster(nodes("2"));
  cluster.pod("goes", "{nodeSelector: {kubernetes.io/hostname: b1-r1-n1}}", kHour);
  cluster.pod("stays",
              "{nodeSelector: {kubernetes.io/hostname: b1-r1-n1}, tolerations: [{key: maintenance, operator: "
              "Exists}]}",
              kHour);
  cluster.pass(1);
  cluster.patch(kNodes, kNode, "{spec: {taints: [{key: maintenance, value: 'yes', effect: NoExecute}]}}");
  cluster.pass(1);
  EXPECT_TRUE(cluster.get(kPods, "goes").is_null()) << "its kubelet is well and stops it";
  EXPECT_EQ(cluster.phase("stays"), "Running");
  EXPECT_EQ(taints(cluster), "maintenance:NoExecute");
  cluster.pod("later", "{nodeSelector: {kubernetes.io/hostname: b1-r1-n1}}");
  cluster.pass(1);
  EXPECT_EQ(cluster.node_of("later"), "");
}

TEST(NodeLife, ACordonedNodeKeepsItsPodsAndTakesNoNewOnes) {
  Cluster cluster(nodes("1"));
  cluster.pod("p", "{}", kHour);
  cluster.pass(1);
  cluster.patch(kNodes, kNode, "{spec: {unschedulable: true}}");
  cluster.pod("later");
  cluster.pass(400);
  EXPECT_EQ(taints(cluster), "node.kubernetes.io/unschedulable:NoSchedule");
  EXPECT_EQ(cluster.phase("p"), "Running");
  EXPECT_EQ(cluster.node_of("later"), "");
  cluster.patch(kNodes, kNode, "{spec: {unschedulable: null}}");
  cluster.pass(1);
  EXPECT_EQ(taints(cluster), "");
  EXPECT_EQ(cluster.node_of("later"), kNode);
}

TEST(NodeLife, PodsOfADeletedNodeFailAndGo) {
  Cluster cluster(nodes("1"));
  cluster.pod("kept", "{}", kHour);
  cluster.pod("p", "{}", kHour);
  cluster.pod("done", "{}", "{berth.dev/run-for: 1s}");
  cluster.pass(2);
  cluster.patch(kPods, "kept", "{metadata: {finalizers: [example.com/hold]}}");
  cluster.patch(kPods, "done", "{metadata: {finalizers: [example.com/hold]}}");
  EXPECT_TRUE(cluster.remove(kNodes, kNode).ok());
  cluster.run_for(kNodeQuarantine - std::chrono::seconds(1));
  EXPECT_EQ(cluster.phase("p"), "Running") << "the node may come back";
  cluster.pass(2);
  EXPECT_TRUE(cluster.get(kNodes, kNode).is_null()) << "it stays deleted";
  EXPECT_TRUE(cluster.get(kPods, "p").is_null());
  EXPECT_EQ(cluster.phase("kept"), "Failed");
  EXPECT_EQ(cluster.condition("kept", "DisruptionTarget"), "True/DeletionByPodGC");
  EXPECT_EQ(cluster.phase("done"), "Succeeded");
  EXPECT_TRUE(terminating(cluster, "done"));
  cluster.patch(kPods, "kept", "{metadata: {finalizers: null}}");
  cluster.pass(1);
  EXPECT_TRUE(cluster.get(kPods, "kept").is_null());
}

TEST(NodeLife, ANodeThatComesBackInTimeKeepsItsPods) {
  Cluster cluster(nodes("1"));
  cluster.pod("p", "{}", kHour);
  cluster.pass(1);
  Json node = cluster.get(kNodes, kNode);
  EXPECT_TRUE(cluster.remove(kNodes, kNode).ok());
  cluster.pass(5);
  for (const char* own : {"uid", "resourceVersion", "creationTimestamp"}) erase_path(node, {"metadata", own});
  cluster.create(kNodes, node);
  cluster.pass(60);
  EXPECT_EQ(cluster.phase("p"), "Running");
  cluster.pass(3600);
  EXPECT_EQ(cluster.phase("p"), "Succeeded");
}

TEST(NodeLife, PodsTakeTheirTimeToStopButNotMoreThanTheirGrace) {
  Cluster cluster(nodes("1"));
  cluster.pod("slow", "{terminationGracePeriodSeconds: 60}", "{berth.dev/run-for: 1h, berth.dev/stop-after: 20s}");
  cluster.pod("stubborn", "{terminationGracePeriodSeconds: 15}", "{berth.dev/run-for: 1h, berth.dev/stop-after: 1h}");
  cluster.pass(1);
  EXPECT_TRUE(cluster.remove(kPods, "slow").ok());
  EXPECT_TRUE(cluster.remove(kPods, "stubborn").ok());
  cluster.pass(13);
  EXPECT_EQ(cluster.phase("stubborn"), "Running");
  cluster.pass(3);
  EXPECT_TRUE(cluster.get(kPods, "stubborn").is_null());
  EXPECT_EQ(cluster.phase("slow"), "Running");
  cluster.pass(5);
  EXPECT_TRUE(cluster.get(kPods, "slow").is_null());
}

TEST(NodeLife, AJobReplacesThePodsThatItsNodesTookWithThem) {
  for (const char* policy : {"TerminatingOrFailed", "Failed"}) {
    Cluster cluster(nodes("2", "cpu=2"));
    cluster.create(kJobs,
                   yaml("{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: 2, completions: 2, "
                        "podReplacementPolicy: " +
                        std::string(policy) +
                        ", template: {metadata: {annotations: {berth.dev/run-for: 20m}}, spec: {restartPolicy: Never, "
                        "containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}}}"));
    cluster.pass(2);
    std::set<std::string> first;
    for (const auto& pod : cluster.list(kPods)) {
      EXPECT_EQ(string_at(pod, {"spec", "nodeName"}), kNode);
      first.emplace(string_at(pod, {"metadata", "name"}));
    }
    cluster.patch(kNodes, kNode, kFail);
    cluster.pass(310);
    const bool waits = std::string_view(policy) == "Failed";
    EXPECT_EQ(cluster.list(kPods).size(), waits ? 2u : 4u) << policy << ": pods that nobody confirms to have ended";
    EXPECT_TRUE(cluster.remove(kNodes, kNode).ok());
    cluster.pass(60);  // the Job's backoff delays the replacement of failed pods
    const auto pods = cluster.list(kPods);
    EXPECT_EQ(pods.size(), 2u) << policy;
    for (const auto& pod : pods) {
      EXPECT_EQ(string_at(pod, {"spec", "nodeName"}), "b1-r1-n2") << policy;
      EXPECT_FALSE(first.contains(std::string(string_at(pod, {"metadata", "name"}))));
    }
    cluster.pass(1300);
    EXPECT_EQ(int_at(cluster.get(kJobs, "j"), {"status", "succeeded"}), 2) << policy;
  }
}

TEST(NodeLife, GoesOnAfterARestart) {
  Cluster cluster(nodes("1"));
  cluster.pod("p", "{}", kHour);
  cluster.pass(1);
  cluster.patch(kNodes, kNode, kFail);
  cluster.pass(150);
  const auto restart = [&] {
    cluster.cluster.reset();
    cluster.cluster = PretendCluster::make(*cluster.server, cluster.executor, {}).value();
    cluster.cluster->start();
  };
  restart();
  cluster.pass(140);
  EXPECT_FALSE(terminating(cluster, "p"));
  cluster.pass(15);
  EXPECT_TRUE(terminating(cluster, "p")) << "the taint says since when";
  EXPECT_TRUE(cluster.remove(kNodes, kNode).ok());
  restart();
  cluster.pass(15);
  EXPECT_TRUE(cluster.get(kPods, "p").is_null());
}

}  // namespace
}  // namespace berth::cluster::node_life_test
