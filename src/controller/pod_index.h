// The pods that PodController knows, by uid and by what they are looked at with.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/string_map.h"
#include "jobs/pods/managed_pod.h"

namespace berth::controller {

// What is looked at together: a single pod, or a group. Its key in a queue is "namespace/name".
struct PodUnit {
  enum class What : std::uint8_t { kSingle, kGroup };
  What what = What::kSingle;
  std::string key;

  auto operator<=>(const PodUnit& other) const = default;
};
PodUnit unit_of(const jobs::ManagedPod& pod);

class PodIndex {
 public:
  using Pods = std::vector<jobs::ManagedPodPtr>;  // ordered by uid

  jobs::ManagedPodPtr find(std::string_view uid) const;                        // null: not known
  const Pods& of(const PodUnit& unit) const;                                   // may be empty
  void for_each_unit(const std::function<void(const PodUnit&)>& visit) const;  // sorted

  // Adds the pod, or replaces the known version of it. Both must belong to the same unit.
  void put(const jobs::ManagedPodPtr& pod);
  void erase(const jobs::ManagedPod& pod);

 private:
  struct UidHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view uid) const { return StringHash()(uid); }
    std::size_t operator()(const jobs::ManagedPodPtr& pod) const { return StringHash()(pod->uid); }
  };
  struct SameUid {
    using is_transparent = void;
    bool operator()(const jobs::ManagedPodPtr& a, const jobs::ManagedPodPtr& b) const { return a->uid == b->uid; }
    bool operator()(const jobs::ManagedPodPtr& a, std::string_view uid) const { return a->uid == uid; }
    bool operator()(std::string_view uid, const jobs::ManagedPodPtr& b) const { return uid == b->uid; }
  };
  struct UnitHash {
    std::size_t operator()(const PodUnit& unit) const { return StringHash()(unit.key); }
  };

  // Sets of pointers take less memory than maps with uids as keys: there are many pods.
  std::unordered_set<jobs::ManagedPodPtr, UidHash, SameUid> by_uid_;
  std::unordered_map<PodUnit, Pods, UnitHash> by_unit_;
};

}  // namespace berth::controller
