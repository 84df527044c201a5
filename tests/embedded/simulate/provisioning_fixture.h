// A cluster whose only queue has an admission check that creates ProvisioningRequests.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "api/status.h"
#include "base/yaml.h"
#include "embedded/simulate/world.h"

namespace berth::simulation::provisioning_tests {

using std::chrono::seconds;

inline constexpr std::string_view kRequestVersion = "autoscaling.x-k8s.io/v1";

inline constexpr std::string_view kQueue = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: f}
spec: {nodeLabels: {pool: f}, tolerations: [{key: t, operator: Exists}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ProvisioningRequestConfig
metadata: {name: conf}
spec:
  provisioningClassName: manual.example.com
  parameters: {p: "1"}
  retryStrategy: {backoffLimitCount: 1, backoffBaseSeconds: 20, backoffMaxSeconds: 1800}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: chk}
spec:
  controllerName: kueue.x-k8s.io/provisioning-request
  parameters: {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: conf}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 10}]}]}]
  admissionChecksStrategy: {admissionChecks: [{name: chk}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: q, namespace: default}
spec: {clusterQueue: cq}
)";

inline constexpr std::string_view kJob = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: default, labels: {kueue.x-k8s.io/queue-name: q}, annotations: {provreq.kueue.x-k8s.io/extra: x}}
spec:
  suspend: true
  parallelism: 3
  completions: 3
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}
)";

class Provisioning : public testing::Test {
 protected:
  Provisioning() {
    simulate::WorldOptions options;
    options.start = parse_time("2026-01-01T00:00:00Z").value();
    make(options);
  }

  void make(const simulate::WorldOptions& options) {
    auto made = simulate::World::make(options);
    if (!made) throw std::runtime_error(made.error().message);
    world = std::move(*made);
  }

  void apply(std::string_view manifests) {
    auto documents = parse_yaml(manifests).value();
    for (auto& document : documents) {
      const auto applied = world->apply(std::move(document));
      ASSERT_TRUE(applied) << applied.error().message;
    }
    world->run_for(seconds(2));
  }

  std::vector<Json> list(std::string_view api_version, std::string_view kind) {
    auto request = world->request_for(api_version, kind, "default", {}).value();
    request.verb = api::Verb::kList;
    const auto response = world->call(std::move(request));
    const auto& items = array_at(response.body, {"items"});
    return {items.begin(), items.end()};
  }

  std::vector<std::string> names(std::string_view api_version, std::string_view kind) {
    std::vector<std::string> all;
    for (const auto& object : list(api_version, kind)) all.emplace_back(string_at(object, {"metadata", "name"}));
    return all;
  }
  std::vector<std::string> requests() { return names(kRequestVersion, "ProvisioningRequest"); }
  std::vector<std::string> templates() { return names("v1", "PodTemplate"); }

  Json workload() {
    const auto all = list("kueue.x-k8s.io/v1beta2", "Workload");
    return all.empty() ? Json() : all.front();
  }
  std::string workload_name() { return std::string(string_at(workload(), {"metadata", "name"})); }
  Json check() {
    const Json w = workload();
    const auto& checks = array_at(w, {"status", "admissionChecks"});
    return checks.empty() ? Json() : checks[0];
  }
  bool is(const Json& object, std::string_view type) {
    for (const auto& condition : array_at(object, {"status", "conditions"})) {
      if (string_at(condition, {"type"}) == type) return string_at(condition, {"status"}) == "True";
    }
    return false;
  }

  // The admission check's Active condition as "reason/status: message"; "none" without one.
  std::string activity() {
    const auto object = world->get("kueue.x-k8s.io/v1beta2", "AdmissionCheck", "", "chk");
    for (const auto& c : array_at(*object, {"status", "conditions"})) {
      if (string_at(c, {"type"}) != "Active") continue;
      return std::string(string_at(c, {"reason"})) + "/" + std::string(string_at(c, {"status"})) + ": " +
             std::string(string_at(c, {"message"}));
    }
    return "none";
  }

  void patch(std::string_view api_version, std::string_view kind, std::string_view name, std::string_view subresource,
             std::string_view body) {
    auto request = world->request_for(api_version, kind, "default", name).value();
    request.verb = api::Verb::kPatch;
    request.subresource = subresource;
    request.body = parse_yaml(body).value().front();
    const auto response = world->call(std::move(request));
    ASSERT_TRUE(response.ok()) << api::status_message(response);
    world->run_for(seconds(2));
  }

  // Gives the last request this condition.
  void answer(std::string_view type, std::string_view message) {
    patch(kRequestVersion, "ProvisioningRequest", requests().back(), "status",
          "{status: {conditions: [{type: " + std::string(type) + ", status: 'True', reason: R, message: " +
              std::string(message) + ", lastTransitionTime: '2026-01-01T00:00:00Z'}]}}");
  }

  std::vector<std::string> events(std::string_view reason) {
    std::vector<std::string> notes;
    for (const auto& event : list("events.k8s.io/v1", "Event")) {
      if (string_at(event, {"reason"}) == reason && string_at(event, {"regarding", "kind"}) == "Workload")
        notes.emplace_back(string_at(event, {"note"}));
    }
    return notes;
  }

  std::unique_ptr<simulate::World> world;
};

}  // namespace berth::simulation::provisioning_tests
