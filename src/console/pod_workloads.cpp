#include "console/pod_workloads.h"

#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "api/owners.h"

namespace berth::console {
namespace {

constexpr const char* kJobSetLabel = "jobset.sigs.k8s.io/jobset-uid";  // of all pods of a JobSet

std::string controller_uid(const Json& object) {
  const Json* owner = api::controller_of(object);
  return owner == nullptr ? std::string() : std::string(string_at(*owner, {"uid"}));
}

}  // namespace

PodOrigin PodOrigin::of(const Json& pod) {
  for (const std::string_view said : {string_at(pod, {"metadata", "annotations", api::kueue::kWorkloadAnnotation}),
                                      string_at(pod, {"metadata", "labels", api::kueue::kPodGroupName})}) {
    if (!said.empty()) return {std::string(said), {}};
  }
  PodOrigin origin;
  for (std::string uid : {std::string(string_at(pod, {"metadata", "uid"})), controller_uid(pod),
                          std::string(string_at(pod, {"metadata", "labels", kJobSetLabel}))}) {
    if (!uid.empty()) origin.owners.push_back(std::move(uid));
  }
  return origin;
}

std::vector<std::string> PodWorkloads::workload_changed(const std::string& key, const Json* now) {
  const std::string owner = now == nullptr ? std::string() : controller_uid(*now);
  const auto known = owner_of_.find(key);
  const std::string former = known == owner_of_.end() ? std::string() : known->second;
  if (owner == former) return {};
  std::vector<std::string> changed;
  if (!former.empty()) {
    owner_of_.erase(known);
    // Another workload of the same owner may have come already.
    if (const auto it = workload_of_.find(former); it != workload_of_.end() && it->second == key) {
      workload_of_.erase(it);
      changed.push_back(former);
    }
  }
  if (!owner.empty()) {
    owner_of_[key] = owner;
    workload_of_[owner] = key;
    changed.push_back(owner);
  }
  return with_those_below(std::move(changed));
}

std::vector<std::string> PodWorkloads::owner_changed(const std::string& key, const Json* now) {
  Link link;
  if (now != nullptr) link = {std::string(string_at(*now, {"metadata", "uid"})), controller_uid(*now)};
  if (link.uid.empty() || link.above.empty()) link = {};
  const auto known = links_.find(key);
  if ((known == links_.end() ? Link{} : known->second) == link) return {};
  std::vector<std::string> changed;
  if (known != links_.end()) {
    const auto [uid, above] = known->second;
    links_.erase(known);
    above_.erase(uid);
    const auto siblings = below_.find(above);
    if (siblings != below_.end() && siblings->second.erase(uid) > 0 && siblings->second.empty()) below_.erase(siblings);
    changed.push_back(uid);
  }
  if (!link.uid.empty()) {
    above_[link.uid] = link.above;
    below_[link.above].insert(link.uid);
    if (changed.empty() || changed.front() != link.uid) changed.push_back(link.uid);
    links_[key] = std::move(link);
  }
  return with_those_below(std::move(changed));
}

std::vector<std::string> PodWorkloads::with_those_below(std::vector<std::string> uids) const {
  std::set<std::string> seen(uids.begin(), uids.end());
  for (std::size_t i = 0; i < uids.size(); ++i) {
    const auto found = below_.find(uids[i]);
    if (found == below_.end()) continue;
    for (const std::string& uid : found->second) {
      if (uids.size() >= kMaxOwnersBelow) return uids;
      if (seen.insert(uid).second) uids.push_back(uid);
    }
  }
  return uids;
}

std::string PodWorkloads::name(std::string_view ns, const PodOrigin& origin) const {
  if (!origin.workload.empty()) return origin.workload;
  const std::string prefix = std::string(ns) + "/";
  for (std::string_view owner : origin.owners) {
    for (int steps = 0; steps <= kMaxOwnersAbove; ++steps) {
      const auto it = workload_of_.find(owner);
      if (it != workload_of_.end() && it->second.starts_with(prefix)) return it->second.substr(prefix.size());
      const auto above = above_.find(owner);
      if (above == above_.end()) break;
      owner = above->second;
    }
  }
  return {};
}

}  // namespace berth::console
