// What is done with managed pods: they are let go, stopped, deleted or released from the finalizer. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "jobs/pods/managed_pod.h"
#include "jobs/reconcile.h"

namespace berth::jobs {

// Requests about one pod, in order: a patch, then a deletion. When a request fails, the rest is left out; the next look
// at the pod repeats what is missing. An action may have an event only.
struct PodAction {
  ManagedPodPtr pod;
  std::optional<JobPatch> patch{};
  bool remove = false;
  std::optional<JobEvent> event{};  // on the pod, after the requests
  WorkloadPtr admitted_by{};        // of let_go(): the workload whose admission removes the gate
};

struct PodPlan {
  std::vector<Step> steps;         // in order; a JobEvent is on `speaker`
  std::vector<PodAction> actions;  // after the steps, in any order
  ManagedPodPtr speaker;           // null: there is no pod for events
  // The owner of the group: events of the steps are on it, unless they are about a workload. May be null.
  std::shared_ptr<const ServedGroupState> owner;
  std::optional<Time> look_again;  // when time alone changes the plan
};

// The pod as the pod set of a workload, without the metadata of its template.
api::kueue::PodSet pod_set_of(const ManagedPod& pod, std::string name, std::int32_t count);

// Removes the admission gate and adds what admission requires, in one request. A pod without a place loses the topology
// gate as well. Fails when the pod contradicts its admission.
Result<PodAction> let_go(const ManagedPodPtr& pod, const PodSetInfo& info, const WorkloadPtr& workload);

// Sets the condition TerminationTarget, then deletes the pod. The event Stopped has the message.
PodAction stop(const ManagedPodPtr& pod, std::string_view reason, std::string_view message, Time now);

// Removes the finalizer; only for a pod that has it.
PodAction drop_finalizer(const ManagedPodPtr& pod);

// The reasons of TerminationTarget.
inline constexpr std::string_view kWorkloadDeleted = "WorkloadDeleted";
inline constexpr std::string_view kNoMatchingWorkload = "NoMatchingWorkload";
inline constexpr std::string_view kNotAdmitted = "NotAdmitted";
inline constexpr std::string_view kWorkloadFinished = "WorkloadFinished";  // Berth's own
std::string evicted_reason(const api::kueue::Workload& workload);          // WorkloadEvictedDueTo<reason>

inline constexpr std::string_view kPodApiVersion = "v1";
inline constexpr std::string_view kPodKind = "Pod";
inline constexpr std::string_view kPodController = "pod-kueue-controller";  // reportingController of events on pods

}  // namespace berth::jobs
