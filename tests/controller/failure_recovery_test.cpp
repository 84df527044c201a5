// Pods that cannot end on an unreachable node, with the gate FailureRecoveryPolicy.
#include <gtest/gtest.h>

#include "controller/pods_fixture.h"

namespace berth::controller::failure_recovery_test {
namespace {

using apiserver::kPods;

class FailureRecovery : public PodsTest {
 protected:
  FailureRecovery() { lead_with_recovery(); }
  void lead_with_recovery() {
    ControllerOptions with;
    with.manage_pods = true;
    with.jobs.failure_recovery = true;
    lead(with);
  }
  // A pod on node n that is being deleted; it has 30 seconds.
  void deleted_on_node(const std::string& name, const std::string& annotations, const char* finalizers = "") {
    pod(name, "1", "", annotations);
    pass();
    bind(name);
    phase(name, "Running");
    if (*finalizers != '\0') {
      EXPECT_TRUE(patch(kPods, "default", name, finalizers).ok());
    }
    remove(kPods, "default", name);
    pass(1);
  }
  void unreachable(bool is) {
    const std::string taints =
        is ? R"([{"key":"node.kubernetes.io/unreachable","effect":"NoExecute"}])" : std::string("null");
    EXPECT_TRUE(patch(apiserver::kNodes, "", "n", R"({"spec":{"taints":)" + taints + "}}").ok());
  }
  static constexpr const char* kAgrees = ", kueue.x-k8s.io/safe-to-forcefully-delete: 'true'";
};

TEST_F(FailureRecovery, APodThatAgreesIsDeletedOneMinuteAfterItsGracePeriod) {
  deleted_on_node("p", kAgrees);
  unreachable(true);
  pass(85);
  EXPECT_TRUE(exists(kPods, "default", "p")) << "its grace period and the minute are not over";
  pass(15);
  EXPECT_FALSE(exists(kPods, "default", "p"));
  EXPECT_TRUE(reported("p", "KueueForcefullyDeleted"));
  EXPECT_EQ(holders(), 0u);
}

TEST_F(FailureRecovery, OnlyOnAnUnreachableNodeAndOnlyPodsThatAgree) {
  deleted_on_node("agrees", kAgrees);
  deleted_on_node("silent", "");
  deleted_on_node("refuses", ", kueue.x-k8s.io/safe-to-forcefully-delete: 'false'");
  pass(600);
  EXPECT_TRUE(exists(kPods, "default", "agrees")) << "its node can be reached: its kubelet ends it";
  unreachable(true);
  pass(10);
  EXPECT_FALSE(exists(kPods, "default", "agrees"));
  EXPECT_TRUE(exists(kPods, "default", "silent"));
  EXPECT_TRUE(exists(kPods, "default", "refuses"));
}

TEST_F(FailureRecovery, ANodeThatComesBackEndsItsPodsItself) {
  deleted_on_node("p", kAgrees);
  unreachable(true);
  pass(60);
  unreachable(false);
  pass(600);
  EXPECT_TRUE(exists(kPods, "default", "p"));
  EXPECT_FALSE(reported("p", "KueueForcefullyDeleted"));
}

TEST_F(FailureRecovery, APodWithAFinalizerOfOthersIsFailedOnce) {
  deleted_on_node("p", kAgrees, R"({"metadata":{"finalizers":["kueue.x-k8s.io/managed","example.com/mine"]}})");
  unreachable(true);
  pass(600);
  const Json left = seen("p");
  EXPECT_EQ(string_at(left, {"status", "phase"}), "Failed");
  EXPECT_LE(controller->request_counts().at("delete pods"), 2u) << "it is not deleted again and again";
  EXPECT_EQ(holders(), 0u);
}

TEST_F(FailureRecovery, ARestartBetweenTheTwoWritesLosesNothing) {
  deleted_on_node("p", kAgrees);
  unreachable(true);
  EXPECT_TRUE(patch(kPods, "default", "p",
                    R"({"status":{"phase":"Failed","conditions":[{"type":"KueueFailureRecovery","status":"True"}]}})",
                    api::PatchType::kMerge, "status")
                  .ok());
  lead_with_recovery();
  pass(120);
  EXPECT_FALSE(exists(kPods, "default", "p"));
}

TEST_F(FailureRecovery, IsOffByDefault) {
  lead();
  deleted_on_node("p", kAgrees);
  unreachable(true);
  pass(600);
  EXPECT_TRUE(exists(kPods, "default", "p"));
}

}  // namespace
}  // namespace berth::controller::failure_recovery_test
