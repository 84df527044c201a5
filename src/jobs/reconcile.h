// What to do next for one job: a pure function of the job, its workloads and a few facts. Called again after
// every change; it names only what is still missing, so a lost or repeated call does no harm.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "api/kueue/job_report.h"
#include "api/kueue/types.h"
#include "base/json.h"
#include "jobs/job_adapter.h"
#include "jobs/job_facts.h"

namespace berth::jobs {

// --- Steps, to be done in order; after a failed one the rest waits for the next call. ---

struct CreateWorkload {
  Json object;
};
struct DeleteWorkload {
  WorkloadPtr workload;
};  // and its finalizer
struct DropWorkloadFinalizer {
  WorkloadPtr workload;
};
struct UpdateWorkload {
  WorkloadPtr workload;
  Json patch;
};  // merge patch of metadata and spec
// What the job says about its workload now; the engine makes the transition of it. Told again on every call.
struct ReportJob {
  WorkloadPtr workload;
  api::kueue::JobReport report;
};
struct PatchJob {
  Json body;
  std::string subresource;
};
// An event about the job, or, when it is gone, about the owner that `of` names.
struct JobEvent {
  bool warning = false;
  std::string reason, note;
  WorkloadPtr of = nullptr;
};

using Step =
    std::variant<CreateWorkload, DeleteWorkload, DropWorkloadFinalizer, UpdateWorkload, ReportJob, PatchJob, JobEvent>;

// `job` is null when it does not exist (any more). `workloads` are those that name it as their controller
// (same uid), and those that did and have no controller now, ordered by creation and uid.
std::vector<Step> reconcile(const JobAdapter& adapter, const JsonPtr& job,
                            const std::vector<WorkloadPtr>& workloads, const JobFacts& facts);

}  // namespace berth::jobs
