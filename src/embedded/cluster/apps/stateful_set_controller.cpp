#include "embedded/cluster/apps/stateful_set_controller.h"

#include <algorithm>
#include <utility>

#include "api/apps_resources.h"
#include "api/meta.h"
#include "api/resources.h"
#include "embedded/cluster/apps/objects.h"
#include "embedded/cluster/shared/pod_writes.h"

namespace berth::cluster {
namespace {
constexpr Duration kStatefulSetRetry = std::chrono::milliseconds(100);
constexpr int kNameTaken = 409;
}  // namespace

StatefulSetController::StatefulSetController(api::RestClient& client, Executor& executor, const kube::Informer& sets,
                                             const kube::Informer& pods, const kube::Informer& revisions)
    : sets_(sets),
      executor_(executor),
      set_writes_(sets),
      pod_writes_(pods),
      revision_writes_(revisions),
      owned_(controlling_stateful_set, pod_writes_),
      owned_revisions_(controlling_stateful_set, revision_writes_),
      looks_(executor, kStatefulSetRetry, [this](const std::string& key) { look(key); }),
      writes_(client, executor, looks_, "statefulset-controller") {}

void StatefulSetController::begin() {
  ready_ = true;
  for (const auto& set : sets_.list()) enqueue(pod_key(*set));
}

void StatefulSetController::enqueue(const std::string& key) {
  if (ready_) looks_.add(key);
}

void StatefulSetController::enqueue_owner(const Json* object) {
  const Json* owner = object == nullptr ? nullptr : controlling_stateful_set(*object);
  if (owner != nullptr)
    enqueue(api::object_key(string_at(*object, {"metadata", "namespace"}), string_at(*owner, {"name"})));
}

void StatefulSetController::set_changed(const JsonPtr& old, const JsonPtr& now) { enqueue(pod_key(now ? *now : *old)); }

void StatefulSetController::pod_changed(const JsonPtr& old, const JsonPtr& now) {
  owned_.pod_changed(old, now);
  enqueue_owner(old.get());
  enqueue_owner(now.get());
}

void StatefulSetController::revision_changed(const JsonPtr& old, const JsonPtr& now) {
  owned_revisions_.pod_changed(old, now);
  enqueue_owner(old.get());
  enqueue_owner(now.get());
}

void StatefulSetController::look(const std::string& key) {
  set_writes_.unseen();  // drops the writes that were seen
  const JsonPtr set = set_writes_.get(key);
  if (!set) {
    looks_.forget(key);
    writes_.forget(key);
    return;
  }
  if (adopt(key, *set)) return;
  const std::string_view uid = string_at(*set, {"metadata", "uid"});
  const auto pods = owned_.of(uid), revisions = owned_revisions_.of(uid);
  const std::vector<JobPod> parsed(pods.begin(), pods.end());
  const std::vector<StoredRevision> stored(revisions.begin(), revisions.end());
  StatefulSetStep step = next_step(
      StatefulSetView{*set, parsed, stored, executor_.now(), writes_.may_create(key), !writes_.failure(key).empty()});
  if (step.create_revision) return create_revision(key, set, std::move(*step.create_revision));
  if (step.update_revision) {
    return writes_.update(key, api::kControllerRevisions, std::move(*step.update_revision), "", revision_writes_);
  }
  if (step.changes_pods()) return change_pods(key, set, std::move(step));
  const Json* old = find(*set, "status");
  if (!step.status.is_null() && (old == nullptr || !json_equal(*old, step.status))) {
    Json next = *set;
    ensure_path(next, {"status"}) = std::move(step.status);
    return writes_.update(key, api::kStatefulSets, std::move(next), "status", set_writes_);
  }
  for (const auto& revision : step.remove_revisions)
    writes_.remove(key, api::kControllerRevisions, *revision.object, revision_writes_);
  auto wake = step.wake;
  if (const auto after = writes_.create_after(key)) wake = wake ? std::min(*wake, *after) : *after;
  if (wake) looks_.add_at(key, *wake);
}

// Takes over pods without controller that have the names of this set's pods and that it selects, for example those of
// an earlier StatefulSet of the same name whose pods were left behind. Returns whether there are any.
bool StatefulSetController::adopt(const std::string& key, const Json& set) {
  if (find_path(set, {"metadata", "deletionTimestamp"}) != nullptr) return false;
  const Ordinals ordinals = ordinals_of(set);
  const auto selector = selector_of(set);
  bool any = false;
  for (std::int64_t ordinal = ordinals.first; ordinal < ordinals.end; ++ordinal) {
    const JsonPtr pod =
        pod_writes_.get(api::object_key(string_at(set, {"metadata", "namespace"}), ordinal_pod_name(set, ordinal)));
    if (!pod || has_controller(*pod) || pod_terminating(*pod) || !selects(selector, *pod)) continue;
    writes_.patch(key, api::kPods, *pod, with_owner(set, "StatefulSet"), pod_writes_);
    any = true;
  }
  return any;
}

void StatefulSetController::change_pods(const std::string& key, const JsonPtr& set, StatefulSetStep step) {
  const std::string set_name(string_at(*set, {"metadata", "name"}));
  for (const JobPod& pod : step.release) {
    writes_.patch(key, api::kPods, *pod.object, without_owner(string_at(*set, {"metadata", "uid"})), pod_writes_);
  }
  for (const JobPod& pod : step.relabel) {
    Json patch = JsonObject();
    ensure_path(patch, {"metadata", "labels", kPodNameLabel}) = pod.name;
    ensure_path(patch, {"metadata", "labels", kPodIndexLabel}) = std::to_string(*pod_ordinal(*set, *pod.object));
    writes_.patch(key, api::kPods, *pod.object, std::move(patch), pod_writes_);
  }
  for (const auto& [pod, failed] : step.remove) {
    if (failed) {
      writes_.record(*set, "StatefulSet", true, pod.succeeded() ? "RecreatingTerminatedPod" : "RecreatingFailedPod",
                     "StatefulSet " + set_name + " is recreating " + (pod.succeeded() ? "terminated" : "failed") +
                         " Pod " + pod.name);
    }
    writes_.remove(key, api::kPods, *pod.object, pod_writes_,
                   [this, set, set_name, name = pod.name](const auto& response) {
                     if (!response.ok()) return;
                     writes_.record(*set, "StatefulSet", false, "SuccessfulDelete",
                                    "Delete Pod " + name + " in StatefulSet " + set_name + " successful");
                   });
  }
  for (Json& pod : step.create) {
    const std::string name(string_at(pod, {"metadata", "name"}));
    writes_.create(
        key, api::kPods, std::move(pod), pod_writes_, [this, key, set, set_name, name](const auto& response) {
          const std::string about = "Create Pod " + name + " in StatefulSet " + set_name;
          if (response.ok())
            writes_.record(*set, "StatefulSet", false, "SuccessfulCreate", about + " successful");
          else
            writes_.record(*set, "StatefulSet", true, "FailedCreate", about + " failed error: " + writes_.failure(key));
        });
  }
}

void StatefulSetController::create_revision(const std::string& key, const JsonPtr& set, Json revision) {
  const Json copy = revision;
  writes_.create(key, api::kControllerRevisions, std::move(revision), revision_writes_,
                 [this, key, set, copy](const api::RestResponse& response) {
                   if (response.code == kNameTaken) collided(key, set, copy);
                 });
}

// The name is taken. The revision is ours and the watch has not shown it yet, or an earlier StatefulSet of the same
// name left it behind, or the next one needs another name.
void StatefulSetController::collided(const std::string& key, const JsonPtr& set, const Json& revision) {
  writes_.get(key, api::kControllerRevisions, revision, [this, key, set, revision](const api::RestResponse& response) {
    if (!response.ok() || pod_terminating(response.body)) return;
    const Json *there = find(response.body, "data"), *wanted = find(revision, "data");
    if (!has_controller(response.body) && there != nullptr && wanted != nullptr && json_equal(*there, *wanted)) {
      return writes_.patch(key, api::kControllerRevisions, response.body, with_owner(*set, "StatefulSet"),
                           revision_writes_);
    }
    const Json* owner = controlling_stateful_set(response.body);
    if (owner != nullptr && string_at(*owner, {"uid"}) == string_at(*set, {"metadata", "uid"})) {
      revision_writes_.wrote(response.body);
      return;
    }
    const JsonPtr now = set_writes_.get(key);
    if (!now || string_at(*now, {"metadata", "uid"}) != string_at(*set, {"metadata", "uid"})) return;
    Json next = *now;
    ensure_path(next, {"status", "collisionCount"}) = int_at(*now, {"status", "collisionCount"}) + 1;
    writes_.update(key, api::kStatefulSets, std::move(next), "status", set_writes_);
  });
}

}  // namespace berth::cluster
