// StatefulSets on an API server with webhooks and garbage collector: what happens to their workload and pods, and when
// others change or delete what Berth wrote. The test plays the controller of StatefulSets.
#include <gtest/gtest.h>

#include "controller/pods_fixture.h"

namespace berth::controller::stateful_sets_test {
namespace {

using apiserver::kPods;
const api::GroupVersionResource kSets{"apps", "v1", "statefulsets"};

class StatefulSetsTest : public PodsTest {
 protected:
  StatefulSetsTest() : PodsTest({.manage_pods = true, .manage_stateful_sets = true}, managing_sets()) {
    local_queue("q2");
    pass();
  }
  static ControllerOptions managing_sets() {
    ControllerOptions with = managing_pods();
    with.manage_stateful_sets = true;
    return with;
  }

  Json set(const std::string& name, int replicas, const std::string& labels = "kueue.x-k8s.io/queue-name: q") {
    return make(kSets, "StatefulSet", "default",
                "{metadata: {name: " + name + ", labels: {" + labels + "}}, spec: {replicas: " +
                    std::to_string(replicas) + ", serviceName: '', selector: {matchLabels: {app: " + name +
                    "}}, template: {metadata: {labels: {app: " + name +
                    "}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}}}");
  }
  // As the controller of StatefulSets makes it.
  void pod(const Json& set, int index) {
    const std::string name(string_at(set, {"metadata", "name"}));
    Json p = *find_path(set, {"spec", "template"});
    ensure_path(p, {"metadata", "name"}) = name + "-" + std::to_string(index);
    ensure_path(p, {"metadata", "labels", "apps.kubernetes.io/pod-index"}) = std::to_string(index);
    ensure_path(p, {"metadata", "ownerReferences"}) = JsonArray{JsonObject{{"apiVersion", "apps/v1"},
                                                                           {"kind", "StatefulSet"},
                                                                           {"name", name},
                                                                           {"uid", string_at(set, {"metadata", "uid"})},
                                                                           {"controller", true},
                                                                           {"blockOwnerDeletion", true}}};
    make(kPods, "Pod", "default", to_string(p));
  }
  Json scaled(const std::string& name, int replicas) {
    const auto done = patch(kSets, "default", name, R"({"spec":{"replicas":)" + std::to_string(replicas) + "}}");
    EXPECT_TRUE(done.ok()) << to_string(done.body);
    return done.body;
  }
  void runs(const std::string& name) { phase(name, "Running"); }
  Json workload() {
    const auto all = workloads();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? Json(JsonObject()) : all.front();
  }
};

TEST_F(StatefulSetsTest, AllPodsStartTogetherAndTheWorkloadIsOwnedByThem) {
  const Json a = set("a", 2);
  pass();
  EXPECT_EQ(condition(workload(), "Admitted"), "True Admitted");
  EXPECT_TRUE(reported("a", "CreatedWorkload"));
  pod(a, 0);
  pod(a, 1);
  pass();
  EXPECT_FALSE(gated("a-0") || gated("a-1"));
  EXPECT_EQ(array_at(workload(), {"metadata", "ownerReferences"}).size(), 3u);
  runs("a-0");
  runs("a-1");
  pass();
  EXPECT_EQ(condition(workload(), "PodsReady"), "True Started");
  const Json b = set("b", 3);
  pod(b, 0);
  pass();
  EXPECT_TRUE(gated("b-0"));
  remove(kSets, "default", "a");
  pass();
  kubelet_removes("a-0");
  kubelet_removes("a-1");
  pass(10);
  EXPECT_FALSE(gated("b-0"));
  EXPECT_EQ(workloads().size(), 1u) << "that of a went with it";
}

TEST_F(StatefulSetsTest, ScaledToZeroItHoldsNoQuotaAndComesBackWithAnotherNumber) {
  Json a = set("a", 2);
  pod(a, 0);
  pod(a, 1);
  pass();
  EXPECT_EQ(holders(), 1u);
  scaled("a", 0);
  pass();
  EXPECT_EQ(holders(), 1u) << "the pods still run";
  kubelet_removes("a-0");
  kubelet_removes("a-1");
  pass();
  EXPECT_EQ(holders(), 0u);
  EXPECT_EQ(condition(workload(), "QuotaReserved"), "False OnHold");
  a = scaled("a", 3);
  for (int i = 0; i < 3; ++i) pod(a, i);
  pass();
  EXPECT_EQ(holders(), 1u);
  EXPECT_EQ(int_at(array_at(workload(), {"spec", "podSets"}).at(0), {"count"}), 3);
  EXPECT_FALSE(gated("a-0") || gated("a-1") || gated("a-2"));
}

// kubectl delete --cascade=orphan: the pods lose their owner, and a new set of the same name takes them over.
TEST_F(StatefulSetsTest, PodsThatWaitGoOnWithoutTheirSetAndWithANewOne) {
  const auto tolerations = R"({"spec":{"tolerations":[)"
                           R"({"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",)"
                           R"("tolerationSeconds":300}]}})";
  const auto orphan = [&](const std::string& name) {
    for (const char* index : {"-0", "-1"})
      EXPECT_TRUE(patch(kPods, "default", name + index, R"({"metadata":{"ownerReferences":null}})").ok());
    remove(kSets, "default", name);
    pass();
  };
  const Json blocker = set("blocker", 4);
  pass();
  for (const std::string name : {"a", "b"}) {
    const Json made = set(name, 2);
    for (const int index : {0, 1}) {
      pod(made, index);
      EXPECT_TRUE(patch(kPods, "default", name + "-" + std::to_string(index), tolerations).ok());
    }
    pass();
    EXPECT_TRUE(gated(name + "-0"));
    orphan(name);
  }
  const Json again = set("b", 2);
  const Json owner = JsonArray{JsonObject{{"apiVersion", "apps/v1"},
                                          {"kind", "StatefulSet"},
                                          {"name", "b"},
                                          {"uid", string_at(again, {"metadata", "uid"})},
                                          {"controller", true}}};
  for (const char* pod : {"b-0", "b-1"})
    EXPECT_EQ(string_at(patch(kPods, "default", pod,
                              to_string(Json(JsonObject{{"metadata", JsonObject{{"ownerReferences", owner}}}})))
                            .body,
                        {"message"}),
              "");
  pass();
  for (const int index : {0, 1}) {
    EXPECT_FALSE(exists(kPods, "default", "b-" + std::to_string(index))) << "its group cannot change";
    pod(again, index);
  }
  remove(kSets, "default", "blocker");
  pass(30);
  for (const char* pod : {"a-0", "a-1", "b-0", "b-1"}) EXPECT_FALSE(gated(pod)) << pod;
}

TEST_F(StatefulSetsTest, AWaitingOneMayChangeItsQueue) {
  set("blocker", 4);
  pass();
  const Json a = set("a", 2);
  pod(a, 0);
  pass();
  EXPECT_TRUE(patch(kSets, "default", "a", R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"q2"}}})").ok());
  pass();
  for (const Json& w : workloads()) {
    if (string_at(w, {"metadata", "name"}).starts_with("statefulset-a-")) {
      EXPECT_EQ(string_at(w, {"spec", "queueName"}), "q2");
    }
  }
  EXPECT_EQ(string_at(get(kPods, "default", "a-0").body, {"metadata", "labels", "kueue.x-k8s.io/queue-name"}), "q2");
  EXPECT_TRUE(gated("a-0"));
}

TEST_F(StatefulSetsTest, ADeletedWorkloadStopsThePodsAndIsMadeAnew) {
  const Json a = set("a", 1);
  pod(a, 0);
  pass();
  const std::string uid(string_at(workload(), {"metadata", "uid"}));
  remove(api::kWorkloads, "default", string_at(workload(), {"metadata", "name"}));
  pass(10);
  EXPECT_FALSE(exists(kPods, "default", "a-0"));
  pod(a, 0);
  pass();
  EXPECT_NE(string_at(workload(), {"metadata", "uid"}), uid);
  EXPECT_FALSE(gated("a-0"));
}

TEST_F(StatefulSetsTest, ARestartFindsEverythingAgain) {
  const Json a = set("a", 2);
  pod(a, 0);
  pass();
  controller.reset();
  pod(a, 1);
  scaled("a", 0);
  set("b", 1);
  lead();
  EXPECT_EQ(workloads().size(), 2u);
  EXPECT_TRUE(gated("a-1"));
  kubelet_removes("a-0");
  kubelet_removes("a-1");
  pass();
  EXPECT_EQ(holders(), 1u) << "that of b";
}

// The pod of a StatefulSet without a queue stays behind, and one with a queue takes it over.
TEST_F(StatefulSetsTest, APodThatItTookOverHasItsPlaceInTheWorkload) {
  const Json first = set("a", 2, "app: a");
  pod(first, 0);
  runs("a-0");
  pass();
  remove(kSets, "default", "a", R"({"propagationPolicy":"Orphan"})");
  pass();
  ASSERT_TRUE(array_at(seen("a-0"), {"metadata", "ownerReferences"}).empty());
  const std::string before(string_at(seen("a-0"), {"metadata", "uid"}));
  const Json a = set("a", 2);
  Json owners = JsonObject();
  ensure_path(owners, {"metadata", "ownerReferences"}) =
      JsonArray{JsonObject{{"apiVersion", "apps/v1"},
                           {"kind", "StatefulSet"},
                           {"name", "a"},
                           {"uid", string_at(a, {"metadata", "uid"})},
                           {"controller", true}}};
  EXPECT_TRUE(patch(kPods, "default", "a-0", to_string(owners)).ok());
  pod(a, 1);
  pass();
  EXPECT_FALSE(gated("a-1"));
  runs("a-1");
  pass();
  EXPECT_EQ(condition(workload(), "PodsReady"), "True Started");
  EXPECT_EQ(string_at(seen("a-0"), {"metadata", "uid"}), before) << "it went on";

  const std::string name(string_at(workload(), {"metadata", "name"}));
  EXPECT_TRUE(patch(api::kWorkloads, "default", name, R"({"spec":{"active":false}})").ok());
  pass(10);
  EXPECT_FALSE(exists(kPods, "default", "a-0"));
  EXPECT_EQ(holders(), 0u);
}

TEST_F(StatefulSetsTest, OneWithoutAQueueIsLeftAlone) {
  const Json a = set("a", 1, "app: a");
  pod(a, 0);
  pass();
  EXPECT_FALSE(gated("a-0"));
  EXPECT_TRUE(workloads().empty());
}

}  // namespace
}  // namespace berth::controller::stateful_sets_test
