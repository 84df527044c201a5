// A pretend cluster with the operators of all shipped kinds and of one more, the Toy.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/embedded.h"
#include "embedded/cluster/operators/operators.h"
#include "embedded/cluster/pretend_cluster.h"
#include "jobs/kinds/read/read_kind.h"
#include "jobs/kinds/read/shipped.h"

namespace berth::cluster::operators_tests {

using namespace testing_support;
using jobs::kinds::JobKindPtr;

inline const api::GroupVersionResource kJobSets{"jobset.x-k8s.io", "v1alpha2", "jobsets"};
inline const api::GroupVersionResource kPyTorchJobs{"kubeflow.org", "v1", "pytorchjobs"};
inline const api::GroupVersionResource kMpiJobs{"kubeflow.org", "v2beta1", "mpijobs"};
inline const api::GroupVersionResource kToys{"toys.example.com", "v1", "toys"};

inline constexpr std::string_view kToyCrd = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: toys.toys.example.com}
spec:
  group: toys.example.com
  scope: Namespaced
  names: {kind: Toy, plural: toys}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, properties: {phase: {type: string}, ready: {type: integer}}}
)";

// The schema of the kind does not have `status.forgotten`.
inline constexpr std::string_view kToy = R"(
apiVersion: berth.dev/v1alpha1
kind: JobKind
metadata: {name: toy}
spec:
  group: toys.example.com
  version: v1
  kind: Toy
  suspend: spec.suspend
  podSets: [{name: main, template: spec.template, count: self.spec.size}]
  finished: "false"
  active: "true"
  ready: "true"
  operator: {serves: true, status: '{"phase": phase, "forgotten": "field", "ready": pods.main.ready}'}
)";

// Counts requests, fails some, and can hold back what watches show.
class Wire final : public api::RestClient {
 public:
  explicit Wire(api::RestClient& to) : to_(to) {}
  int conflicts = 0;                // so many of the next writes get 409 and are not carried out
  std::map<std::string, int> sent;  // "create pods" and the like
  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    if (request.verb == api::Verb::kCreate) ++sent["create " + request.resource.resource];
    if (request.verb == api::Verb::kUpdate) ++sent["update " + request.resource.resource];
    const bool write = request.verb != api::Verb::kGet && request.verb != api::Verb::kList;
    if (write && conflicts > 0) {
      --conflicts;
      request.dry_run = true;
      return to_.call(std::move(request), [done](const api::RestResponse&) {
        api::RestResponse lost;
        lost.code = 409;
        done(lost);
      });
    }
    to_.call(std::move(request), std::move(done));
  }
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override {
    auto handle = to_.watch(request, std::move(on_event), std::move(on_end));
    watches_[request.resource] = handle.get();
    return handle;
  }
  void hold(const api::GroupVersionResource& resource, bool on) { watches_.at(resource)->hold(on); }

 private:
  api::RestClient& to_;
  std::map<api::GroupVersionResource, api::WatchHandle*> watches_;  // the last of each resource
};

inline ClusterOptions three_nodes() {
  ClusterOptions options;
  options.nodes = "3";
  options.node_resources = "cpu=8";
  return options;
}

inline std::vector<JobKindPtr> all_kinds() {
  auto out = jobs::kinds::shipped_job_kinds();
  out.push_back(jobs::kinds::read_job_kind(kToy, "toy.yaml").value());
  return out;
}

class OperatorsTest : public testing::Test {
 protected:
  OperatorsTest() : cluster(three_nodes()), wire(*cluster.server) {
    for (const auto& file : embedded::external_crds()) install(file.content);
    restart();
    cluster.pass(1);
  }
  void restart() {
    operators.reset();
    operators = std::make_unique<Operators>(wire, cluster.executor, all_kinds());
    operators->start();
  }
  void install(std::string_view crd) {
    auto request = cluster.request(api::Verb::kCreate, {"apiextensions.k8s.io", "v1", "customresourcedefinitions"});
    request.ns.clear();
    request.body = yaml(crd);
    cluster.expect_ok(cluster.call(std::move(request)));
  }
  // A template whose pods run for so long.
  static Json pods_for(std::string_view how_long, std::string_view annotations = "{}") {
    Json out = yaml("{metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: i}]}}");
    ensure_path(out, {"metadata", "annotations"}) = yaml(annotations);
    ensure_path(out, {"metadata", "annotations", "berth.dev/run-for"}) = how_long;
    return out;
  }
  // A PyTorchJob p with a master and two workers.
  void pytorch(std::string_view run_for, std::string_view annotations = "{}", std::string_view policy = "Never") {
    Json job = yaml("{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: p}, spec: {}}");
    for (const auto& [type, replicas] : {std::pair("Master", 1), std::pair("Worker", 2)}) {
      Json& replica = ensure_path(job, {"spec", "pytorchReplicaSpecs", type});
      replica = JsonObject{{"replicas", replicas}, {"restartPolicy", policy}};
      ensure_path(replica, {"template"}) = pods_for(run_for, annotations);
    }
    cluster.create(kPyTorchJobs, std::move(job));
    cluster.pass(2);
  }
  // A JobSet s of two Jobs of two pods; the pods of Jobs end on their own.
  void job_set() {
    Json job = yaml(
        "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: s}, spec: {replicatedJobs: "
        "[{name: w, replicas: 2, template: {spec: {parallelism: 2, completions: 2}}}]}}");
    ensure_path(ensure_path(job, {"spec", "replicatedJobs"}).as_array()[0], {"template", "spec", "template"}) =
        pods_for("1000s");
    cluster.create(kJobSets, std::move(job));
    cluster.pass(2);
  }
  void patch(const api::GroupVersionResource& what, std::string_view name, std::string_view body,
             std::string_view subresource = "") {
    auto request = cluster.request(api::Verb::kPatch, what, name);
    request.subresource = subresource;
    request.body = yaml(body);
    cluster.expect_ok(cluster.call(std::move(request)));
  }
  void suspend(bool value) {
    patch(kPyTorchJobs, "p", value ? "{spec: {runPolicy: {suspend: true}}}" : "{spec: {runPolicy: {suspend: false}}}");
  }
  std::vector<std::string> names() {
    std::vector<std::string> out;
    for (const Json& pod : cluster.list(kPods)) out.emplace_back(string_at(pod, {"metadata", "name"}));
    return out;
  }
  std::string uid(std::string_view pod) { return std::string(string_at(cluster.get(kPods, pod), {"metadata", "uid"})); }
  std::string condition(std::string_view type) {
    return std::string(condition_status(cluster.get(kPyTorchJobs, "p"), type));
  }
  std::int64_t workers(std::string_view field) {
    return int_at(cluster.get(kPyTorchJobs, "p"), {"status", "replicaStatuses", "Worker", field});
  }

  Cluster cluster;
  Wire wire;
  std::unique_ptr<Operators> operators;
};

}  // namespace berth::cluster::operators_tests
