// LeaderWorkerSets on an API server with webhooks, garbage collector and the pretend cluster: which groups run, and
// what is left when a set shrinks, moves or goes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "api/leaderworkerset/names.h"
#include "api/resources.h"
#include "controller/leader_worker_sets_fixture.h"

namespace berth::controller::leader_worker_sets_test {
namespace {

using api::leaderworkerset::kLeaderWorkerSets;
using apiserver::kPods;

class LeaderWorkerSets : public LeaderWorkerSetsTest {
 protected:
  using LeaderWorkerSetsTest::LeaderWorkerSetsTest;
};

TEST_F(LeaderWorkerSets, EachGroupWaitsForItsOwnQuota) {
  make_set(3);
  std::vector<int> running, waiting;  // groups; which of equal ones is first is up to chance
  for (int group = 0; group < 3; ++group) {
    const std::string leader = "s-" + std::to_string(group), phase = pods()[leader];
    EXPECT_EQ(pods()[leader + "-1"], phase) << leader;
    (phase == "Running" ? running : waiting).push_back(group);
  }
  ASSERT_EQ(running.size(), 2u);
  EXPECT_EQ(pods()["s-" + std::to_string(waiting.at(0))], "gated");
  EXPECT_EQ(items(api::kWorkloads).size(), 3u);
  const Json first = workload(running[0]), last = workload(waiting[0]);
  const std::string leader = "s-" + std::to_string(running[0]);
  EXPECT_TRUE(string_at(first, {"metadata", "name"}).starts_with("leaderworkerset-" + leader + "-"));
  EXPECT_EQ(condition(first, "PodsReady"), "True Started");
  EXPECT_EQ(condition(last, "QuotaReserved"), "False WaitingForQuota");
  EXPECT_EQ(array_at(first, {"metadata", "ownerReferences"}).size(), 3u) << "the set and its pods";
  const Json worker = get(kPods, "default", leader + "-1").body;
  const auto annotation = [&](std::string_view key) { return string_at(worker, {"metadata", "annotations", key}); };
  EXPECT_EQ(annotation("kueue.x-k8s.io/pod-group-name"), string_at(first, {"metadata", "name"}));
  EXPECT_EQ(annotation("kueue.x-k8s.io/pod-group-total-count"), "2");
  EXPECT_EQ(annotation("kueue.x-k8s.io/role-hash"), "worker");
  EXPECT_TRUE(array_at(worker, {"metadata", "finalizers"}).empty());
  EXPECT_EQ(holders(), 2u);
}

TEST_F(LeaderWorkerSets, DecideWhatTheirGroupsAskForWhateverAPodSays) {
  make_set(3);
  EXPECT_TRUE(
      patch(kPods, "default", "s-2-1", R"({"metadata":{"annotations":{"kueue.x-k8s.io/role-hash":"other"}}})").ok());
  pass();
  const Json waiting = workload(2);
  EXPECT_LE(int_at(waiting, {"metadata", "generation"}), 2) << "the pods and the set overwrite each other";
  EXPECT_EQ(string_at(array_at(waiting, {"spec", "podSets"})[1], {"name"}), "worker");
}

TEST_F(LeaderWorkerSets, GetAnotherWorkloadForOneThatLostItsOwnersAndThenIsDeleted) {
  make_set(1);
  const std::string name = name_of_group(0);
  EXPECT_TRUE(patch(api::kWorkloads, "default", name, R"({"metadata":{"ownerReferences":null}})").ok());
  remove(api::kWorkloads, "default", name);
  pass(60);
  EXPECT_EQ(items(api::kWorkloads).size(), 1u);
  EXPECT_EQ(pods(), (Pods{{"s-0", "Running"}, {"s-0-1", "Running"}}));
}

TEST_F(LeaderWorkerSets, ShrinkToNothingAndGrowAgain) {
  make_set(2);
  change_set(R"({"spec":{"replicas":1}})");
  EXPECT_EQ(pods(), (Pods{{"s-0", "Running"}, {"s-0-1", "Running"}}));
  EXPECT_EQ(items(api::kWorkloads).size(), 1u);
  EXPECT_EQ(holders(), 1u);
  change_set(R"({"spec":{"replicas":0}})");
  EXPECT_TRUE(pods().empty());
  EXPECT_TRUE(items(api::kWorkloads).empty());
  EXPECT_EQ(holders(), 0u);
  change_set(R"({"spec":{"replicas":2}})");
  EXPECT_EQ(pods().size(), 4u);
  EXPECT_EQ(holders(), 2u);
}

TEST_F(LeaderWorkerSets, ADeletedSetLeavesNothingBehind) {
  make_set(3);
  remove(kLeaderWorkerSets, "default", "s");
  pass();
  EXPECT_TRUE(pods().empty());
  EXPECT_TRUE(items(api::kWorkloads).empty());
  EXPECT_EQ(holders(), 0u);
}

TEST_F(LeaderWorkerSets, AGroupThatLostAPodStartsAgainWithTheSameQuota) {
  make_set(1);
  const std::string uid(string_at(workload(0), {"metadata", "uid"}));
  remove(kPods, "default", "s-0-1");
  pass();
  EXPECT_EQ(pods(), (Pods{{"s-0", "Running"}, {"s-0-1", "Running"}}));
  EXPECT_EQ(string_at(workload(0), {"metadata", "uid"}), uid);
  EXPECT_EQ(holders(), 1u);
}

TEST_F(LeaderWorkerSets, ADeactivatedGroupWaitsUntilItIsActiveAgain) {
  make_set(1);
  EXPECT_TRUE(patch(api::kWorkloads, "default", name_of_group(0), R"({"spec":{"active":false}})").ok());
  pass();
  EXPECT_EQ(pods(), (Pods{{"s-0", "gated"}, {"s-0-1", "gated"}}));
  EXPECT_EQ(holders(), 0u);
  EXPECT_TRUE(patch(api::kWorkloads, "default", name_of_group(0), R"({"spec":{"active":true}})").ok());
  pass(60);
  EXPECT_EQ(pods(), (Pods{{"s-0", "Running"}, {"s-0-1", "Running"}}));
}

TEST_F(LeaderWorkerSets, ADeletedWorkloadIsReplaced) {
  make_set(1);
  const std::string uid(string_at(workload(0), {"metadata", "uid"}));
  remove(api::kWorkloads, "default", name_of_group(0));
  pass();
  ASSERT_EQ(items(api::kWorkloads).size(), 1u);
  EXPECT_NE(string_at(workload(0), {"metadata", "uid"}), uid);
  EXPECT_EQ(pods(), (Pods{{"s-0", "Running"}, {"s-0-1", "Running"}}));
  EXPECT_EQ(holders(), 1u);
}

TEST_F(LeaderWorkerSets, MoveToAnotherQueueWhileTheyWait) {
  make(kPods, "Pod", "default",
       "{metadata: {name: blocker, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {restartPolicy: Always, containers: "
       "[{name: c, image: i, resources: {requests: {cpu: '4'}}}]}}");
  pass();
  make_set(1);
  EXPECT_EQ(pods()["s-0"], "gated");
  change_set(R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"q2"}}})");
  EXPECT_EQ(string_at(workload(0), {"spec", "queueName"}), "q2");
  remove(kPods, "default", "blocker");
  pass(30);
  EXPECT_EQ(pods(), (Pods{{"s-0", "Running"}, {"s-0-1", "Running"}}));
}

TEST_F(LeaderWorkerSets, AnUpdateWithASurgeWaitsForQuotaOfItsOwn) {
  make_set(1, "kueue.x-k8s.io/queue-name: q",
           ", rolloutStrategy: {type: RollingUpdate, rollingUpdateConfiguration: {maxSurge: 1, maxUnavailable: 0}}");
  const Json before = get(kPods, "default", "s-0").body;
  change_set(R"({"spec":{"leaderWorkerTemplate":{"workerTemplate":{"metadata":{"labels":{"version":"2"}}}}}})");
  pass(60);
  EXPECT_EQ(pods(), (Pods{{"s-0", "Running"}, {"s-0-1", "Running"}}));
  EXPECT_NE(string_at(get(kPods, "default", "s-0").body, {"metadata", "uid"}), string_at(before, {"metadata", "uid"}));
  EXPECT_EQ(items(api::kWorkloads).size(), 1u) << "that of the surge is gone";
  EXPECT_EQ(holders(), 1u);
}

TEST_F(LeaderWorkerSets, WithoutAQueueTheyRunAtOnce) {
  make_set(3, "");
  EXPECT_EQ(pods().size(), 6u);
  EXPECT_EQ(pods()["s-2-1"], "Running");
  EXPECT_TRUE(items(api::kWorkloads).empty());
}

TEST_F(LeaderWorkerSets, ShrinkWhileNobodyLooks) {
  make_set(2);
  controller.reset();
  change_set(R"({"spec":{"replicas":1}})");
  EXPECT_EQ(items(api::kWorkloads).size(), 2u);
  lead();
  EXPECT_EQ(pods(), (Pods{{"s-0", "Running"}, {"s-0-1", "Running"}}));
  EXPECT_EQ(items(api::kWorkloads).size(), 1u);
  EXPECT_EQ(holders(), 1u);
}

TEST_F(LeaderWorkerSets, TheNextLeaderLeavesRunningGroupsAlone) {
  make_set(2);
  const Json before = get(kPods, "default", "s-1").body;
  const std::string workload_uid(string_at(workload(1), {"metadata", "uid"}));
  controller.reset();
  lead();
  EXPECT_EQ(string_at(get(kPods, "default", "s-1").body, {"metadata", "uid"}), string_at(before, {"metadata", "uid"}));
  EXPECT_EQ(string_at(workload(1), {"metadata", "uid"}), workload_uid);
  EXPECT_EQ(holders(), 2u);
}

TEST_F(LeaderWorkerSets, ANewSetOfTheSameNameHasWorkloadsOfItsOwn) {
  make_set(1);
  const std::string before = name_of_group(0);
  remove(kLeaderWorkerSets, "default", "s");
  make_set(1);
  pass();
  EXPECT_EQ(pods(), (Pods{{"s-0", "Running"}, {"s-0-1", "Running"}}));
  ASSERT_EQ(items(api::kWorkloads).size(), 1u);
  EXPECT_NE(name_of_group(0), before);
  EXPECT_EQ(holders(), 1u);
}

TEST_F(LeaderWorkerSets, PodsThatComeBeforeTheirSetWaitForIt) {
  const Json owner = make(apiserver::kConfigMaps, "ConfigMap", "default", "{metadata: {name: owner}}");
  for (const std::string worker : {"0", "1"}) {
    make(kPods, "Pod", "default",
         "{metadata: {name: early-" + worker +
             ", labels: {kueue.x-k8s.io/queue-name: q, leaderworkerset.sigs.k8s.io/name: s, "
             "leaderworkerset.sigs.k8s.io/group-index: '0', leaderworkerset.sigs.k8s.io/worker-index: '" +
             worker +
             "'}, annotations: {kueue.x-k8s.io/pod-suspending-parent: leaderworkerset.x-k8s.io/leaderworkerset, "
             "kueue.x-k8s.io/pod-group-serving: 'true'}, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: "
             "owner, controller: true, uid: " +
             std::string(string_at(owner, {"metadata", "uid"})) +
             "}]}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}");
  }
  pass();
  EXPECT_EQ(pods(), (Pods{{"early-0", "gated"}, {"early-1", "gated"}}));
  EXPECT_TRUE(items(api::kWorkloads).empty()) << "they are no single pods";
  pretend.reset();  // its controller would make the pods
  make_set(1);
  EXPECT_EQ(items(api::kWorkloads).size(), 1u);
  for (const auto& [name, phase] : pods()) EXPECT_NE(phase, "gated") << name;
  EXPECT_EQ(holders(), 1u);
}

TEST_F(LeaderWorkerSets, OrphanedPodsRunOnAndKeepTheirQuota) {
  make_set(1);
  auto orphan = request(api::Verb::kDelete, kLeaderWorkerSets, "default", "s");
  orphan.body = parse_json(R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Orphan"})").value();
  EXPECT_TRUE(call(std::move(orphan)).ok());
  pass();
  EXPECT_EQ(pods(), (Pods{{"s-0", "Running"}, {"s-0-1", "Running"}}));
  EXPECT_EQ(holders(), 1u);
  for (const std::string pod : {"s-0", "s-0-1"}) remove(kPods, "default", pod);
  pass();
  EXPECT_TRUE(pods().empty());
  EXPECT_EQ(holders(), 0u);
}

TEST_F(LeaderWorkerSets, InSystemNamespacesRunAtOnce) {
  make_set(3, "kueue.x-k8s.io/queue-name: q", "", "kube-system");
  EXPECT_EQ(pods("kube-system").size(), 6u);
  for (const auto& [name, phase] : pods("kube-system")) EXPECT_EQ(phase, "Running") << name;
  EXPECT_TRUE(items(api::kWorkloads, "kube-system").empty());
}

// Configuration: manageJobsWithoutQueueName.
class AllLeaderWorkerSets : public LeaderWorkerSets {
 protected:
  AllLeaderWorkerSets() : LeaderWorkerSets(true, true) {}
};

TEST_F(AllLeaderWorkerSets, WaitForAQueueInManagedNamespacesOnly) {
  make_set(1, "", "", "kube-system");
  EXPECT_EQ(pods("kube-system"), (Pods{{"s-0", "Running"}, {"s-0-1", "Running"}})) << "in a namespace of the system";
  EXPECT_TRUE(items(api::kWorkloads, "kube-system").empty());
  make_set(1, "");
  EXPECT_EQ(pods(), (Pods{{"s-0", "gated"}, {"s-0-1", "gated"}})) << "it has no queue";
  EXPECT_EQ(items(api::kWorkloads).size(), 1u) << "pods of a group have no workloads of their own";
  EXPECT_EQ(holders(), 0u);
  change_set(R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"q"}}})");
  pass(30);
  EXPECT_EQ(pods(), (Pods{{"s-0", "Running"}, {"s-0-1", "Running"}}));
  EXPECT_EQ(holders(), 1u);
}

class LeaderWorkerSetsInstalledLater : public LeaderWorkerSets {
 protected:
  LeaderWorkerSetsInstalledLater() : LeaderWorkerSets(false) {}
};

TEST_F(LeaderWorkerSetsInstalledLater, AreManagedFromThenOn) {
  ASSERT_TRUE(controller->leading()) << "nothing waits for them";
  install_leader_worker_sets();
  pass(60);
  make_set(1);
  EXPECT_EQ(pods(), (Pods{{"s-0", "Running"}, {"s-0-1", "Running"}}));
  EXPECT_EQ(items(api::kWorkloads).size(), 1u);
}

}  // namespace
}  // namespace berth::controller::leader_worker_sets_test
