// The next steps for one job: a pure function of the job, its workloads and a few facts. It is called again after
// every change and returns only the steps that are still missing, so a lost or repeated call does no harm.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "api/kueue/job_report.h"
#include "api/kueue/types.h"
#include "base/json.h"
#include "jobs/job_adapter.h"
#include "jobs/job_facts.h"

namespace berth::jobs {

// --- Steps, to be carried out in order. When a step fails, the rest waits for the next call. ---

// An event on the job or, when the job is gone, on the owner of the workload `of`; or on the workload `about`.
struct JobEvent {
  bool warning = false;
  std::string reason, note;
  WorkloadPtr of = nullptr;
  WorkloadPtr about = nullptr;
};
// AlreadyExists: ours, which the cache does not show yet, or another client's. Then there is no event; the job is
// looked at again when that workload changes.
struct CreateWorkload {
  Json object;
  JobEvent event;  // once it is created
};
// Requests the deletion. A later call removes the finalizer. NotFound: it is done.
struct DeleteWorkload {
  WorkloadPtr workload;
};
// NotFound: it is done.
struct DropWorkloadFinalizer {
  WorkloadPtr workload;
};
// A merge patch of metadata and spec.
struct UpdateWorkload {
  WorkloadPtr workload;
  Json patch;
};
// What the job reports about its workload now; the engine makes the transition that follows. Reported on every call.
struct ReportJob {
  WorkloadPtr workload;
  api::kueue::JobReport report;
};
struct PatchJob {
  enum class Aim : std::uint8_t { kStop, kStart };
  Json body;
  std::string subresource = {};
  Aim aim = Aim::kStop;
  WorkloadPtr workload = nullptr;  // of the job; may be null
};

using Step =
    std::variant<CreateWorkload, DeleteWorkload, DropWorkloadFinalizer, UpdateWorkload, ReportJob, PatchJob, JobEvent>;

// `job` is null when it does not exist. `workloads`: those with the job as controller (same uid), and those that the
// job controlled and that have no controller now, ordered by creation and uid.
std::vector<Step> reconcile(const JobAdapter& adapter, const JsonPtr& job, const std::vector<WorkloadPtr>& workloads,
                            const JobFacts& facts);

}  // namespace berth::jobs
