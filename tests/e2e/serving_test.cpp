// Deployments and StatefulSets that wait in a queue, as a user of kubectl sees them, on `berth up` and on a real API
// server.
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "e2e/one_queue.h"

namespace berth::e2e::serving_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

// An object whose pods have one cpu each and the label app with its name.
std::string serving(const std::string& kind, const std::string& name, int replicas, const std::string& more) {
  return "apiVersion: apps/v1\nkind: " + kind + "\nmetadata:\n  name: " + name +
         "\n  namespace: default\n  labels: {kueue.x-k8s.io/queue-name: team}\nspec:\n  replicas: " +
         std::to_string(replicas) + "\n  selector: {matchLabels: {app: " + name + "}}\n" + more +
         "  template:\n    metadata: {labels: {app: " + name +
         "}}\n    spec:\n      terminationGracePeriodSeconds: 1\n"
         "      containers: [{name: c, image: none, resources: {requests: {cpu: 1}}}]\n";
}

std::string deployment(const std::string& name, int replicas) { return serving("Deployment", name, replicas, ""); }
std::string stateful_set(const std::string& name, int replicas) {
  return serving("StatefulSet", name, replicas, "  serviceName: " + name + "\n");
}

class Serving : public OneQueue {
 protected:
  void SetUp() override {
    OnBoth::SetUp();
    if (!IsSkipped()) need_garbage_collector();
    if (!IsSkipped()) OneQueue::SetUp();
  }

  static bool has_ready(const std::string& kind, const std::string& name, const std::string& count) {
    return becomes(kind, name, ".status.readyReplicas", count);
  }
  // The pods of this app whose status says that they wait for a gate.
  static std::vector<std::string> gated(const std::string& app) {
    std::istringstream lines(must({"get", "pods", "-l", "app=" + app, "--no-headers"}));
    std::vector<std::string> names;
    for (std::string line; std::getline(lines, line);) {
      if (line.find("SchedulingGated") != std::string::npos) names.push_back(line.substr(0, line.find(' ')));
    }
    return names;
  }
  static constexpr const char* kNoQuota = "insufficient unused quota for cpu in flavor default";
  // Of equal workloads one is evaluated.
  static constexpr const char* kAsAnEqualOne = "because an equivalent workload recently failed";
  static bool is_reported(const std::string& pod, const std::string& why) {
    return must({"describe", "pod", pod}).find(why) != std::string::npos;
  }
  static void scale(const std::string& object, int replicas) {
    must({"scale", object, "--replicas=" + std::to_string(replicas)});
  }
};

INSTANTIATE_TEST_SUITE_P(Clusters, Serving, both(), name_of);

TEST_P(Serving, ADeploymentScalesIntoTheLimitOfItsQueue) {
  must({"create", "-f", "-"}, deployment("web", 2));
  must({"rollout", "status", "deployment/web", "--timeout=60s"});
  const std::string uid = must({"get", "deployment", "web", "-o", "jsonpath={.metadata.uid}"});
  const std::string its = must({"get", "workloads", "-l", "kueue.x-k8s.io/job-uid=" + uid, "-o", "name"});
  EXPECT_EQ(std::ranges::count(its, '\n'), 2) << its;
  EXPECT_TRUE(is_used("2")) << everything();
  scale("deployment/web", 6);
  ASSERT_TRUE(has_ready("deployment", "web", "4")) << everything();
  ASSERT_TRUE(is_waiting("2")) << everything();
  const auto waiting = gated("web");
  ASSERT_THAT(waiting, SizeIs(2)) << everything();
  for (const std::string& pod : waiting) EXPECT_THAT(gates(pod), HasSubstr("kueue.x-k8s.io/admission"));
  EXPECT_TRUE(eventually([&] { return is_reported(waiting[0], kNoQuota) || is_reported(waiting[1], kNoQuota); }))
      << everything();
  for (const std::string& pod : waiting)
    EXPECT_TRUE(eventually([&] { return is_reported(pod, kNoQuota) || is_reported(pod, kAsAnEqualOne); }))
        << everything();
  EXPECT_TRUE(is_used("4")) << everything();
  must({"create", "-f", "-"}, deployment("late", 1));
  ASSERT_TRUE(is_waiting("3")) << everything();
  EXPECT_THAT(gated("late"), SizeIs(1)) << everything();
  scale("deployment/web", 3);
  EXPECT_TRUE(has_ready("deployment", "late", "1")) << everything();
  EXPECT_TRUE(has_ready("deployment", "web", "3")) << everything();
  EXPECT_TRUE(is_waiting("0")) << everything();
  EXPECT_TRUE(is_used("4")) << everything();
}

TEST_P(Serving, AStatefulSetWaitsAsOneUntilThereIsRoomForAllItsPods) {
  must({"create", "-f", "-"}, deployment("web", 3));
  must({"rollout", "status", "deployment/web", "--timeout=60s"});
  must({"create", "-f", "-"}, stateful_set("db", 2));
  ASSERT_TRUE(is_waiting("1")) << everything();
  ASSERT_TRUE(eventually([] { return !gated("db").empty(); })) << everything();
  EXPECT_TRUE(eventually([] { return is_reported("db-0", kNoQuota); })) << everything();
  EXPECT_TRUE(is_used("3")) << "the first pod would fit\n" << everything();
  EXPECT_THAT(must({"get", "workloads"}), HasSubstr("statefulset-db-"));
  scale("deployment/web", 2);
  EXPECT_TRUE(has_ready("statefulset", "db", "2")) << everything();
  EXPECT_TRUE(is_used("4")) << everything();
  EXPECT_TRUE(is_waiting("0")) << everything();
}

TEST_P(Serving, AStatefulSetGoesToZeroAndComesBackWithAnotherNumberOfPods) {
  must({"create", "-f", "-"}, stateful_set("db", 2));
  ASSERT_TRUE(has_ready("statefulset", "db", "2")) << everything();
  EXPECT_TRUE(is_used("2")) << everything();
  const Finished refused = kubectl({"patch", "statefulset", "db", "-p", R"({"spec":{"replicas":3}})"});
  EXPECT_NE(refused.exit_code, 0) << "a running StatefulSet keeps its size";
  EXPECT_THAT(refused.err, AllOf(HasSubstr("spec.replicas"), HasSubstr("immutable")));
  scale("statefulset/db", 0);
  EXPECT_TRUE(is_used("0")) << everything();
  EXPECT_TRUE(eventually([] { return must({"get", "pods", "-o", "name"}).empty(); })) << everything();
  EXPECT_TRUE(is_waiting("0")) << "a StatefulSet without pods asks for nothing\n" << everything();
  must({"create", "-f", "-"}, deployment("web", 2));
  must({"rollout", "status", "deployment/web", "--timeout=60s"});
  scale("statefulset/db", 3);
  ASSERT_TRUE(is_waiting("1")) << everything();
  EXPECT_TRUE(is_used("2")) << everything();
  must({"delete", "deployment", "web", "--timeout=60s"});
  EXPECT_TRUE(has_ready("statefulset", "db", "3")) << everything();
  EXPECT_TRUE(is_used("3")) << everything();
  must({"delete", "statefulset", "db", "--timeout=60s"});
  EXPECT_TRUE(is_used("0")) << everything();
  EXPECT_TRUE(eventually([] { return must({"get", "workloads", "-o", "name"}).empty(); })) << everything();
}

}  // namespace
}  // namespace berth::e2e::serving_test
