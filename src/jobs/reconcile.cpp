#include "jobs/reconcile.h"

#include <algorithm>

#include "api/kueue/webhooks/admission.h"
#include "jobs/compose.h"
#include "jobs/elastic.h"
#include "jobs/follow_workload.h"
#include "jobs/prebuilt.h"
#include "jobs/slices.h"
#include "jobs/workload_name.h"
#include "jobs/workload_steps.h"

namespace berth::jobs {
namespace {

using namespace api::kueue;
using api::Condition;

constexpr std::string_view kOnHold = "Job is on hold";

std::string_view uid_of(const Json& job) { return string_at(job, {"metadata", "uid"}); }

Json own(const JobAdapter& adapter, const Json& job, const Workload& workload) {
  return take_ownership({adapter.kind().api_version(), adapter.kind().kind,
                         std::string(string_at(job, {"metadata", "name"})), std::string(uid_of(job)), true, true},
                        workload);
}

bool deleting(const Json& job) { return find_path(job, {"metadata", "deletionTimestamp"}) != nullptr; }

// The workload of a job that is gone. The event is on the job that owned it.
void clean_up_orphan(const WorkloadPtr& workload, const JobFacts& facts, std::vector<Step>& steps) {
  if (!let_orphan_go(workload, facts, steps) || workload->meta.deletion) return;
  JobEvent event = declared_finished(*workload);
  event.of = workload;
  steps.push_back(std::move(event));
}

// Workloads that lost their owner although it exists: the job owns them again. A finished one is deleted, so that the
// job gets a new one.
void take_back(const JobAdapter& adapter, const Json& job, const std::vector<WorkloadPtr>& workloads,
               std::vector<Step>& steps) {
  for (const auto& workload : workloads) {
    if (is_controlled_by(*workload, uid_of(job))) continue;
    if (!finished(*workload)) {
      steps.push_back(UpdateWorkload{workload, own(adapter, job, *workload)});
    } else if (!adapter.finished(job)) {
      remove(workload, steps);
    }
  }
}

// The workload that a running job goes on with although its pod sets cannot be read, as when the object that describes
// them is gone. Nobody can tell whether they still match.
WorkloadPtr keep_unreadable(const JobAdapter& adapter, const Json& job, const std::vector<WorkloadPtr>& workloads,
                            std::vector<Step>& steps) {
  const auto present = std::ranges::find_if(workloads, [](const auto& one) { return !one->meta.deletion; });
  if (adapter.suspended(job) || present == workloads.end()) return nullptr;
  const auto readable = adapter.check_pod_sets(job);
  if (readable) return nullptr;
  steps.push_back(cannot_compose(readable.error().message));
  return *present;
}

// Chooses the workload that represents the job, and deletes the others. Null when no workload matches; then none
// is deleted.
WorkloadPtr choose(const JobAdapter& adapter, const Json& job, const std::vector<WorkloadPtr>& workloads,
                   std::vector<Step>& steps) {
  const bool running = !adapter.suspended(job);
  // A job that has ended keeps its workload, whatever was changed since: nothing else would give the quota back.
  const bool comparable = !adapter.stopping(job) && !adapter.finished(job);
  WorkloadPtr chosen;
  for (const auto& workload : workloads) {
    if (workload->meta.deletion) continue;
    if (chosen == nullptr &&
        (!comparable || finished(*workload) || describes(*workload, adapter.pod_sets(job), job, running, false)))
      chosen = workload;
  }
  if (chosen == nullptr) chosen = keep_unreadable(adapter, job, workloads, steps);
  for (const auto& workload : workloads) {
    if (chosen != nullptr && workload != chosen && !workload->meta.deletion) remove(workload, steps);
  }
  return chosen;
}

void create_workload(const JobAdapter& adapter, const Json& job, const JobFacts& facts, std::vector<Step>& steps) {
  const auto ns = string_at(job, {"metadata", "namespace"});
  const std::string name = workload_name_of(adapter, job, facts.gates.short_names);
  const std::string key = api::object_key(ns, name);
  if (const WorkloadPtr there = facts.workload(ns, name)) {
    if (!has_controller(*there)) return steps.push_back(UpdateWorkload{there, own(adapter, job, *there)});
    return steps.push_back(name_is_taken(key));
  }
  if (const auto why = unknown_pod_class(adapter, job, facts)) return steps.push_back(cannot_compose(*why));
  auto fresh = make_workload(adapter, job, facts);
  if (!fresh) return steps.push_back(JobEvent{true, std::string(kClassNotFound), fresh.error().message});
  steps.push_back(CreateWorkload{std::move(*fresh), created(key)});
}

void without_matching_workload(const JobAdapter& adapter, const Json& job, const std::vector<WorkloadPtr>& workloads,
                               const JobFacts& facts, std::vector<Step>& steps) {
  WorkloadPtr old;
  for (const auto& workload : workloads) {
    if (!workload->meta.deletion) old = workload;
  }
  if (!adapter.suspended(job) || adapter.stopping(job)) {
    if (old && !adapter.suspended(job) && is_resized(adapter, job, *old))
      steps.push_back(stopped_for_its_size(adapter));
    stop(adapter, job, old,
         old ? "No matching Workload; the job is stopped" : "Missing Workload; unable to run the job", steps);
    return;
  }
  const auto checked = adapter.check_pod_sets(job);
  if (!checked) steps.push_back(cannot_compose(checked.error().message));
  if (old && checked && !has_condition(*old, kQuotaReserved)) {  // the job changed while the workload waits
    steps.push_back(UpdateWorkload{old, redescribe(adapter.pod_sets(job), job)});
    steps.push_back(
        JobEvent{false, "UpdatedWorkload", "Updated not matching Workload for suspended job: " + key_of(*old)});
  } else if (old && !old->active) {  // deactivated: it gives its quota back and stays deactivated
    JobReport now;
    now.stopped = !adapter.active(job);
    steps.push_back(report(old, std::move(now)));
  } else if (old) {
    remove(old, steps);
  } else if (checked && workloads.empty()) {  // otherwise the old one of the same name is still being deleted
    create_workload(adapter, job, facts, steps);
  }
}

// A client created the workload, and the job names it. The job becomes its owner when it exists; it is never created
// or changed here.
void with_prebuilt_workload(const JobAdapter& adapter, const Json& job, std::string_view name,
                            const std::vector<WorkloadPtr>& workloads, const JobFacts& facts,
                            std::vector<Step>& steps) {
  const WorkloadPtr named = usable_prebuilt(string_at(job, {"metadata", "namespace"}), uid_of(job), name, facts);
  for (const auto& workload : workloads) {
    if (!workload->meta.deletion && (!named || workload->meta.uid != named->meta.uid)) remove(workload, steps);
  }
  const bool over = adapter.finished(job).has_value();
  if (!named) {
    if (over) return;
    const auto ns = string_at(job, {"metadata", "namespace"});
    const std::string key = api::object_key(ns, name);
    stop(adapter, job, workloads.empty() ? nullptr : workloads.front(), "missing workload", steps);
    steps.push_back(facts.workload(ns, name) ? prebuilt_is_taken(key) : prebuilt_is_missing(key));
  } else if (!is_controlled_by(*named, uid_of(job))) {
    steps.push_back(UpdateWorkload{named, own(adapter, job, *named)});
  } else if (const std::string what = over || finished(*named) || adapter.stopping(job)
                                          ? ""
                                          : mismatch(*named, adapter.pod_sets(job), job, !adapter.suspended(job), true);
             !what.empty() && keep_unreadable(adapter, job, {named}, steps) == nullptr) {
    steps.push_back(finish_out_of_sync(named));
    steps.push_back(is_out_of_sync(*named, what));
  } else {
    with_workload(adapter, job, named, facts, steps);
  }
}

// Marks a job that was suspended because its owner waits. Other jobs are not resumed: their owner suspended them.
constexpr std::string_view kSuspendedForOwner = "berth.dev/suspended-for-owner";

// A job of a managed owner runs while the owner is admitted.
void follow_ancestor(const JobAdapter& adapter, const Json& job, bool waits, std::vector<Step>& steps) {
  const bool suspended = adapter.suspended(job);
  const bool marked = find_path(job, {"metadata", "annotations", kSuspendedForOwner}) != nullptr;
  if (adapter.finished(job) || (waits ? suspended : !marked)) return;
  Json patch = adapter.suspension(waits);
  ensure_path(patch, {"metadata", "annotations", kSuspendedForOwner}) = waits ? Json("true") : Json(nullptr);
  steps.push_back(PatchJob{std::move(patch), "", waits ? PatchJob::Aim::kStop : PatchJob::Aim::kStart});
  if (waits)
    steps.push_back(JobEvent{false, "Suspended", "The job that owns this one is not admitted; this one is suspended"});
}

// A job that its operator refuses does not run. Its workload stays and gives its quota back.
void hold(const JobAdapter& adapter, const Json& job, const std::vector<WorkloadPtr>& workloads,
          std::vector<Step>& steps) {
  const bool stopped = adapter.suspended(job) && !adapter.stopping(job);
  if (!stopped) stop(adapter, job, workloads.empty() ? nullptr : workloads.front(), kOnHold, steps);
  for (const auto& workload : workloads) {
    if (finished(*workload) || !is_controlled_by(*workload, uid_of(job))) continue;
    JobReport now;
    now.stopped = stopped;
    now.on_hold = kOnHold;
    steps.push_back(report(workload, std::move(now)));
  }
}

// A client took the job out of the queue while it waited, for example by removing its queue name. Its workload must not
// take quota for a job that will not start. A job that runs keeps its quota until it ends, and a prebuilt workload is
// its creator's.
void leave_queue(const JobAdapter& adapter, const Json& job, const std::vector<WorkloadPtr>& workloads,
                 const JobFacts& facts, std::vector<Step>& steps) {
  const auto outcome = adapter.finished(job);
  for (const auto& workload : workloads) {
    if (!outcome || finished(*workload) || !is_controlled_by(*workload, uid_of(job))) continue;
    steps.push_back(finish(workload, outcome->succeeded ? "Succeeded" : "Failed", outcome->message));
  }
  const bool waits = adapter.suspended(job) && !adapter.stopping(job) && !adapter.active(job) && !outcome;
  if (!waits || !prebuilt_workload(job, facts.gates.identifier_annotations).empty()) return;
  for (const auto& workload : workloads) {
    if (finished(*workload) || !is_controlled_by(*workload, uid_of(job))) continue;
    steps.push_back(DeleteWorkload{workload});
    steps.push_back(JobEvent{false, "DeletedWorkload",
                             "The job is not queued any more; deleted its Workload: " + key_of(*workload)});
  }
}

// Somebody's finalizer keeps a job that is being deleted. It runs on until it ends or must stop, and is not queued
// again.
void with_leaving_job(const JobAdapter& adapter, const Json& job, const WorkloadPtr& workload,
                      std::vector<Step>& steps) {
  if (finished(*workload)) return;
  if (const auto outcome = adapter.finished(job)) {
    steps.push_back(finish(workload, outcome->succeeded ? "Succeeded" : "Failed", outcome->message));
  } else if (has_condition(*workload, kEvicted)) {
    JobReport now;
    now.stopped = now.for_good = adapter.suspended(job) && !adapter.stopping(job) && !adapter.active(job);
    steps.push_back(report(workload, std::move(now)));
    stop(adapter, job, workload, eviction_message(*workload), steps);
  }
}

// For a job that does not exist or is being deleted.
std::vector<Step> let_go(const JsonPtr& job, const std::vector<WorkloadPtr>& workloads, const JobFacts& facts) {
  std::vector<Step> steps;
  for (const auto& workload : workloads) {
    if (job == nullptr) {
      clean_up_orphan(workload, facts, steps);
    } else if (holds_finalizer(*workload)) {
      // The garbage collector that deletes the job's objects must not have to wait.
      steps.push_back(DropWorkloadFinalizer{workload});
    }
  }
  return steps;
}

}  // namespace

std::vector<Step> reconcile(const JobAdapter& adapter, const JsonPtr& job, const std::vector<WorkloadPtr>& workloads,
                            const JobFacts& facts) {
  if (job == nullptr) return let_go(job, workloads, facts);
  const OneLook look(adapter, *job);
  std::vector<Step> steps;
  if (deleting(*job)) {
    steps = let_go(job, workloads, facts);
    for (const auto& workload : workloads) {
      if (facts.managed && !workload->meta.deletion) with_leaving_job(adapter, *job, workload, steps);
    }
    return steps;
  }
  const bool elastic = is_elastic(adapter, *job, facts);
  for (const auto& workload : workloads) {
    if (!workload->meta.deletion) continue;
    if (elastic && is_spare(*workload, workloads)) {
      if (holds_finalizer(*workload)) steps.push_back(DropWorkloadFinalizer{workload});
      continue;
    }
    // A client deletes the workload of an existing job: the job stops first, then the finalizer is removed and a new
    // workload is created.
    if (!adapter.suspended(*job) || adapter.stopping(*job)) {
      if (!adapter.finished(*job)) stop(adapter, *job, workload, "Workload is deleted", steps);
    }
    const bool stopped = !adapter.stopping(*job) || adapter.finished(*job);
    if (steps.empty() && stopped && holds_finalizer(*workload)) steps.push_back(DropWorkloadFinalizer{workload});
    return steps;
  }
  if (facts.nested_too_deep)
    steps.push_back(JobEvent{true, "JobNestingTooDeep",
                             "The search for a managed owner ended after " + std::to_string(kMaxOwners) + " owners"});
  if (!facts.managed) {
    if (facts.has_ancestor) {
      follow_ancestor(adapter, *job, facts.ancestor_waits && !facts.gates.skip_children, steps);
    } else {
      leave_queue(adapter, *job, workloads, facts, steps);
    }
    return steps;
  }
  if (adapter.on_hold(*job)) {
    hold(adapter, *job, workloads, steps);
    return steps;
  }
  if (const auto name = prebuilt_workload(*job, facts.gates.identifier_annotations); !name.empty()) {
    with_prebuilt_workload(adapter, *job, name, workloads, facts, steps);
    return steps;
  }
  const std::size_t said = steps.size();
  take_back(adapter, *job, workloads, steps);
  if (steps.size() > said) return steps;
  if (elastic) {
    if (!with_slices(adapter, *job, workloads, facts, steps))
      without_matching_workload(adapter, *job, unfinished(workloads), facts, steps);
    return steps;
  }
  if (const WorkloadPtr chosen = choose(adapter, *job, workloads, steps)) {
    with_workload(adapter, *job, chosen, facts, steps);
  } else if (!adapter.finished(*job)) {
    without_matching_workload(adapter, *job, workloads, facts, steps);
  }
  return steps;
}

}  // namespace berth::jobs
