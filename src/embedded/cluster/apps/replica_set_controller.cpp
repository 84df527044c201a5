#include "embedded/cluster/apps/replica_set_controller.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/apps_resources.h"
#include "api/meta.h"
#include "api/resources.h"
#include "embedded/cluster/apps/objects.h"
#include "embedded/cluster/shared/pod_writes.h"

namespace berth::cluster {
namespace {
constexpr Duration kReplicaSetRetry = std::chrono::milliseconds(100);
}  // namespace

ReplicaSetController::ReplicaSetController(api::RestClient& client, Executor& executor, const kube::Informer& sets,
                                           const kube::Informer& pods)
    : sets_(sets),
      executor_(executor),
      set_writes_(sets),
      pod_writes_(pods),
      owned_(controlling_replica_set, pod_writes_),
      looks_(executor, kReplicaSetRetry, [this](const std::string& key) { look(key); }),
      writes_(client, executor, looks_, "replicaset-controller") {}

void ReplicaSetController::begin() {
  ready_ = true;
  for (const auto& set : sets_.list()) enqueue(pod_key(*set));
}

void ReplicaSetController::enqueue(const std::string& key) {
  if (ready_) looks_.add(key);
}

void ReplicaSetController::set_changed(const JsonPtr& old, const JsonPtr& now) { enqueue(pod_key(now ? *now : *old)); }

void ReplicaSetController::pod_changed(const JsonPtr& old, const JsonPtr& now) {
  owned_.pod_changed(old, now);
  for (const Json* pod : {old.get(), now.get()}) {
    const Json* owner = pod == nullptr ? nullptr : controlling_replica_set(*pod);
    if (owner != nullptr)
      enqueue(api::object_key(string_at(*pod, {"metadata", "namespace"}), string_at(*owner, {"name"})));
  }
}

void ReplicaSetController::look(const std::string& key) {
  set_writes_.unseen();  // drops the writes that were seen
  const JsonPtr set = set_writes_.get(key);
  if (!set) {
    looks_.forget(key);
    writes_.forget(key);
    return;
  }
  const auto pods = owned_.of(string_at(*set, {"metadata", "uid"}));
  const std::vector<JobPod> parsed(pods.begin(), pods.end());
  ReplicaSetStep step =
      next_step(ReplicaSetView{*set, parsed, executor_.now(), writes_.may_create(key), writes_.failure(key)});
  if (step.changes_pods()) return change_pods(key, set, step);
  const Json* old = find(*set, "status");
  if (old == nullptr || !json_equal(*old, step.status)) {
    Json next = *set;
    ensure_path(next, {"status"}) = std::move(step.status);
    return writes_.update(key, api::kReplicaSets, std::move(next), "status", set_writes_);
  }
  auto wake = step.wake;
  if (const auto after = writes_.create_after(key)) wake = wake ? std::min(*wake, *after) : *after;
  if (wake) looks_.add_at(key, *wake);
}

void ReplicaSetController::change_pods(const std::string& key, const JsonPtr& set, const ReplicaSetStep& step) {
  for (const JobPod& pod : step.release) {
    writes_.patch(key, api::kPods, *pod.object, without_owner(string_at(*set, {"metadata", "uid"})), pod_writes_);
  }
  for (const JobPod& pod : step.remove) {
    writes_.remove(key, api::kPods, *pod.object, pod_writes_, [this, set, name = pod.name](const auto& response) {
      if (response.ok()) writes_.record(*set, "ReplicaSet", false, "SuccessfulDelete", "Deleted pod: " + name);
    });
  }
  for (std::size_t i = 0; i < step.create; ++i) {
    const Json* pod_template = find_path(*set, {"spec", "template"});
    Json pod = pod_from_template(*set, "ReplicaSet", pod_template == nullptr ? Json(JsonObject()) : *pod_template);
    writes_.create(key, api::kPods, std::move(pod), pod_writes_, [this, key, set](const auto& response) {
      if (response.ok()) {
        writes_.record(*set, "ReplicaSet", false, "SuccessfulCreate",
                       "Created pod: " + std::string(string_at(response.body, {"metadata", "name"})));
      } else {
        writes_.record(*set, "ReplicaSet", true, "FailedCreate", "Error creating: " + writes_.failure(key));
      }
    });
  }
}

}  // namespace berth::cluster
