#include "controller/failure_recovery.h"

#include <utility>

#include "api/resource_version.h"
#include "api/resources.h"
#include "jobs/lost_pods.h"

namespace berth::controller {
namespace {

constexpr std::string_view kRecoveryController = "pod-termination-controller";  // reportingController of events

std::string pod_uid(const Json& pod) { return std::string(string_at(pod, {"metadata", "uid"})); }
std::string node_of(const Json& pod) { return std::string(string_at(pod, {"spec", "nodeName"})); }
std::uint64_t pod_version(const Json& pod) {
  return api::version_number(string_at(pod, {"metadata", "resourceVersion"}));
}

}  // namespace

FailureRecovery::FailureRecovery(Shell& shell, const ManagedObjects& managed, const Nodes& nodes)
    : shell_(shell),
      managed_(managed),
      nodes_(nodes),
      queue_(shell.executor,
             [this](const std::string& uid, WorkQueue::Finish finish) { look(uid, std::move(finish)); }) {}

FailureRecovery::~FailureRecovery() {
  for (const auto& [uid, pod] : pods_) shell_.executor.cancel(pod.timer);
}

void FailureRecovery::forget(const std::string& uid) {
  const auto it = pods_.find(uid);
  if (it == pods_.end()) return;
  shell_.executor.cancel(it->second.timer);
  const auto on_node = uids_by_node_.find(node_of(*it->second.object));
  on_node->second.erase(uid);
  if (on_node->second.empty()) uids_by_node_.erase(on_node);
  pods_.erase(it);
}

void FailureRecovery::pod_changed(const JsonPtr& old, const JsonPtr& now) {
  if (old && (!now || pod_uid(*old) != pod_uid(*now))) forget(pod_uid(*old));
  if (!now) return;
  const std::string uid = pod_uid(*now);
  const auto known = pods_.find(uid);
  if (known != pods_.end() && pod_version(*known->second.object) > pod_version(*now)) return;
  forget(uid);
  const auto due = jobs::forceful_deletion_due(*now);
  if (!due) return;
  pods_[uid] = {now, *due};
  uids_by_node_[node_of(*now)].insert(uid);
  look_soon(uid);
}

void FailureRecovery::look_soon(const std::string& uid) {
  if (started_) queue_.add(uid);
}

void FailureRecovery::node_changed(const std::string& name) {
  const auto on_node = uids_by_node_.find(name);
  if (on_node == uids_by_node_.end()) return;
  for (const auto& uid : on_node->second) look_soon(uid);
}

void FailureRecovery::facts_changed() {
  for (const auto& [uid, pod] : pods_) look_soon(uid);
}

void FailureRecovery::start() {
  started_ = true;
  facts_changed();
}

void FailureRecovery::look(const std::string& uid, WorkQueue::Finish finish) {
  const auto it = pods_.find(uid);
  if (it == pods_.end()) return finish(true);
  Pod& pod = it->second;
  const auto node = nodes_.get(node_of(*pod.object));
  // A node that can be reached again lets its kubelet end the pod; a change of the node leads back here.
  if (!node || !jobs::is_unreachable(*node)) return finish(true);
  if (!managed_.manages_namespace(string_at(*pod.object, {"metadata", "namespace"}))) return finish(true);
  if (shell_.executor.now() < pod.due) {
    shell_.executor.cancel(pod.timer);
    pod.timer = shell_.executor.at(pod.due, [this, uid] { look_soon(uid); });
    return finish(true);
  }
  const JsonPtr object = pod.object;
  jobs::was_failed_by_force(*object) ? remove(uid, object, std::move(finish)) : fail(uid, object, std::move(finish));
}

// The precondition of the write is the version that was looked at: a pod that changed is looked at again.
void FailureRecovery::fail(const std::string& uid, const JsonPtr& pod, WorkQueue::Finish finish) {
  Json body = JsonObject{{"status", jobs::failed_by_force(*pod, shell_.executor.now())}};
  shell_.writes.patch(Target::of(api::kPods, *pod), "status", std::move(body),
                      lifetime_.guard([this, uid, pod, finish](const api::RestResponse& response) {
                        if (response.code == 404) return finish(true);
                        if (!response.ok()) return finish(false);
                        const Target target = Target::of(api::kPods, *pod);
                        shell_.events.record({"v1", "Pod", target.ns, target.name, target.uid, target.resource_version},
                                             {true,
                                              std::string(jobs::kForcefullyDeleted),
                                              jobs::forceful_deletion_message(*pod),
                                              {},
                                              std::string(kRecoveryController)});
                        remove(uid, pod, finish);
                      }));
}

void FailureRecovery::remove(const std::string& uid, const JsonPtr& pod, WorkQueue::Finish finish) {
  shell_.writes.remove_at_once(Target::of(api::kPods, *pod),
                               lifetime_.guard([this, uid, finish](const api::RestResponse& response) {
                                 const bool done = response.ok() || response.code == 404;
                                 if (done) forget(uid);  // its finalizers may still keep it
                                 finish(done);
                               }));
}

}  // namespace berth::controller
