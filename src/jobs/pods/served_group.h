// A group of pods whose owner decides about it: the pods of a StatefulSet, or a group of a LeaderWorkerSet. The owner
// makes the workload, also before it has pods, and puts its pods into the group. Pure.
// https://kueue.sigs.k8s.io/docs/tasks/run/statefulset/
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/kueue/types.h"
#include "base/json.h"
#include "base/result.h"
#include "jobs/job_facts.h"
#include "jobs/pods/managed_pod.h"
#include "jobs/pods/pod_plan.h"

namespace berth::jobs {

// A group as its owner has it now.
struct ServedGroupState {
  JobKind kind;   // of the owner
  JsonPtr owner;  // its labels and annotations count for the workload
  bool managed = true;
  std::string name;  // of the group and of its workload
  // The pods that the owner wants. 0: the workload is on hold with this message, or deleted when there is no message.
  std::int32_t total = 0;
  std::string hold_message;
  bool fast_admission = false;               // the first pod is enough to be admitted
  std::vector<api::kueue::PodSet> pod_sets;  // for `total` pods; not used when it is 0
  std::string pod_priority_class;
  std::string pod_index_label;  // of pods: their index in the group; may be empty
  // Annotations of the workload, besides those of every group.
  std::map<std::string, std::string> annotations;
  // The pod set of a pod.
  std::function<std::string(const ManagedPod&)> role_of;
};
using ServedGroupPtr = std::shared_ptr<const ServedGroupState>;

// The workload of a group that has none. Fails as compose() does.
Result<Json> make_served_workload(const ServedGroupState& group, const JobFacts& facts);

// Why the owner holds the workload back: it wants no pods, or the workload is on hold and does not count the pods yet
// that the owner wants now. "": it does not hold it back.
std::string hold_of(const ServedGroupState& group, const api::kueue::Workload& workload);

// Updates of a workload that does not describe the group or its labels; a workload with quota keeps its pod sets, and
// an event says so. Returns whether the workload changes.
bool follow_owner(const ServedGroupState& group, const WorkloadPtr& workload, const JobFacts& facts,
                  std::vector<Step>& steps);

// Whether the owner does not have the group any more.
inline bool is_surplus(const ServedGroupState& group) { return group.total == 0 && group.hold_message.empty(); }

// Puts a gated pod into the group: its queue, priority class and annotations. nullopt: it is there already.
std::optional<PodAction> put_into_group(const ServedGroupState& group, const ManagedPodPtr& pod, const JobGates& gates);

}  // namespace berth::jobs
