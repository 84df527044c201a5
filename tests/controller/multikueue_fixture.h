// A manager and two workers, "east" and "west": three API servers with a controller each, in one thread on one virtual
// clock. The workers have pretend nodes.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/resources.h"
#include "api/status.h"
#include "base/base64.h"
#include "base/embedded.h"
#include "base/yaml.h"
#include "controller/configure.h"
#include "controller/controller.h"
#include "controller/metrics.h"
#include "controller/wire_client.h"
#include "embedded/apiserver/kueue_webhooks.h"
#include "embedded/apiserver/server/api_server.h"
#include "embedded/apiserver/storage/store.h"
#include "embedded/cluster/cluster.h"

namespace berth::controller::multikueue_fixture {

using std::chrono::minutes;
using std::chrono::seconds;

inline const api::GroupVersionResource kDefinitions{"apiextensions.k8s.io", "v1", "customresourcedefinitions"};

// One cluster.
struct Side {
  std::unique_ptr<apiserver::ApiServer> server;
  std::unique_ptr<cluster::PretendCluster> nodes;
  std::unique_ptr<api::RestClient> client;  // of the controller
  std::unique_ptr<Controller> controller;
};

class MultiKueue : public testing::Test {
 protected:
  using Connect = decltype(MultiKueueOptions::connect);

  // `of_workers`: the kinds of jobs there are those of the manager's options.
  explicit MultiKueue(const ControllerOptions& of_manager = {}) {
    ControllerOptions options = of_manager;
    of_workers.kinds = of_manager.kinds;
    options.multikueue.connect = [this](Executor&, const kube::Access& access) { return connect(access); };
    options.multikueue.dispatch.lost_timeout = minutes(2);
    options.metrics = &metrics;
    manager_options = options;
    for (const char* name : {"", "east", "west"}) wires[name] = std::make_shared<Wire>();
    manager = make_side(options, false);
    for (const char* name : {"east", "west"}) {
      workers.emplace(name, make_side(of_workers, true));
      make_on(name, kWorkerQueue);
    }
    make(kManagerQueue);
    for (const char* name : {"east", "west"}) add_secret(name, kubeconfig(name));
    make(kManagerClusters);
    pass();
  }

  // --- Objects.

  static constexpr std::string_view kWorkerQueue = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: w-f}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: w-cq}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: w-f, resources: [{name: cpu, nominalQuota: 4}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: q, namespace: default}
spec: {clusterQueue: w-cq}
)";
  static constexpr std::string_view kManagerQueue = R"(
apiVersion: v1
kind: Namespace
metadata: {name: kueue-system}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: f}
spec: {nodeLabels: {pool: manager}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: mk}
spec:
  controllerName: kueue.x-k8s.io/multikueue
  parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: both}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 8}]}]}]
  admissionChecksStrategy: {admissionChecks: [{name: mk}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: q, namespace: default}
spec: {clusterQueue: cq}
)";
  static constexpr std::string_view kManagerClusters = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: MultiKueueConfig
metadata: {name: both}
spec: {clusters: [east, west]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: MultiKueueCluster
metadata: {name: east}
spec: {clusterSource: {kubeConfig: {locationType: Secret, location: east}}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: MultiKueueCluster
metadata: {name: west}
spec: {clusterSource: {kubeConfig: {locationType: Secret, location: west}}}
)";
  static std::string kubeconfig(const std::string& name) {
    return "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'https://" + name +
           "'}}]\nusers: [{name: u, user: {token: t}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
           "current-context: x\n";
  }
  void add_secret(const std::string& name, const std::string& text) {
    make("apiVersion: v1\nkind: Secret\nmetadata: {name: " + name +
         ", namespace: kueue-system}\ndata: {kubeconfig: " + base64_encode(text) + "}\n");
  }
  // `cpu` for each of `pods` pods, which run for `run_for`.
  void job(const std::string& name, int pods = 1, const std::string& cpu = "1", const std::string& run_for = "1h",
           const std::string& more = "") {
    make("apiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name +
         ", namespace: default, labels: {kueue.x-k8s.io/queue-name: q}}\nspec: {parallelism: " + std::to_string(pods) +
         ", completions: " + std::to_string(pods) + more + ", template: {metadata: {annotations: {berth.dev/run-for: " +
         run_for + "}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '" +
         cpu + "'}}}]}}}\n");
  }

  // --- What is done and seen. `cluster`: "" is the manager.

  void pass(Duration d = seconds(5)) { executor.run_until(executor.now() + d); }
  void make(std::string_view yaml) { make_on("", yaml); }
  void make_on(const std::string& cluster, std::string_view yaml) {
    auto objects = parse_yaml(yaml).value();
    for (auto& object : objects) {
      const auto made = create_on(cluster, std::move(object));
      EXPECT_TRUE(made.ok()) << api::status_message(made);
    }
  }
  api::RestResponse call(const std::string& cluster, api::RestRequest request) {
    request.user = {"admin", {"system:masters"}};
    std::optional<api::RestResponse> answer;
    server_of(cluster).call(std::move(request),
                            [&answer](api::RestResponse response) { answer = std::move(response); });
    while (!answer && executor.step()) {
    }
    return answer.value_or(api::RestResponse{0, Json(), {}});
  }
  Json get(const std::string& cluster, const api::GroupVersionResource& resource, const std::string& name,
           const std::string& ns = "default") {
    api::RestRequest request;
    request.resource = resource;
    request.ns = ns;
    request.name = name;
    auto answer = call(cluster, std::move(request));
    return answer.ok() ? std::move(answer.body) : Json();
  }
  std::vector<Json> list(const std::string& cluster, const api::GroupVersionResource& resource) {
    api::RestRequest request;
    request.verb = api::Verb::kList;
    request.resource = resource;
    request.ns = "default";
    const auto answer = call(cluster, std::move(request));
    const auto& items = array_at(answer.body, {"items"});
    return {items.begin(), items.end()};
  }
  api::RestResponse patch(const std::string& cluster, const api::GroupVersionResource& resource, const std::string& ns,
                          const std::string& name, std::string_view yaml, const std::string& subresource = "") {
    api::RestRequest request;
    request.verb = api::Verb::kPatch;
    request.resource = resource;
    request.ns = ns;
    request.name = name;
    request.subresource = subresource;
    request.body = parse_yaml(yaml).value().front();
    return call(cluster, std::move(request));
  }
  void remove(const std::string& cluster, const api::GroupVersionResource& resource, const std::string& name,
              const std::string& ns = "default") {
    api::RestRequest request;
    request.verb = api::Verb::kDelete;
    request.resource = resource;
    request.ns = ns;
    request.name = name;
    request.body = JsonObject{{"propagationPolicy", "Background"}};
    const auto answer = call(cluster, std::move(request));
    EXPECT_TRUE(answer.ok()) << api::status_message(answer);
  }
  Json job_on(const std::string& cluster, const std::string& name) { return get(cluster, api::kJobs, name); }
  // The workload of a job of the manager.
  Json workload(const std::string& job) {
    for (auto& one : list("", api::kWorkloads)) {
      for (const auto& owner : array_at(one, {"metadata", "ownerReferences"}))
        if (string_at(owner, {"name"}) == job) return one;
    }
    return {};
  }
  Json copy_on(const std::string& cluster, const std::string& job) {
    return get(cluster, api::kWorkloads, std::string(string_at(workload(job), {"metadata", "name"})));
  }
  std::string cluster_of(const std::string& job) {
    return std::string(string_at(workload(job), {"status", "clusterName"}));
  }
  // "Ready: message"; "" without the check.
  std::string check_of(const std::string& job) {
    const Json w = workload(job);
    for (const auto& check : array_at(w, {"status", "admissionChecks"}))
      return std::string(string_at(check, {"state"})) + ": " + std::string(string_at(check, {"message"}));
    return "";
  }
  // "True Reason: message"; "" without the condition.
  static std::string condition(const Json& object, std::string_view type) {
    for (const auto& one : array_at(object, {"status", "conditions"}))
      if (string_at(one, {"type"}) == type)
        return std::string(string_at(one, {"status"})) + " " + std::string(string_at(one, {"reason"})) + ": " +
               std::string(string_at(one, {"message"}));
    return {};
  }
  std::string activity(const std::string& cluster_name) {
    return condition(get("", api::kMultiKueueClusters, cluster_name, ""), "Active");
  }
  std::string check_activity() { return condition(get("", api::kAdmissionChecks, "mk", ""), "Active"); }
  // Pods of the job that have not ended, on this cluster.
  std::size_t running_on(const std::string& cluster) {
    std::size_t count = 0;
    for (const auto& pod : list(cluster, api::kPods)) {
      const auto phase = string_at(pod, {"status", "phase"});
      if (phase != "Succeeded" && phase != "Failed") ++count;
    }
    return count;
  }
  void define(apiserver::ApiServer& server, Json definition) {
    api::RestRequest request;
    request.verb = api::Verb::kCreate;
    request.resource = kDefinitions;
    request.body = std::move(definition);
    request.user = {"admin", {"system:masters"}};
    bool done = false;
    server.call(std::move(request), [&](const api::RestResponse& response) {
      EXPECT_TRUE(response.ok()) << api::status_message(response);
      done = true;
    });
    while (!done && executor.step()) {
    }
  }

  // The kind is served from now on.
  void install(const std::string& cluster, std::string_view resource) {
    for (const auto& file : embedded::external_crds()) {
      if (file.name.find("/" + std::string(resource) + ".yaml") == std::string_view::npos) continue;
      return define(server_of(cluster), parse_yaml(file.content).value().front());
    }
    ADD_FAILURE() << "no definition of " << resource;
  }
  void hold(const std::string& cluster, bool on) {
    patch(cluster, api::kClusterQueues, "", "w-cq",
          std::string("{spec: {stopPolicy: ") + (on ? "Hold" : "None") + "}}");
    pass(seconds(2));
  }

  apiserver::ApiServer& server_of(const std::string& cluster) {
    return cluster.empty() ? *manager.server : *workers.at(cluster).server;
  }
  // Another process of the manager's controller takes over.
  void restart_manager() {
    manager.controller.reset();
    manager.controller = start_controller(manager, manager_options);
    pass();
  }

  VirtualExecutor executor{parse_time("2026-01-01T00:00:00Z").value()};
  std::map<std::string, std::shared_ptr<Wire>> wires;  // "": from the manager's controller to its own API server
  std::map<std::string, Side> workers;
  Side manager;
  ControllerOptions manager_options, of_workers;
  int connections = 0;
  Metrics registry;
  ControllerMetrics metrics{registry, {}};

  // An object of any kind: `resource` is that of its kind.
  void make_of(const std::string& cluster, const api::GroupVersionResource& resource, std::string_view yaml) {
    api::RestRequest request;
    request.verb = api::Verb::kCreate;
    request.resource = resource;
    request.body = parse_yaml(yaml).value().front();
    request.ns = string_at(request.body, {"metadata", "namespace"});
    const auto made = call(cluster, std::move(request));
    EXPECT_TRUE(made.ok()) << api::status_message(made);
  }

 private:
  Result<std::unique_ptr<api::RestClient>> connect(const kube::Access& access) {
    ++connections;
    const std::string name = access.server.substr(std::string_view("https://").size());
    const auto it = workers.find(name);
    if (it == workers.end()) return fail("there is no cluster " + name);
    return std::unique_ptr<api::RestClient>(std::make_unique<WireClient>(*it->second.server, executor, wires.at(name)));
  }

  std::unique_ptr<Controller> start_controller(Side& side, const ControllerOptions& options) {
    auto made = std::make_unique<Controller>(*side.client, executor, options);
    made->start();
    made->lead();
    return made;
  }

  Side make_side(const ControllerOptions& options, bool with_nodes) {
    Side side;
    apiserver::ApiServerOptions server_options;
    server_options.seed = 7 + workers.size();
    server_options.admission = apiserver::kueue_webhooks(admission_policy(options));
    side.server =
        std::move(*apiserver::ApiServer::open(executor, apiserver::make_memory_log(executor), server_options));
    apiserver::ApiServer& server = *side.server;
    const auto wire = with_nodes ? std::make_shared<Wire>() : wires.at("");
    side.client = std::make_unique<WireClient>(server, executor, wire);
    for (const auto& file : embedded::crds()) define(server, parse_yaml(file.content).value().front());
    cluster::ClusterOptions cluster_options;
    for (const auto& kind : options.kinds) cluster_options.kinds.push_back(kind.description);
    if (with_nodes) {
      cluster_options.nodes = "1x1x4";
      cluster_options.node_resources = "cpu=96,memory=256Gi";
    }
    side.nodes = std::move(*cluster::PretendCluster::make(server, executor, cluster_options));
    side.nodes->start();
    side.controller = start_controller(side, options);
    pass();
    return side;
  }

  api::RestResponse create_on(const std::string& cluster, Json object) {
    static const std::map<std::string_view, api::GroupVersionResource> kResources = {
        {"ResourceFlavor", api::kResourceFlavors},
        {"ClusterQueue", api::kClusterQueues},
        {"LocalQueue", api::kLocalQueues},
        {"AdmissionCheck", api::kAdmissionChecks},
        {"MultiKueueConfig", api::kMultiKueueConfigs},
        {"MultiKueueCluster", api::kMultiKueueClusters},
        {"Namespace", api::kNamespaces},
        {"Secret", api::kSecrets},
        {"Workload", api::kWorkloads},
        {"Pod", api::kPods},
        {"Job", api::kJobs}};
    api::RestRequest request;
    request.verb = api::Verb::kCreate;
    request.resource = kResources.at(string_at(object, {"kind"}));
    request.ns = string_at(object, {"metadata", "namespace"});
    request.body = std::move(object);
    return call(cluster, std::move(request));
  }
};

}  // namespace berth::controller::multikueue_fixture
