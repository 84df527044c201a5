#include "engine/topology/pods.h"

#include <utility>

#include "api/meta.h"

namespace berth::engine::topology {

LeafDomainId Pods::leaf_of(const Pod& pod) {
  if (pod.bound) {
    if (const NodeId node = nodes_.find(pod.node); node.valid()) return leaves_.host(strings_[nodes_[node].host]);
  }
  return leaves_.host(pod.node);
}

// Whether it is known as it is, with this request.
bool Pods::known(const api::kueue::PodPlacement& pod, RequestId request) const {
  const auto it = ids_.find(pod.uid);
  if (it == ids_.end()) return false;
  const Pod& old = pods_[it->second];
  const std::string owner = pod.workload.empty() ? "" : api::object_key(pod.ns, pod.workload);
  return old.request == request && old.node == pod.node && old.bound == pod.bound && holders_[old.holder].name == owner;
}

void Pods::set(const api::kueue::PodPlacement& pod) { set(pod, requests_.acquire(pod.requests)); }
void Pods::set_devices(const api::kueue::PodPlacement& devices) {
  set(devices, requests_.acquire_without_pod(devices.requests));
}

void Pods::set(const api::kueue::PodPlacement& pod, RequestId request) {
  if (const auto it = ids_.find(pod.uid); it != ids_.end()) {
    holders_.note_gone_by(pods_[it->second].holder, pod);
    if (known(pod, request)) return requests_.release(request);
    remove(pod.uid);
  }
  std::uint32_t index = static_cast<std::uint32_t>(pods_.size());
  if (free_.empty()) {
    pods_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  const HolderId holder = pod.workload.empty() ? kNobody : holders_.intern(api::object_key(pod.ns, pod.workload));
  Pod made{pod.uid, holder, request, pod.node, pod.bound, LeafDomainId()};
  made.leaf_domain = leaf_of(made);
  ++holders_.at(holder).pods;
  holders_.note_gone_by(holder, pod);
  holders_.note_leaving(holder);
  holders_.change(made.leaf_domain, holder, request, 0, 1);
  pods_[index] = std::move(made);
  ids_.emplace(pod.uid, index);
}

void Pods::remove(std::string_view uid) {
  const auto it = ids_.find(std::string(uid));
  if (it == ids_.end()) return;
  const std::uint32_t index = it->second;
  ids_.erase(it);
  const Pod pod = std::move(pods_[index]);
  pods_[index] = Pod();
  free_.push_back(index);
  holders_.change(pod.leaf_domain, pod.holder, pod.request, 0, -1);
  leaves_.release_if_idle(pod.leaf_domain);
  requests_.release(pod.request);
  --holders_.at(pod.holder).pods;
  holders_.note_leaving(pod.holder);
  holders_.release_if_idle(pod.holder);
}

void Pods::remove_all_of(HolderId holder) {
  if (!holder.valid()) return;
  std::vector<std::string> uids;
  for (const Pod& pod : pods_) {
    if (!pod.uid.empty() && pod.holder == holder) uids.push_back(pod.uid);
  }
  for (const std::string& uid : uids) remove(uid);
}

void Pods::move_to_hostname(std::string_view node) {
  for (Pod& pod : pods_) {
    if (pod.uid.empty() || !pod.bound || pod.node != node) continue;
    const LeafDomainId now = leaf_of(pod), before = pod.leaf_domain;
    if (now == before) continue;
    holders_.change(before, pod.holder, pod.request, 0, -1);
    holders_.change(now, pod.holder, pod.request, 0, 1);
    pod.leaf_domain = now;
    leaves_.release_if_idle(before);
  }
}

}  // namespace berth::engine::topology
