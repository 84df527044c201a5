// What to do next for one job: a pure function of the job, its workloads and a few facts. Called again after
// every change; it names only what is still missing, so a lost or repeated call does no harm.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/kueue/job_report.h"
#include "api/kueue/types.h"
#include "base/json.h"
#include "base/time.h"
#include "jobs/job_adapter.h"

namespace berth::jobs {

using WorkloadPtr = std::shared_ptr<const api::kueue::Workload>;

struct Priority {
  std::int32_t value = 0;
  std::optional<api::kueue::PriorityClassRef> ref;
};

// What the reconciliation looks up. All of it comes from caches.
struct JobFacts {
  bool managed = true;  // its namespace is selected, it has a queue, and no managed owner
  FlavorLookup flavors;
  std::vector<std::string> label_keys_to_copy;  // of the job, to a workload that is made
  // By name; nullopt when there is no such class.
  std::function<std::optional<std::int32_t>(std::string_view)> workload_priority_class;
  std::function<std::optional<std::int32_t>(std::string_view)> priority_class;
  std::function<std::optional<std::pair<std::string, std::int32_t>>()> global_default_priority_class;  // name and value
};

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
struct JobEvent {
  bool warning = false;
  std::string reason, note;
};

using Step =
    std::variant<CreateWorkload, DeleteWorkload, DropWorkloadFinalizer, UpdateWorkload, ReportJob, PatchJob, JobEvent>;

// `job` is null when it does not exist (any more). `workloads` are those that name it as their controller
// (same uid), ordered by creation and uid.
std::vector<Step> reconcile(const JobAdapter& adapter, const JsonPtr& job,
                            const std::vector<WorkloadPtr>& workloads, const JobFacts& facts);

// The Workload that stands for a job which has none yet.
Json make_workload(const JobAdapter& adapter, const Json& job, const JobFacts& facts);

}  // namespace berth::jobs
