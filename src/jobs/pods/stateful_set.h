// A StatefulSet as a group of pods: one workload with the pod set `main`, which counts the replicas. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "jobs/pods/served_group.h"

namespace berth::jobs {

const JobKind& stateful_set_kind();
// The name of the group of this StatefulSet, and of its workload.
std::string group_of_stateful_set(const Json& set);
// The same for a pod of a StatefulSet that has to wait, and for one that Berth never held back: it ran before its
// StatefulSet came to a queue. nullopt: it is no such pod.
std::optional<std::string> group_of_stateful_set_pod(const Json& pod);

ServedGroupState served_by_stateful_set(const JsonPtr& set);

}  // namespace berth::jobs
