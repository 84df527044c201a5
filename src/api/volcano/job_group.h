// The PodGroup of a vcjob, as Volcano's job controller makes it: what has to run at once, and what that asks for.
#pragma once

#include <functional>

#include "api/volcano/types.h"

namespace berth::api::volcano {

// The value of a PriorityClass; 0 for "" and for one that does not exist.
using PriorityOf = std::function<std::int32_t(std::string_view priority_class)>;

// Named after the job and its UID, owned by it, in its queue. minResources is what the tasks' least numbers of pods
// request, or fewer or more of them when the job needs fewer or more at once: pods of tasks of higher priority come
// first, then tasks in their order.
PodGroup pod_group_of(const Job& job, const PriorityOf& priority_of);
Json encode_pod_group(const PodGroup& group);  // the whole object, without status when it is empty

}  // namespace berth::api::volcano
