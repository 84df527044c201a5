// Steps about workloads that every kind of job takes, and the questions about workloads that decide them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/job_facts.h"
#include "jobs/reconcile.h"

namespace berth::jobs {

bool has_condition(const api::kueue::Workload& workload, std::string_view type);  // its status is True
bool finished(const api::kueue::Workload& workload);
bool has_controller(const api::kueue::Workload& workload);
bool holds_finalizer(const api::kueue::Workload& workload);
// Its topology assignment is made after its checks are ready, and does not exist yet.
bool waits_for_places(const api::kueue::Workload& workload);
std::string eviction_message(const api::kueue::Workload& workload);  // "" when it is not evicted
std::string key_of(const api::kueue::Workload& workload);            // "namespace/name"

ReportJob report(const WorkloadPtr& workload, api::kueue::JobReport what);
ReportJob finish(const WorkloadPtr& workload, std::string reason, std::string message);

JobEvent created(const std::string& key);
JobEvent declared_finished(const api::kueue::Workload& workload);
JobEvent name_is_taken(const std::string& key);
JobEvent cannot_compose(std::string why);
// The warning that pods of an admitted workload cannot start before a flavor of its admission exists again; nullopt
// when all of them exist. It is no reason to give the workload up: what runs on the flavor runs on.
std::optional<JobEvent> waits_for_flavor(const api::kueue::Workload& workload, const FlavorLookup& flavors);

// Deletes a workload that does not match its job.
void remove(const WorkloadPtr& workload, std::vector<Step>& steps);
// Finishes the workload of a job that is gone, then drops its finalizer. Returns whether the finalizer is dropped now.
bool let_orphan_go(const WorkloadPtr& workload, const JobFacts& facts, std::vector<Step>& steps);
// Updates the workload from the labels and annotations of the job. Returns whether there was anything to do.
bool catch_up(const Json& job, const WorkloadPtr& workload, const JobFacts& facts, std::vector<Step>& steps);

}  // namespace berth::jobs
