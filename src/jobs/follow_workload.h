// A job follows its workload: it starts when the workload is admitted, stops when it is evicted, and reports what
// became of its pods.
#pragma once

#include <string_view>
#include <vector>

#include "jobs/job_adapter.h"
#include "jobs/job_facts.h"
#include "jobs/reconcile.h"

namespace berth::jobs {

// One request of a stop; the first one comes with an event. `workload` has the templates to restore; null: none does.
void stop(const JobAdapter& adapter, const Json& job, const WorkloadPtr& workload, std::string_view message,
          std::vector<Step>& steps);

void with_finished_workload(const JobAdapter& adapter, const Json& job, const WorkloadPtr& workload,
                            std::vector<Step>& steps);
void with_workload(const JobAdapter& adapter, const Json& job, const WorkloadPtr& workload, const JobFacts& facts,
                   std::vector<Step>& steps);
// A slice that took the quota over from the one with which the job started, and whose checks are not ready yet: the
// pods run on.
bool runs_on(const api::kueue::Workload& workload);
// The pods of the job that are done, as counted for this workload: see JobReport::reclaimable.
std::vector<api::kueue::ReclaimablePod> reclaimable(const JobAdapter& adapter, const Json& job,
                                                    const api::kueue::Workload& workload);

}  // namespace berth::jobs
