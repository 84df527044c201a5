// A StatefulSet as a group of pods: one workload with the pod set `main`, which counts the replicas. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "jobs/pods/served_group.h"

namespace berth::jobs {

const JobKind& stateful_set_kind();
// The names that the group of a StatefulSet, and its workload, may have.
struct StatefulSetGroups {
  std::string own;     // of this StatefulSet
  std::string former;  // of every StatefulSet with its name: Kueue gave it before 0.15.6 and 0.16.3
};
StatefulSetGroups groups_of_stateful_set(const Json& set);
// Whether the template puts the pods into the group with the former name, as these releases wrote into it. The group of
// a pod cannot change.
bool keeps_former_group(const Json& set);

// The StatefulSet of a pod that has to wait, or of a pod that Berth never held back: it ran before its StatefulSet
// came to a queue. nullopt: it is no such pod.
struct StatefulSetPlace {
  std::string set, uid;  // of the StatefulSet
  StatefulSetGroups groups;
};
std::optional<StatefulSetPlace> place_in_stateful_set(const Json& pod);

// The group with this name. `workload`: its workload, whose pod sets keep their names; null when there is none.
ServedGroupState served_by_stateful_set(const JsonPtr& set, std::string name, const api::kueue::Workload* workload);

}  // namespace berth::jobs
