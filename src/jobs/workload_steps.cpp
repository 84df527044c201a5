#include "jobs/workload_steps.h"

#include <algorithm>
#include <utility>

#include "api/owners.h"
#include "base/planted.h"
#include "jobs/compose.h"

namespace berth::jobs {

using namespace api::kueue;

bool has_condition(const Workload& w, std::string_view type) { return api::is_true(w.status.conditions, type); }

bool finished(const Workload& w) { return has_condition(w, kFinished); }

bool has_controller(const Workload& w) { return api::controller_of(w.meta) != nullptr; }

bool holds_finalizer(const Workload& w) {
  return std::find(w.meta.finalizers.begin(), w.meta.finalizers.end(), kFinalizer) != w.meta.finalizers.end();
}

bool waits_for_places(const Workload& w) {
  if (!w.status.admission) return false;
  const auto& assignments = w.status.admission->pod_set_assignments;
  return std::any_of(assignments.begin(), assignments.end(), [](const PodSetAssignment& assignment) {
    return assignment.delayed_topology == DelayedTopology::kPending && !assignment.topology_assignment;
  });
}

std::string eviction_message(const Workload& w) {
  const api::Condition* evicted = api::find_condition(w.status.conditions, kEvicted);
  return evicted == nullptr ? std::string() : evicted->message;
}

std::string key_of(const Workload& w) { return api::object_key(w.meta); }

ReportJob report(const WorkloadPtr& workload, JobReport what) {
  what.workload_version = workload->meta.resource_version;
  return {workload, std::move(what)};
}

ReportJob finish(const WorkloadPtr& workload, std::string reason, std::string message) {
  JobReport what;
  what.finished = JobReport::Outcome{std::move(reason), std::move(message)};
  return report(workload, std::move(what));
}

JobEvent created(const std::string& key) { return {false, "CreatedWorkload", "Created Workload: " + key}; }

JobEvent declared_finished(const Workload& w) {
  return {false, "FinishedWorkload", "Workload '" + key_of(w) + "' is declared finished"};
}

JobEvent name_is_taken(const std::string& key) {
  return {true, "ErrWorkloadCompose",
          "Workload " + key + " has the name of this job's workload and belongs to somebody else: delete it"};
}

JobEvent cannot_compose(std::string why) { return {true, "ErrWorkloadCompose", std::move(why)}; }

std::optional<JobEvent> waits_for_flavor(const Workload& w, const FlavorLookup& flavors) {
  if (!w.status.admission) return std::nullopt;
  for (const auto& assignment : w.status.admission->pod_set_assignments) {
    for (const auto& [resource, flavor] : assignment.flavors) {
      if (flavors(flavor) != nullptr) continue;
      return JobEvent{true, "FailedToStart",
                      "ResourceFlavor " + flavor + " does not exist: create it, or set spec.active of workload " +
                          key_of(w) + " to false and back to true to get another flavor"};
    }
  }
  return std::nullopt;
}

void remove(const WorkloadPtr& workload, std::vector<Step>& steps) {
  steps.push_back(DeleteWorkload{workload});
  steps.push_back(JobEvent{false, "DeletedWorkload", "Deleted not matching Workload: " + key_of(*workload)});
}

bool let_orphan_go(const WorkloadPtr& workload, const JobFacts& facts, std::vector<Step>& steps) {
  if (planted(Planted::kKeptOrphan)) return false;
  if (facts.gates.finish_orphaned && !finished(*workload) && !workload->meta.deletion) {
    steps.push_back(finish(workload, "OwnerNotFound", "The workload's owner no longer exists"));
    return false;
  }
  if (!holds_finalizer(*workload)) return false;
  steps.push_back(DropWorkloadFinalizer{workload});
  return true;
}

bool catch_up(const Json& job, const WorkloadPtr& workload, const JobFacts& facts, std::vector<Step>& steps) {
  Drift drift = drift_of(job, *workload, facts);
  if (!drift.missing_class.empty())
    steps.push_back(JobEvent{true, std::string(kClassNotFound), class_not_found(drift.missing_class)});
  if (drift.patch.as_object().empty()) return false;
  steps.push_back(UpdateWorkload{workload, std::move(drift.patch)});
  for (auto& note : drift.notes) steps.push_back(JobEvent{false, "UpdatedWorkload", std::move(note)});
  return true;
}

}  // namespace berth::jobs
