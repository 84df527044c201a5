// Pods that can never get to their node.
#include "jobs/stuck_pods.h"

#include <gtest/gtest.h>

#include "jobs/ungate_support.h"

namespace berth::jobs::stuck_pods_test {
namespace {

using namespace ungate_support;

std::string names(const std::vector<StuckPod>& stuck) {
  std::string out;
  for (const auto& one : stuck)
    out.append(out.empty() ? "" : " ").append(string_at(*one.pod, {"metadata", "name"})).append("@").append(one.node);
  return out;
}

TEST(StuckPods, AreThoseWhoseNodeIsLostAndThatAreNotBound) {
  auto w = on_hosts({{"n1", 2}, {"n2", 2}});
  HostFacts hosts = all_up();
  const std::vector<JsonPtr> pods = {pod({.name = "waits", .host = "n1"}),
                                     pod({.name = "bound", .host = "n1", .bound = "n1"}),
                                     pod({.name = "runs", .host = "n1", .phase = "Running", .bound = "n1"}),
                                     pod({.name = "goes", .host = "n1", .terminating = true}),
                                     pod({.name = "gated"}),
                                     pod({.name = "fine", .host = "n2"}),
                                     pod({.name = "moved", .host = "n0"})};
  EXPECT_EQ(names(stuck_pods(w, pods, hosts)), "moved@n0") << "its place was given up";
  w.status.unhealthy_nodes = {"n1"};
  EXPECT_EQ(names(stuck_pods(w, pods, hosts)), "moved@n0 waits@n1");
  w.status.unhealthy_nodes.clear();
  hosts.usable = [](std::string_view host, const Tolerations&) { return host != "n1"; };
  EXPECT_EQ(names(stuck_pods(w, pods, hosts)), "moved@n0") << "a node that is down may come back";
  hosts.exists = [](std::string_view host) { return host != "n1"; };
  EXPECT_EQ(names(stuck_pods(w, pods, hosts)), "moved@n0 waits@n1");
  w.status.conditions.push_back(holds(kEvicted));
  EXPECT_EQ(names(stuck_pods(w, pods, hosts)), "") << "the job is stopped as a whole";
}

TEST(StuckPods, AreAllThatWereLetGoForAnAdmissionThatIsOver) {
  const auto placed = [](const PodSpec& spec) {
    Json out = *pod(spec);
    ensure_path(out, {"metadata", "annotations", "kueue.x-k8s.io/podset-required-topology"}) = "rack";
    return std::make_shared<const Json>(std::move(out));
  };
  auto w = on_hosts({{"n1", 2}});
  const std::vector<JsonPtr> pods = {placed({.name = "waits", .host = "n1"}),
                                     placed({.name = "bound", .host = "n1", .bound = "n1"}),
                                     placed({.name = "goes", .host = "n1", .terminating = true}),
                                     placed({.name = "gated"}), pod({.name = "asks-for-no-places", .host = "n1"})};
  EXPECT_EQ(names(stuck_pods(w, pods, all_up())), "");
  w.status = {};
  EXPECT_EQ(names(stuck_pods(w, pods, all_up())), "waits@n1");
  w.status.admission = Admission{"cq", {PodSetAssignment{}}};
  w.status.conditions = {holds(kQuotaReserved)};
  EXPECT_EQ(names(stuck_pods(w, pods, all_up())), "waits@n1") << "quota again, and not admitted yet";
  for (const auto other : {kAdmitted, kEvicted, kFinished}) {
    w.status.conditions = {holds(other)};
    EXPECT_EQ(names(stuck_pods(w, pods, all_up())), "") << other;
  }
}

// The annotation names the workload; a pod that somebody else made may have no label for its pod set.
TEST(StuckPods, APodWithoutAPodSetIsStuckWhenNoPodSetHasItsPlace) {
  const auto stray = [](const std::string& name, const std::string& host, bool requests = true) {
    Json out = *pod({.name = name, .host = host});
    erase_path(out, {"metadata", "labels", "kueue.x-k8s.io/podset"});
    if (requests) ensure_path(out, {"metadata", "annotations", "kueue.x-k8s.io/podset-required-topology"}) = "rack";
    return std::make_shared<const Json>(std::move(out));
  };
  auto w = on_hosts({{"n1", 1}, {"n2", 1}});
  HostFacts hosts = all_up();
  hosts.exists = [](std::string_view host) { return host != "n2"; };
  const std::vector<JsonPtr> pods = {stray("elsewhere", "n9"), stray("gone", "n2"), stray("fine", "n1"),
                                     stray("asks-for-no-places", "n9", false)};
  EXPECT_EQ(names(stuck_pods(w, pods, hosts)), "elsewhere@n9 gone@n2");
  w.status.unhealthy_nodes = {"n1"};
  EXPECT_EQ(names(stuck_pods(w, pods, hosts)), "elsewhere@n9 fine@n1 gone@n2");
  w.status = {};
  EXPECT_EQ(names(stuck_pods(w, pods, hosts)), "elsewhere@n9 fine@n1 gone@n2") << "not admitted any more";
}

TEST(StuckPods, FailWithAConditionThatSaysWhy) {
  Json waits = *pod({.name = "p", .host = "n1"});
  ensure_path(waits, {"status", "conditions"}) = JsonArray{JsonObject{{"type", "PodScheduled"}, {"status", "False"}}};
  const Json status =
      failed_status({std::make_shared<const Json>(waits), "n1"}, parse_time("2026-01-01T00:00:00Z").value());
  EXPECT_EQ(string_at(status, {"phase"}), "Failed");
  const auto& conditions = array_at(status, {"conditions"});
  ASSERT_EQ(conditions.size(), 2u);
  EXPECT_EQ(to_string(conditions[1]),
            R"({"type":"TerminatedByKueue","status":"True","reason":"UnschedulableOnAssignedNode","message":)"
            R"("Terminated by Kueue: the pod cannot be scheduled on its assigned node \"n1\"",)"
            R"("lastTransitionTime":"2026-01-01T00:00:00Z"})");
}

TEST(PlacedPods, AreKeptWithoutWhatNobodyReads) {
  Json pod = parse_yaml(R"(
apiVersion: v1
kind: Pod
metadata:
  name: p
  uid: u
  resourceVersion: "7"
  labels: {kueue.x-k8s.io/podset: main, rank: "1"}
  annotations: {kueue.x-k8s.io/workload: w, example.com/large: text}
spec:
  containers: [{name: c, image: i}]
  schedulingGates: [{name: g}]
  nodeSelector: {kubernetes.io/hostname: n}
  tolerations: [{key: t}]
status: {phase: Pending, conditions: [{type: PodScheduled}], podIP: 10.0.0.1}
)")
                 .value()
                 .front();
  EXPECT_EQ(to_string(placed_pod(pod)),
            R"({"metadata":{"name":"p","uid":"u","resourceVersion":"7","labels":{"kueue.x-k8s.io/podset":"main",)"
            R"("rank":"1"},"annotations":{"kueue.x-k8s.io/workload":"w"}},"spec":{"schedulingGates":[{"name":"g"}],)"
            R"("nodeSelector":{"kubernetes.io/hostname":"n"},"tolerations":[{"key":"t"}]},"status":{"phase":"Pending",)"
            R"("conditions":[{"type":"PodScheduled"}]}})");
  ensure_path(pod, {"spec", "nodeName"}) = "n";
  EXPECT_TRUE(array_at(placed_pod(pod), {"status", "conditions"}).empty()) << "a bound pod is not failed";
  EXPECT_TRUE(array_at(placed_pod(pod), {"spec", "tolerations"}).empty()) << "nor is it let go";
}

TEST(PlacedPods, AreThoseThatHaveOrWantAPlace) {
  Json pod = JsonObject();
  ensure_path(pod, {"metadata", "namespace"}) = "ns";
  ensure_path(pod, {"metadata", "annotations", "kueue.x-k8s.io/workload"}) = "w";
  ensure_path(pod, {"metadata", "labels", "kueue.x-k8s.io/podset"}) = "main";
  EXPECT_EQ(placed_by(pod), "");
  Json gated = pod, placed = pod, requests = pod;
  ensure_path(gated, {"spec", "schedulingGates"}) = JsonArray{JsonObject{{"name", "kueue.x-k8s.io/topology"}}};
  ensure_path(placed, {"spec", "nodeSelector", "rack"}) = "r";
  ensure_path(requests, {"metadata", "annotations", "kueue.x-k8s.io/podset-preferred-topology"}) = "rack";
  for (Json each : {gated, placed, requests}) {
    EXPECT_EQ(placed_by(each), "ns/w");
    erase_path(each, {"metadata", "labels"});
    EXPECT_EQ(placed_by(each), "ns/w") << "the annotation alone counts";
  }
}

}  // namespace
}  // namespace berth::jobs::stuck_pods_test
