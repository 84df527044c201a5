// An API server with webhooks and the definitions of kinds, a controller that manages described kinds, and the words of
// tests about them.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/resources.h"
#include "base/embedded.h"
#include "base/yaml.h"
#include "controller/configure.h"
#include "controller/controller.h"
#include "controller/sweep_definition.h"
#include "embedded/apiserver/kueue_webhooks.h"
#include "embedded/apiserver/server/harness.h"
#include "jobs/kinds/read/read_kind.h"
#include "jobs/kinds/read/shipped.h"

namespace berth::controller {

inline const api::GroupVersionResource kJobSets{"jobset.x-k8s.io", "v1alpha2", "jobsets"};
inline const api::GroupVersionResource kPyTorchJobs{"kubeflow.org", "v1", "pytorchjobs"};
inline const api::GroupVersionResource kThings{"things.example.org", "v1", "things"};

inline ControllerOptions all_kinds() {
  ControllerOptions options;
  for (const auto& kind : jobs::kinds::shipped_job_kinds()) options.kinds.push_back({kind, true});
  options.external_kinds = {{kThings, "Thing"}};
  options.compare_kinds = true;
  return options;
}

// With the ClusterQueue cq (4 cpu of the flavor f) and the LocalQueue q.
class KindsTest : public apiserver::ServerTest {
 protected:
  explicit KindsTest(const ControllerOptions& options = all_kinds())
      : ServerTest(
            {.seed = 7, .admission = apiserver::kueue_webhooks(admission_policy(options)), .controllers = true}) {
    for (const auto& file : embedded::crds()) install(file.content);
    make({"kueue.x-k8s.io", "v1beta2", "resourceflavors"}, "ResourceFlavor", "",
         "{metadata: {name: f}, spec: {nodeLabels: {tier: a}}}");
    make({"kueue.x-k8s.io", "v1beta2", "clusterqueues"}, "ClusterQueue", "",
         "{metadata: {name: cq}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: "
         "[{name: f, "
         "resources: [{name: cpu, nominalQuota: 4}]}]}]}}");
    make({"kueue.x-k8s.io", "v1beta2", "localqueues"}, "LocalQueue", "default",
         "{metadata: {name: q}, spec: {clusterQueue: cq}}");
    controller.emplace(*server, executor, options);
    controller->start();
    controller->lead();
    pass();
  }

  void install(std::string_view yaml) {
    const auto definitions = parse_yaml(yaml).value();
    for (const Json& definition : definitions) {
      auto crd = request(api::Verb::kCreate, apiserver::kCrds, "");
      crd.body = definition;
      const auto made = call(std::move(crd));
      EXPECT_TRUE(made.ok()) << to_string(made.body);
    }
  }
  void install_kind(std::string_view resource) {
    for (const auto& file : embedded::external_crds()) {
      if (file.name.find("/" + std::string(resource) + ".yaml") != std::string_view::npos) return install(file.content);
    }
    ADD_FAILURE() << "no definition of " << resource;
  }
  void pass(int seconds = 5) { executor.run_until(executor.now() + std::chrono::seconds(seconds)); }

  api::RestResponse create(const api::GroupVersionResource& resource, std::string_view kind, std::string_view ns,
                           std::string_view yaml) {
    auto r = request(api::Verb::kCreate, resource, std::string(ns));
    r.body = parse_yaml(yaml).value().front();
    r.body.as_object()["apiVersion"] =
        resource.group.empty() ? resource.version : resource.group + "/" + resource.version;
    r.body.as_object()["kind"] = kind;
    return call(std::move(r));
  }
  Json make(const api::GroupVersionResource& resource, std::string_view kind, std::string_view ns,
            std::string_view yaml) {
    const auto made = create(resource, kind, ns, yaml);
    EXPECT_TRUE(made.ok()) << to_string(made.body);
    return made.body;
  }
  Json job_set(const std::string& name, int replicas, const std::string& labels = "kueue.x-k8s.io/queue-name: q") {
    return make(kJobSets, "JobSet", "default",
                "{metadata: {name: " + name + ", labels: {" + labels +
                    "}}, spec: {replicatedJobs: [{name: w, replicas: " + std::to_string(replicas) +
                    ", template: {spec: {" + std::string(kTemplate) + "}}}]}}");
  }
  Json child_of(const Json& owner, const std::string& name, const std::string& labels = "") {
    return make(api::kJobs, "Job", "default",
                "{metadata: {name: " + name + ", labels: {" + labels +
                    "}, ownerReferences: [{apiVersion: " + std::string(string_at(owner, {"apiVersion"})) +
                    ", kind: " + std::string(string_at(owner, {"kind"})) +
                    ", name: " + std::string(string_at(owner, {"metadata", "name"})) +
                    ", uid: " + std::string(string_at(owner, {"metadata", "uid"})) + ", controller: true}]}, spec: {" +
                    std::string(kTemplate) + "}}");
  }
  Json seen(const api::GroupVersionResource& resource, const std::string& name) {
    return get(resource, "default", name).body;
  }
  bool suspended(const api::GroupVersionResource& resource, const std::string& name) {
    return bool_at(seen(resource, name), {"spec", "suspend"});
  }
  std::vector<Json> workloads() {
    std::vector<Json> all;
    const Json found = list(api::kWorkloads, "default").body;
    for (const auto& one : array_at(found, {"items"})) all.push_back(one);
    return all;
  }
  // Of the objects of this name, whatever their kind.
  std::vector<std::string> events(std::string_view name) {
    std::vector<std::string> out;
    const Json found = list(api::kEvents, "default").body;
    for (const auto& one : array_at(found, {"items"})) {
      if (string_at(one, {"regarding", "name"}) == name)
        out.push_back(std::string(string_at(one, {"reason"})) + ": " + std::string(string_at(one, {"note"})));
    }
    return out;
  }
  static std::string condition(const Json& object, std::string_view type) {
    for (const auto& one : array_at(object, {"status", "conditions"}))
      if (string_at(one, {"type"}) == type)
        return std::string(string_at(one, {"status"})) + " " + std::string(string_at(one, {"reason"}));
    return {};
  }

  static constexpr std::string_view kTemplate =
      "template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}";
  std::optional<Controller> controller;
};

// A kind that only its description makes known.
class CustomKind : public KindsTest {
 protected:
  static constexpr std::string_view kDescription = R"(apiVersion: berth.dev/v1alpha1
kind: JobKind
spec:
  group: sweeps.example.org
  version: v1
  kind: Sweep
  suspend: spec.hold
  podSets:
    - name: tuner
      item: spec.tuner
      template: pod
    - items: spec.trials
      nameFrom: item.id
      template: pod
      count: item.?copies.orValue(1)
      minCount: item.?least.orValue(0)
      countField: copies
      podIndexLabel: sweeps.example.org/index
  finished: self.?status.?phase.orValue('') in ['Done', 'Broken']
  succeeded: self.status.phase == 'Done'
  message: self.status.?why.orValue('')
  active: self.?status.?running.orValue(0) > 0
  ready: self.?status.?phase.orValue('') == 'Up'
  validations:
    - rule: self.spec.trials.size() <= 3
      message: "'has ' + string(self.spec.trials.size()) + ' trials, at most 3 are allowed'"
      field: spec.trials
)";
  inline static const api::GroupVersionResource kSweeps{"sweeps.example.org", "v1", "sweeps"};

  static ControllerOptions sweeps() {
    ControllerOptions options;
    const auto kind = jobs::kinds::read_job_kind(kDescription, "sweep.yaml");
    EXPECT_TRUE(kind) << kind.error().message;
    options.kinds.push_back({*kind, true});
    options.compare_kinds = true;
    return options;
  }
  CustomKind() : KindsTest(sweeps()) {
    install(kSweepDefinition);
    pass(60);
  }
  static std::string pod() { return std::string(kTemplate).replace(0, 8, "pod"); }
  static std::string sweep(const std::string& name, int copies, const std::string& more = "") {
    return "{metadata: {name: " + name + ", labels: {kueue.x-k8s.io/queue-name: q}}, spec: {tuner: {" + pod() +
           "}, trials: [{id: t, copies: " + std::to_string(copies) + more + ", " + pod() + "}]}}";
  }
  bool held(const std::string& name) { return bool_at(seen(kSweeps, name), {"spec", "hold"}); }
  void status(const std::string& name, const std::string& yaml) {
    auto r = request(api::Verb::kPatch, kSweeps, "default", name);
    r.subresource = "status";
    r.body = JsonObject{{"status", parse_yaml(yaml).value().front()}};
    const auto done = call(std::move(r));
    EXPECT_TRUE(done.ok()) << to_string(done.body);
    pass();
  }
};

}  // namespace berth::controller
