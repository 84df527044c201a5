#include "controller/group_pods.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "api/core/devices.h"
#include "api/kueue/pod_placement.h"
#include "api/resource_version.h"
#include "api/volcano/names.h"

namespace berth::controller {
namespace {

// Volcano's annotation, and the one of its predecessor, which is the one that Volcano's job controller writes.
constexpr std::string_view kGroupName = "scheduling.volcano.sh/group-name";
constexpr std::string_view kOlderGroupName = "scheduling.k8s.io/group-name";

bool fits(const api::ResourceList& sum, const api::ResourceList& limit) {
  return std::ranges::all_of(sum, [&](const auto& each) {
    const auto most = limit.find(each.first);
    return each.second.sign() <= 0 || (most != limit.end() && each.second <= most->second);
  });
}

}  // namespace

std::string group_of_pod(const Json& pod) {
  for (const std::string_view annotation : {kOlderGroupName, kGroupName}) {
    const std::string_view name = string_at(pod, {"metadata", "annotations", annotation});
    if (!name.empty()) return api::object_key(string_at(pod, {"metadata", "namespace"}), name);
  }
  return {};
}

void GroupPods::count(const Pod& pod, bool add) {
  Group& group = by_group_[pod.group];
  if (add) {
    group.pods.insert(pod.meta.uid);
  } else {
    group.pods.erase(pod.meta.uid);
  }
  if (pod.devices) group.devices += add ? 1 : -1;
  if (pod.gated && !pod.going && !pod.devices) {
    if (add) {
      group.gated.insert(pod.age());
    } else {
      group.gated.erase(pod.age());
    }
  }
  if (pod.bound) group.bound += add ? 1 : -1;
  if (pod.charged) {
    group.charged += add ? 1 : -1;
    for (const auto& [resource, amount] : pod.requests) {
      Quantity& sum = group.sum[resource];
      sum = add ? sum + amount : sum - amount;
      if (sum.is_zero()) group.sum.erase(resource);
    }
  }
  if (group.pods.empty()) by_group_.erase(pod.group);
}

std::vector<std::string> GroupPods::changed(const JsonPtr& old, const JsonPtr& now) {
  const std::string uid(string_at(now ? *now : *old, {"metadata", "uid"}));
  const auto known = pods_.find(uid);
  Pod pod;
  pod.group = now ? group_of_pod(*now) : std::string();
  if (!pod.group.empty()) {
    const api::kueue::PodPlacement placement = api::kueue::decode_pod_placement(*now);
    pod.bound = placement.bound;
    pod.going = placement.terminating;
    pod.requests = placement.requests;
    const Json* spec = find(*now, "spec");
    pod.devices = !pod.bound && spec != nullptr && api::uses_devices(*spec);
    for (const Json& gate : array_at(*now, {"spec", "schedulingGates"})) {
      if (string_at(gate, {"name"}) == api::volcano::kAllocationGate) {
        pod.gated = true;
      } else {
        pod.other_gates.push_back(gate);
      }
    }
    pod.charged = pod.bound || string_at(*now, {"metadata", "annotations", api::volcano::kQueueCharged}) == "true";
    if (placement.terminated) pod.group.clear();
  }
  if (pod.group.empty()) {
    if (known == pods_.end()) return {};
    const Pod gone = std::move(known->second);
    pods_.erase(known);
    count(gone, false);
    return {gone.group};
  }
  pod.meta = api::decode_meta(*now);
  if (known == pods_.end()) {
    count(pod, true);
    std::string group = pod.group;
    pods_.emplace(uid, std::move(pod));
    return {std::move(group)};
  }
  Pod& before = known->second;
  if (api::version_number(pod.meta.resource_version) < api::version_number(before.meta.resource_version)) return {};
  pod.going = pod.going || before.going;
  const bool same = std::tie(before.group, before.bound, before.charged, before.gated, before.going, before.devices,
                             before.requests) ==
                    std::tie(pod.group, pod.bound, pod.charged, pod.gated, pod.going, pod.devices, pod.requests);
  std::vector<std::string> touched;
  if (!same) {
    touched.push_back(before.group);
    if (pod.group != before.group) touched.push_back(pod.group);
    count(before, false);
    count(pod, true);
  }
  before = std::move(pod);
  return touched;
}

api::ResourceList GroupPods::running(const std::string& group) const {
  const auto it = by_group_.find(group);
  if (it == by_group_.end() || it->second.charged == 0) return {};
  api::ResourceList out = it->second.sum;
  out[std::string(api::volcano::kPods)] = Quantity::of(it->second.charged);
  return out;
}

std::int64_t GroupPods::bound(const std::string& group) const {
  const auto it = by_group_.find(group);
  return it == by_group_.end() ? 0 : it->second.bound;
}

bool GroupPods::claims_devices(const std::string& group) const {
  const auto it = by_group_.find(group);
  return it != by_group_.end() && it->second.devices > 0;
}

std::optional<GroupPods::Gated> GroupPods::first_gated(const std::string& group) const {
  const auto it = by_group_.find(group);
  if (it == by_group_.end() || it->second.gated.empty()) return std::nullopt;
  const Pod& pod = pods_.find(std::get<2>(*it->second.gated.begin()))->second;
  return Gated{pod.meta, pod.requests, pod.other_gates};
}

std::vector<api::ObjectMeta> GroupPods::all(const std::string& group) const {
  std::vector<api::ObjectMeta> out;
  const auto it = by_group_.find(group);
  if (it == by_group_.end()) return out;
  for (const std::string& uid : it->second.pods) {
    const Pod& pod = pods_.find(uid)->second;
    if (!pod.going) out.push_back(pod.meta);
  }
  std::ranges::sort(out, [](const auto& a, const auto& b) {
    return std::tie(b.creation, b.name, b.uid) < std::tie(a.creation, a.name, a.uid);
  });
  return out;
}

std::vector<api::ObjectMeta> GroupPods::beyond(const std::string& group, const api::ResourceList& resources,
                                               std::int64_t pods) const {
  std::vector<api::ObjectMeta> newest_first = all(group);
  api::ResourceList sum;
  std::int64_t left = 0;
  for (const auto& meta : newest_first) {
    const Pod& pod = pods_.find(meta.uid)->second;
    if (!pod.charged) continue;
    ++left;
    for (const auto& [resource, amount] : pod.requests) sum[resource] = sum[resource] + amount;
  }
  std::vector<api::ObjectMeta> out;
  for (const auto& meta : newest_first) {
    if (left <= pods && fits(sum, resources)) break;
    const Pod& pod = pods_.find(meta.uid)->second;
    if (!pod.charged) continue;
    --left;
    for (const auto& [resource, amount] : pod.requests) sum[resource] = sum[resource] - amount;
    out.push_back(meta);
  }
  return out;
}

void GroupPods::going(const std::string& uid) {
  const auto it = pods_.find(uid);
  if (it == pods_.end() || it->second.going) return;
  count(it->second, false);
  it->second.going = true;
  count(it->second, true);
}

}  // namespace berth::controller
