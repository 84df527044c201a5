// Kueue 0.20, DeploymentJobUIDLabel: the workloads of a Deployment's pods have the UID of the Deployment as their
// job's.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <utility>

#include "api/apps_resources.h"
#include "controller/pods_fixture.h"

namespace berth::controller::pod_deployments_test {
namespace {

using apiserver::kPods;

// Counts requests for single objects, and fails some.
class CountingClient final : public api::RestClient {
 public:
  explicit CountingClient(api::RestClient& server) : server_(server) {}
  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    if (request.verb == api::Verb::kGet) ++asked[request.resource.resource];
    if (request.verb == api::Verb::kGet && fails == request.resource.resource) {
      api::RestResponse answer;
      answer.code = code;
      return done(answer);
    }
    server_.call(std::move(request), std::move(done));
  }
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override {
    return server_.watch(std::move(request), std::move(on_event), std::move(on_end));
  }

  std::map<std::string, int> asked;
  std::string fails;
  int code = 500;

 private:
  api::RestClient& server_;
};

class PodDeployments : public PodsTest {
 protected:
  PodDeployments() : PodsTest({.manage_pods = true, .manage_deployments = true}, managing_deployments()) {
    start(options);
  }
  ~PodDeployments() override { controller.reset(); }
  static ControllerOptions managing_deployments() {
    ControllerOptions with = managing_pods();
    with.manage_deployments = true;
    return with;
  }
  void start(const ControllerOptions& with) {
    controller.emplace(client, executor, with);
    controller->start();
    controller->lead();
    pass();
  }
  // With its ReplicaSet "web-1". Without a queue it has a queue for its pods only.
  std::string deployment(const std::string& queue = "kueue.x-k8s.io/queue-name: q") {
    const std::string spec =
        "selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, "
        "image: i}]}}";
    const Json made = make(api::kDeployments, "Deployment", "default",
                           "{metadata: {name: web, labels: {" + queue + "}}, spec: {" + spec + "}}");
    const std::string uid(string_at(made, {"metadata", "uid"}));
    replica_set = string_at(
        make(
            api::kReplicaSets, "ReplicaSet", "default",
            "{metadata: {name: web-1, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, controller: "
            "true, uid: " +
                uid + "}]}, spec: {" + spec + "}}"),
        {"metadata", "uid"});
    return uid;
  }
  // As the webhooks and the controller of ReplicaSets leave it.
  std::string made_pod(const std::string& name) {
    return std::string(string_at(
        make(kPods, "Pod", "default",
             "{metadata: {name: " + name +
                 ", labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/managed: 'true'}, annotations: "
                 "{kueue.x-k8s.io/role-hash: r, kueue.x-k8s.io/pod-suspending-parent: deployment}, ownerReferences: "
                 "[{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, controller: true, uid: " +
                 replica_set +
                 "}]}, spec: {schedulingGates: [{name: kueue.x-k8s.io/admission}], containers: [{name: c, image: i, "
                 "resources: {requests: {cpu: '1'}}}]}}"),
        {"metadata", "uid"}));
  }
  // By the name of the pod: the label of its only workload.
  std::map<std::string, std::string> labels() {
    std::map<std::string, std::string> out;
    for (const Json& one : workloads()) {
      const std::string pod(string_at(array_at(one, {"metadata", "ownerReferences"}).at(0), {"name"}));
      EXPECT_TRUE(out.emplace(pod, string_at(one, {"metadata", "labels", "kueue.x-k8s.io/job-uid"})).second) << pod;
    }
    return out;
  }

  CountingClient client{*server};
  std::string replica_set = "8d7e";
};

TEST_F(PodDeployments, WorkloadsHaveTheUidOfTheDeployment) {
  const std::string uid = deployment();
  made_pod("web-1-a");
  made_pod("web-1-b");
  pass();
  made_pod("web-1-c");
  pass();
  EXPECT_EQ(labels(), (std::map<std::string, std::string>{{"web-1-a", uid}, {"web-1-b", uid}, {"web-1-c", uid}}));
  EXPECT_EQ(client.asked["replicasets"], 1);
  EXPECT_EQ(client.asked["deployments"], 1);
  EXPECT_FALSE(gated("web-1-a"));
  EXPECT_EQ(string_at(seen("web-1-a"), {"metadata", "labels", "kueue.x-k8s.io/job-uid"}), "");
}

TEST_F(PodDeployments, WithoutTheGateOrTheFrameworkTheyHaveTheUidOfThePod) {
  deployment();
  auto off = options;
  off.jobs.deployment_job_uid = false;
  start(off);
  const std::string a = made_pod("web-1-a");
  pass();
  auto no_deployments = options;
  no_deployments.manage_deployments = false;
  start(no_deployments);
  const std::string b = made_pod("web-1-b");
  pass();
  EXPECT_EQ(labels(), (std::map<std::string, std::string>{{"web-1-a", a}, {"web-1-b", b}}));
  EXPECT_EQ(client.asked["replicasets"], 0);
}

TEST_F(PodDeployments, APodThatIsQueuedByItselfHasItsOwnUid) {
  deployment("app: web");
  const std::string uid = made_pod("web-1-a");
  pass();
  EXPECT_EQ(labels(), (std::map<std::string, std::string>{{"web-1-a", uid}}));
}

TEST_F(PodDeployments, APodWhoseReplicaSetIsGoneOrMayNotBeReadHasItsOwnUid) {
  deployment();
  for (const auto& [resource, code] : {std::pair("replicasets", 404), std::pair("replicasets", 403),
                                       std::pair("deployments", 404), std::pair("deployments", 403)}) {
    client.fails = resource;
    client.code = code;
    start(options);  // what was known is forgotten
    const std::string name = std::string(resource) + std::to_string(code), uid = made_pod(name);
    pass();
    EXPECT_EQ(labels()[name], uid);
  }
}

TEST_F(PodDeployments, APodWaitsUntilItsDeploymentIsKnown) {
  const std::string uid = deployment();
  for (const std::string kind : {"replicasets", "deployments"}) {
    client.fails = kind;
    start(options);  // what was known is forgotten
    made_pod("web-1-" + kind);
    pass();
    EXPECT_FALSE(labels().contains("web-1-" + kind)) << "the server has no answer";
    client.fails.clear();
    pass(60);
    EXPECT_EQ(labels()["web-1-" + kind], uid);
  }
}

// The label no longer tells which pod it is.
TEST_F(PodDeployments, AWorkloadWithoutItsOwnerStaysWithItsPod) {
  const std::string uid = deployment(), pod = made_pod("web-1-a");
  pass();
  phase("web-1-a", "Running");
  const std::string name(string_at(workloads().at(0), {"metadata", "name"}));
  controller.reset();
  EXPECT_TRUE(patch(api::kWorkloads, "default", name, R"({"metadata":{"ownerReferences":null}})").ok());
  start(options);
  ASSERT_EQ(workloads().size(), 1u);
  EXPECT_EQ(string_at(workloads()[0], {"metadata", "name"}), name);
  EXPECT_EQ(string_at(array_at(workloads()[0], {"metadata", "ownerReferences"}).at(0), {"uid"}), pod);
  EXPECT_EQ(condition(workloads()[0], "Admitted"), "True Admitted");
  EXPECT_EQ(condition(workloads()[0], "Finished"), "");
  EXPECT_EQ(string_at(seen("web-1-a"), {"metadata", "deletionTimestamp"}), "");
}

// An earlier release, or a time when the gate was off.
TEST_F(PodDeployments, AWorkloadKeepsItsLabel) {
  deployment();
  auto off = options;
  off.jobs.deployment_job_uid = false;
  start(off);
  const std::string pod = made_pod("web-1-a");
  pass();
  const std::string version(string_at(workloads().at(0), {"metadata", "resourceVersion"}));
  start(options);
  EXPECT_EQ(labels(), (std::map<std::string, std::string>{{"web-1-a", pod}}));
  EXPECT_EQ(string_at(workloads().at(0), {"metadata", "resourceVersion"}), version);
}

}  // namespace
}  // namespace berth::controller::pod_deployments_test
