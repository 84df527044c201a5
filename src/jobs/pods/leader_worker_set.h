// A LeaderWorkerSet as groups of pods: one workload for each group of a leader and its workers. Pure.
// https://kueue.sigs.k8s.io/docs/tasks/run/leaderworkerset/
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "jobs/pods/served_group.h"

namespace berth::jobs {

const JobKind& leader_worker_set_kind();

// How many groups the set has at present. During a rolling update it may have more than it asks for.
std::int64_t groups_of_leader_worker_set(const Json& set);
// The name of a group of this set, and of its workload. Groups are counted from 0.
std::string group_of_leader_worker_set(const Json& set, std::int64_t index);

// The place of a pod that waits, or waited, for its LeaderWorkerSet; nullopt: it is no such pod.
struct LeaderWorkerSetPlace {
  std::string set;  // its name
  std::int64_t group = 0;
};
std::optional<LeaderWorkerSetPlace> place_in_leader_worker_set(const Json& pod);

ServedGroupState served_by_leader_worker_set(const JsonPtr& set, std::int64_t index);
// A group that the set does not have now.
ServedGroupState surplus_of_leader_worker_set(const JsonPtr& set, std::string name);

// The LeaderWorkerSet that owns a workload; null when none does.
const api::OwnerReference* owning_leader_worker_set(const api::kueue::Workload& workload);

}  // namespace berth::jobs
