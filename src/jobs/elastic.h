// Jobs that ask to be elastic (KEP-77) where nobody changes their size while they run: the gate is off, or their kind
// cannot (JobAdapter::may_be_elastic).
#pragma once

#include "jobs/job_adapter.h"
#include "jobs/job_facts.h"
#include "jobs/reconcile.h"

namespace berth::jobs {

// Whether an elastic job has another size than the quota it runs with. The webhook refuses that.
bool is_resized(const JobAdapter& adapter, const Json& job, const api::kueue::Workload& workload);
// The event on such a job when it is stopped.
JobEvent stopped_for_its_size(const JobAdapter& adapter);

}  // namespace berth::jobs
