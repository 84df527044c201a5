// The requests for the steps of jobs/reconcile that are the same for every kind of job: those about workloads.
#pragma once

#include <optional>

#include "controller/plan_runner.h"
#include "controller/shell.h"
#include "jobs/reconcile.h"

namespace berth::controller {

// nullopt: the step creates a workload, or is about the job. `shell` must outlive the request.
std::optional<PlannedRequest> request_for(Shell& shell, jobs::Step step);

}  // namespace berth::controller
