// The workloads of a LeaderWorkerSet and the groups of its pods. Pure, and called again after every change, as
// jobs/reconcile.
//
// Each group of pods has one workload, from the moment that the set asks for the group, with or without pods. The pods
// learn from annotations to which group they belong; jobs/pods/pod_group then looks after them and after what happens
// to the workload.
// https://kueue.sigs.k8s.io/docs/tasks/run/leaderworkerset/
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "jobs/job_facts.h"
#include "jobs/reconcile.h"

namespace berth::jobs {

// A pod of a LeaderWorkerSet that waits at its gate and belongs to no group of pods yet.
struct UngroupedPod {
  std::string ns, name, uid, version;
  std::string set;  // the name of the LeaderWorkerSet
  std::int64_t group = 0, worker = 0;
};
// nullopt: the pod is no such pod.
std::optional<UngroupedPod> decode_ungrouped_pod(const Json& pod, bool identifier_annotations);

struct GroupingPatch {
  UngroupedPod pod;
  Json patch;  // a merge patch
};
struct ServingPlan {
  std::vector<Step> steps;               // in order; a JobEvent is on the set
  std::vector<GroupingPatch> groupings;  // after the steps, in any order
  bool more = false;                     // call again when all this is done
};

// How many workloads one plan creates, and how many pods it groups. A set with many groups takes several looks, so
// that other sets get their turn.
inline constexpr std::size_t kMaxNewWorkloads = 100, kMaxGroupings = 100;

// `set`: it exists. `workloads`: those that it owns, in any order. `pods`: its pods without a group.
ServingPlan plan_leader_worker_set(const Json& set, const std::vector<WorkloadPtr>& workloads,
                                   const std::vector<UngroupedPod>& pods, const JobFacts& facts);

// The name and uid of the LeaderWorkerSet that owns a workload; null when none does.
const api::OwnerReference* owning_leader_worker_set(const api::kueue::Workload& workload);

}  // namespace berth::jobs
