// The pods of Volcano's PodGroups: what those of a group use, which of them waits for quota next, and which go when the group has to
// give something back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "api/core/pod_resources.h"
#include "api/meta.h"
#include "base/json.h"
#include "volcano/group_workloads.h"

namespace berth::controller {

// "namespace/name" of the PodGroup that a pod names in its annotations; "" when it names none.
std::string group_of_pod(const Json& pod);

class GroupPods {
 public:
  // `now` is null when the pod is gone, then `old` holds its last state. Keys of groups to be looked at: none when nothing changed
  // that matters to them.
  std::vector<std::string> changed(const JsonPtr& old, const JsonPtr& now);

  // What those request that are bound, or were let go to be, and have not ended; "pods" says how many they are. Empty: there is none.
  api::ResourceList running(const std::string& group) const;
  std::int64_t bound(const std::string& group) const;  // how many are
  bool empty(const std::string& group) const { return !by_group_.contains(group); }  // none is left that has not ended

  // Of those that wait behind the gate for quota of their queue, the oldest.
  struct Gated {
    api::ObjectMeta meta;
    api::ResourceList requests;
    JsonArray other_gates;
    volcano::GatedPod pod() const { return {meta.uid, meta.creation, requests}; }
  };
  std::optional<Gated> first_gated(const std::string& group) const;

  bool knows(const std::string& uid) const { return pods_.contains(uid); }  // it has not ended
  // All that have not ended and are not going already.
  std::vector<api::ObjectMeta> all(const std::string& group) const;
  // Of those the newest, as many as it takes until no more than `resources` and `pods` of them remains.
  std::vector<api::ObjectMeta> beyond(const std::string& group, const api::ResourceList& resources, std::int64_t pods) const;
  // Its deletion was asked for, which the cache may not know yet.
  void going(const std::string& uid);

 private:
  struct Pod {
    api::ObjectMeta meta;
    std::string group;
    bool bound = false, going = false;
    bool charged = false;  // bound, or let go to be
    bool gated = false;
    api::ResourceList requests;
    JsonArray other_gates;
    // Old ones first.
    std::tuple<Time, std::string, std::string> age() const { return {meta.creation, meta.name, meta.uid}; }
  };
  struct Group {
    std::set<std::string> pods;  // uids
    std::set<std::tuple<Time, std::string, std::string>> gated;
    api::ResourceList sum;  // of those that are charged; zeros are left out
    std::int64_t charged = 0, bound = 0;
  };
  void count(const Pod& pod, bool add);

  std::map<std::string, Pod, std::less<>> pods_;  // by uid; those that have not ended
  std::map<std::string, Group, std::less<>> by_group_;
};

}  // namespace berth::controller
