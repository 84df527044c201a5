#include "embedded/simulate/pod_people.h"

#include <utility>

#include "api/resources.h"
#include "embedded/simulate/pod_audit.h"

namespace berth::simulation {

std::vector<Json> PodPeople::estate() {
  std::vector<Json> objects = {
      yaml("{apiVersion: v1, kind: Namespace, metadata: {name: a}}"),
      yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}"),
      yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: high}, value: 100}")};
  objects.push_back(
      yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: room}, spec: {levels: [{nodeLabel: "
           "cloud.provider.com/topology-rack}, {nodeLabel: kubernetes.io/hostname}]}}"));
  objects.push_back(
      yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: racked}, spec: {topologyName: "
           "room, nodeLabels: {cloud.provider.com/node-group: tas-group}}}"));
  for (const std::string name : {"q0", "q1"}) {
    objects.push_back(
        yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: " + name +
             "}, spec: {namespaceSelector: {}, cohortName: all, queueingStrategy: BestEffortFIFO, preemption: "
             "{reclaimWithinCohort: Any, withinClusterQueue: LowerPriority}, resourceGroups: [{coveredResources: "
             "[cpu], flavors: [{name: " +
             std::string(name == "q0" ? "f" : "racked") +
             ", resources: [{name: cpu, nominalQuota: " + number(4 + random_.below(5)) + "}]}]}]}}"));
    objects.push_back(yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: " + name +
                           ", namespace: a}, spec: {clusterQueue: " + name + "}}"));
  }
  return objects;
}

void PodPeople::act() {
  switch (random_.below(14)) {
    case 0:
    case 1:
      return hands_.remove_some(api::kPods);
    case 2:
    case 3:
      return edit_pod();
    case 4:
      return random_.chance(300) ? hands_.remove_some(api::kWorkloads) : edit_workload();
    case 5:
      return edit_queue();
    case 6:
    case 7:
      return replace_some();
    case 8:
    case 9:
    case 10:
      return submit_group();
    default:
      return submit_pod();
  }
}

// As webhooks leave it.
Json PodPeople::pod(const std::string& name, std::uint64_t cpu) {
  Json pod = yaml("{apiVersion: v1, kind: Pod, metadata: {name: " + name +
                  ", labels: {kueue.x-k8s.io/managed: 'true', kueue.x-k8s.io/queue-name: q" + number(random_.below(2)) +
                  "}, annotations: {kueue.x-k8s.io/role-hash: r" + number(cpu) + ", berth.dev/run-for: " +
                  number(1 + random_.below(90)) + "s, berth.dev/stop-after: " + number(random_.below(20)) +
                  "s}, finalizers: [kueue.x-k8s.io/managed]}, spec: {restartPolicy: Never, schedulingGates: [{name: "
                  "kueue.x-k8s.io/admission}, {name: kueue.x-k8s.io/topology}], containers: [{name: c, image: i, "
                  "resources: {requests: {cpu: " +
                  number(cpu) + "}}}]}}");
  if (random_.chance(200)) ensure_path(pod, {"metadata", "annotations", "berth.dev/exit-code"}) = "1";
  if (random_.chance(150))
    ensure_path(
        pod, {"metadata", "annotations",
              pick(random_, {"kueue.x-k8s.io/podset-required-topology", "kueue.x-k8s.io/podset-preferred-topology"})}) =
        "cloud.provider.com/topology-rack";
  ++pods_;
  return pod;
}

void PodPeople::submit_pod() {
  Json one = pod("p" + number(pods_), 1 + random_.below(3));
  if (random_.chance(200)) ensure_path(one, {"metadata", "labels", "kueue.x-k8s.io/priority-class"}) = "high";
  hands_.create(api::kPods, "a", std::move(one));
}

// Sometimes a pod is missing or one too many, and sometimes one disagrees with the others.
void PodPeople::submit_group() {
  const std::string group = "g" + number(groups_++);
  const std::uint64_t total = 1 + random_.below(4);
  const std::uint64_t made = random_.chance(150) ? total + 1 : random_.chance(150) ? total - 1 : total;
  const bool fast = random_.chance(150), serving = random_.chance(100), never = random_.chance(150);
  const std::string queue = "q" + number(random_.below(2));
  for (std::uint64_t i = 0; i < made; ++i) {
    Json one = pod(group + "-" + number(i), 1 + (random_.chance(200) ? 1 : 0));
    Json& labels = ensure_path(one, {"metadata", "labels"});
    Json& annotations = ensure_path(one, {"metadata", "annotations"});
    labels.as_object()["kueue.x-k8s.io/pod-group-name"] = group;
    labels.as_object()["kueue.x-k8s.io/queue-name"] = random_.chance(30) ? "q1" : queue;
    annotations.as_object()["kueue.x-k8s.io/pod-group-total-count"] = random_.chance(30) ? "7" : number(total);
    if (fast) annotations.as_object()["kueue.x-k8s.io/pod-group-fast-admission"] = "true";
    if (serving) annotations.as_object()["kueue.x-k8s.io/pod-group-serving"] = "true";
    if (never) annotations.as_object()["kueue.x-k8s.io/retriable-in-group"] = "false";
    hands_.create(api::kPods, "a", std::move(one));
  }
}

// Another pod of the group of some pod that failed or is being deleted.
void PodPeople::replace_some() {
  hands_.list(api::kPods, [this](const std::vector<Json>& pods) {
    for (const Json& one : pods) {
      const auto group = string_at(one, {"metadata", "labels", "kueue.x-k8s.io/pod-group-name"});
      const bool gone = string_at(one, {"status", "phase"}) == "Failed" ||
                        find_path(one, {"metadata", "deletionTimestamp"}) != nullptr;
      if (group.empty() || !gone || random_.chance(600)) continue;
      Json next = pod(std::string(group) + "-n" + number(pods_), 1);
      for (const std::string_view part : {"labels", "annotations"}) {
        for (const auto& [key, value] : object_at(one, {"metadata", part})) {
          const std::string_view name = key;
          if (name.find("pod-group") != std::string_view::npos || name.ends_with("/queue-name") ||
              name.ends_with("/role-hash"))
            ensure_path(next, {"metadata", part}).as_object()[key] = value;
        }
      }
      return hands_.create(api::kPods, "a", std::move(next));
    }
  });
}

void PodPeople::edit_pod() {
  hands_.patch_some(api::kPods, "", [this](const Json& one) {
    const bool gated = !array_at(one, {"spec", "schedulingGates"}).empty();
    if (random_.chance(400)) return other_claims(gated);
    switch (random_.below(6)) {
      case 0:
        return Json(JsonObject{{"metadata", JsonObject{{"finalizers", nullptr}}}});
      case 1:
        return Json(JsonObject{{"metadata", JsonObject{{"labels", JsonObject{{"kueue.x-k8s.io/managed", nullptr}}}}}});
      case 2:
        if (!gated) return Json();
        return Json(JsonObject{{"metadata", JsonObject{{"annotations", JsonObject{{kUngatedByHand, "true"}}}}},
                               {"spec", JsonObject{{"schedulingGates", nullptr}}}});
      case 3:
        if (!gated) return Json();
        return Json(JsonObject{{"metadata", JsonObject{{"labels", JsonObject{{"kueue.x-k8s.io/queue-name",
                                                                              "q" + number(random_.below(3))}}}}}});
      case 4:
        return Json(JsonObject{
            {"metadata", JsonObject{{"annotations", JsonObject{{"kueue.x-k8s.io/retriable-in-group", "false"}}}}}});
      default:
        if (!gated) return Json();
        return Json(JsonObject{{"spec", JsonObject{{"nodeSelector", JsonObject{{"kubernetes.io/os", "linux"}}}}}});
    }
  });
}

// Labels and annotations that say what the pod belongs to, at any time.
Json PodPeople::other_claims(bool gated) {
  const auto changed = [](std::string_view part, std::string_view key, Json value) {
    return Json(JsonObject{
        {"metadata", JsonObject{{part, JsonObject{{"kueue.x-k8s.io/" + std::string(key), std::move(value)}}}}}});
  };
  switch (random_.below(5)) {
    case 0:
      return changed("labels", "queue-name", Json("q" + number(random_.below(2))));
    case 1:
      return changed("annotations", "pod-group-total-count", Json(number(1 + random_.below(4))));
    case 2:
      return changed("labels", "priority-class", random_.chance(500) ? Json("high") : Json(nullptr));
    case 3:
      return gated ? changed("annotations", "role-hash", Json("r" + number(1 + random_.below(3)))) : Json();
    default:
      return gated ? changed("labels", "pod-group-name", Json("g" + number(random_.below(groups_ + 1)))) : Json();
  }
}

void PodPeople::edit_workload() {
  hands_.patch_some(api::kWorkloads, "", [this](const Json&) {
    if (random_.chance(150)) return Json(JsonObject{{"metadata", JsonObject{{"finalizers", nullptr}}}});
    if (random_.chance(150)) return Json(JsonObject{{"metadata", JsonObject{{"ownerReferences", nullptr}}}});
    return Json(JsonObject{{"spec", JsonObject{{"active", random_.chance(500)}}}});
  });
}

void PodPeople::edit_queue() {
  hands_.patch_some(api::kClusterQueues, "", [this](const Json&) {
    return Json(
        JsonObject{{"spec", JsonObject{{"stopPolicy", pick(random_, {"None", "Hold", "HoldAndDrain", "None"})}}}});
  });
}

void PodPeople::calm_down() {
  hands_.patch_all(api::kClusterQueues, "", [](const Json& queue) {
    if (string_at(queue, {"spec", "stopPolicy"}, "None") == "None") return Json();
    return Json(JsonObject{{"spec", JsonObject{{"stopPolicy", "None"}}}});
  });
  hands_.patch_all(api::kWorkloads, "", [](const Json& workload) {
    return bool_at(workload, {"spec", "active"}, true) ? Json()
                                                       : Json(JsonObject{{"spec", JsonObject{{"active", true}}}});
  });
}

}  // namespace berth::simulation
