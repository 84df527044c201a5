// Jobs and their workloads on a server with a controller.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
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
#include "jobs/workload_name.h"

namespace berth::controller::job_workloads_fixture {

class JobWorkloads : public apiserver::ServerTest {
 protected:
  explicit JobWorkloads(bool collector = false, ControllerOptions controller_options = {},
                        api::kueue::AdmissionPolicy policy = {})
      : ServerTest({.seed = 7, .admission = apiserver::kueue_webhooks(std::move(policy)), .controllers = collector}) {
    for (const auto& file : embedded::crds()) {
      auto crd = request(api::Verb::kCreate, apiserver::kCrds, "");
      crd.body = parse_yaml(file.content).value().front();
      EXPECT_TRUE(call(std::move(crd)).ok()) << file.name;
    }
    make({"kueue.x-k8s.io", "v1beta2", "resourceflavors"}, "", "{metadata: {name: f}, spec: {}}");
    make({"kueue.x-k8s.io", "v1beta2", "clusterqueues"}, "",
         "{metadata: {name: cq}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], "
         "flavors: [{name: f, "
         "resources: [{name: cpu, nominalQuota: 4}]}]}]}}");
    make({"kueue.x-k8s.io", "v1beta2", "localqueues"}, "default", "{metadata: {name: q}, spec: {clusterQueue: cq}}");
    controller.emplace(*server, executor, std::move(controller_options));
    controller->start();
    controller->lead();
    pass();
  }
  void pass(int seconds = 5) { executor.run_until(executor.now() + std::chrono::seconds(seconds)); }

  Json make(const api::GroupVersionResource& resource, std::string_view ns, std::string_view yaml) {
    auto r = request(api::Verb::kCreate, resource, ns);
    r.body = parse_yaml(yaml).value().front();
    const std::map<std::string_view, std::string_view> kinds = {{"resourceflavors", "ResourceFlavor"},
                                                                {"clusterqueues", "ClusterQueue"},
                                                                {"localqueues", "LocalQueue"},
                                                                {"workloads", "Workload"},
                                                                {"jobs", "Job"},
                                                                {"workloadpriorityclasses", "WorkloadPriorityClass"},
                                                                {"priorityclasses", "PriorityClass"},
                                                                {"namespaces", "Namespace"}};
    r.body.as_object()["apiVersion"] =
        resource.group.empty() ? resource.version : resource.group + "/" + resource.version;
    r.body.as_object()["kind"] = kinds.at(resource.resource);
    const auto made = call(std::move(r));
    EXPECT_TRUE(made.ok()) << to_string(made.body);
    return made.body;
  }
  // Creates a Job in queue q with one pod that requests one cpu. Returns its uid.
  std::string job(const std::string& name, const std::string& labels = "", const std::string& annotations = "",
                  const std::string& more = "") {
    const Json made =
        make(apiserver::kJobs, "default",
             "{metadata: {name: " + name + ", labels: {kueue.x-k8s.io/queue-name: q" + labels + "}, annotations: {" +
                 annotations + "}" + more +
                 "}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: "
                 "{requests: {cpu: '1'}}}]}}}}");
    return std::string(string_at(made, {"metadata", "uid"}));
  }
  // Creates a Workload that matches such a Job: its template has the defaults that the API server sets on Jobs.
  Json workload(const std::string& name, const std::string& cpu = "1", const std::string& more = "") {
    return make(api::kWorkloads, "default",
                "{metadata: {name: " + name + more +
                    "}, spec: {queueName: q, podSets: [{name: main, count: 1, template: {spec: "
                    "{restartPolicy: Never, " +
                    "dnsPolicy: ClusterFirst, schedulerName: default-scheduler, securityContext: {}, "
                    "terminationGracePeriodSeconds: 30, " +
                    "containers: [{name: c, image: i, imagePullPolicy: Always, terminationMessagePath: "
                    "/dev/termination-log, " +
                    "terminationMessagePolicy: File, resources: {requests: {cpu: '" + cpu + "'}}}]}}}]}}");
  }
  Json seen(const std::string& name) { return get(api::kWorkloads, "default", name).body; }
  Json seen_job(const std::string& name) { return get(apiserver::kJobs, "default", name).body; }
  bool suspended(const std::string& job) { return bool_at(seen_job(job), {"spec", "suspend"}); }
  static std::string name_of(const std::string& job, const std::string& uid) {
    return jobs::workload_name("batch", "Job", job, uid);
  }
  static std::string owner(const Json& workload) {
    for (const auto& one : array_at(workload, {"metadata", "ownerReferences"}))
      if (bool_at(one, {"controller"})) return std::string(string_at(one, {"name"}));
    return {};
  }
  static bool has_finalizer(const Json& workload) { return !array_at(workload, {"metadata", "finalizers"}).empty(); }
  static std::string condition(const Json& workload, std::string_view type) {
    for (const auto& one : array_at(workload, {"status", "conditions"}))
      if (string_at(one, {"type"}) == type)
        return std::string(string_at(one, {"status"})) + " " + std::string(string_at(one, {"reason"}));
    return {};
  }
  std::vector<Json> workloads() {
    std::vector<Json> all;
    const Json found = list(api::kWorkloads, "default").body;
    for (const auto& one : array_at(found, {"items"})) all.push_back(one);
    return all;
  }
  // "Type Reason: note" of all events about the object, such as "Warning Reason: note".
  std::vector<std::string> events(std::string_view kind, std::string_view name) {
    std::vector<std::string> texts;
    const Json found = list(api::kEvents, "default").body;
    for (const auto& one : array_at(found, {"items"})) {
      if (string_at(one, {"regarding", "kind"}) != kind || string_at(one, {"regarding", "name"}) != name) continue;
      texts.push_back(std::string(string_at(one, {"type"})) + " " + std::string(string_at(one, {"reason"})) + ": " +
                      std::string(string_at(one, {"note"})));
    }
    return texts;
  }
  bool reported(std::string_view job, const std::string& event) {
    const auto all = events("Job", job);
    return std::find(all.begin(), all.end(), event) != all.end();
  }
  std::size_t holders() { return controller->engine().held_quotas().size(); }

  std::optional<Controller> controller;
};

// With the garbage collector.
class CollectedWorkloads : public JobWorkloads {
 protected:
  CollectedWorkloads() : JobWorkloads(true) {}
};

}  // namespace berth::controller::job_workloads_fixture
