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

// Events on a job or pod that waits for the prebuilt workload with this key: it does not exist, or it cannot be used.
JobEvent prebuilt_is_missing(const std::string& key);
JobEvent prebuilt_is_taken(const std::string& key);

// Finishes a prebuilt workload that does not describe its job; `what`: the mismatch(). The event is for the job or
// pods.
ReportJob finish_out_of_sync(const WorkloadPtr& workload);
JobEvent is_out_of_sync(const api::kueue::Workload& workload, const std::string& what);

}  // namespace berth::jobs
