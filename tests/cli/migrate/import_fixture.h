// A cluster with nodes of two flavors, and the words of tests about berth import.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/resources.h"
#include "base/yaml.h"
#include "cli/migrate/world_server.h"
#include "controller/controller.h"
#include "support/scratch_dir.h"

namespace berth::cli::migrate::testing_support {

class Import : public testing::Test {
 protected:
  Import() {
    simulate::WorldOptions options;
    options.start = parse_time("2026-11-28T09:00:00Z").value();
    options.controller = false;
    options.job_controller = false;
    for (int i = 0; i < kNodes; ++i) options.node_manifests.push_back(node(i));
    world = simulate::World::make(options).value();
    objects(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: steady}
spec: {nodeLabels: {lifecycle: steady}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: spot}
spec: {nodeLabels: {lifecycle: spot}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: all}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - {name: steady, resources: [{name: cpu, nominalQuota: 2k}, {name: memory, nominalQuota: 2Ti}]}
    - {name: spot, resources: [{name: cpu, nominalQuota: 2k}, {name: memory, nominalQuota: 2Ti}]}
)");
  }

  ~Import() override { std::filesystem::remove_all(dir); }

  static constexpr int kNodes = 40;  // the first half is steady, the second spot
  static Json node(int i) {
    const std::string name = "n" + std::to_string(i);
    Json out = parse_json(R"({"apiVersion":"v1","kind":"Node","status":{"capacity":{"cpu":"64","memory":"256Gi",
      "pods":"110"},"allocatable":{"cpu":"64","memory":"256Gi","pods":"110"}}})")
                   .value();
    ensure_path(out, {"metadata", "name"}) = name;
    ensure_path(out, {"metadata", "labels", "kubernetes.io/hostname"}) = name;
    ensure_path(out, {"metadata", "labels", "lifecycle"}) = i < kNodes / 2 ? "steady" : "spot";
    return out;
  }

  void objects(std::string_view yaml) {
    std::vector<Json> list = parse_yaml(yaml).value();
    for (Json& object : list) {
      const auto made = world->create(std::move(object));
      ASSERT_TRUE(made) << made.error().message;
    }
  }
  void ns(const std::string& name) { objects("{apiVersion: v1, kind: Namespace, metadata: {name: " + name + "}}"); }
  void local_queue(const std::string& ns, const std::string& name, const std::string& queue) {
    objects("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: " + name + ", namespace: " + ns +
            "}, spec: {clusterQueue: " + queue + "}}");
  }
  void pod(const std::string& ns, const std::string& name, const std::string& labels, const std::string& lifecycle,
           const std::string& more = "") {
    objects("{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", namespace: " + ns + ", labels: {" + labels +
            "}, annotations: {berth.dev/run-for: 2h}}, spec: {restartPolicy: Never, nodeSelector: {lifecycle: " +
            lifecycle + "}" + more +
            ", containers: [{name: c, image: i, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}}");
  }

  std::vector<Json> items(const api::GroupVersionResource& resource) {
    api::RestRequest request;
    request.verb = api::Verb::kList;
    request.resource = resource;
    const Json listed = world->call(std::move(request)).body;
    const JsonArray& found = array_at(listed, {"items"});
    return {found.begin(), found.end()};
  }
  // Of every pod: what a restart, or another pod of this name, would change.
  std::map<std::string, std::string> lives() {
    std::map<std::string, std::string> out;
    for (const Json& one : items(api::kPods)) {
      EXPECT_EQ(string_at(one, {"status", "phase"}), "Running") << api::object_key(one);
      out[api::object_key(one)] = std::string(string_at(one, {"metadata", "uid"})) + " " +
                                  std::string(string_at(one, {"status", "startTime"})) + " " +
                                  to_string(*find_path(one, {"status", "containerStatuses"}));
    }
    return out;
  }
  std::map<std::string, std::string> versions(const api::GroupVersionResource& resource) {
    std::map<std::string, std::string> out;
    for (const Json& one : items(resource)) out[api::object_key(one)] = api::resource_version(one);
    return out;
  }
  static std::string condition(const Json& workload, std::string_view type) {
    for (const Json& one : array_at(workload, {"status", "conditions"}))
      if (string_at(one, {"type"}) == type)
        return std::string(string_at(one, {"status"})) + " " + std::string(string_at(one, {"reason"}));
    return "";
  }

  std::string file(const std::string& yaml) {
    const std::string path = dir + "/mapping" + std::to_string(++files) + ".yaml";
    std::ofstream(path) << yaml;
    return path;
  }
  Ran import(const std::string& verb, const std::string& namespaces, const std::string& mapping,
             std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"import", verb, "-n", namespaces, "--queuemapping-file", file(mapping)};
    words.insert(words.end(), more.begin(), more.end());
    return run(*world, words);
  }
  void lead(bool manage_pods) {
    controller::ControllerOptions options;
    options.manage_pods = manage_pods;
    controller.emplace(world->client(), world->executor(), options);
    controller->lead();
    controller->start();
    world->run_for(std::chrono::seconds(5));
    ASSERT_TRUE(controller->leading());
  }

  std::unique_ptr<simulate::World> world;
  std::optional<controller::Controller> controller;
  const std::string dir = ::berth::testing_support::make_scratch_dir("berth-import");
  int files = 0;
};

}  // namespace berth::cli::migrate::testing_support
