#include "console/pod_workloads.h"

#include "api/kueue/names.h"

namespace berth::console {
namespace {

constexpr const char* kGroupLabel = "kueue.x-k8s.io/pod-group-name";
constexpr const char* kJobSetLabel = "jobset.sigs.k8s.io/jobset-uid";  // of all pods of a JobSet

std::string controller_uid(const Json& object) {
  for (const Json& owner : array_at(object, {"metadata", "ownerReferences"})) {
    if (bool_at(owner, {"controller"})) return std::string(string_at(owner, {"uid"}));
  }
  return {};
}

}  // namespace

PodOrigin PodOrigin::of(const Json& pod) {
  for (const std::string_view said : {string_at(pod, {"metadata", "annotations", api::kueue::kWorkloadAnnotation}),
                                      string_at(pod, {"metadata", "labels", kGroupLabel})}) {
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
  return changed;
}

std::string PodWorkloads::name(std::string_view ns, const PodOrigin& origin) const {
  if (!origin.workload.empty()) return origin.workload;
  const std::string prefix = std::string(ns) + "/";
  for (const std::string& owner : origin.owners) {
    const auto it = workload_of_.find(owner);
    if (it != workload_of_.end() && it->second.starts_with(prefix)) return it->second.substr(prefix.size());
  }
  return {};
}

}  // namespace berth::console
