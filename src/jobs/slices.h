// Elastic jobs (KEP-77): a job that changes its size while it runs has a chain of workloads, its slices. Shrinking
// lowers the count of the slice that holds quota. Growing makes a new slice for the whole size that names the old one;
// when it gets quota for the difference, the old one is finished. New pods have a scheduling gate until then.
#pragma once

#include <string_view>
#include <vector>

#include "jobs/job_adapter.h"
#include "jobs/job_facts.h"
#include "jobs/reconcile.h"

namespace berth::jobs {

// The gate is on, the kind can, and the job asks for it.
bool is_elastic(const JobAdapter& adapter, const Json& job, const JobFacts& facts);
bool is_slice(const api::kueue::Workload& workload);

// A workload that is being deleted and whose job goes on without it: it is finished, or it waits to replace another
// one that holds quota.
bool is_spare(const api::kueue::Workload& workload, const std::vector<WorkloadPtr>& all);
std::vector<WorkloadPtr> unfinished(const std::vector<WorkloadPtr>& workloads);

// The slices of a job that count. At most one holds quota, and at most one waits to replace it.
struct Chain {
  WorkloadPtr current;               // holds quota, or is the one that waits; null: there is none
  WorkloadPtr growth;                // waits to replace `current`, which holds quota; null: none does
  std::vector<WorkloadPtr> surplus;  // to be finished
};
// `workloads`: ordered by creation and uid.
Chain chain_of(const std::vector<WorkloadPtr>& workloads);

// The next steps of an elastic job. False: its workload differs from it in more than numbers of pods, so it is treated
// like any other job.
bool with_slices(const JobAdapter& adapter, const Json& job, const std::vector<WorkloadPtr>& workloads,
                 const JobFacts& facts, std::vector<Step>& steps);

}  // namespace berth::jobs
