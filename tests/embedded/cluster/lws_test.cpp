// LeaderWorkerSets on the pretend cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "api/leaderworkerset/names.h"
#include "base/embedded.h"
#include "embedded/cluster/pretend_cluster.h"
#include "embedded/cluster/shared/pod_writes.h"

namespace berth::cluster::lws_test {
namespace {

using namespace testing_support;
using api::leaderworkerset::kLeaderWorkerSets;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ClusterOptions options() {
  ClusterOptions options;
  options.nodes = "3";
  options.node_resources = "cpu=8";
  options.leader_worker_sets = true;
  return options;
}

constexpr std::string_view kSlowToStop = "{berth.dev/stop-after: 2s}";  // so that a test sees what happens between

class LeaderWorkerSets : public testing::Test {
 protected:
  LeaderWorkerSets() : cluster(options()) {
    for (const auto& file : embedded::external_crds()) {
      if (file.name.find("leaderworkersets") == std::string_view::npos) continue;
      auto request = cluster.request(api::Verb::kCreate, {"apiextensions.k8s.io", "v1", "customresourcedefinitions"});
      request.ns.clear();
      request.body = yaml(file.content);
      cluster.expect_ok(cluster.call(std::move(request)));
    }
    cluster.pass(40);  // until the caches have retried
  }
  // A set named s; `spec` beside its templates, and what its template says beside the containers.
  void submit(std::string_view spec, std::string_view group = "size: 2", std::string_view annotations = "{}") {
    Json set = yaml("{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: s}}");
    ensure_path(set, {"spec"}) = yaml(spec);
    ensure_path(set, {"spec", "leaderWorkerTemplate"}) = yaml("{" + std::string(group) + "}");
    ensure_path(set, {"spec", "leaderWorkerTemplate", "workerTemplate"}) =
        yaml("{metadata: {labels: {app: x}, annotations: " + std::string(annotations) +
             "}, spec: {containers: [{name: c, image: i, env: [{name: MINE, value: v}]}]}}");
    cluster.create(kLeaderWorkerSets, std::move(set));
    cluster.pass(5);
  }
  void patch(const api::GroupVersionResource& what, std::string_view name, std::string_view body,
             std::string_view subresource = "") {
    auto request = cluster.request(api::Verb::kPatch, what, name);
    request.subresource = subresource;
    request.body = yaml(body);
    cluster.expect_ok(cluster.call(std::move(request)));
    cluster.pass(5);
  }
  std::vector<std::string> names() {
    std::vector<std::string> out;
    for (const Json& pod : cluster.list(kPods)) out.emplace_back(string_at(pod, {"metadata", "name"}));
    return out;
  }
  std::string uid(std::string_view pod) { return std::string(string_at(cluster.get(kPods, pod), {"metadata", "uid"})); }
  std::int64_t status(std::string_view field) { return int_at(cluster.get(kLeaderWorkerSets, "s"), {"status", field}); }
  std::string set_condition(std::string_view type) {
    return std::string(condition_status(cluster.get(kLeaderWorkerSets, "s"), type));
  }

  Cluster cluster;
};

TEST_F(LeaderWorkerSets, RunGroupsOfALeaderAndWorkers) {
  submit("{replicas: 2}", "size: 3");
  EXPECT_THAT(names(), ElementsAre("s-0", "s-0-1", "s-0-2", "s-1", "s-1-1", "s-1-2"));
  const Json worker = cluster.get(kPods, "s-1-2");
  const auto label = [&](std::string_view name) {
    return std::string(string_at(worker, {"metadata", "labels", "leaderworkerset.sigs.k8s.io/" + std::string(name)}));
  };
  EXPECT_EQ(label("name"), "s");
  EXPECT_EQ(label("group-index"), "1");
  EXPECT_EQ(label("worker-index"), "2");
  EXPECT_EQ(label("group-key").size(), 40u);
  EXPECT_EQ(string_at(worker, {"metadata", "labels", "app"}), "x");
  EXPECT_EQ(string_at(worker, {"metadata", "annotations", "leaderworkerset.sigs.k8s.io/size"}), "3");
  EXPECT_EQ(string_at(worker, {"metadata", "annotations", "leaderworkerset.sigs.k8s.io/leader-name"}), "s-1");
  const Json& owner = array_at(worker, {"metadata", "ownerReferences"})[0];
  EXPECT_EQ(string_at(owner, {"kind"}), "Pod");
  EXPECT_EQ(string_at(owner, {"uid"}), uid("s-1"));
  const JsonArray& env = array_at(array_at(worker, {"spec", "containers"})[0], {"env"});
  ASSERT_EQ(env.size(), 4u);
  EXPECT_EQ(string_at(env[0], {"value"}), "s-1.s.default");
  EXPECT_EQ(string_at(env[1], {"value"}), "3");
  EXPECT_EQ(string_at(env[2], {"value"}), "2");
  EXPECT_EQ(string_at(env[3], {"name"}), "MINE");
  EXPECT_EQ(status("replicas"), 2);
  EXPECT_EQ(status("readyReplicas"), 2);
  EXPECT_EQ(status("updatedReplicas"), 2);
  EXPECT_EQ(set_condition("Available"), "True");
  EXPECT_EQ(set_condition("Progressing"), "False");
  const std::string before = uid("s-0-1");
  cluster.pass(3600);
  EXPECT_EQ(uid("s-0-1"), before) << "services run on";
}

TEST_F(LeaderWorkerSets, ScaleByTheSpecAndByTheSubresource) {
  submit("{replicas: 1}");
  patch(kLeaderWorkerSets, "s", "{spec: {replicas: 3}}");
  EXPECT_EQ(names().size(), 6u);
  EXPECT_EQ(status("readyReplicas"), 3);
  patch(kLeaderWorkerSets, "s", "{spec: {replicas: 1}}", "scale");
  EXPECT_THAT(names(), ElementsAre("s-0", "s-0-1"));
  patch(kLeaderWorkerSets, "s", "{spec: {replicas: 0}}", "scale");
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(status("replicas"), 0);
  EXPECT_EQ(set_condition("Available"), "True");
}

TEST_F(LeaderWorkerSets, ALostPodTakesItsGroupWithIt) {
  submit("{replicas: 2}");
  const std::string leader = uid("s-0"), worker = uid("s-0-1"), other = uid("s-1");
  cluster.remove(kPods, "s-0-1");
  cluster.pass(5);
  EXPECT_EQ(names().size(), 4u);
  EXPECT_NE(uid("s-0"), leader);
  EXPECT_NE(uid("s-0-1"), worker);
  EXPECT_EQ(uid("s-1"), other);
  EXPECT_EQ(status("readyReplicas"), 2);
}

TEST_F(LeaderWorkerSets, ALostPodIsReplacedAloneWhenTheRestartPolicySaysSo) {
  submit("{replicas: 1}", "size: 3, restartPolicy: None");
  const std::string leader = uid("s-0"), worker = uid("s-0-1"), other = uid("s-0-2");
  cluster.remove(kPods, "s-0-1");
  cluster.pass(5);
  EXPECT_EQ(uid("s-0"), leader);
  EXPECT_NE(uid("s-0-1"), worker);
  EXPECT_EQ(uid("s-0-2"), other);
  cluster.remove(kPods, "s-0");
  cluster.pass(5);
  EXPECT_EQ(names().size(), 3u);
  EXPECT_NE(uid("s-0-2"), other) << "workers belong to their leader";
}

TEST_F(LeaderWorkerSets, WorkersWaitForTheLeaderWhenTheStartupPolicySaysSo) {
  submit("{replicas: 1, startupPolicy: LeaderReady}",
         "size: 2, leaderTemplate: {spec: {nodeSelector: {is: nowhere}, containers: [{name: c, image: i}]}}");
  EXPECT_THAT(names(), ElementsAre("s-0")) << "no node takes the leader";
  EXPECT_EQ(set_condition("Progressing"), "True");
  patch(kLeaderWorkerSets, "s", "{spec: {startupPolicy: LeaderCreated}}");
  EXPECT_THAT(names(), ElementsAre("s-0", "s-0-1"));
}

TEST_F(LeaderWorkerSets, AreUpdatedOneGroupAtATime) {
  submit("{replicas: 3, rolloutStrategy: {type: RollingUpdate, rollingUpdateConfiguration: {partition: 1}}}", "size: 2",
         kSlowToStop);
  const std::set<std::string> before{uid("s-0"), uid("s-1"), uid("s-2")};
  std::int64_t least = 3;
  auto request = cluster.request(api::Verb::kPatch, kLeaderWorkerSets, "s");
  request.body = yaml("{spec: {leaderWorkerTemplate: {workerTemplate: {spec: {hostNetwork: true}}}}}");
  cluster.expect_ok(cluster.call(std::move(request)));
  for (int i = 0; i < 100; ++i) {
    cluster.run_for(std::chrono::milliseconds(100));
    least = std::min(least, status("readyReplicas"));
  }
  EXPECT_EQ(least, 2);
  EXPECT_TRUE(before.contains(uid("s-0"))) << "below the partition";
  EXPECT_FALSE(before.contains(uid("s-1")));
  EXPECT_FALSE(before.contains(uid("s-2")));
  EXPECT_EQ(status("updatedReplicas"), 2);
  EXPECT_EQ(set_condition("UpdateInProgress"), "False");
}

TEST_F(LeaderWorkerSets, KeepTheirCapacityWithASurge) {
  submit(
      "{replicas: 2, rolloutStrategy: {type: RollingUpdate, rollingUpdateConfiguration: {maxSurge: 1, "
      "maxUnavailable: 0}}}",
      "size: 2", kSlowToStop);
  const std::set<std::string> before{uid("s-0"), uid("s-1")};
  std::int64_t least = 2, most = 0;
  auto request = cluster.request(api::Verb::kPatch, kLeaderWorkerSets, "s");
  request.body = yaml("{spec: {leaderWorkerTemplate: {workerTemplate: {spec: {hostNetwork: true}}}}}");
  cluster.expect_ok(cluster.call(std::move(request)));
  for (int i = 0; i < 100; ++i) {
    cluster.run_for(std::chrono::milliseconds(100));
    least = std::min(least, status("readyReplicas"));
    most = std::max(most, status("replicas"));
  }
  EXPECT_EQ(least, 2);
  EXPECT_EQ(most, 3);
  EXPECT_EQ(names().size(), 4u);
  EXPECT_FALSE(before.contains(uid("s-0")));
  EXPECT_FALSE(before.contains(uid("s-1")));
}

// They hold quota and have no pods: somebody must be told why.
TEST_F(LeaderWorkerSets, TellInAnEventWhyTheirPodsAreRefused) {
  cluster.create(kLeaderWorkerSets,
                 yaml("{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: s}, spec: "
                      "{replicas: 1, leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {containers: [{name: c, "
                      "image: i, envFrom: [{configMapRef: {}}]}]}}}}}"));
  cluster.pass(60);
  std::vector<std::string> notes;
  for (const Json& event : cluster.list(kEvents)) {
    if (string_at(event, {"reason"}) != "FailedCreate") continue;
    EXPECT_EQ(string_at(event, {"type"}), "Warning");
    EXPECT_EQ(string_at(event, {"regarding", "kind"}), "LeaderWorkerSet");
    EXPECT_EQ(string_at(event, {"regarding", "name"}), "s");
    notes.emplace_back(string_at(event, {"note"}));
  }
  EXPECT_THAT(notes, ElementsAre(::testing::StartsWith("Error creating: ")));
}

}  // namespace
}  // namespace berth::cluster::lws_test
