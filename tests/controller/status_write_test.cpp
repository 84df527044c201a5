// How a workload's status is written: as a whole when all of it is known, and without overwriting fields of other
// clients.
#include <gtest/gtest.h>

#include "base/embedded.h"
#include "base/yaml.h"
#include "controller/controller.h"
#include "embedded/apiserver/kueue_webhooks.h"
#include "embedded/apiserver/server/harness.h"

namespace berth::controller::status_write_test {
namespace {

class StatusWrite : public apiserver::ServerTest {
 protected:
  StatusWrite() : ServerTest({.seed = 7, .admission = apiserver::kueue_webhooks({})}) {
    for (const auto& file : embedded::crds()) {
      auto crd = request(api::Verb::kCreate, apiserver::kCrds, "");
      crd.body = parse_yaml(file.content).value().front();
      if (string_at(crd.body, {"spec", "names", "kind"}) == "Workload") add_later_field(crd.body);
      EXPECT_TRUE(call(std::move(crd)).ok()) << file.name;
    }
    make("ResourceFlavor", "resourceflavors", "", "metadata: {name: default}");
    make("ClusterQueue", "clusterqueues", "",
         R"(metadata: {name: cq}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu],
                               flavors: [{name: default, resources: [{name: cpu, nominalQuota: 4}]}]}]})");
    make("LocalQueue", "localqueues", "default", "metadata: {name: lq}, spec: {clusterQueue: cq}");
    controller.emplace(*server, executor, ControllerOptions());
    controller->start();
    controller->lead();
    executor.run_until(executor.now() + std::chrono::seconds(2));
  }
  // A field of a later release in the status of workloads.
  static void add_later_field(Json& definition) {
    for (Json& version : ensure_path(definition, {"spec", "versions"}).as_array())
      ensure_path(version, {"schema", "openAPIV3Schema", "properties", "status", "properties", "later"}) =
          JsonObject{{"type", "string"}};
  }
  void make(const std::string& kind, const std::string& resource, const std::string& ns, const std::string& object) {
    auto make = request(api::Verb::kCreate, {"kueue.x-k8s.io", "v1beta2", resource}, ns);
    make.body = parse_yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: " + kind + ", " + object + "}").value().front();
    const auto made = call(std::move(make));
    EXPECT_TRUE(made.ok()) << made.body;
  }
  // Creates a workload that is activated after another client has written to its status.
  Json admitted(const std::string& status) {
    make("Workload", "workloads", "default",
         "metadata: {name: w}, spec: {active: false, queueName: lq, podSets: [{name: main, count: 1, template: {spec: "
         "{restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]}");
    auto write = [&](const std::string& subresource, const std::string& change) {
      auto patch = request(api::Verb::kPatch, {"kueue.x-k8s.io", "v1beta2", "workloads"}, "default", "w");
      patch.patch_type = api::PatchType::kMerge;
      patch.subresource = subresource;
      patch.body = parse_yaml(change).value().front();
      const auto answer = call(std::move(patch));
      EXPECT_TRUE(answer.ok()) << answer.body;
    };
    write("status", "{status: " + status + "}");
    write("", "{spec: {active: true}}");
    executor.run_until(executor.now() + std::chrono::seconds(5));
    return get({"kueue.x-k8s.io", "v1beta2", "workloads"}, "default", "w").body;
  }
  std::uint64_t sent(const std::string& what) {
    const auto counts = controller->request_counts();
    const auto it = counts.find(what);
    return it == counts.end() ? 0 : it->second;
  }

  std::optional<Controller> controller;
};

TEST_F(StatusWrite, IsAnUpdateWhenNobodyElseHasAPart) {
  const Json workload = admitted(
      "{conditions: [{type: Theirs, status: 'True', reason: R, message: m, lastTransitionTime: "
      "'2026-01-01T00:00:00Z'}]}");
  EXPECT_EQ(string_at(workload, {"status", "admission", "clusterQueue"}), "cq") << workload;
  EXPECT_EQ(string_at(array_at(workload, {"status", "conditions"}).at(0), {"type"}), "Theirs");
  EXPECT_GT(sent("update workloads/status"), 0u);
  EXPECT_EQ(sent("patch workloads/status"), 0u);
}

TEST_F(StatusWrite, LeavesFieldsThatItDoesNotKnow) {
  const Json workload = admitted("{later: theirs}");
  EXPECT_EQ(string_at(workload, {"status", "admission", "clusterQueue"}), "cq") << workload;
  EXPECT_EQ(string_at(workload, {"status", "later"}), "theirs");
  EXPECT_GT(sent("patch workloads/status"), 0u);
}

}  // namespace
}  // namespace berth::controller::status_write_test
