// The PodGroup of a vcjob, as Volcano's job controller creates it: the minimum number of pods and their requests.
#pragma once

#include <functional>

#include "api/volcano/types.h"

namespace berth::api::volcano {

// The value of a PriorityClass; 0 for "" and for a class that does not exist.
using PriorityOf = std::function<std::int32_t(std::string_view priority_class)>;

// Its name is <job name>-<job UID>, the job owns it, and it has the job's queue. minResources is the sum of the
// requests of each task's minAvailable pods. When the job's minAvailable is not the sum of these, pods are added or
// left out: tasks of higher priority come first, then tasks in their order.
PodGroup pod_group_of(const Job& job, const PriorityOf& priority_of);
Json encode_pod_group(const PodGroup& group);  // the whole object, without status when it is empty

}  // namespace berth::api::volcano
