#include "jobs/prebuilt.h"

#include "api/kueue/names.h"
#include "jobs/compose.h"
#include "jobs/workload_steps.h"

namespace berth::jobs {

std::string_view prebuilt_workload(const Json& job, bool annotations) {
  if (annotations) {
    const auto name = string_at(job, {"metadata", "annotations", api::kueue::kPrebuiltWorkload});
    if (!name.empty()) return name;
  }
  return string_at(job, {"metadata", "labels", api::kueue::kPrebuiltWorkload});
}

WorkloadPtr usable_prebuilt(std::string_view ns, std::string_view job_uid, std::string_view name,
                            const JobFacts& facts) {
  WorkloadPtr named = facts.workload(ns, name);
  const bool usable = named && !named->meta.deletion && (is_controlled_by(*named, job_uid) || !has_controller(*named));
  return usable ? named : nullptr;
}

ReportJob finish_out_of_sync(const WorkloadPtr& workload) {
  return finish(workload, "OutOfSync", "The prebuilt workload is out of sync with its user job");
}

}  // namespace berth::jobs
