// The pods that PodController knows, by uid and by what they are looked at with.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "jobs/pods/managed_pod.h"

namespace berth::controller {

// What is looked at together: a single pod, or a group. Its key in a queue is "namespace/name".
struct PodUnit {
  enum class What : std::uint8_t { kSingle, kGroup };
  What what = What::kSingle;
  std::string key;

  bool operator<(const PodUnit& other) const { return std::tie(what, key) < std::tie(other.what, other.key); }
  bool operator==(const PodUnit& other) const = default;
};
PodUnit unit_of(const jobs::ManagedPod& pod);

class PodIndex {
 public:
  struct ByUid {
    using is_transparent = void;
    bool operator()(const jobs::ManagedPodPtr& a, const jobs::ManagedPodPtr& b) const { return a->uid < b->uid; }
    bool operator()(const jobs::ManagedPodPtr& a, std::string_view uid) const { return a->uid < uid; }
    bool operator()(std::string_view uid, const jobs::ManagedPodPtr& b) const { return uid < b->uid; }
  };
  using Pods = std::set<jobs::ManagedPodPtr, ByUid>;

  jobs::ManagedPodPtr find(std::string_view uid) const;  // null: not known
  const Pods& of(const PodUnit& unit) const;             // may be empty
  void for_each_unit(const std::function<void(const PodUnit&)>& visit) const;

  // Adds the pod, or replaces the known version of it. Both must belong to the same unit.
  void put(const jobs::ManagedPodPtr& pod);
  void erase(const jobs::ManagedPod& pod);

 private:
  // Ordered sets of pointers take a third of the memory of maps with uids as keys: there are many pods.
  Pods by_uid_;
  std::map<PodUnit, Pods> by_unit_;
};

}  // namespace berth::controller
