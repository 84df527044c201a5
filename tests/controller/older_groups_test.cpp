// StatefulSets as earlier releases of Kueue left them, when Berth takes over: their pods run on, in a group with the
// former name.
#include <gtest/gtest.h>

#include "controller/pods_fixture.h"
#include "jobs/workload_name.h"

namespace berth::controller::older_groups_test {
namespace {

using apiserver::kPods;
const api::GroupVersionResource kSets{"apps", "v1", "statefulsets"};
const std::string kFormer = jobs::workload_name("apps", "StatefulSet", "a", "");

// What a release wrote.
struct Release {
  std::string name;
  bool marks_template;  // the template of the StatefulSet names the group
  bool has_parent;      // annotation pod-suspending-parent
  std::string role;     // the name of the pod set
};
void PrintTo(const Release& release, std::ostream* out) { *out << release.name; }
const Release kReleases[] = {
    {"0.9", true, false, "4ebdd4a6"}, {"0.10 to 0.16.1", true, true, "4ebdd4a6"}, {"0.16.2", false, true, "main"}};

class OlderGroups : public PodsTest, public testing::WithParamInterface<Release> {
 protected:
  OlderGroups() : PodsTest({.manage_pods = true, .manage_stateful_sets = true}, managing_sets()) { controller.reset(); }
  static ControllerOptions managing_sets() {
    ControllerOptions with = managing_pods();
    with.manage_stateful_sets = true;
    return with;
  }

  static std::string annotations() {
    const std::string parent = GetParam().has_parent ? ", kueue.x-k8s.io/pod-suspending-parent: statefulset" : "";
    return "kueue.x-k8s.io/pod-group-total-count: '2', kueue.x-k8s.io/pod-group-fast-admission: 'true', "
           "kueue.x-k8s.io/pod-group-serving: 'true'" +
           parent;
  }
  static std::string labels() {
    return "kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/managed: 'true', kueue.x-k8s.io/pod-group-name: " + kFormer;
  }
  static std::string spec() { return "{containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}"; }

  Json set(const std::string& marks) {
    return make(kSets, "StatefulSet", "default",
                "{metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {replicas: 2, serviceName: '', "
                "selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a" +
                    marks + "}, annotations: {" + (marks.empty() ? "" : annotations()) + "}}, spec: " + spec() + "}}}");
  }
  // As the controller of StatefulSets and Kueue's webhook made it.
  void pod(const Json& set, const std::string& name) {
    make(kPods, "Pod", "default",
         "{metadata: {name: " + name + ", labels: {app: a, " + labels() + "}, annotations: {" + annotations() +
             ", kueue.x-k8s.io/role-hash: " + GetParam().role +
             "}, finalizers: [kueue.x-k8s.io/managed], ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, "
             "name: a, controller: true, uid: " +
             std::string(string_at(set, {"metadata", "uid"})) + "}]}, spec: " + spec() + "}");
  }
  void let_run(const std::string& name) {
    EXPECT_TRUE(patch(kPods, "default", name, R"({"spec":{"schedulingGates":null}})").ok());
    phase(name, "Running");
  }
  void waiting_workload() {
    std::string owners;
    for (const char* name : {"a-0", "a-1"})
      owners += "{apiVersion: v1, kind: Pod, name: " + std::string(name) +
                ", uid: " + std::string(string_at(seen(name), {"metadata", "uid"})) + "},";
    make(api::kWorkloads, "Workload", "default",
         "{metadata: {name: " + kFormer +
             ", annotations: {kueue.x-k8s.io/is-group-workload: 'true'}, finalizers: "
             "[kueue.x-k8s.io/resource-in-use], ownerReferences: [" +
             owners + "]}, spec: {queueName: q, active: true, podSets: [{name: " + GetParam().role +
             ", count: 2, template: {metadata: {}, spec: " + spec() + "}}]}}");
  }
  void admitted_workload() {
    waiting_workload();
    const std::string since = R"(","status":"True","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"})";
    EXPECT_TRUE(patch(api::kWorkloads, "default", kFormer,
                      R"({"status":{"admission":{"clusterQueue":"cq","podSetAssignments":[{"name":")" +
                          GetParam().role +
                          R"(","count":2,"flavors":{"cpu":"f"},"resourceUsage":{"cpu":"2"}}]},"conditions":[)" +
                          R"({"type":"QuotaReserved","reason":"QuotaReserved)" + since +
                          R"(,{"type":"Admitted","reason":"Admitted)" + since + "]}}",
                      api::PatchType::kMerge, "status")
                    .ok());
  }
  Json running() {
    const Json made = set(GetParam().marks_template ? ", " + labels() : "");
    for (const char* name : {"a-0", "a-1"}) {
      pod(made, name);
      let_run(name);
    }
    admitted_workload();
    return made;
  }
  bool deleted(const std::string& name) {
    return !exists(kPods, "default", name) || find_path(seen(name), {"metadata", "deletionTimestamp"}) != nullptr;
  }
};

INSTANTIATE_TEST_SUITE_P(Releases, OlderGroups, testing::ValuesIn(kReleases), [](const auto& info) {
  std::string name = info.param.name;
  std::ranges::replace_if(name, [](char c) { return c == '.' || c == ' '; }, '_');
  return "Kueue_" + name;
});

TEST_P(OlderGroups, TheirPodsRunOn) {
  running();
  const Json before = seen("a-0");
  lead();
  pass(60);
  EXPECT_FALSE(deleted("a-0") || deleted("a-1"));
  EXPECT_EQ(seen("a-0"), before) << "not written";
  ASSERT_EQ(workloads().size(), 1u);
  EXPECT_EQ(condition(workload(kFormer), "Finished"), "");
  EXPECT_EQ(condition(workload(kFormer), "PodsReady"), "True Started");
  EXPECT_EQ(holders(), 1u);
}

// A pod that is lost comes back into the same group.
TEST_P(OlderGroups, ALostPodIsReplaced) {
  const Json made = running();
  lead();
  remove(kPods, "default", "a-1");
  pass();
  kubelet_removes("a-1");
  pass();
  ASSERT_FALSE(exists(kPods, "default", "a-1")) << "its finalizer is gone";
  if (GetParam().marks_template) {
    pod(made, "a-1");
  } else {
    Json plain = *find_path(made, {"spec", "template"});
    ensure_path(plain, {"metadata", "name"}) = "a-1";
    ensure_path(plain, {"metadata", "ownerReferences"}) = array_at(seen("a-0"), {"metadata", "ownerReferences"});
    make(kPods, "Pod", "default", to_string(plain));
  }
  pass();
  EXPECT_FALSE(deleted("a-1"));
  EXPECT_FALSE(gated("a-1"));
  EXPECT_EQ(workloads().size(), 1u);
}

TEST_P(OlderGroups, ScaledToZeroTheyComeBack) {
  const Json made = running();
  lead();
  EXPECT_TRUE(patch(kSets, "default", "a", R"({"spec":{"replicas":0}})").ok());
  for (const char* name : {"a-0", "a-1"}) {
    remove(kPods, "default", name);
    pass();
    kubelet_removes(name);
  }
  pass(10);
  ASSERT_FALSE(exists(kPods, "default", "a-0")) << "its finalizer is gone";
  EXPECT_EQ(holders(), 0u);
  EXPECT_TRUE(patch(kSets, "default", "a", R"({"spec":{"replicas":2}})").ok());
  for (const char* name : {"a-0", "a-1"}) pod(made, name);
  pass(10);
  EXPECT_FALSE(gated("a-0") || gated("a-1"));
  EXPECT_EQ(holders(), 1u);
  EXPECT_EQ(workloads().size(), 1u);
}

// Nothing of it was admitted: its workload keeps its place.
TEST_P(OlderGroups, OneThatWaitsIsLetGo) {
  if (!GetParam().has_parent) GTEST_SKIP() << "the webhook does not hold back these pods";
  const Json made = set(GetParam().marks_template ? ", " + labels() : "");
  for (const char* name : {"a-0", "a-1"}) pod(made, name);
  waiting_workload();
  ASSERT_TRUE(gated("a-0"));
  const std::string before(string_at(seen("a-0"), {"metadata", "uid"}));
  lead();
  pass(60);
  EXPECT_FALSE(gated("a-0") || gated("a-1"));
  EXPECT_EQ(string_at(seen("a-0"), {"metadata", "uid"}), before) << "the pod is not made anew";
  EXPECT_EQ(workloads().size(), 1u);
}

}  // namespace
}  // namespace berth::controller::older_groups_test
