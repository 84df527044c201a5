// Single pods and groups of pods as a user of kubectl sees them, on `berth up` and on a real API server.
#include <gmock/gmock.h>

#include <string>

#include "e2e/one_queue.h"

namespace berth::e2e::pods_test {
namespace {

using testing::HasSubstr;

std::string pod_with(const std::string& name, int cpus, const std::string& labels, const std::string& annotations) {
  return "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name + "\n  namespace: default\n  labels: {" +
         "kueue.x-k8s.io/queue-name: team" + labels + "}\n  annotations: {berth.dev/run-for: 1h" + annotations +
         "}\nspec:\n  restartPolicy: Never\n  terminationGracePeriodSeconds: 1\n" +
         "  containers: [{name: c, image: none, resources: {requests: {cpu: " + std::to_string(cpus) + "}}}]\n";
}

std::string pod(const std::string& name, int cpus) { return pod_with(name, cpus, "", ""); }

// A pod of a group of `total` pods with one cpu each.
std::string member(const std::string& group, int number, int total) {
  return pod_with(group + "-" + std::to_string(number), 1, ", kueue.x-k8s.io/pod-group-name: " + group,
                  ", kueue.x-k8s.io/pod-group-total-count: \"" + std::to_string(total) + "\"");
}

std::string group(const std::string& name, int total) {
  std::string all;
  for (int i = 0; i < total; ++i) all += member(name, i, total);
  return all;
}

class Pods : public OneQueue {};

INSTANTIATE_TEST_SUITE_P(Clusters, Pods, both(), name_of);

TEST_P(Pods, OneInAFullQueueIsGatedUntilTheBlockerIsDeleted) {
  must({"create", "-f", "-"}, pod("blocker", 3));
  ASSERT_TRUE(runs("blocker")) << everything();
  must({"create", "-f", "-"}, pod("next", 2));
  const auto message = [] {
    return must({"get", "workloads", "-l", "kueue.x-k8s.io/job-uid=" + uid("next"), "-o",
                 "jsonpath={.items[0].status.conditions[?(@.type==\"QuotaReserved\")].message}"});
  };
  ASSERT_TRUE(eventually([&] {
    const std::string said = message();
    return said.find("insufficient unused quota for cpu in flavor default") != std::string::npos;
  })) << everything();
  EXPECT_EQ(of("pod", "next", ".status.phase"), "Pending");
  EXPECT_EQ(of("pod", "next", ".status.conditions[?(@.type==\"PodScheduled\")].reason"), "SchedulingGated");
  EXPECT_THAT(gates("next"), HasSubstr("kueue.x-k8s.io/admission"));
  EXPECT_THAT(must({"get", "pods"}), HasSubstr("SchedulingGated"));
  EXPECT_THAT(must({"describe", "pod", "next"}), HasSubstr("CreatedWorkload"));
  EXPECT_TRUE(is_waiting("1")) << everything();
  must({"delete", "pod", "blocker", "--timeout=100s"});
  EXPECT_TRUE(runs("next")) << everything();
  EXPECT_EQ(gates("next"), "");
  EXPECT_TRUE(is_used("2")) << everything();
}

TEST_P(Pods, AGangWaitsAsOneAndStartsAsOne) {
  must({"create", "-f", "-"}, pod("blocker", 2));
  ASSERT_TRUE(runs("blocker")) << everything();
  must({"create", "-f", "-"}, member("gang", 0, 3) + member("gang", 1, 3));
  EXPECT_TRUE(eventually([] {
    return must({"describe", "pod", "gang-0"}).find("ErrWorkloadCompose") != std::string::npos;
  })) << "two of three: nothing to decide\n"
      << everything();
  EXPECT_EQ(of("workload", "gang", ".metadata.name"), "");
  must({"create", "-f", "-"}, member("gang", 2, 3));
  ASSERT_TRUE(eventually([] { return condition("gang", "QuotaReserved", "status") == "False"; })) << everything();
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(gates("gang-" + std::to_string(i)), HasSubstr("kueue.x-k8s.io/admission")) << i;
  EXPECT_TRUE(is_used("2")) << "a part of the gang would fit\n" << everything();
  must({"delete", "pod", "blocker", "--timeout=100s"});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(runs("gang-" + std::to_string(i))) << everything();
  EXPECT_TRUE(is_used("3")) << everything();
}

TEST_P(Pods, AGroupIsDeletedWhileItRunsAndWhileItWaits) {
  must({"create", "-f", "-"}, group("running", 4));
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(runs("running-" + std::to_string(i))) << everything();
  must({"create", "-f", "-"}, group("waiting", 2));
  ASSERT_TRUE(is_waiting("1")) << everything();
  must({"delete", "pods", "-l", "kueue.x-k8s.io/pod-group-name=waiting", "--timeout=100s"});
  EXPECT_TRUE(is_waiting("0")) << everything();
  EXPECT_TRUE(is_used("4")) << "the other group is untouched";
  must({"delete", "pods", "-l", "kueue.x-k8s.io/pod-group-name=running", "--timeout=100s"});
  EXPECT_TRUE(is_used("0")) << everything();
  EXPECT_TRUE(eventually([] { return must({"get", "workloads", "-o", "name"}) == ""; })) << everything();
  must({"create", "-f", "-"}, group("running", 4));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(runs("running-" + std::to_string(i))) << "the name is free again";
}

}  // namespace
}  // namespace berth::e2e::pods_test
