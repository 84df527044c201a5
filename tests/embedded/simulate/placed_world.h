// A test fixture: a cluster with one queue that places pods by rack and node, and helpers to change and read it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/status.h"
#include "base/yaml.h"
#include "embedded/simulate/placed.h"
#include "embedded/simulate/world.h"

namespace berth::simulation {

inline constexpr std::string_view kPlacedQueue = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: room}
spec: {levels: [{nodeLabel: cloud.provider.com/topology-rack}, {nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: racked}
spec: {nodeLabels: {cloud.provider.com/node-group: tas-group}, topologyName: room}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: placed}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: racked, resources: [{name: cpu, nominalQuota: 100}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: q, namespace: default}
spec: {clusterQueue: placed}
)";
inline constexpr std::string_view kRequiredRack =
    "kueue.x-k8s.io/podset-required-topology: cloud.provider.com/topology-rack";

// A Job whose pod template has these annotations ("a: b, c: d"), for example a topology request.
inline Json placed_job(const std::string& name, int pods, const std::string& cpu, const std::string& annotations,
                       const std::string& queue = "q") {
  const std::string n = std::to_string(pods);
  return parse_yaml("{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
                    ", namespace: default, labels: {kueue.x-k8s.io/queue-name: " + queue +
                    "}}, spec: {suspend: true, parallelism: " + n + ", completions: " + n +
                    ", template: {metadata: {annotations: {" + annotations +
                    "}}, spec: {restartPolicy: Never, terminationGracePeriodSeconds: 120, containers: "
                    "[{name: c, image: i, "
                    "resources: {requests: {cpu: " +
                    cpu + "}}}]}}}}")
      .value()
      .front();
}

class PlacedWorld : public testing::Test {
 protected:
  void make(const std::string& nodes, bool controller = true, bool webhooks = true) {
    simulate::WorldOptions options;
    options.start = parse_time("2026-01-01T00:00:00Z").value();
    options.nodes = nodes;
    options.node_resources = "cpu=4,memory=16Gi";
    options.controller = controller;
    options.webhooks = webhooks;
    auto made = simulate::World::make(options);
    if (!made) throw std::runtime_error(made.error().message);
    world = std::move(*made);
    apply_all(kPlacedQueue);
  }

  void apply(Json object) {
    const auto applied = world->apply(std::move(object));
    ASSERT_TRUE(applied) << applied.error().message;
  }
  void apply_all(std::string_view manifests) {
    auto documents = parse_yaml(manifests).value();
    for (auto& document : documents) apply(std::move(document));
  }
  // Creates the object. Returns the API server's error message; empty when the object was created.
  std::string refusal(Json object) {
    const auto created = world->create(std::move(object));
    return created ? "" : created.error().message;
  }
  void pass(int seconds) { world->run_for(std::chrono::seconds(seconds)); }

  api::RestResponse send(api::Verb verb, std::string_view kind, std::string_view name, std::string_view subresource,
                         Json body) {
    auto request = world->request_for("", kind, "default", name).value();
    request.verb = verb;
    request.subresource = subresource;
    request.body = std::move(body);
    return world->call(std::move(request));
  }
  void remove(std::string_view kind, std::string_view name) {
    const auto response = send(api::Verb::kDelete, kind, name, "", JsonObject{{"propagationPolicy", "Background"}});
    ASSERT_TRUE(response.ok()) << api::status_message(response);
  }
  void patch(std::string_view kind, std::string_view name, std::string_view body) {
    const auto response = send(api::Verb::kPatch, kind, name, "", parse_yaml(body).value().front());
    ASSERT_TRUE(response.ok()) << api::status_message(response);
  }

  std::vector<Json> list(std::string_view api_version, std::string_view kind) {
    auto request = world->request_for(api_version, kind, "default", {}).value();
    request.verb = api::Verb::kList;
    const auto response = world->call(std::move(request));
    const auto& items = array_at(response.body, {"items"});
    return {items.begin(), items.end()};
  }
  Json workload(std::string_view job) {
    const auto all = list("kueue.x-k8s.io/v1beta2", "Workload");
    const Json* found = simulate::workload_of(all, "default", job);
    return found == nullptr ? Json() : *found;
  }
  std::string workload_name(std::string_view job) {
    return std::string(string_at(workload(job), {"metadata", "name"}));
  }
  Json condition(const Json& object, std::string_view type) {
    for (const auto& one : array_at(object, {"status", "conditions"})) {
      if (string_at(one, {"type"}) == type) return one;
    }
    return nullptr;
  }
  bool admitted(std::string_view job) { return string_at(condition(workload(job), "Admitted"), {"status"}) == "True"; }
  // The message of its workload's QuotaReserved condition; empty when quota is reserved.
  std::string waits(std::string_view job) {
    const Json reserved = condition(workload(job), "QuotaReserved");
    return string_at(reserved, {"status"}) == "True" ? "" : std::string(string_at(reserved, {"message"}));
  }
  // The nodes of the job's bound, unfinished pods, sorted; "-" after the name marks a terminating pod.
  std::vector<std::string> nodes_of(std::string_view job) {
    std::vector<std::string> nodes;
    for (const auto& pod : list("v1", "Pod")) {
      const auto phase = string_at(pod, {"status", "phase"});
      if (string_at(pod, {"metadata", "labels", "job-name"}) != job || phase == "Failed" || phase == "Succeeded" ||
          string_at(pod, {"spec", "nodeName"}).empty())
        continue;
      nodes.push_back(std::string(string_at(pod, {"spec", "nodeName"})) +
                      (find_path(pod, {"metadata", "deletionTimestamp"}) != nullptr ? "-" : ""));
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }

  std::unique_ptr<simulate::World> world;
};

}  // namespace berth::simulation
