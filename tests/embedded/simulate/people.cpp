#include "embedded/simulate/people.h"

#include <utility>

#include "api/meta.h"
#include "api/resources.h"

namespace berth::simulation {
namespace {

constexpr std::int64_t kNodeCpus = 8;  // cpu of each node

}  // namespace

People::People(api::RestClient& client, Executor& executor, std::uint64_t seed, bool topology)
    : client_(client), executor_(executor), random_(seed), hands_(client, random_), topology_(topology) {}

std::vector<Json> People::estate() {
  queues_ = 2 + static_cast<int>(random_.below(3));
  std::vector<Json> objects = {
      yaml("{apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {team: a}}}"),
      yaml("{apiVersion: v1, kind: Namespace, metadata: {name: b}}"),
      yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: first}}"),
      yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: second}}"),
      yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: high}, value: "
           "100}"),
      yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: low}, value: "
           "-5}"),
      yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: check}, spec: "
           "{controllerName: example.com/check}}"),
      yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: root}}"),
      yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: left}, spec: {parentName: "
           "root}}"),
  };
  if (topology_) {
    objects.push_back(
        yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: room}, spec: {levels: [{nodeLabel: "
             "cloud.provider.com/topology-rack}, {nodeLabel: kubernetes.io/hostname}]}}"));
    objects.push_back(
        yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: placed}, spec: "
             "{topologyName: room, "
             "nodeLabels: {cloud.provider.com/node-group: tas-group}}}"));
    objects.push_back(
        yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ProvisioningRequestConfig, metadata: {name: capacity}, spec: "
             "{provisioningClassName: check-capacity.autoscaling.x-k8s.io, retryStrategy: {backoffLimitCount: 20, "
             "backoffBaseSeconds: 5, backoffMaxSeconds: 60}}}"));
    objects.push_back(yaml(
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: nodes}, spec: {controllerName: "
        "kueue.x-k8s.io/provisioning-request, parameters: {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, "
        "name: "
        "capacity}}}"));
  }
  for (int i = 0; i < queues_; ++i) {
    const std::string name = "q" + number(static_cast<std::uint64_t>(i));
    const std::string reclaim = pick(random_, {"Never", "LowerPriority", "Any"});
    Json queue = yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: " + name +
                      "}, spec: {namespaceSelector: {}, " + "cohortName: " + pick(random_, {"left", "root", "loose"}) +
                      ", queueingStrategy: " + pick(random_, {"StrictFIFO", "BestEffortFIFO"}) +
                      ", flavorFungibility: {whenCanBorrow: " + pick(random_, {"MayStopSearch", "TryNextFlavor"}) +
                      ", whenCanPreempt: " + pick(random_, {"MayStopSearch", "TryNextFlavor"}) +
                      "}, preemption: {reclaimWithinCohort: " + reclaim + ", withinClusterQueue: " +
                      pick(random_, {"Never", "LowerPriority", "LowerOrNewerEqualPriority"}) + "}}}");
    if (reclaim != "Never" && random_.chance(300)) {
      ensure_path(queue, {"spec", "preemption", "borrowWithinCohort"}) =
          yaml("{policy: LowerPriority, maxPriorityThreshold: 50}");
    }
    // Has an effect only with admission fair sharing.
    if (i % 2 == 0)
      ensure_path(queue, {"spec", "admissionScope"}) = yaml("{admissionMode: UsageBasedAdmissionFairSharing}");
    JsonArray flavors;
    const bool placed = topology_ && (i == 0 || random_.chance(600));
    for (const char* flavor : {placed ? "placed" : "first", "second"}) {
      Json quota = JsonObject{{"name", "cpu"}, {"nominalQuota", number(random_.below(9))}};
      if (random_.chance(300)) quota.as_object()["borrowingLimit"] = number(random_.below(6));
      flavors.push_back(JsonObject{{"name", flavor}, {"resources", JsonArray{std::move(quota)}}});
      if (placed || random_.chance(400)) break;
    }
    ensure_path(queue, {"spec", "resourceGroups"}) =
        JsonArray{JsonObject{{"coveredResources", JsonArray{"cpu"}}, {"flavors", std::move(flavors)}}};
    if (random_.chance(250))
      ensure_path(queue, {"spec", "admissionChecksStrategy", "admissionChecks"}) =
          JsonArray{JsonObject{{"name", placed ? "nodes" : "check"}}};
    objects.push_back(std::move(queue));
    for (const char* ns : {"a", "b"}) {
      objects.push_back(yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: " + name +
                             ", namespace: " + ns + "}, spec: {clusterQueue: " + name + "}}"));
    }
  }
  return objects;
}

void People::act() {
  switch (random_.below(20)) {
    case 0:
      return hands_.remove_some(api::kJobs);
    case 1:
      return random_.chance(200) ? hands_.remove_some(api::kWorkloads) : edit_job();
    case 2:
      return edit_cluster_queue();
    case 3:
      return edit_local_queue();
    case 4:
      return edit_workload();
    case 5:
      return topology_ && random_.chance(500) ? break_node() : edit_node();
    case 6:
    case 7:
    case 8:
      return answer_checks();
    default:
      return submit();
  }
}

void People::submit() {
  ++jobs_;
  const std::string pods = number(1 + random_.below(4));
  Json job =
      yaml("{apiVersion: batch/v1, kind: Job, metadata: {name: j" + number(jobs_) +
           ", labels: {kueue.x-k8s.io/queue-name: q" + number(random_.below(static_cast<std::uint64_t>(queues_) + 1)) +
           "}}, spec: {suspend: true, backoffLimit: 2, parallelism: " + pods + ", completions: " + pods +
           ", template: {metadata: {annotations: {berth.dev/run-for: " + number(1 + random_.below(90)) +
           "s}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: " +
           number(1 + random_.below(3)) + "}}}]}}}}");
  if (random_.chance(300))
    ensure_path(job, {"metadata", "labels", "kueue.x-k8s.io/priority-class"}) = pick(random_, {"high", "low"});
  if (random_.chance(200)) ensure_path(job, {"metadata", "annotations", "kueue.x-k8s.io/job-min-parallelism"}) = "1";
  if (random_.chance(50))
    ensure_path(job, {"metadata", "labels", "kueue.x-k8s.io/max-exec-time-seconds"}) = number(5 + random_.below(60));
  if (random_.chance(50))
    ensure_path(job, {"spec", "template", "metadata", "annotations", "berth.dev/exit-code"}) = "1";
  if (topology_) ask_for_places(job);
  hands_.create(api::kJobs, pick(random_, {"a", "b"}), std::move(job));
}

void People::ask_for_places(Json& job) {
  if (random_.chance(400)) return;  // no topology request: it is implied in a queue whose flavor has a topology
  // The request must fit on empty nodes, because every job must end.
  const std::int64_t pods = int_at(job, {"spec", "parallelism"});
  const Json& container = array_at(job, {"spec", "template", "spec", "containers"}).at(0);
  const bool one_node_is_enough = pods * int_at(container, {"resources", "requests", "cpu"}) <= kNodeCpus;
  const std::string level =
      one_node_is_enough && random_.chance(500) ? "kubernetes.io/hostname" : "cloud.provider.com/topology-rack";
  Json& annotations = ensure_path(job, {"spec", "template", "metadata", "annotations"});
  switch (random_.below(4)) {
    case 0:
      annotations.as_object()["kueue.x-k8s.io/podset-required-topology"] = level;
      break;
    case 1:
      annotations.as_object()["kueue.x-k8s.io/podset-preferred-topology"] = level;
      break;
    case 2:
      annotations.as_object()["kueue.x-k8s.io/podset-unconstrained-topology"] = "true";
      break;
    default: {
      annotations.as_object()["kueue.x-k8s.io/podset-slice-required-topology"] = level;
      annotations.as_object()["kueue.x-k8s.io/podset-slice-size"] =
          pods % 2 == 0 ? "2" : number(static_cast<std::uint64_t>(pods));
    }
  }
  if (random_.chance(500)) ensure_path(job, {"spec", "completionMode"}) = "Indexed";
}

void People::edit_cluster_queue() {
  hands_.patch_some(api::kClusterQueues, "", [this](const Json& queue) {
    if (random_.chance(500)) {
      return Json(
          JsonObject{{"spec", JsonObject{{"stopPolicy", pick(random_, {"None", "Hold", "HoldAndDrain", "None"})}}}});
    }
    Json groups = Json(array_at(queue, {"spec", "resourceGroups"}));
    // Monkeys may have removed the groups or flavors.
    if (groups.as_array().empty() || array_at(groups.as_array()[0], {"flavors"}).empty()) return Json();
    for (auto& flavor : groups.as_array()[0].as_object()["flavors"].as_array()) {
      Json& resources = ensure_path(flavor, {"resources"});
      if (!resources.is_array() || resources.as_array().empty()) return Json();
      resources.as_array()[0].as_object()["nominalQuota"] = number(random_.below(12));
    }
    return Json(JsonObject{{"spec", JsonObject{{"resourceGroups", std::move(groups)}}}});
  });
}

void People::edit_local_queue() {
  hands_.patch_some(api::kLocalQueues, "", [this](const Json&) {
    return Json(
        JsonObject{{"spec", JsonObject{{"stopPolicy", pick(random_, {"None", "Hold", "HoldAndDrain", "None"})}}}});
  });
}

void People::edit_job() {
  hands_.patch_some(api::kJobs, "", [this](const Json& job) {
    if (!bool_at(job, {"spec", "suspend"})) return Json();
    if (random_.chance(500))
      return Json(JsonObject{{"spec", JsonObject{{"parallelism", 1 + static_cast<int>(random_.below(4))}}}});
    return Json(JsonObject{
        {"metadata",
         JsonObject{{"labels", JsonObject{{"kueue.x-k8s.io/queue-name",
                                           "q" + number(random_.below(static_cast<std::uint64_t>(queues_)))}}}}}});
  });
}

void People::edit_workload() {
  hands_.patch_some(api::kWorkloads, "", [this](const Json&) {
    return Json(JsonObject{{"spec", JsonObject{{"active", random_.chance(600)}}}});
  });
}

void People::edit_node() {
  hands_.patch_some(api::kNodes, "", [this](const Json& node) {
    const bool cordon = random_.chance(400);
    // Cordoning taints the node.
    if (cordon && topology_) node_failed_(std::string(string_at(node, {"metadata", "name"})));
    return Json(JsonObject{{"spec", JsonObject{{"unschedulable", cordon}}}});
  });
}

// Makes a node fail, taints it or deletes it; or undoes one of these.
void People::break_node() {
  if (random_.chance(300)) return bring_back_nodes(1);
  hands_.list(api::kNodes, [this](const std::vector<Json>& nodes) {
    if (nodes.size() < 2) return;
    const Json& node = nodes[random_.below(nodes.size())];
    const std::uint64_t how = random_.below(5);
    if (how < 3) node_failed_(std::string(string_at(node, {"metadata", "name"})));
    switch (how) {
      case 0: {
        Json kept = node;
        for (const std::string_view member : {"uid", "resourceVersion", "creationTimestamp", "managedFields"})
          erase_path(kept, {"metadata", member});
        erase_path(kept, {"spec", "taints"});
        erase_path(kept, {"metadata", "annotations"});
        gone_nodes_.push_back(std::move(kept));
        return hands_.remove(api::kNodes, node, "");
      }
      case 1:
        return hands_.patch(
            api::kNodes, "", node,
            JsonObject{
                {"metadata",
                 JsonObject{{"annotations", JsonObject{{"berth.dev/fail", pick(random_, {"NotReady", "Unknown"})}}}}}});
      case 2:
        return hands_.patch(
            api::kNodes, "", node,
            JsonObject{{"spec", JsonObject{{"taints", JsonArray{JsonObject{
                                                          {"key", "example.com/broken"},
                                                          {"effect", pick(random_, {"NoSchedule", "NoExecute"})}}}}}}});
      default:
        return hands_.patch(
            api::kNodes, "", node,
            JsonObject{{"metadata", JsonObject{{"annotations", JsonObject{{"berth.dev/fail", nullptr}}}}},
                       {"spec", JsonObject{{"taints", nullptr}}}});
    }
  });
}

void People::bring_back_nodes(std::size_t most) {
  for (std::size_t i = 0; i < most && !gone_nodes_.empty(); ++i) {
    api::RestRequest request;
    request.verb = api::Verb::kCreate;
    request.resource = api::kNodes;
    request.body = gone_nodes_.back();
    client_.call(std::move(request), [this, node = std::move(gone_nodes_.back())](const api::RestResponse& response) {
      if (!response.ok() && response.code != 409) gone_nodes_.push_back(node);
    });
    gone_nodes_.pop_back();
  }
}

// Plays the controller of AdmissionCheck "check": gives it a random state in one workload.
void People::answer_checks() {
  hands_.patch_some(api::kWorkloads, "status", [this](const Json& workload) {
    Json checks = Json(array_at(workload, {"status", "admissionChecks"}));
    if (checks.as_array().empty()) return Json();
    auto& check = checks.as_array()[0].as_object();
    if (string_at(checks.as_array()[0], {"name"}) != "check") return Json();
    check["state"] = pick(random_, {"Ready", "Ready", "Ready", "Retry", "Rejected"});
    check["message"] = "by the checker";
    check["lastTransitionTime"] = format_time(executor_.now());
    return Json(
        JsonObject{{"metadata", JsonObject{{"resourceVersion", string_at(workload, {"metadata", "resourceVersion"})}}},
                   {"status", JsonObject{{"admissionChecks", std::move(checks)}}}});
  });
}

void People::label_flavor() {
  hands_.patch_all(api::kResourceFlavors, "", [](const Json& flavor) {
    if (string_at(flavor, {"metadata", "name"}) != "first") return Json();
    return Json(JsonObject{{"spec", JsonObject{{"nodeLabels", JsonObject{{"kubernetes.io/os", "linux"}}}}}});
  });
}

// Plays the controller of AdmissionCheck "check": sets its condition Active to true when it is not.
void People::keep_check_active() {
  hands_.patch_all(api::kAdmissionChecks, "status", [this](const Json& check) {
    if (string_at(check, {"metadata", "name"}) != "check") return Json();
    const auto conditions = api::decode_conditions(Json(array_at(check, {"status", "conditions"})));
    if (api::is_true(conditions, "Active")) return Json();
    return Json(JsonObject{
        {"status",
         JsonObject{{"conditions", JsonArray{JsonObject{{"type", "Active"},
                                                        {"status", "True"},
                                                        {"reason", "Active"},
                                                        {"message", ""},
                                                        {"lastTransitionTime", format_time(executor_.now())}}}}}}});
  });
}

void People::calm_down() {
  keep_check_active();
  for (const auto& queues : {api::kClusterQueues, api::kLocalQueues}) {
    hands_.patch_all(queues, "", [](const Json& queue) {
      if (string_at(queue, {"spec", "stopPolicy"}, "None") == "None") return Json();
      return Json(JsonObject{{"spec", JsonObject{{"stopPolicy", "None"}}}});
    });
  }
  bring_back_nodes(gone_nodes_.size());
  hands_.patch_all(api::kNodes, "", [](const Json& node) {
    Json body;
    if (bool_at(node, {"spec", "unschedulable"})) ensure_path(body, {"spec", "unschedulable"}) = false;
    if (find_path(node, {"metadata", "annotations", "berth.dev/fail"}) != nullptr)
      ensure_path(body, {"metadata", "annotations", "berth.dev/fail"}) = nullptr;
    for (const Json& taint : array_at(node, {"spec", "taints"})) {
      if (string_at(taint, {"key"}) == "example.com/broken") ensure_path(body, {"spec", "taints"}) = nullptr;
    }
    return body;
  });
  hands_.patch_all(api::kWorkloads, "", [](const Json& workload) {
    return bool_at(workload, {"spec", "active"}, true) ? Json()
                                                       : Json(JsonObject{{"spec", JsonObject{{"active", true}}}});
  });
  hands_.patch_all(api::kWorkloads, "status", [this](const Json& workload) {
    Json checks = Json(array_at(workload, {"status", "admissionChecks"}));
    bool pending = false;
    for (auto& check : checks.as_array()) {
      if (string_at(check, {"state"}) != "Pending" || string_at(check, {"name"}) != "check") continue;
      pending = true;
      check.as_object()["state"] = "Ready";
      check.as_object()["message"] = "";
      check.as_object()["lastTransitionTime"] = format_time(executor_.now());
    }
    return pending ? Json(JsonObject{{"status", JsonObject{{"admissionChecks", std::move(checks)}}}}) : Json();
  });
}

}  // namespace berth::simulation
