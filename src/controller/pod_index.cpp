#include "controller/pod_index.h"

#include <algorithm>
#include <vector>

#include "api/meta.h"

namespace berth::controller {
namespace {

// Where the pod is, or belongs.
template <typename Pods>
auto place_of(Pods& pods, const std::string& uid) {
  return std::ranges::lower_bound(pods, uid, {}, &jobs::ManagedPod::uid);
}

}  // namespace

PodUnit unit_of(const jobs::ManagedPod& pod) {
  if (pod.group.empty()) return {PodUnit::What::kSingle, api::object_key(pod.ns, pod.name)};
  return {PodUnit::What::kGroup, api::object_key(pod.ns, pod.group)};
}

jobs::ManagedPodPtr PodIndex::find(std::string_view uid) const {
  const auto it = by_uid_.find(uid);
  return it == by_uid_.end() ? nullptr : *it;
}

const PodIndex::Pods& PodIndex::of(const PodUnit& unit) const {
  static const Pods none;
  const auto it = by_unit_.find(unit);
  return it == by_unit_.end() ? none : it->second;
}

void PodIndex::for_each_unit(const std::function<void(const PodUnit&)>& visit) const {
  std::vector<PodUnit> units;
  units.reserve(by_unit_.size());
  for (const auto& [unit, pods] : by_unit_) units.push_back(unit);
  std::ranges::sort(units);
  for (const PodUnit& unit : units) visit(unit);
}

void PodIndex::put(const jobs::ManagedPodPtr& pod) {
  if (const auto known = by_uid_.find(std::string_view(pod->uid)); known != by_uid_.end()) by_uid_.erase(known);
  by_uid_.insert(pod);
  Pods& pods = by_unit_[unit_of(*pod)];
  const auto at = place_of(pods, pod->uid);
  if (at != pods.end() && (*at)->uid == pod->uid) {
    *at = pod;
  } else {
    pods.insert(at, pod);
  }
}

void PodIndex::erase(const jobs::ManagedPod& pod) {
  const std::string uid = pod.uid;
  const auto pods = by_unit_.find(unit_of(pod));
  pods->second.erase(place_of(pods->second, uid));
  if (pods->second.empty()) by_unit_.erase(pods);
  by_uid_.erase(by_uid_.find(std::string_view(uid)));
}

}  // namespace berth::controller
