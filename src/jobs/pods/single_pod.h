// The next steps for a single pod and its workload. Pure, and called again after every change, as jobs/reconcile.
#pragma once

#include <vector>

#include "base/result.h"
#include "jobs/job_facts.h"
#include "jobs/pods/pod_plan.h"

namespace berth::jobs {

// `pod` is null when it does not exist. `workloads`: those with the pod as controller (same uid), and those that the
// pod controlled and that have no controller now, ordered by creation and uid.
PodPlan reconcile_pod(const ManagedPodPtr& pod, const std::vector<WorkloadPtr>& workloads, const JobFacts& facts,
                      Time now);

// The name of the pod's workload, whether or not it exists.
std::string workload_name_of(const ManagedPod& pod, bool is_short);

// The workload of a pod that ran before any queue knew it, as if it had waited: without a status. Of `facts` it needs
// the priority classes and what is copied from pods. Fails when the pod names a WorkloadPriorityClass that does not
// exist.
Result<api::kueue::Workload> workload_of_running(const Json& pod, const JobFacts& facts);

}  // namespace berth::jobs
