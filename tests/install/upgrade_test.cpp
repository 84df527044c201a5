// Migration from releases of Kueue with work in flight: Jobs and pods that run and that wait, as the controllers of
// 0.16, 0.18 and 0.20 leave them, and the Configuration of their manifests. Berth takes over; nothing restarts, nothing
// is evicted, all stays admitted. From the sources of the releases:
//  - all give started pods the label podset and the annotation workload; 0.17 and newer the names of the queues, too
//    (AssignQueueLabelsForPods)
//  - up to 0.19 a workload that waits is QuotaReserved=False (Pending) and has no condition Admitted; 0.20 says the
//  cause
//    (UnadmittedWorkloadsObservability), and Admitted=False (NoReservation)
//  - clientConnection is 50/100 in 0.16 and 0.18, 1000/1000 in 0.20
#include <gmock/gmock.h>

#include <map>

#include "api/config/configuration.h"
#include "api/resources.h"
#include "controller/configure.h"
#include "controller/controller.h"
#include "embedded/simulate/world.h"
#include "install/manifests.h"
#include "jobs/workload_name.h"

namespace berth::install::upgrade_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

struct Release {
  std::string name;
  int qps, burst;
  bool queue_labels;  // on pods that are let go
  bool says_causes;   // of workloads that wait
  friend void PrintTo(const Release& release, std::ostream* out) { *out << release.name; }
};

class Upgrade : public testing::TestWithParam<Release> {
 protected:
  Upgrade() {
    simulate::WorldOptions options;
    options.start = parse_time("2026-11-28T09:00:00Z").value();
    options.nodes = "1x1x4";
    options.controller = false;
    options.manage_pods = true;
    world_ = simulate::World::make(options).value();
    std::vector<Json> queues = parse_yaml(R"(
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}, spec: {}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {},
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 3}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: default}, spec: {clusterQueue: cq}}
)")
                                   .value();
    for (Json& object : queues) make(std::move(object));
  }

  // The configuration of the release's manifests.
  controller::ControllerOptions options() {
    const auto configuration = api::config::read_configuration(
        R"(
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
health: {healthProbeBindAddress: ":8081"}
metrics: {bindAddress: ":8443"}
webhook: {port: 9443}
leaderElection: {leaderElect: true, resourceName: c1f6bfd2.kueue.x-k8s.io}
controller:
  groupKindConcurrency: {Job.batch: 5, Pod: 5, Workload.kueue.x-k8s.io: 5, LocalQueue.kueue.x-k8s.io: 1,
    Cohort.kueue.x-k8s.io: 1, ClusterQueue.kueue.x-k8s.io: 1, ResourceFlavor.kueue.x-k8s.io: 1}
clientConnection: {qps: )" +
            std::to_string(GetParam().qps) + ", burst: " + std::to_string(GetParam().burst) + R"(}
integrations:
  frameworks: [batch/job, kubeflow.org/mpijob, ray.io/rayjob, ray.io/raycluster, jobset.x-k8s.io/jobset,
    kubeflow.org/paddlejob, kubeflow.org/pytorchjob, kubeflow.org/tfjob, kubeflow.org/xgboostjob,
    kubeflow.org/jaxjob, workload.codeflare.dev/appwrapper, trainer.kubeflow.org/trainjob, pod, deployment,
    statefulset, leaderworkerset.x-k8s.io/leaderworkerset]
)",
        GetParam().name);
    EXPECT_TRUE(configuration) << configuration.error().message;
    EXPECT_THAT(configuration->not_honoured, IsEmpty());
    auto out = controller::controller_options(*configuration, {}).value();
    EXPECT_THAT(out.not_honoured, IsEmpty());
    out.compare_kinds = false;  // no other kind is there
    return out;
  }

  void make(Json object) {
    const auto made = world_->create(std::move(object));
    ASSERT_TRUE(made) << made.error().message;
  }
  // As Kueue's webhooks let it pass.
  void patch(const std::string& kind, const std::string& name, Json body, const std::string& subresource = "") {
    auto request = world_->request_for("", kind, "default", name).value();
    request.verb = api::Verb::kPatch;
    request.subresource = subresource;
    request.body = std::move(body);
    const auto answer = world_->call_past_webhooks(std::move(request));
    ASSERT_TRUE(answer.ok()) << to_string(answer.body);
  }
  Json get(const std::string& version, const std::string& kind, const std::string& name) {
    return world_->get(version, kind, "default", name).value();
  }
  std::vector<Json> items(const api::GroupVersionResource& resource) {
    api::RestRequest request;
    request.verb = api::Verb::kList;
    request.resource = resource;
    const Json listed = world_->call(std::move(request)).body;
    const JsonArray& found = array_at(listed, {"items"});
    return {found.begin(), found.end()};
  }
  std::string now() { return format_time(world_->executor().now()); }

  static Json spec_of_pods(const std::string& cpu) {
    return parse_yaml("{restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '" + cpu +
                      "'}}}]}")
        .value()
        .front();
  }
  static std::string workload_name(const Json& owner) {
    const bool job = kind_of(owner) == "Job";
    return jobs::workload_name(job ? "batch" : "", job ? "Job" : "Pod", name_of(owner),
                               string_at(owner, {"metadata", "uid"}));
  }

  Json condition(std::string_view type, std::string_view status, std::string_view reason, std::string_view message) {
    return JsonObject{{"type", type},
                      {"status", status},
                      {"reason", reason},
                      {"message", message},
                      {"lastTransitionTime", now()},
                      {"observedGeneration", 1}};
  }

  // The workload of a Job or pod with so much cpu per pod.
  void make_workload(const Json& owner, int count, const std::string& cpu, bool admitted) {
    const bool job = kind_of(owner) == "Job";
    const std::string name = workload_name(owner), uid(string_at(owner, {"metadata", "uid"}));
    Json pod_template = JsonObject{{"metadata", JsonObject()}};
    const Json* spec = job ? find_path(owner, {"spec", "template", "spec"}) : find_path(owner, {"spec"});
    pod_template.as_object()["spec"] = *spec;
    Json pod_set = JsonObject{{"name", "main"}, {"count", count}};
    if (job) {
      Json& meta = pod_template.at("metadata");
      ensure_path(meta, {"labels", "batch.kubernetes.io/job-name"}) = name_of(owner);
      meta.as_object()["annotations"] = object_at(owner, {"spec", "template", "metadata", "annotations"});
    }
    pod_set.as_object()["topologyRequest"] = JsonObject{
        {"podIndexLabel", job ? "batch.kubernetes.io/job-completion-index" : "kueue.x-k8s.io/pod-group-pod-index"}};
    pod_set.as_object()["template"] = std::move(pod_template);
    make(JsonObject{
        {"apiVersion", "kueue.x-k8s.io/v1beta2"},
        {"kind", "Workload"},
        {"metadata", JsonObject{{"name", name},
                                {"namespace", "default"},
                                {"labels", JsonObject{{"kueue.x-k8s.io/job-uid", uid}}},
                                {"finalizers", JsonArray{"kueue.x-k8s.io/resource-in-use"}},
                                {"ownerReferences", JsonArray{JsonObject{{"apiVersion", job ? "batch/v1" : "v1"},
                                                                         {"kind", kind_of(owner)},
                                                                         {"name", name_of(owner)},
                                                                         {"uid", uid},
                                                                         {"controller", true},
                                                                         {"blockOwnerDeletion", true}}}}}},
        {"spec",
         JsonObject{
             {"active", true}, {"priority", 0}, {"queueName", "q"}, {"podSets", JsonArray{std::move(pod_set)}}}}});
    patch("Workload", name, JsonObject{{"status", admitted ? admitted_status(count, cpu) : waiting_status(count, cpu)}},
          "status");
  }

  Json admitted_status(int count, const std::string& cpu) {
    const std::string usage = std::to_string(count * std::stoi(cpu));
    return JsonObject{
        {"admission",
         JsonObject{{"clusterQueue", "cq"},
                    {"podSetAssignments", JsonArray{JsonObject{{"name", "main"},
                                                               {"count", count},
                                                               {"flavors", JsonObject{{"cpu", "f"}}},
                                                               {"resourceUsage", JsonObject{{"cpu", usage}}}}}}}},
        {"conditions",
         JsonArray{condition("QuotaReserved", "True", "QuotaReserved", "Quota reserved in ClusterQueue cq"),
                   condition("Admitted", "True", "Admitted", "The workload is admitted")}}};
  }

  Json waiting_status(int count, const std::string& cpu) {
    const std::string why =
        "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f, 2 more needed";
    JsonArray conditions{
        condition("QuotaReserved", "False", GetParam().says_causes ? "WaitingForQuota" : "Pending", why)};
    if (GetParam().says_causes)
      conditions.push_back(condition("Admitted", "False", "NoReservation", "The workload has no reservation"));
    const std::string usage = std::to_string(count * std::stoi(cpu));
    return JsonObject{
        {"conditions", std::move(conditions)},
        {"resourceRequests", JsonArray{JsonObject{{"name", "main"}, {"resources", JsonObject{{"cpu", usage}}}}}}};
  }

  JsonObject labels_of_started() const {
    JsonObject labels{{"kueue.x-k8s.io/podset", "main"}};
    if (GetParam().queue_labels) {
      labels["kueue.x-k8s.io/cluster-queue-name"] = "cq";
      labels["kueue.x-k8s.io/local-queue-name"] = "q";
    }
    return labels;
  }

  void make_job(const std::string& name, int pods, const std::string& cpu, bool runs) {
    Json job = JsonObject{{"apiVersion", "batch/v1"}, {"kind", "Job"}};
    ensure_path(job, {"metadata"}) = JsonObject{
        {"name", name}, {"namespace", "default"}, {"labels", JsonObject{{"kueue.x-k8s.io/queue-name", "q"}}}};
    ensure_path(job, {"spec"}) = JsonObject{
        {"suspend", true},
        {"parallelism", pods},
        {"completions", pods},
        {"template", JsonObject{{"metadata", JsonObject{{"annotations", JsonObject{{"berth.dev/run-for", "10m"}}}}},
                                {"spec", spec_of_pods(cpu)}}}};
    make(std::move(job));
    const Json made = get("batch/v1", "Job", name);
    make_workload(made, pods, cpu, runs);
    if (!runs) return;
    Json started = JsonObject();
    ensure_path(started, {"spec", "suspend"}) = false;
    ensure_path(started, {"spec", "template", "metadata", "labels"}) = labels_of_started();
    ensure_path(started, {"spec", "template", "metadata", "annotations", "kueue.x-k8s.io/workload"}) =
        workload_name(made);
    patch("Job", name, std::move(started));
  }

  // Webhooks gave it its gates, its finalizer and its role.
  void make_pod(const std::string& name, const std::string& cpu, bool runs) {
    Json pod = JsonObject{{"apiVersion", "v1"}, {"kind", "Pod"}, {"spec", spec_of_pods(cpu)}};
    ensure_path(pod, {"metadata"}) = JsonObject{{"name", name},
                                                {"namespace", "default"},
                                                {"labels", JsonObject{{"kueue.x-k8s.io/queue-name", "q"}}},
                                                {"annotations", JsonObject{{"berth.dev/run-for", "10m"}}}};
    make(std::move(pod));
    const Json made = get("v1", "Pod", name);
    EXPECT_EQ(array_at(made, {"spec", "schedulingGates"}).size(), 2u);
    make_workload(made, 1, cpu, runs);
    if (!runs) return;
    Json started = JsonObject();
    ensure_path(started, {"metadata", "labels"}) = labels_of_started();
    ensure_path(started, {"metadata", "annotations", "kueue.x-k8s.io/workload"}) = workload_name(made);
    ensure_path(started, {"spec", "schedulingGates"}) = nullptr;
    patch("Pod", name, std::move(started));
  }

  // Of every pod what a restart, or another pod of this name, would change.
  std::map<std::string, std::string> lives() {
    std::map<std::string, std::string> out;
    for (const Json& pod : items(api::kPods)) {
      const Json* containers = find_path(pod, {"status", "containerStatuses"});
      out[api::object_key(pod)] = std::string(string_at(pod, {"metadata", "uid"})) + " " +
                                  std::string(string_at(pod, {"status", "phase"})) + " " +
                                  (containers == nullptr ? "" : to_string(*containers));
    }
    return out;
  }
  // Of every workload: its uid, and what it holds.
  std::map<std::string, std::string> claims() {
    std::map<std::string, std::string> out;
    for (const Json& workload : items(api::kWorkloads)) {
      const Json* admission = find_path(workload, {"status", "admission"});
      out[api::object_key(workload)] = std::string(string_at(workload, {"metadata", "uid"})) + " " +
                                       canonical_json(*find(workload, "spec")) + " " +
                                       (admission == nullptr ? "" : canonical_json(*admission));
      EXPECT_EQ(to_string(workload).find("\"Evicted\""), std::string::npos) << to_string(workload);
    }
    return out;
  }

  std::unique_ptr<simulate::World> world_;
};

TEST_P(Upgrade, WorkInFlightGoesOn) {
  make_job("runs", 2, "1", true);
  make_pod("pod-runs", "1", true);
  make_job("waits", 1, "2", false);
  make_pod("pod-waits", "2", false);
  world_->run_for(std::chrono::seconds(30));
  const auto pods = lives(), workloads = claims();
  ASSERT_EQ(pods.size(), 4u);
  ASSERT_EQ(workloads.size(), 4u);

  controller::Controller controller(world_->client(), world_->executor(), options());
  controller.lead();
  controller.start();
  world_->run_for(std::chrono::minutes(5));
  ASSERT_TRUE(controller.leading());
  EXPECT_EQ(lives(), pods);
  EXPECT_EQ(claims(), workloads);
  const Json queue = world_->get("kueue.x-k8s.io/v1beta2", "ClusterQueue", "", "cq").value();
  EXPECT_EQ(int_at(queue, {"status", "admittedWorkloads"}), 2);
  EXPECT_EQ(int_at(queue, {"status", "pendingWorkloads"}), 2);
  for (const auto& [request, count] : controller.request_counts()) {
    EXPECT_FALSE(request.starts_with("delete ")) << request;
    EXPECT_NE(request, "create workloads") << "each job goes on with the workload that it has";
  }

  // What waited starts when what ran has ended.
  world_->run_for(std::chrono::minutes(30));
  for (const char* job : {"runs", "waits"})
    EXPECT_THAT(to_string(*find_path(get("batch/v1", "Job", job), {"status", "conditions"})), HasSubstr("Complete"))
        << job;
  for (const char* pod : {"pod-runs", "pod-waits"})
    EXPECT_EQ(string_at(get("v1", "Pod", pod), {"status", "phase"}), "Succeeded") << pod;
}

INSTANTIATE_TEST_SUITE_P(Of, Upgrade,
                         testing::Values(Release{"Kueue016", 50, 100, false, false},
                                         Release{"Kueue018", 50, 100, true, false},
                                         Release{"Kueue020", 1000, 1000, true, true}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace berth::install::upgrade_test
