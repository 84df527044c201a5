// What the pods of a group agree about, and the pod sets of the workload that they make.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "jobs/pods/pod_plan.h"
#include "jobs/pods/role_members.h"

namespace berth::jobs {

// The terms of the group; the error names two pods that disagree, or the annotation that is missing. A pod without a
// priority class has that of the others. `pods`: runnable ones, older first, at least one.
Result<GroupTerms> agreed_terms(const std::string& group, const std::vector<ManagedPodPtr>& pods);

// The labels and annotations of the group: those of this pod, with the priority class of the group.
JsonPtr voice_of(const GroupTerms& terms, const ManagedPod& pod);

// The roles of a group with these terms. Fails when there are fewer pods than the group has, or too many roles. Pods
// beyond the total do not count. With fast admission, all pods have the role of the first one.
Result<Roles> roles_of(const std::string& group, const GroupTerms& terms, const std::vector<ManagedPodPtr>& pods);

// One pod set for each role; its template is that of the oldest gated pod of the role. `by_shape`: ordered by the hash
// of this pod's shape, then by the least name of a pod of the role (PodGroupSchedulingShapeOrdering). Otherwise by
// name.
std::vector<api::kueue::PodSet> pod_sets_of(const Roles& roles, const std::vector<ManagedPodPtr>& pods, bool by_shape);

}  // namespace berth::jobs
