// The pretend cluster on an in-memory API server: nodes join; pods are bound, run and terminate.
#include "embedded/cluster/cluster.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "embedded/cluster/pretend_cluster.h"

namespace berth::cluster::cluster_test {
namespace {

using namespace testing_support;

TEST(PretendCluster, RefusesOptionsItDoesNotUnderstand) {
  World world;
  ClusterOptions wrong;
  wrong.nodes = "many";
  EXPECT_FALSE(PretendCluster::make(*world.server, world.executor, wrong));
  wrong.nodes = "1";
  wrong.node_resources = "cpu";
  EXPECT_FALSE(PretendCluster::make(*world.server, world.executor, wrong));
  wrong.node_resources = "";
  wrong.node_manifests = {yaml("{apiVersion: v1, kind: Pod}")};
  EXPECT_FALSE(PretendCluster::make(*world.server, world.executor, wrong));
}

TEST(PretendCluster, MakesNodesThatBecomeReady) {
  ClusterOptions options;
  options.nodes = "2x2";
  options.node_resources = "cpu=4,example.com/gpu=2";
  options.node_manifests = {
      yaml("{apiVersion: v1, kind: Node, metadata: {name: big}, status: {capacity: {cpu: '64'}}}")};
  Cluster cluster(options);
  cluster.create(kNodes, yaml("{apiVersion: v1, kind: Node, metadata: {name: late}}"));
  cluster.pass(1);
  std::map<std::string, std::string> cpus;
  for (const auto& node : cluster.list(kNodes)) {
    const std::string name(string_at(node, {"metadata", "name"}));
    bool ready = false;
    for (const auto& c : array_at(node, {"status", "conditions"})) {
      ready = ready || (string_at(c, {"type"}) == "Ready" && string_at(c, {"status"}) == "True");
    }
    EXPECT_TRUE(ready) << name;
    EXPECT_TRUE(array_at(node, {"spec", "taints"}).empty()) << name;
    cpus[name] = string_at(node, {"status", "allocatable", "cpu"});
  }
  EXPECT_EQ(
      cpus,
      (std::map<std::string, std::string>{
          {"b1-r1-n1", "4"}, {"b1-r1-n2", "4"}, {"b1-r2-n1", "4"}, {"b1-r2-n2", "4"}, {"big", "64"}, {"late", "4"}}));
}

TEST(PretendCluster, RunsAPodToItsEnd) {
  ClusterOptions options;
  options.nodes = "1";
  Cluster cluster(options);
  cluster.pod("well", "{}", "{berth.dev/run-for: 30s}");
  cluster.pod("ill", "{}", "{berth.dev/run-for: 5s, berth.dev/exit-code: '3'}");
  cluster.pod("usual");
  cluster.pass(1);
  for (const char* name : {"well", "ill", "usual"}) {
    EXPECT_EQ(cluster.phase(name), "Running") << name;
    EXPECT_EQ(cluster.condition(name, "Ready"), "True") << name;
    EXPECT_EQ(cluster.condition(name, "PodScheduled"), "True") << name;
    EXPECT_NE(string_at(cluster.get(kPods, name), {"status", "podIP"}), "") << name;
    EXPECT_NE(string_at(cluster.get(kPods, name), {"status", "startTime"}), "") << name;
  }
  cluster.pass(5);
  EXPECT_EQ(cluster.phase("ill"), "Failed");
  const Json ill = cluster.get(kPods, "ill");
  EXPECT_EQ(int_at(ill.at_pointer("/status/containerStatuses/0"), {"state", "terminated", "exitCode"}), 3);
  EXPECT_EQ(cluster.condition("ill", "Ready").substr(0, 5), "False");
  EXPECT_EQ(cluster.phase("usual"), "Running");
  cluster.pass(5);
  EXPECT_EQ(cluster.phase("usual"), "Succeeded") << "ten seconds, when nothing is said";
  EXPECT_EQ(cluster.phase("well"), "Running");
  cluster.pass(20);
  EXPECT_EQ(cluster.phase("well"), "Succeeded");
}

// The API stores the start time in whole seconds only; the pod still runs for exactly its run time.
TEST(PretendCluster, RunsAPodForLessThanASecond) {
  using std::chrono::milliseconds;
  ClusterOptions options;
  options.nodes = "1";
  Cluster cluster(options);
  cluster.run_for(milliseconds(700));
  cluster.pod("short", "{}", "{berth.dev/run-for: 200ms}");
  cluster.run_for(milliseconds(199));
  EXPECT_EQ(cluster.phase("short"), "Running");
  cluster.run_for(milliseconds(1));
  EXPECT_EQ(cluster.phase("short"), "Succeeded");
}

TEST(PretendCluster, RestartsContainersInPlace) {
  ClusterOptions options;
  options.nodes = "1";
  Cluster cluster(options);
  cluster.pod("p", "{restartPolicy: OnFailure}", "{berth.dev/run-for: 5s, berth.dev/exit-code: '1'}");
  cluster.pass(12);
  EXPECT_EQ(cluster.phase("p"), "Running");
  EXPECT_EQ(int_at(cluster.get(kPods, "p").at_pointer("/status/containerStatuses/0"), {"restartCount"}), 2);
}

TEST(PretendCluster, PacksPodsAndWaitsForRoom) {
  ClusterOptions options;
  options.nodes = "2";
  options.node_resources = "cpu=4";
  Cluster cluster(options);
  cluster.pod("a", requests("{cpu: '1'}"), "{berth.dev/run-for: 20s}");
  cluster.pod("b", requests("{cpu: '2'}"), "{berth.dev/run-for: 60s}");
  cluster.pod("c", requests("{cpu: '4'}"), "{berth.dev/run-for: 60s}");
  cluster.pass(1);
  EXPECT_EQ(cluster.node_of("a"), cluster.node_of("b")) << "the fullest node that fits";
  EXPECT_NE(cluster.node_of("c"), cluster.node_of("a"));
  cluster.pod("d", requests("{cpu: '2'}"));
  cluster.pass(1);
  EXPECT_EQ(cluster.phase("d"), "Pending");
  EXPECT_EQ(cluster.condition("d", "PodScheduled"), "False/Unschedulable");
  cluster.pass(20);
  EXPECT_EQ(cluster.node_of("d"), cluster.node_of("b")) << "the room that a left";
}

TEST(PretendCluster, BindsOnlyWherePodsMayRun) {
  ClusterOptions options;
  const auto node = [](const std::string& name, const std::string& labels, const std::string& spec) {
    return yaml("{apiVersion: v1, kind: Node, metadata: {name: " + name + ", labels: " + labels + "}, spec: " + spec +
                "}");
  };
  options.node_manifests = {node("a-plain", "{zone: x}", "{}"),
                            node("b-tainted", "{zone: y}", "{taints: [{key: k, value: v, effect: NoSchedule}]}"),
                            node("c-closed", "{zone: z}", "{unschedulable: true}"),
                            node("d-other", "{zone: w, cores: '9'}", "{}")};
  Cluster cluster(options);
  cluster.pod("selects", "{nodeSelector: {zone: w}}");
  cluster.pod("needs-taint", "{nodeSelector: {zone: y}}");
  cluster.pod("tolerates", "{nodeSelector: {zone: y}, tolerations: [{key: k, operator: Equal, value: v}]}");
  cluster.pod("closed", "{nodeSelector: {zone: z}}");
  cluster.pod("affine",
              "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ["
              "{matchExpressions: [{key: cores, operator: Gt, values: ['8']}]}]}}}}");
  cluster.pod("by-name",
              "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ["
              "{matchFields: [{key: metadata.name, operator: In, values: [a-plain]}]}]}}}}");
  cluster.pod("gated", "{schedulingGates: [{name: example.com/g}]}");
  cluster.pass(1);
  EXPECT_EQ(cluster.node_of("selects"), "d-other");
  EXPECT_EQ(cluster.node_of("needs-taint"), "");
  EXPECT_EQ(cluster.node_of("tolerates"), "b-tainted");
  EXPECT_EQ(cluster.node_of("closed"), "");
  EXPECT_EQ(cluster.node_of("affine"), "d-other");
  EXPECT_EQ(cluster.node_of("by-name"), "a-plain");
  EXPECT_EQ(cluster.node_of("gated"), "");
  EXPECT_EQ(cluster.condition("gated", "PodScheduled"), "False/SchedulingGated");

  cluster.patch(kNodes, "c-closed", "{spec: {unschedulable: null}}");
  cluster.patch(kPods, "gated", "{spec: {schedulingGates: [{$patch: delete, name: example.com/g}]}}");
  cluster.pass(1);
  EXPECT_EQ(cluster.node_of("closed"), "c-closed");
  EXPECT_NE(cluster.node_of("gated"), "");
}

TEST(PretendCluster, PutsNoMorePodsOnANodeThanItTakes) {
  ClusterOptions options;
  options.nodes = "1";
  options.node_resources = "cpu=100,pods=2";
  Cluster cluster(options);
  for (const char* name : {"a", "b", "c"}) cluster.pod(name);
  cluster.pass(1);
  EXPECT_EQ(cluster.node_of("a") + cluster.node_of("b"), "b1-r1-n1b1-r1-n1");
  EXPECT_EQ(cluster.node_of("c"), "");
}

TEST(PretendCluster, DeletedPodsEndAndGoAndLeaveRoom) {
  ClusterOptions options;
  options.nodes = "1";
  options.node_resources = "cpu=1";
  Cluster cluster(options);
  cluster.pod("first", "{}", "{berth.dev/run-for: 1h}");
  cluster.pass(1);
  cluster.patch(kPods, "first", "{metadata: {finalizers: [example.com/hold]}}");
  cluster.pod("second", "{}", "{berth.dev/run-for: 1h}");
  EXPECT_TRUE(cluster.remove(kPods, "first").ok());
  cluster.pass(60);
  EXPECT_EQ(cluster.phase("first"), "Failed") << "it ended, and stays for its finalizer";
  EXPECT_EQ(cluster.phase("second"), "Running");
  cluster.patch(kPods, "first", "{metadata: {finalizers: null}}");
  cluster.pass(1);
  EXPECT_TRUE(cluster.get(kPods, "first").is_null());
}

TEST(PretendCluster, PlacesTheSamePodsInTheSameWay) {
  const auto places = [] {
    ClusterOptions options;
    options.nodes = "2x2x2";
    options.node_resources = "cpu=4";
    Cluster cluster(options);
    for (int i = 0; i < 20; ++i)
      cluster.pod("p" + std::to_string(i), requests("{cpu: '" + std::to_string(1 + i % 3) + "'}"));
    cluster.pass(2);
    std::string out;
    for (int i = 0; i < 20; ++i) out += cluster.node_of("p" + std::to_string(i)) + " ";
    return out;
  };
  EXPECT_EQ(places(), places());
}

TEST(PretendCluster, RunsJobsToCompletion) {
  ClusterOptions options;
  options.nodes = "2";
  options.node_resources = "cpu=4";
  Cluster cluster(options);
  cluster.create(kJobs,
                 yaml("{apiVersion: batch/v1, kind: Job, metadata: {name: sweep}, spec: {parallelism: 6, completions: "
                      "12, completionMode: Indexed, ttlSecondsAfterFinished: 100, template: {spec: {restartPolicy: "
                      "Never, containers: [{name: c, image: i, resources: {requests: {cpu: '2'}}}]}}}}"));
  cluster.pass(5);
  Json job = cluster.get(kJobs, "sweep");
  EXPECT_EQ(int_at(job, {"status", "active"}), 6);
  EXPECT_EQ(int_at(job, {"status", "ready"}), 4) << "two nodes have room for four";
  cluster.pass(60);
  job = cluster.get(kJobs, "sweep");
  EXPECT_EQ(int_at(job, {"status", "succeeded"}), 12);
  EXPECT_EQ(string_at(job, {"status", "completedIndexes"}), "0-11");
  EXPECT_NE(string_at(job, {"status", "completionTime"}), "");
  for (const auto& pod : cluster.list(kPods)) EXPECT_TRUE(array_at(pod, {"metadata", "finalizers"}).empty());
  cluster.pass(120);
  EXPECT_TRUE(cluster.get(kJobs, "sweep").is_null());
  EXPECT_TRUE(cluster.list(kPods).empty());
}

TEST(PretendCluster, SuspendedJobsGiveTheirRoomBack) {
  ClusterOptions options;
  options.nodes = "1";
  options.node_resources = "cpu=2";
  Cluster cluster(options);
  const auto job = [&](const std::string& name) {
    cluster.create(kJobs, yaml("{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
                               "}, spec: {parallelism: 2, "
                               "completions: 2, template: {metadata: {annotations: {berth.dev/run-for: 1h}}, spec: "
                               "{restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: "
                               "'1'}}}]}}}}"));
  };
  job("one");
  cluster.pass(2);
  job("two");
  cluster.pass(2);
  EXPECT_EQ(int_at(cluster.get(kJobs, "one"), {"status", "ready"}), 2);
  EXPECT_EQ(int_at(cluster.get(kJobs, "two"), {"status", "ready"}), 0);
  cluster.patch(kJobs, "one", "{spec: {suspend: true}}");
  cluster.pass(5);
  EXPECT_EQ(int_at(cluster.get(kJobs, "one"), {"status", "active"}), 0);
  EXPECT_EQ(int_at(cluster.get(kJobs, "one"), {"status", "failed"}), 0);
  EXPECT_EQ(int_at(cluster.get(kJobs, "two"), {"status", "ready"}), 2);
  cluster.patch(kJobs, "one", "{spec: {suspend: false}}");
  EXPECT_TRUE(cluster.remove(kJobs, "two", yaml("{propagationPolicy: Background}")).ok());
  cluster.pass(5);
  EXPECT_EQ(int_at(cluster.get(kJobs, "one"), {"status", "ready"}), 2);
}

TEST(PretendCluster, TakesUpItsWorkAfterARestart) {
  ClusterOptions options;
  options.nodes = "1";
  options.node_resources = "cpu=4";
  Cluster cluster(options);
  cluster.create(kJobs,
                 yaml("{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: 3, completions: 6, "
                      "template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: "
                      "{requests: {cpu: '1'}}}]}}}}"));
  // A new cluster object takes over every three seconds.
  for (int i = 0; i < 15; ++i) {
    cluster.pass(3);
    cluster.cluster.reset();
    cluster.cluster = PretendCluster::make(*cluster.server, cluster.executor, options).value();
    cluster.cluster->start();
  }
  const Json job = cluster.get(kJobs, "j");
  EXPECT_EQ(int_at(job, {"status", "succeeded"}), 6);
  EXPECT_EQ(int_at(job, {"status", "failed"}), 0);
  EXPECT_EQ(cluster.list(kPods).size(), 6u) << "no pod too many";
}

}  // namespace
}  // namespace berth::cluster::cluster_test
