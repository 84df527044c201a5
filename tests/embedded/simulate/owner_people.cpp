#include "embedded/simulate/owner_people.h"

#include <initializer_list>
#include <utility>

#include "api/apps_resources.h"
#include "api/leaderworkerset/names.h"
#include "api/resources.h"

namespace berth::simulation {
namespace {

using api::leaderworkerset::kLeaderWorkerSets;

// So few names of each kind: most of them have been used before.
constexpr std::uint64_t kOwnerNames = 3;
constexpr std::uint64_t kMostReplicas = 4;

Json label_patch(std::string_view key, Json value) {
  return Json(JsonObject{{"metadata", JsonObject{{"labels", JsonObject{{key, std::move(value)}}}}}});
}

}  // namespace

const api::GroupVersionResource& OwnerPeople::some_kind() {
  switch (random_.below(3)) {
    case 0:
      return api::kDeployments;
    case 1:
      return api::kStatefulSets;
    default:
      return kLeaderWorkerSets;
  }
}

void OwnerPeople::act() {
  switch (random_.below(14)) {
    case 0:
    case 1:
      return submit_deployment();
    case 2:
    case 3:
      return submit_stateful_set();
    case 4:
    case 5:
      return submit_leader_worker_set();
    case 6:
    case 7:
      return scale();
    case 8:
      return change_template();
    case 9:
      return change_labels();
    case 10:
      return remove();
    case 11:
      return remove_replica_set();
    default:
      return fail_pod();
  }
}

// One in five stays without a queue, and one in ten gets a queue that does not exist.
void OwnerPeople::join_queue(Json& owner) {
  if (random_.chance(200)) return;
  ensure_path(owner, {"metadata", "labels", "kueue.x-k8s.io/queue-name"}) =
      "q" + number(random_.chance(125) ? 2 : random_.below(2));
  if (random_.chance(200)) ensure_path(owner, {"metadata", "labels", "kueue.x-k8s.io/priority-class"}) = "high";
}

Json OwnerPeople::pod_template(const std::string& app) {
  Json out =
      yaml("{metadata: {labels: {app: " + app + "}, annotations: {berth.dev/stop-after: " + number(random_.below(20)) +
           "s}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: " + number(1 + random_.below(2)) +
           "}}}]}}");
  if (random_.chance(100))
    ensure_path(
        out, {"metadata", "annotations",
              pick(random_, {"kueue.x-k8s.io/podset-required-topology", "kueue.x-k8s.io/podset-preferred-topology"})}) =
        "cloud.provider.com/topology-rack";
  return out;
}

Json OwnerPeople::owner(const char* kind, const std::string& name) {
  ++owners_;
  Json out = yaml("{apiVersion: apps/v1, kind: " + std::string(kind) + ", metadata: {name: " + name +
                  "}, spec: {replicas: " + number(random_.below(kMostReplicas + 1)) +
                  ", selector: {matchLabels: {app: " + name + "}}}}");
  ensure_path(out, {"spec", "template"}) = pod_template(name);
  join_queue(out);
  return out;
}

void OwnerPeople::submit_deployment() {
  Json one = owner("Deployment", "d" + number(random_.below(kOwnerNames)));
  if (random_.chance(300)) ensure_path(one, {"spec", "strategy"}) = JsonObject{{"type", "Recreate"}};
  hands_.create(api::kDeployments, "a", std::move(one));
}

void OwnerPeople::submit_stateful_set() {
  Json one = owner("StatefulSet", "s" + number(random_.below(kOwnerNames)));
  ensure_path(one, {"spec", "serviceName"}) = "x";
  if (random_.chance(500)) ensure_path(one, {"spec", "podManagementPolicy"}) = "Parallel";
  if (random_.chance(200)) ensure_path(one, {"spec", "updateStrategy"}) = JsonObject{{"type", "OnDelete"}};
  hands_.create(api::kStatefulSets, "a", std::move(one));
}

// Groups of one to three pods, some with a template of their own for the leader.
void OwnerPeople::submit_leader_worker_set() {
  ++owners_;
  const std::string name = "l" + number(random_.below(kOwnerNames));
  Json one = yaml("{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: " + name +
                  "}, spec: {replicas: " + number(random_.below(kMostReplicas)) +
                  ", leaderWorkerTemplate: {size: " + number(1 + random_.below(3)) + "}}}");
  Json& templates = ensure_path(one, {"spec", "leaderWorkerTemplate"});
  templates.as_object()["workerTemplate"] = pod_template(name);
  if (random_.chance(400)) templates.as_object()["leaderTemplate"] = pod_template(name);
  if (random_.chance(300)) templates.as_object()["restartPolicy"] = "None";
  join_queue(one);
  hands_.create(kLeaderWorkerSets, "a", std::move(one));
}

// To zero more often than to other numbers: a StatefulSet with a queue gets another size only by way of zero.
void OwnerPeople::scale() {
  hands_.patch_some(some_kind(), "", [this](const Json&) {
    const std::uint64_t replicas = random_.chance(300) ? 0 : random_.below(kMostReplicas + 1);
    return Json(JsonObject{{"spec", JsonObject{{"replicas", replicas}}}});
  });
}

void OwnerPeople::change_template() {
  const auto& kind = some_kind();
  hands_.patch_some(kind, "", [this, kind](const Json& one) {
    const bool with_leaders = kind == kLeaderWorkerSets;
    const Json* before = with_leaders ? find_path(one, {"spec", "leaderWorkerTemplate", "workerTemplate"})
                                      : find_path(one, {"spec", "template"});
    if (before == nullptr) return Json();
    Json changed = *before;
    if (random_.chance(500))
      ensure_path(changed, {"metadata", "annotations", "edition"}) = number(random_.next());
    else
      ensure_path(ensure_path(changed, {"spec", "containers"}).as_array()[0], {"resources", "requests", "cpu"}) =
          number(1 + random_.below(2));
    Json patch = JsonObject();
    (with_leaders ? ensure_path(patch, {"spec", "leaderWorkerTemplate", "workerTemplate"})
                  : ensure_path(patch, {"spec", "template"})) = std::move(changed);
    return patch;
  });
}

void OwnerPeople::change_labels() {
  hands_.patch_some(some_kind(), "", [this](const Json&) {
    if (random_.chance(300))
      return label_patch("kueue.x-k8s.io/priority-class", random_.chance(500) ? Json("high") : Json(nullptr));
    return label_patch("kueue.x-k8s.io/queue-name",
                       random_.chance(200) ? Json(nullptr) : Json("q" + number(random_.below(3))));
  });
}

void OwnerPeople::remove() {
  const auto& kind = some_kind();
  hands_.list(kind, [this, kind](const std::vector<Json>& owners) {
    if (owners.empty()) return;
    hands_.remove(kind, owners[random_.below(owners.size())],
                  pick(random_, {"Background", "Background", "Foreground", "Orphan"}));
  });
}

void OwnerPeople::remove_replica_set() {
  hands_.list(api::kReplicaSets, [this](const std::vector<Json>& sets) {
    if (sets.empty()) return;
    hands_.remove(api::kReplicaSets, sets[random_.below(sets.size())],
                  pick(random_, {"Background", "Foreground", "Orphan"}));
  });
}

// As a kubelet does when its node runs out of memory.
void OwnerPeople::fail_pod() {
  hands_.patch_some(api::kPods, "status", [](const Json& pod) {
    if (string_at(pod, {"status", "phase"}) != "Running") return Json();
    return Json(JsonObject{{"status", JsonObject{{"phase", "Failed"}, {"reason", "Evicted"}}}});
  });
}

void OwnerPeople::clear_away() {
  for (const auto& resource :
       {api::kDeployments, api::kStatefulSets, kLeaderWorkerSets, api::kReplicaSets, api::kPods}) {
    hands_.list(resource, [this, resource](const std::vector<Json>& objects) {
      for (const Json& object : objects) {
        if (find_path(object, {"metadata", "deletionTimestamp"}) == nullptr)
          hands_.remove(resource, object, "Background");
      }
    });
  }
}

}  // namespace berth::simulation
