#include "embedded/cluster/apps/deployment_controller.h"

#include <algorithm>
#include <utility>

#include "api/apps_resources.h"
#include "api/meta.h"
#include "embedded/cluster/apps/objects.h"
#include "embedded/cluster/shared/pod_writes.h"

namespace berth::cluster {
namespace {
constexpr Duration kDeploymentRetry = std::chrono::milliseconds(100);
constexpr int kConflict = 409;

bool same_labels(const Json& a, const Json& b) {
  return json_equal(Json(object_at(a, {"metadata", "labels"})), Json(object_at(b, {"metadata", "labels"})));
}
}  // namespace

DeploymentController::DeploymentController(api::RestClient& client, Executor& executor,
                                           const kube::Informer& deployments, const kube::Informer& sets)
    : deployments_(deployments),
      executor_(executor),
      deployment_writes_(deployments),
      set_writes_(sets),
      owned_(controlling_deployment, set_writes_),
      looks_(executor, kDeploymentRetry, [this](const std::string& key) { look(key); }),
      writes_(client, executor, looks_, "deployment-controller") {}

void DeploymentController::begin() {
  ready_ = true;
  for (const auto& deployment : deployments_.list()) enqueue(pod_key(*deployment));
}

void DeploymentController::enqueue(const std::string& key) {
  if (ready_) looks_.add(key);
}

void DeploymentController::deployment_changed(const JsonPtr& old, const JsonPtr& now) {
  enqueue(pod_key(now ? *now : *old));
}

void DeploymentController::set_changed(const JsonPtr& old, const JsonPtr& now) {
  owned_.pod_changed(old, now);
  const Json& set = now ? *now : *old;
  if (!now || has_controller(set)) {
    ownerless_.erase(pod_key(set));
  } else if (ownerless_.insert(pod_key(set)).second || !same_labels(*old, set)) {
    // It may be for a Deployment that exists.
    for (const auto& deployment : deployments_.list(string_at(set, {"metadata", "namespace"}))) {
      if (selects(selector_of(*deployment), set)) enqueue(pod_key(*deployment));
    }
  }
  for (const Json* each : {old.get(), now.get()}) {
    const Json* owner = each == nullptr ? nullptr : controlling_deployment(*each);
    if (owner != nullptr)
      enqueue(api::object_key(string_at(*each, {"metadata", "namespace"}), string_at(*owner, {"name"})));
  }
}

void DeploymentController::look(const std::string& key) {
  deployment_writes_.unseen();  // drops the writes that were seen
  const JsonPtr deployment = deployment_writes_.get(key);
  if (!deployment) {
    looks_.forget(key);
    writes_.forget(key);
    return;
  }
  if (claim(key, *deployment)) return;
  const auto sets = owned_.of(string_at(*deployment, {"metadata", "uid"}));
  const std::vector<DeployedSet> parsed(sets.begin(), sets.end());
  DeploymentStep step =
      next_step(DeploymentView{*deployment, parsed, executor_.now(), writes_.may_create(key), writes_.failure(key)});
  if (step.create || !step.update.empty() || !step.remove.empty()) return change_sets(key, deployment, std::move(step));
  if (step.deployment)
    return writes_.update(key, api::kDeployments, std::move(*step.deployment), "", deployment_writes_);
  const Json* old = find(*deployment, "status");
  if (old == nullptr || !json_equal(*old, step.status)) {
    Json next = *deployment;
    ensure_path(next, {"status"}) = std::move(step.status);
    return writes_.update(key, api::kDeployments, std::move(next), "status", deployment_writes_);
  }
  auto wake = step.wake;
  if (const auto after = writes_.create_after(key)) wake = wake ? std::min(*wake, *after) : *after;
  if (wake) looks_.add_at(key, *wake);
}

// Takes over ReplicaSets without controller that the Deployment selects, for example those of an earlier Deployment
// of the same name whose ReplicaSets were left behind; gives up those that it does not select any more. Returns whether
// there are any.
bool DeploymentController::claim(const std::string& key, const Json& deployment) {
  if (find_path(deployment, {"metadata", "deletionTimestamp"}) != nullptr) return false;
  bool any = false;
  const auto selector = selector_of(deployment);
  const std::string_view uid = string_at(deployment, {"metadata", "uid"});
  for (const JsonPtr& set : owned_.of(uid)) {
    if (pod_terminating(*set) || selects(selector, *set)) continue;
    writes_.patch(key, api::kReplicaSets, *set, without_owner(uid), set_writes_);
    any = true;
  }
  const std::string prefix = std::string(string_at(deployment, {"metadata", "namespace"})) + "/";
  for (auto at = ownerless_.lower_bound(prefix); at != ownerless_.end() && at->starts_with(prefix); ++at) {
    const JsonPtr set = set_writes_.get(*at);
    if (!set || has_controller(*set) || pod_terminating(*set) || !selects(selector, *set)) continue;
    writes_.patch(key, api::kReplicaSets, *set, with_owner(deployment, "Deployment"), set_writes_);
    any = true;
  }
  return any;
}

void DeploymentController::record_scaling(const Json& deployment, const std::vector<DeploymentStep::Scaled>& scaled) {
  for (const auto& each : scaled) {
    writes_.record(deployment, "Deployment", false, "ScalingReplicaSet",
                   std::string(each.to > each.from ? "Scaled up" : "Scaled down") + " replica set " + each.name +
                       " from " + std::to_string(each.from) + " to " + std::to_string(each.to));
  }
}

void DeploymentController::change_sets(const std::string& key, const JsonPtr& deployment, DeploymentStep step) {
  for (const DeployedSet& set : step.remove) writes_.remove(key, api::kReplicaSets, *set.object, set_writes_);
  for (Json& set : step.update) {
    std::vector<DeploymentStep::Scaled> scaled;
    for (const auto& each : step.scaled) {
      if (each.name == string_at(set, {"metadata", "name"})) scaled.push_back(each);
    }
    writes_.update(key, api::kReplicaSets, std::move(set), "", set_writes_,
                   [this, deployment, scaled = std::move(scaled)](const api::RestResponse& response) {
                     if (response.ok()) record_scaling(*deployment, scaled);
                   });
  }
  if (step.create) create(key, deployment, std::move(step));
}

void DeploymentController::create(const std::string& key, const JsonPtr& deployment, DeploymentStep step) {
  const Json set = *step.create;
  writes_.create(key, api::kReplicaSets, std::move(*step.create), set_writes_,
                 [this, key, deployment, set, scaled = std::move(step.scaled)](const api::RestResponse& response) {
                   if (response.ok()) return record_scaling(*deployment, scaled);
                   if (response.code == kConflict) collided(key, deployment, set);
                 });
}

// The name is taken. Either the ReplicaSet is ours and the watch has not shown it yet, or the next one needs another
// name.
void DeploymentController::collided(const std::string& key, const JsonPtr& deployment, const Json& set) {
  writes_.get(key, api::kReplicaSets, set, [this, key, deployment](const api::RestResponse& response) {
    if (!response.ok()) return;
    const Json* owner = controlling_deployment(response.body);
    if (owner != nullptr && string_at(*owner, {"uid"}) == string_at(*deployment, {"metadata", "uid"})) {
      set_writes_.wrote(response.body);
      return;
    }
    const JsonPtr now = deployment_writes_.get(key);
    if (!now || string_at(*now, {"metadata", "uid"}) != string_at(*deployment, {"metadata", "uid"})) return;
    Json next = *now;
    ensure_path(next, {"status", "collisionCount"}) = int_at(*now, {"status", "collisionCount"}) + 1;
    writes_.update(key, api::kDeployments, std::move(next), "status", deployment_writes_);
  });
}

}  // namespace berth::cluster
