// The workload of a job as the job describes it: made from it, compared with it, and brought back in step
// with its labels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/kueue/types.h"
#include "base/json.h"
#include "base/result.h"
#include "jobs/job_adapter.h"
#include "jobs/job_facts.h"

namespace berth::jobs {

// Label of a workload that has, or had, a job: that job's uid.
inline constexpr std::string_view kJobUidLabel = "kueue.x-k8s.io/job-uid";

// The Workload that stands for a job which has none yet. Fails when the job names a WorkloadPriorityClass
// that is not there.
Result<Json> make_workload(const JobAdapter& adapter, const Json& job, const JobFacts& facts);
// The name that it has, or would have.
std::string workload_name_of(const JobAdapter& adapter, const Json& job);

// Merge patch: makes the job the controller of the workload, besides the owners that it has.
Json take_ownership(const JobAdapter& adapter, const Json& job, const api::kueue::Workload& workload);
bool is_controlled_by(const api::kueue::Workload& workload, const Json& job);

// Whether a workload describes the job as it is. `running`: the job is not suspended, so it shows what
// admission gave it. `by_hand`: somebody wrote the workload for the job, and what it says about places holds.
bool describes(const api::kueue::Workload& workload, const JobAdapter& adapter, const Json& job, bool running,
               bool by_hand);
// Merge patch of the spec of a workload that does not: after it, it does.
Json redescribe(const JobAdapter& adapter, const Json& job);

// What the job's labels and annotations say that its workload does not: queue (while it holds no quota),
// priority class, gates.
struct Drift {
  Json patch;                      // merge patch; an empty object when there is nothing
  std::vector<std::string> notes;  // one for each change that users are told of
  std::string missing_class;       // the WorkloadPriorityClass that is named and not there; "" none
};
Drift drift_of(const Json& job, const api::kueue::Workload& workload, const JobFacts& facts);

// "WorkloadPriorityClass "x" not found"
std::string class_not_found(std::string_view name);

}  // namespace berth::jobs
