// The next steps for a group of pods and its workload. Pure, and called again after every change, as jobs/reconcile.
// https://kueue.sigs.k8s.io/docs/tasks/run/plain_pods/#running-a-group-of-pods-to-be-admitted-together
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "jobs/job_facts.h"
#include "jobs/pods/pod_plan.h"

namespace berth::jobs {

// A deleted pod of a group keeps its place this long after its grace period, so that its workload keeps an owner until
// another pod comes. Then it is released: nobody may want the group any more.
inline constexpr Duration kReplacementWait = std::chrono::minutes(5);

// The key of the group is "namespace/name", and its workload has the same one. `pods`: all pods of the group, in any
// order.
PodPlan reconcile_group(const std::string& ns, const std::string& name, std::vector<ManagedPodPtr> pods,
                        const JobFacts& facts, Time now);

// Whether the workload was made for a group of pods.
bool is_group_workload(const api::kueue::Workload& workload);

}  // namespace berth::jobs
