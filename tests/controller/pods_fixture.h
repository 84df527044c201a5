// An API server with webhooks' results, garbage collector and controller, and the words of tests about pods.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/resources.h"
#include "base/embedded.h"
#include "base/yaml.h"
#include "controller/controller.h"
#include "embedded/apiserver/kueue_webhooks.h"
#include "embedded/apiserver/server/harness.h"

namespace berth::controller {

// With the ClusterQueue cq (4 cpu) and the LocalQueue q.
class QueueTest : public apiserver::ServerTest {
 protected:
  QueueTest(const api::kueue::AdmissionPolicy& webhooks, ControllerOptions with)
      : ServerTest({.seed = 7, .admission = apiserver::kueue_webhooks(webhooks), .controllers = true}),
        options(std::move(with)) {
    for (const auto& file : embedded::crds()) install(file);
    make({"kueue.x-k8s.io", "v1beta2", "resourceflavors"}, "ResourceFlavor", "", "{metadata: {name: f}, spec: {}}");
    make({"kueue.x-k8s.io", "v1beta2", "clusterqueues"}, "ClusterQueue", "",
         "{metadata: {name: cq}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: "
         "[{name: f, resources: [{name: cpu, nominalQuota: 4}]}]}]}}");
    local_queue("q");
  }
  void install(const embedded::File& crd) {
    auto r = request(api::Verb::kCreate, apiserver::kCrds, "");
    r.body = parse_yaml(crd.content).value().front();
    EXPECT_TRUE(call(std::move(r)).ok()) << crd.name;
  }
  void local_queue(const std::string& name) {
    make({"kueue.x-k8s.io", "v1beta2", "localqueues"}, "LocalQueue", "default",
         "{metadata: {name: " + name + "}, spec: {clusterQueue: cq}}");
  }
  void lead() { lead(options); }
  void lead(const ControllerOptions& with) {
    controller.emplace(*server, executor, with);
    controller->start();
    controller->lead();
    pass();
  }
  void pass(int seconds = 5) { executor.run_until(executor.now() + std::chrono::seconds(seconds)); }

  Json make(const api::GroupVersionResource& resource, std::string_view kind, std::string_view ns,
            std::string_view text) {
    auto r = request(api::Verb::kCreate, resource, ns);
    r.body = parse_yaml(text).value().front();
    r.body.as_object()["apiVersion"] =
        resource.group.empty() ? resource.version : resource.group + "/" + resource.version;
    r.body.as_object()["kind"] = kind;
    const auto made = call(std::move(r));
    EXPECT_TRUE(made.ok()) << to_string(made.body);
    return made.body;
  }
  std::vector<Json> items(const api::GroupVersionResource& resource, std::string_view ns = "default") {
    std::vector<Json> all;
    const Json found = list(resource, ns).body;
    for (const auto& one : array_at(found, {"items"})) all.push_back(one);
    return all;
  }
  static std::string condition(const Json& workload, std::string_view type) {
    for (const auto& one : array_at(workload, {"status", "conditions"}))
      if (string_at(one, {"type"}) == type)
        return std::string(string_at(one, {"status"})) + " " + std::string(string_at(one, {"reason"}));
    return {};
  }
  std::size_t holders() { return controller->engine().held_quotas().size(); }

  const ControllerOptions options;  // of lead()
  std::optional<Controller> controller;
};

class PodsTest : public QueueTest {
 protected:
  PodsTest() : PodsTest({}, managing_pods()) {}
  PodsTest(const api::kueue::AdmissionPolicy& webhooks, ControllerOptions with) : QueueTest(webhooks, std::move(with)) {
    lead();
  }
  static ControllerOptions managing_pods() {
    ControllerOptions with;
    with.manage_pods = true;
    return with;
  }
  // A pod as webhooks leave it.
  void pod(const std::string& name, const std::string& cpu = "1", const std::string& labels = "",
           const std::string& annotations = "", const std::string& role = "") {
    make(apiserver::kPods, "Pod", "default",
         "{metadata: {name: " + name + ", labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/managed: 'true'" +
             labels + "}, annotations: {kueue.x-k8s.io/role-hash: " + (role.empty() ? "r" + cpu : role) + annotations +
             "}, finalizers: [kueue.x-k8s.io/managed]}, spec: {restartPolicy: Never, schedulingGates: [{name: "
             "kueue.x-k8s.io/admission}, {name: kueue.x-k8s.io/topology}], containers: [{name: c, image: i, resources: "
             "{requests: {cpu: '" +
             cpu + "'}}}]}}");
  }
  void member(const std::string& name, const std::string& group, int total, const std::string& cpu = "1") {
    pod(name, cpu, ", kueue.x-k8s.io/pod-group-name: " + group,
        ", kueue.x-k8s.io/pod-group-total-count: '" + std::to_string(total) + "'");
  }
  void phase(const std::string& name, const std::string& phase) {
    const std::string ready = phase == "Running" ? R"(,"conditions":[{"type":"Ready","status":"True"}])" : "";
    EXPECT_TRUE(patch(apiserver::kPods, "default", name, R"({"status":{"phase":")" + phase + "\"" + ready + "}}",
                      api::PatchType::kMerge, "status")
                    .ok());
  }
  void bind(const std::string& name) {
    if (!exists(apiserver::kNodes, "", "n")) make(apiserver::kNodes, "Node", "", "{metadata: {name: n}}");
    auto r = request(api::Verb::kCreate, apiserver::kPods, "default", name,
                     R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")" + name +
                         R"("},"target":{"apiVersion":"v1","kind":"Node","name":"n"}})");
    r.subresource = "binding";
    EXPECT_TRUE(call(std::move(r)).ok());
  }
  // The kubelet says that the containers of a deleted pod have ended.
  void kubelet_removes(const std::string& name) {
    remove(apiserver::kPods, "default", name, R"({"gracePeriodSeconds":0})");
  }
  Json seen(const std::string& name) { return get(apiserver::kPods, "default", name).body; }
  bool gated(const std::string& name) {
    const Json p = seen(name);
    const JsonArray& gates = array_at(p, {"spec", "schedulingGates"});
    return std::any_of(gates.begin(), gates.end(),
                       [](const Json& gate) { return string_at(gate, {"name"}) == "kueue.x-k8s.io/admission"; });
  }
  bool kept(const std::string& name) { return !array_at(seen(name), {"metadata", "finalizers"}).empty(); }
  std::vector<Json> workloads() { return items(api::kWorkloads); }
  Json workload(const std::string& name) { return get(api::kWorkloads, "default", name).body; }
  bool reported(std::string_view name, std::string_view reason) {
    for (const Json& one : items(apiserver::kEvents)) {
      if (string_at(one, {"involvedObject", "name"}) == name && string_at(one, {"reason"}) == reason) return true;
    }
    return false;
  }
};

}  // namespace berth::controller
