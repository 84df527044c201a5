// LeaderWorkerSets that wait in a queue, as a user of kubectl sees them, on `berth up` and on a real API server.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "e2e/one_queue.h"
#include "source_dir.h"

namespace berth::e2e::leader_worker_set_test {
namespace {

using testing::HasSubstr;

// Groups of a leader and a worker with one cpu each.
std::string set_of(int replicas) {
  const std::string pod =
      "{spec: {terminationGracePeriodSeconds: 1, containers: [{name: c, image: none, resources: {requests: {cpu: "
      "1}}}]}}";
  return "---\n{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: llm, namespace: "
         "default, "
         "labels: {kueue.x-k8s.io/queue-name: team}}, spec: {replicas: " +
         std::to_string(replicas) + ", leaderWorkerTemplate: {size: 2, leaderTemplate: " + pod +
         ", workerTemplate: " + pod + "}}}";
}

std::string blocker(int cpus) {
  return "---\n{apiVersion: v1, kind: Pod, metadata: {name: blocker, namespace: default, labels: "
         "{kueue.x-k8s.io/queue-name: team}}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: c, image: "
         "none, resources: {requests: {cpu: " +
         std::to_string(cpus) + "}}}]}}";
}

class LeaderWorkerSets : public OneQueue {
 protected:
  void SetUp() override {
    need_garbage_collector();
    if (IsSkipped()) return;
    OneQueue::SetUp();
    must({"apply", "--server-side", "--force-conflicts", "-f", source_path("config/external/leaderworkersets.yaml")});
    must({"wait", "--for=condition=established", "--timeout=60s", "crd/leaderworkersets.leaderworkerset.x-k8s.io"});
  }
  void TearDown() override {
    if (IsSkipped()) return;
    must({"delete", "leaderworkersets", "--all", "--timeout=100s"});
    EXPECT_TRUE(have_gone("pods")) << everything();
    EXPECT_TRUE(have_gone("workloads")) << everything();
    OneQueue::TearDown();
  }

  static bool have_gone(const std::string& kind) { return count_is(kind, 0); }
  static bool count_is(const std::string& kind, long count) {
    return eventually([&] {
      const std::string names = must({"get", kind, "-o", "name"});
      return std::count(names.begin(), names.end(), '\n') == count;
    });
  }
  static bool group_runs(const std::string& leader) { return runs(leader) && runs(leader + "-1"); }
  static bool is_ready(const std::string& groups) { return becomes("lws", "llm", ".status.readyReplicas", groups); }
  static void scale(int replicas) { must({"scale", "lws/llm", "--replicas=" + std::to_string(replicas)}); }
};

INSTANTIATE_TEST_SUITE_P(Clusters, LeaderWorkerSets, both(), name_of);

TEST_P(LeaderWorkerSets, AGroupWaitsAsOneUntilTheBlockerGoes) {
  must({"create", "-f", "-"}, blocker(3));
  ASSERT_TRUE(runs("blocker")) << everything();
  must({"create", "-f", "-"}, set_of(1));
  ASSERT_TRUE(becomes("pod", "llm-0-1", ".status.conditions[?(@.type==\"PodScheduled\")].reason", "SchedulingGated"))
      << everything();
  EXPECT_TRUE(eventually([] {
    return must({"describe", "pod", "llm-0"}).find("insufficient unused quota for cpu in flavor default") !=
           std::string::npos;
  })) << must({"describe", "pod", "llm-0"});
  EXPECT_THAT(must({"get", "pods"}), HasSubstr("SchedulingGated"));
  EXPECT_TRUE(is_waiting("1")) << everything();
  EXPECT_TRUE(is_used("3")) << "the leader alone would fit\n" << everything();
  EXPECT_THAT(must({"describe", "lws", "llm"}), HasSubstr("CreatedWorkload"));
  must({"delete", "pod", "blocker", "--timeout=100s"});
  EXPECT_TRUE(group_runs("llm-0")) << everything();
  EXPECT_TRUE(is_ready("1")) << everything();
  EXPECT_TRUE(is_used("2")) << everything();
}

TEST_P(LeaderWorkerSets, ASetGrowsShrinksToNothingAndComesBack) {
  must({"create", "-f", "-"}, set_of(1));
  ASSERT_TRUE(group_runs("llm-0")) << everything();
  scale(2);
  ASSERT_TRUE(group_runs("llm-1")) << everything();
  EXPECT_TRUE(is_used("4")) << everything();
  EXPECT_TRUE(count_is("workloads", 2)) << "one for each group\n" << everything();
  EXPECT_THAT(must({"get", "workloads"}),
              testing::AllOf(HasSubstr("leaderworkerset-llm-0-"), HasSubstr("leaderworkerset-llm-1-")));
  scale(3);
  ASSERT_TRUE(is_waiting("1")) << everything();
  EXPECT_THAT(gates("llm-2"), HasSubstr("kueue.x-k8s.io/admission"));
  scale(0);
  EXPECT_TRUE(have_gone("pods")) << everything();
  EXPECT_TRUE(have_gone("workloads")) << everything();
  EXPECT_TRUE(is_used("0")) << everything();
  EXPECT_TRUE(is_waiting("0")) << everything();
  scale(1);
  EXPECT_TRUE(group_runs("llm-0")) << everything();
  EXPECT_TRUE(is_used("2")) << everything();
}

TEST_P(LeaderWorkerSets, AGroupThatLosesAWorkerStartsAgainAsAWhole) {
  must({"create", "-f", "-"}, set_of(2));
  ASSERT_TRUE(group_runs("llm-0") && group_runs("llm-1")) << everything();
  const std::string leader = uid("llm-0"), other = uid("llm-1");
  const std::string workload = must({"get", "workloads", "-o", "jsonpath={.items[*].metadata.uid}"});
  must({"delete", "pod", "llm-0-1", "--wait=false"});
  EXPECT_TRUE(eventually([&] { return uid("llm-0") != leader && !uid("llm-0").empty(); })) << everything();
  EXPECT_TRUE(group_runs("llm-0")) << everything();
  EXPECT_EQ(uid("llm-1"), other) << "the other group is left alone";
  EXPECT_EQ(must({"get", "workloads", "-o", "jsonpath={.items[*].metadata.uid}"}), workload);
  EXPECT_TRUE(is_used("4")) << everything();
}

}  // namespace
}  // namespace berth::e2e::leader_worker_set_test
