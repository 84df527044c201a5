// Workloads that no job owns: another client creates, finishes and deletes them, and writes their statuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "api/status.h"
#include "base/yaml.h"
#include "controller/controller.h"
#include "embedded/simulate/world.h"

namespace berth::simulation::ownerless_workloads_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::string_view kVersion = "kueue.x-k8s.io/v1beta2";
constexpr std::string_view kQueue = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: f}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: q, namespace: default}
spec: {clusterQueue: cq}
)";
constexpr std::string_view kCheck = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ProvisioningRequestConfig
metadata: {name: conf}
spec: {provisioningClassName: manual.example.com}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: chk}
spec:
  controllerName: kueue.x-k8s.io/provisioning-request
  parameters: {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: conf}
)";

class OwnerlessWorkloads : public testing::Test {
 protected:
  OwnerlessWorkloads() {
    simulate::WorldOptions options;
    options.start = parse_time("2026-01-01T00:00:00Z").value();
    auto made = simulate::World::make(options);
    if (!made) throw std::runtime_error(made.error().message);
    world = std::move(*made);
    apply(kQueue);
  }

  void apply(std::string_view manifests) {
    auto documents = parse_yaml(manifests).value();
    for (auto& document : documents) {
      const auto applied = world->apply(std::move(document));
      ASSERT_TRUE(applied) << applied.error().message;
    }
    world->run_for(seconds(2));
  }

  void make(const std::string& name, const std::string& more_spec = "", const std::string& more_metadata = "") {
    apply("apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: " + name + ", namespace: " + ns +
          more_metadata + "}\n" + "spec: {queueName: q, " + more_spec +
          "podSets: [{name: main, count: 4, template: {spec: {restartPolicy: Never, " +
          "containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]}");
  }

  Json get(std::string_view name) { return world->get(kVersion, "Workload", ns, name).value_or(Json()); }

  std::string condition(std::string_view name, std::string_view type) {
    const Json workload = get(name);
    for (const auto& c : array_at(workload, {"status", "conditions"})) {
      if (string_at(c, {"type"}) == type)
        return std::string(string_at(c, {"status"})) + " " + std::string(string_at(c, {"reason"}));
    }
    return "none";
  }

  // Sets this condition and keeps the others. The patch contains all conditions, because a JSON merge patch replaces
  // lists.
  void set_condition(const std::string& name, const std::string& type, const std::string& status,
                     const std::string& reason) {
    const Json workload = get(name);
    JsonArray conditions;
    for (const auto& c : array_at(workload, {"status", "conditions"})) {
      if (string_at(c, {"type"}) != type) conditions.push_back(c);
    }
    conditions.push_back(JsonObject{{"type", type},
                                    {"status", status},
                                    {"reason", reason},
                                    {"message", "by a client"},
                                    {"lastTransitionTime", format_time(world->executor().now())}});
    auto request = world->request_for(kVersion, "Workload", ns, name).value();
    request.verb = api::Verb::kPatch;
    request.subresource = "status";
    request.body = JsonObject{{"status", JsonObject{{"conditions", std::move(conditions)}}}};
    const auto response = world->call(std::move(request));
    ASSERT_TRUE(response.ok()) << api::status_message(response);
    world->run_for(seconds(2));
  }
  void finish(const std::string& name) { set_condition(name, "Finished", "True", "Succeeded"); }

  void remove(std::string_view api_version, std::string_view kind, std::string_view name) {
    auto request = world->request_for(api_version, kind, kind == "Namespace" ? "" : ns, name).value();
    request.verb = api::Verb::kDelete;
    const auto response = world->call(std::move(request));
    ASSERT_TRUE(response.ok()) << api::status_message(response);
    world->run_for(seconds(10));
  }

  JsonArray requests() {
    auto request = world->request_for("autoscaling.x-k8s.io/v1", "ProvisioningRequest", "default", {}).value();
    request.verb = api::Verb::kList;
    return array_at(world->call(std::move(request)).body, {"items"});
  }

  std::string ns = "default";
  std::unique_ptr<simulate::World> world;
};

TEST_F(OwnerlessWorkloads, OneThatIsDeactivatedKeepsItsQuotaForFiveMinutes) {
  make("a");
  make("b");
  ASSERT_THAT(condition("a", "Admitted"), StartsWith("True"));
  ASSERT_THAT(condition("b", "QuotaReserved"), StartsWith("False"));
  auto request = world->request_for(kVersion, "Workload", ns, "a").value();
  request.verb = api::Verb::kPatch;
  request.body = JsonObject{{"spec", JsonObject{{"active", false}}}};
  ASSERT_TRUE(world->call(std::move(request)).ok());
  world->run_for(seconds(5));
  EXPECT_THAT(condition("a", "QuotaReserved"), StartsWith("True")) << "the client that runs its pods stops them now";
  world->run_for(std::chrono::minutes(5));
  EXPECT_EQ(condition("a", "QuotaReserved"), "False Deactivated");
  EXPECT_THAT(condition("b", "Admitted"), StartsWith("True"));
}

TEST_F(OwnerlessWorkloads, OneThatFinishedMayBeDeleted) {
  make("a");
  ASSERT_THAT(condition("a", "Admitted"), StartsWith("True"));
  finish("a");
  remove(kVersion, "Workload", "a");
  EXPECT_TRUE(get("a").is_null());
  make("b");
  EXPECT_THAT(condition("b", "Admitted"), StartsWith("True")) << "the controller goes on";
}

TEST_F(OwnerlessWorkloads, TheirNamespaceMayBeDeleted) {
  ns = "team";
  apply("{apiVersion: v1, kind: Namespace, metadata: {name: team}}");
  apply(
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: team}, spec: "
      "{clusterQueue: cq}}");
  make("a");
  finish("a");
  make("b");
  remove("v1", "Namespace", "team");
  world->run_for(minutes(1));
  EXPECT_TRUE(get("a").is_null());
  EXPECT_TRUE(get("b").is_null());
}

TEST_F(OwnerlessWorkloads, TheirProvisioningRequestsGoWhenTheyFinish) {
  apply(kCheck);
  std::string queue(kQueue);
  const std::string at = "  preemption:";
  queue.insert(queue.find(at), "  admissionChecksStrategy: {admissionChecks: [{name: chk}]}\n");
  apply(queue);
  make("a");
  ASSERT_THAT(requests(), SizeIs(1));
  finish("a");
  world->run_for(seconds(10));
  EXPECT_THAT(requests(), IsEmpty());
  remove(kVersion, "Workload", "a");
  make("b");
  EXPECT_THAT(requests(), SizeIs(1));
}

TEST_F(OwnerlessWorkloads, AnEvictionThatAClientEndsWithoutClearingTheAdmissionIsEnded) {
  // Somebody owns it, so it waits until its owner says that it has stopped.
  apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: owner, namespace: default}");
  const Json owner = world->get("v1", "ConfigMap", ns, "owner").value();
  make("low", "priority: 1, ",
       ", ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: " +
           std::string(string_at(owner, {"metadata", "uid"})) + "}]");
  make("high", "priority: 9, ");
  ASSERT_EQ(condition("low", "Evicted"), "True Preempted");
  ASSERT_THAT(condition("high", "QuotaReserved"), StartsWith("False"));
  set_condition("low", "QuotaReserved", "False", "Pending");
  EXPECT_THAT(condition("high", "Admitted"), StartsWith("True"));
  EXPECT_EQ(find_path(get("low"), {"status", "admission"}), nullptr);
  EXPECT_EQ(condition("low", "QuotaReserved"), "False WaitingForQuota");
  finish("high");
  world->run_for(seconds(10));
  EXPECT_THAT(condition("low", "Admitted"), StartsWith("True"));
}

}  // namespace
}  // namespace berth::simulation::ownerless_workloads_test
