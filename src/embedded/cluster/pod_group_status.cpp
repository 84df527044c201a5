#include "embedded/cluster/pod_group_status.h"

#include <algorithm>
#include <utility>

#include "api/core/pod_phase.h"
#include "embedded/cluster/vcjob_pods.h"

namespace berth::cluster {

using api::volcano::PodGroup;
using api::volcano::PodGroupPhase;
using api::volcano::PodGroupStatus;

PodGroupStatus group_status(const PodGroup& group, const std::vector<JsonPtr>& pods, bool more_to_come) {
  PodGroupStatus out = group.status;
  out.running = out.succeeded = out.failed = 0;
  std::int32_t placed = 0;
  for (const JsonPtr& pod : pods) {
    const std::string_view phase = string_at(*pod, {"status", "phase"});
    if (phase == "Succeeded") {
      ++out.succeeded;
    } else if (phase == "Failed") {
      ++out.failed;
    } else if (phase == "Running") {
      ++out.running;
    }
    const bool alive = !api::pod_ended(*pod) && !pod_terminating(*pod);
    if (phase == "Succeeded" || (alive && !string_at(*pod, {"spec", "nodeName"}).empty())) ++placed;
  }
  const std::int32_t needed = std::max(group.min_member, 1);
  if (out.phase == PodGroupPhase::kInqueue && placed >= needed) out.phase = PodGroupPhase::kRunning;
  const auto ended = out.succeeded + out.failed;
  const bool all_ended = ended >= needed && ended == static_cast<std::int32_t>(pods.size());
  const bool in = out.phase == PodGroupPhase::kInqueue || out.phase == PodGroupPhase::kRunning;
  if (in && all_ended && !more_to_come) out.phase = PodGroupPhase::kCompleted;
  return out;
}

PodGroupKeeper::PodGroupKeeper(api::RestClient& client, Executor& executor, const kube::Informer& groups,
                               const kube::Informer& pods, std::function<bool(const Json& group)> more_to_come)
    : executor_(executor),
      groups_(groups),
      pods_(pods),
      more_to_come_(std::move(more_to_come)),
      writer_(client, executor) {}

void PodGroupKeeper::pod_changed(const JsonPtr& old, const JsonPtr& now) {
  if (old) {
    const std::string group = group_key_of(*old);
    if (const auto at = pods_of_.find(group); at != pods_of_.end()) {
      at->second.erase(pod_key(*old));
      if (at->second.empty()) pods_of_.erase(at);
    }
    if (!group.empty()) look_soon(group);
  }
  if (!now) return;
  const std::string group = group_key_of(*now);
  if (group.empty()) return;
  pods_of_[group].insert(pod_key(*now));
  look_soon(group);
}

void PodGroupKeeper::look_soon(const std::string& group) {
  if (!due_.insert(group).second || due_.size() > 1) return;
  executor_.post(lifetime_.guard([this] {
    for (const auto& key : std::exchange(due_, {})) look(key);
  }));
}

void PodGroupKeeper::look(const std::string& key) {
  const JsonPtr object = groups_.get(key);
  if (!object || pod_terminating(*object)) return;
  const auto group = api::volcano::decode_pod_group(*object);
  if (!group) return;
  std::vector<JsonPtr> pods;
  if (const auto at = pods_of_.find(key); at != pods_of_.end()) {
    for (const auto& pod : at->second)
      if (JsonPtr known = pods_.get(pod)) pods.push_back(std::move(known));
  }
  const PodGroupStatus status = group_status(*group, pods, more_to_come_(*object));
  if (status == group->status) return;
  api::RestRequest request;
  request.verb = api::Verb::kUpdate;  // a PodGroup has no status subresource
  request.resource = groups_.resource();
  request.ns = group->meta.ns;
  request.name = group->meta.name;
  request.body = *object;
  ensure_path(request.body, {"status"}) = api::volcano::encode_pod_group_status(status);
  writer_.send(std::move(request), [this, key] { look_soon(key); });
}

}  // namespace berth::cluster
