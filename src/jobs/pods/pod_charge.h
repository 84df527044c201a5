// Whether a pod asks for no more than its pod set was charged for. Pods of a group say their role themselves
// (annotation kueue.x-k8s.io/role-hash), so the name alone proves nothing.
#pragma once

#include <string>

#include "jobs/job_facts.h"
#include "jobs/pods/group_terms.h"

namespace berth::jobs {

// Why these pods cannot be the pod sets of one workload: two of one role request different amounts. "": they can.
std::string unequal_roles(const std::string& group, const std::vector<ManagedPodPtr>& pods);

// What a pod that waits at its gate requests beyond its pod set, as "cpu: 10 instead of 1"; "": nothing. Admission
// may count more than a template says (defaults of LimitRanges, overhead of a RuntimeClass): what is counted is
// allowed.
std::string beyond_charge(const ManagedPod& pod, const api::kueue::Workload& workload);

}  // namespace berth::jobs
