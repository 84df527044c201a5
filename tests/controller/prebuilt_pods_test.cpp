// Single pods and groups of pods that name a workload which a client made.
#include <gtest/gtest.h>

#include "controller/pods_fixture.h"

namespace berth::controller::prebuilt_pods_test {
namespace {

using apiserver::kPods;

class PrebuiltPods : public PodsTest {
 protected:
  // A workload with one pod set of pods that request `cpu`.
  void made(const std::string& name, const std::string& pod_set, int count, const std::string& cpu = "1") {
    make(api::kWorkloads, "Workload", "default",
         "{metadata: {name: " + name + "}, spec: {queueName: q, podSets: [{name: " + pod_set +
             ", count: " + std::to_string(count) +
             ", template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, imagePullPolicy: Always, "
             "terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File, resources: {requests: "
             "{cpu: '" +
             cpu + "'}}}], tolerations: " + kDefaultTolerations + "}}}]}}");
  }
  void named(const std::string& pod_name, const std::string& workload_name) {
    pod(pod_name, "1", ", kueue.x-k8s.io/prebuilt-workload-name: " + workload_name);
  }
  void named_member(const std::string& name, int total) {
    pod(name, "1", ", kueue.x-k8s.io/pod-group-name: g, kueue.x-k8s.io/prebuilt-workload-name: g",
        ", kueue.x-k8s.io/pod-group-total-count: '" + std::to_string(total) + "'");
  }
  static constexpr const char* kDefaultTolerations =
      "[{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}, "
      "{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 300}]";
};

TEST_F(PrebuiltPods, APodTakesItsWorkloadAndRuns) {
  made("w", "main", 1);
  named("p", "w");
  pass();
  EXPECT_FALSE(gated("p")) << to_string(workload("w"));
  ASSERT_EQ(workloads().size(), 1u);
  const Json owned = workload("w");
  ASSERT_EQ(array_at(owned, {"metadata", "ownerReferences"}).size(), 1u);
  EXPECT_EQ(string_at(array_at(owned, {"metadata", "ownerReferences"})[0], {"name"}), "p");
  phase("p", "Succeeded");
  pass();
  EXPECT_EQ(condition(workload("w"), "Finished"), "True Succeeded");
  EXPECT_FALSE(kept("p"));
  EXPECT_EQ(holders(), 0u);
}

TEST_F(PrebuiltPods, APodWaitsForItsWorkloadAndSaysSo) {
  named("p", "w");
  pass();
  EXPECT_TRUE(gated("p"));
  EXPECT_TRUE(workloads().empty());
  EXPECT_TRUE(reported("p", "ErrWorkloadCompose"));
  made("w", "main", 1);
  pass();
  EXPECT_FALSE(gated("p"));
}

TEST_F(PrebuiltPods, AWorkloadThatSaysOtherThingsIsOutOfSync) {
  made("w", "main", 1, "2");
  named("p", "w");
  pass();
  EXPECT_TRUE(gated("p"));
  EXPECT_EQ(condition(workload("w"), "Finished"), "True OutOfSync");
  EXPECT_EQ(holders(), 0u);
  EXPECT_FALSE(kept("p")) << "a pod that never ran is not held";
  remove(kPods, "default", "p");
  pass(60);
  EXPECT_TRUE(workloads().empty());
}

TEST_F(PrebuiltPods, TheWorkloadOfAnotherPodIsNotTaken) {
  made("w", "main", 1);
  named("p", "w");
  pass();
  named("p2", "w");
  pass();
  EXPECT_TRUE(gated("p2"));
  EXPECT_TRUE(reported("p2", "ErrWorkloadCompose"));
  remove(kPods, "default", "p");
  pass(60);
  EXPECT_FALSE(exists(api::kWorkloads, "default", "w")) << "it goes with its owner";
  made("w", "main", 1);
  pass();
  EXPECT_FALSE(gated("p2"));
}

TEST_F(PrebuiltPods, ADeletedWorkloadTakesItsRunningPodAlong) {
  made("w", "main", 1);
  named("p", "w");
  pass();
  phase("p", "Running");
  remove(api::kWorkloads, "default", "w");
  pass();
  EXPECT_FALSE(exists(kPods, "default", "p"));
  EXPECT_TRUE(workloads().empty());
  EXPECT_EQ(holders(), 0u);
}

TEST_F(PrebuiltPods, AGroupTakesTheWorkloadOfItsNameWhenItIsComplete) {
  made("g", "r1", 2);
  named_member("a", 2);
  pass();
  EXPECT_TRUE(gated("a")) << "the group waits for its other pod";
  EXPECT_TRUE(reported("a", "ErrWorkloadCompose"));
  named_member("b", 2);
  pass();
  EXPECT_FALSE(gated("a"));
  EXPECT_FALSE(gated("b"));
  ASSERT_EQ(workloads().size(), 1u);
  const Json owned = workload("g");
  EXPECT_EQ(array_at(owned, {"metadata", "ownerReferences"}).size(), 2u);
  phase("a", "Succeeded");
  phase("b", "Succeeded");
  pass();
  EXPECT_EQ(condition(workload("g"), "Finished"), "True Succeeded");
  EXPECT_FALSE(kept("a"));
  EXPECT_EQ(holders(), 0u);
}

TEST_F(PrebuiltPods, AGroupWaitsForItsWorkload) {
  named_member("a", 1);
  pass();
  EXPECT_TRUE(gated("a"));
  EXPECT_TRUE(workloads().empty());
  EXPECT_TRUE(reported("a", "ErrWorkloadCompose"));
  made("g", "r1", 1);
  pass();
  EXPECT_FALSE(gated("a"));
}

TEST_F(PrebuiltPods, AGroupThatIsNotWhatItsWorkloadSaysIsOutOfSync) {
  made("g", "r1", 3);
  named_member("a", 2);
  named_member("b", 2);
  pass();
  EXPECT_TRUE(gated("a"));
  EXPECT_EQ(condition(workload("g"), "Finished"), "True OutOfSync");
  EXPECT_EQ(holders(), 0u);
}

}  // namespace
}  // namespace berth::controller::prebuilt_pods_test
