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

JobEvent prebuilt_is_missing(const std::string& key) {
  return cannot_compose("the prebuilt Workload " + key + " (" + std::string(api::kueue::kPrebuiltWorkload) +
                        ") does not exist: create it");
}

JobEvent prebuilt_is_taken(const std::string& key) {
  return cannot_compose("the prebuilt Workload " + key + " (" + std::string(api::kueue::kPrebuiltWorkload) +
                        ") is being deleted or belongs to somebody else: name another one");
}

JobEvent is_out_of_sync(const api::kueue::Workload& workload, const std::string& what) {
  return {true, "OutOfSync",
          "The prebuilt Workload " + key_of(workload) +
              " does not describe this object, so it is finished. They differ in " + what +
              ". Delete both and create them so that they agree"};
}

ReportJob finish_out_of_sync(const WorkloadPtr& workload) {
  return finish(workload, "OutOfSync", "The prebuilt workload is out of sync with its user job");
}

}  // namespace berth::jobs
