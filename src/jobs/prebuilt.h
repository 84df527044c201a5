// Prebuilt workloads: a client creates them for a job before the job exists.
// https://kueue.sigs.k8s.io/docs/concepts/workload/
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "jobs/job_facts.h"
#include "jobs/reconcile.h"

namespace berth::jobs {

// The name of the prebuilt workload that the job names: by an annotation, when `annotations` is true, else by a
// label. Empty: there is none, so a workload is created for the job.
std::string_view prebuilt_workload(const Json& job, bool annotations);

// The workload `name` if the job may use it; null when it does not exist, is being deleted or has another controller.
WorkloadPtr usable_prebuilt(std::string_view ns, std::string_view job_uid, std::string_view name,
                            const JobFacts& facts);

// Finishes a prebuilt workload that does not describe its job.
ReportJob finish_out_of_sync(const WorkloadPtr& workload);

}  // namespace berth::jobs
