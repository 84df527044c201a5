// The pods of Volcano's PodGroups: what the pods of a group request, which pod asks for quota next, and which pods
// are deleted when the group must give quota back.
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

// "namespace/name" of the PodGroup that the pod's annotations name; "" when there is none.
std::string group_of_pod(const Json& pod);

class GroupPods {
 public:
  // `now` is null when the pod is gone; then `old` holds its last state. Returns the keys of the groups to look at;
  // empty when nothing changed that matters to them.
  std::vector<std::string> changed(const JsonPtr& old, const JsonPtr& now);

  // The sum of the requests of the charged pods: pods that are bound, or ungated with quota, and that have not ended.
  // "pods" is their number. Empty when there are none.
  api::ResourceList running(const std::string& group) const;
  std::int64_t bound(const std::string& group) const;  // number of bound pods that have not ended
  // Whether a pod of the group that is not bound yet claims devices, which nobody counts.
  bool claims_devices(const std::string& group) const;
  // Whether no pod of the group is left that has not ended.
  bool empty(const std::string& group) const { return !by_group_.contains(group); }

  // A pod that waits behind the gate for quota of its queue. first_gated() returns the oldest one whose deletion has
  // not been requested and that claims no devices.
  struct Gated {
    api::ObjectMeta meta;
    api::ResourceList requests;
    JsonArray other_gates;
    volcano::GatedPod pod() const { return {meta.uid, meta.creation, requests}; }
  };
  std::optional<Gated> first_gated(const std::string& group) const;

  bool knows(const std::string& uid) const { return pods_.contains(uid); }  // the pod has not ended
  // Pods that have not ended and whose deletion has not been requested, newest first.
  std::vector<api::ObjectMeta> all(const std::string& group) const;
  // The charged pods of all() to delete, newest first, so that the charged pods that remain are at most `pods` and
  // request at most `resources`.
  std::vector<api::ObjectMeta> beyond(const std::string& group, const api::ResourceList& resources,
                                      std::int64_t pods) const;
  // The deletion of the pod was requested. The cache may not show it yet.
  void going(const std::string& uid);

 private:
  struct Pod {
    api::ObjectMeta meta;
    std::string group;
    bool bound = false, going = false;
    bool charged = false;  // bound, or ungated with quota (annotation kQueueCharged)
    bool gated = false;
    bool devices = false;  // claims devices, and is not bound
    api::ResourceList requests;
    JsonArray other_gates;
    // Sorts oldest first.
    std::tuple<Time, std::string, std::string> age() const { return {meta.creation, meta.name, meta.uid}; }
  };
  struct Group {
    std::set<std::string> pods;  // uids
    std::set<std::tuple<Time, std::string, std::string>> gated;
    api::ResourceList sum;  // requests of charged pods, without zeros
    std::int64_t charged = 0, bound = 0, devices = 0;
  };
  void count(const Pod& pod, bool add);

  std::map<std::string, Pod, std::less<>> pods_;  // by uid; only pods that have not ended
  std::map<std::string, Group, std::less<>> by_group_;
};

}  // namespace berth::controller
