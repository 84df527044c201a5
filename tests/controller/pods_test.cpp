// Single pods and groups of pods on an API server with garbage collector: who may run, what is left of those that
// ended, and what happens when others change or delete what Berth wrote.
#include <gtest/gtest.h>

#include <algorithm>

#include "controller/pods_fixture.h"

namespace berth::controller::pods_test {
namespace {

using apiserver::kPods;

using Pods = PodsTest;

TEST_F(Pods, APodWaitsForQuotaRunsAndLeavesNothingBehind) {
  pod("blocker", "4");
  pod("p");
  pass();
  EXPECT_FALSE(gated("blocker"));
  EXPECT_TRUE(gated("p"));
  EXPECT_TRUE(kept("p"));
  remove(kPods, "default", "blocker");
  pass();
  EXPECT_FALSE(exists(kPods, "default", "blocker"));
  EXPECT_FALSE(gated("p"));
  phase("p", "Running");
  pass();
  ASSERT_EQ(workloads().size(), 1u);
  EXPECT_EQ(condition(workloads()[0], "PodsReady"), "True Started");
  phase("p", "Succeeded");
  pass();
  EXPECT_EQ(condition(workloads()[0], "Finished"), "True Succeeded");
  EXPECT_FALSE(kept("p"));
  EXPECT_TRUE(array_at(workloads()[0], {"metadata", "finalizers"}).empty());
  EXPECT_EQ(holders(), 0u);
  remove(kPods, "default", "p");
  pass();
  EXPECT_TRUE(workloads().empty());
}

TEST_F(Pods, APodWhoseGateIsTakenByHandIsStopped) {
  pod("blocker", "4");
  pod("p");
  pass();
  EXPECT_TRUE(patch(kPods, "default", "p", R"({"spec":{"schedulingGates":null}})").ok());
  pass();
  EXPECT_FALSE(exists(kPods, "default", "p")) << "it has no quota";
}

TEST_F(Pods, APodThatLosesItsFinalizerOrItsLabelsIsNotForgotten) {
  pod("a");
  pod("b");
  pass();
  EXPECT_TRUE(patch(kPods, "default", "a", R"({"metadata":{"finalizers":null}})").ok());
  EXPECT_TRUE(patch(kPods, "default", "b", R"({"metadata":{"labels":{"kueue.x-k8s.io/managed":null}}})").ok());
  pass();
  remove(kPods, "default", "a");
  remove(kPods, "default", "b");
  pass(10);
  EXPECT_FALSE(exists(kPods, "default", "a"));
  EXPECT_FALSE(exists(kPods, "default", "b"));
  EXPECT_TRUE(workloads().empty());
  EXPECT_EQ(holders(), 0u);
}

TEST_F(Pods, ADeletedWorkloadTakesItsRunningPodAlongAndAWaitingPodGetsANewOne) {
  pod("runs", "4");
  pod("waits");
  pass();
  const auto of = [&](const std::string& name) {
    for (const auto& one : workloads()) {
      if (string_at(array_at(one, {"metadata", "ownerReferences"}).at(0), {"name"}) == name) return one;
    }
    return Json();
  };
  const std::string old(string_at(of("waits"), {"metadata", "uid"}));
  remove(api::kWorkloads, "default", string_at(of("waits"), {"metadata", "name"}));
  pass();
  EXPECT_NE(string_at(of("waits"), {"metadata", "uid"}), old);
  EXPECT_TRUE(gated("waits"));
  remove(api::kWorkloads, "default", string_at(of("runs"), {"metadata", "name"}));
  pass();
  EXPECT_FALSE(exists(kPods, "default", "runs"));
  EXPECT_FALSE(gated("waits"));
}

TEST_F(Pods, ARestartFindsEverythingAgain) {
  pod("p");
  member("g1", "g", 2);
  member("g2", "g", 2);
  pass();
  phase("p", "Running");
  controller.reset();
  phase("p", "Succeeded");
  phase("g1", "Succeeded");
  remove(kPods, "default", "g2");
  lead();
  pass();
  EXPECT_FALSE(kept("p"));
  EXPECT_EQ(condition(workload("g"), "WaitingForReplacementPods"), "True PodsFailed");
  EXPECT_EQ(holders(), 1u);
}

TEST_F(Pods, AGroupIsLetGoAsOneAndFinishes) {
  member("a1", "a", 2, "2");
  pass();
  EXPECT_TRUE(workloads().empty());
  EXPECT_TRUE(reported("a1", "ErrWorkloadCompose"));
  member("a2", "a", 2, "2");
  member("b1", "b", 2, "2");
  member("b2", "b", 2, "2");
  pass();
  EXPECT_FALSE(gated("a1") || gated("a2"));
  EXPECT_TRUE(gated("b1") && gated("b2"));
  phase("a1", "Running");
  phase("a2", "Running");
  pass();
  EXPECT_EQ(condition(workload("a"), "PodsReady"), "True Started");
  phase("a1", "Succeeded");
  pass();
  EXPECT_TRUE(gated("b1")) << "two cpus are free, b needs four";
  phase("a2", "Succeeded");
  pass();
  EXPECT_EQ(condition(workload("a"), "Finished"), "True Succeeded");
  EXPECT_FALSE(kept("a1") || kept("a2"));
  EXPECT_FALSE(gated("b1") || gated("b2"));
}

TEST_F(Pods, AGroupWhosePodsAreAllDeletedGivesItsQuotaBackWhenTheyHaveEnded) {
  member("a1", "a", 2, "2");
  member("a2", "a", 2, "2");
  pass();
  bind("a1");
  phase("a1", "Running");
  pod("next", "4");
  remove(kPods, "default", "a1");
  remove(kPods, "default", "a2");
  pass(10);
  EXPECT_FALSE(exists(kPods, "default", "a2"));
  EXPECT_TRUE(gated("next")) << "a1 still runs";
  kubelet_removes("a1");
  pass(10);
  EXPECT_FALSE(exists(kPods, "default", "a1"));
  EXPECT_FALSE(gated("next"));
}

TEST_F(Pods, AWorkloadOfTheSameNameInTheWayIsReportedAndWaitedFor) {
  make(api::kWorkloads, "Workload", "default",
       "{metadata: {name: g}, spec: {queueName: none, podSets: [{name: main, count: 1, template: {spec: "
       "{restartPolicy: Never, containers: [{name: c, image: i}]}}}]}}");
  member("g1", "g", 1);
  pass();
  EXPECT_TRUE(reported("g1", "WorkloadNameConflict"));
  EXPECT_TRUE(gated("g1"));
  remove(api::kWorkloads, "default", "g");
  pass();
  EXPECT_FALSE(gated("g1"));
}

TEST_F(Pods, ARoleThatIsNoNameIsReported) {
  pod("g1", "1", ", kueue.x-k8s.io/pod-group-name: g", ", kueue.x-k8s.io/pod-group-total-count: '1'", "Not_A_Name");
  pass();
  EXPECT_TRUE(reported("g1", "ErrWorkloadCompose"));
  EXPECT_LE(controller->request_counts().at("create workloads"), 2u) << "it is not tried again and again";
}

TEST_F(Pods, APodGoesToAnotherGroup) {
  member("a1", "a", 2);
  pass();
  EXPECT_TRUE(patch(kPods, "default", "a1",
                    R"({"metadata":{"labels":{"kueue.x-k8s.io/pod-group-name":"b"},
                                    "annotations":{"kueue.x-k8s.io/pod-group-total-count":"1"}}})")
                  .ok());
  pass();
  EXPECT_FALSE(gated("a1"));
  EXPECT_EQ(workloads().size(), 1u);
}

TEST_F(Pods, NothingIsStuckWhenTheNamespaceGoes) {
  make(apiserver::kNamespaces, "Namespace", "", "{metadata: {name: other}}");
  make(kPods, "Pod", "other",
       "{metadata: {name: p, labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/managed: 'true', "
       "kueue.x-k8s.io/pod-group-name: g}, annotations: {kueue.x-k8s.io/pod-group-total-count: '1'}, finalizers: "
       "[kueue.x-k8s.io/managed]}, spec: {schedulingGates: [{name: kueue.x-k8s.io/admission}], containers: [{name: c, "
       "image: i}]}}");
  pass();
  remove(apiserver::kNamespaces, "", "other");
  pass(30);
  EXPECT_FALSE(exists(apiserver::kNamespaces, "", "other"));
}

// A group is looked at in batches: the writes grow with its pods, not with their square.
TEST_F(Pods, ALargeGroupCostsOneRequestForEachPod) {
  constexpr int kPodCount = 400;
  for (int i = 0; i < kPodCount; ++i) member("p" + std::to_string(i), "g", kPodCount, "10m");
  pass(20);
  EXPECT_FALSE(gated("p0"));
  EXPECT_FALSE(gated("p" + std::to_string(kPodCount - 1)));
  std::uint64_t requests = 0;
  for (const auto& [what, count] : controller->request_counts()) requests += what.ends_with("pods") ? count : 0;
  EXPECT_LE(requests, kPodCount + 16u);
  EXPECT_EQ(controller->request_counts().at("create workloads"), 1u);
  EXPECT_EQ(controller->request_counts().count("patch workloads"), 0u);
}

}  // namespace
}  // namespace berth::controller::pods_test
