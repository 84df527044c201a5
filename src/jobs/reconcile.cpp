#include "jobs/reconcile.h"

#include <algorithm>
#include <charconv>

#include "api/kueue/names.h"
#include "base/merge_patch.h"
#include "jobs/workload_name.h"

namespace berth::jobs {
namespace {

using namespace api::kueue;
using api::Condition;

constexpr std::string_view kJobUidLabel = "kueue.x-k8s.io/job-uid";

std::string_view label(const Json& job, std::string_view key) {
  return string_at(job, {"metadata", "labels", key});
}

bool deleting(const Json& job) { return find_path(job, {"metadata", "deletionTimestamp"}) != nullptr; }

bool has_condition(const Workload& w, std::string_view type) {
  return api::is_true(w.status.conditions, type);
}

bool reserved(const Workload& w) { return has_condition(w, kQuotaReserved); }

std::string key_of(const Workload& w) { return api::object_key(w.meta); }

Priority resolve_priority(const JobAdapter& adapter, const Json& job, const JobFacts& facts) {
  if (const auto name = label(job, kPriorityClassLabel); !name.empty()) {
    if (const auto value = facts.workload_priority_class(name)) {
      return {*value, PriorityClassRef{std::string(kGroup), "WorkloadPriorityClass", std::string(name)}};
    }
  }
  if (const auto name = adapter.priority_class(job); !name.empty()) {
    if (const auto value = facts.priority_class(name))
      return {*value, PriorityClassRef{"scheduling.k8s.io", "PriorityClass", name}};
  }
  if (const auto fallback = facts.global_default_priority_class()) {
    return {fallback->second, PriorityClassRef{"scheduling.k8s.io", "PriorityClass", fallback->first}};
  }
  return {};
}

// The parts of two pod specs that decide what runs and how much it takes. Where it may run is compared only
// while nothing was added for admission.
bool same_template(const Json& a, const Json& b, bool placement_too) {
  std::vector<std::string_view> parts = {"containers", "initContainers"};
  if (placement_too) parts.insert(parts.end(), {"nodeSelector", "tolerations", "affinity"});
  for (const auto part : parts) {
    const Json* left = find_path(a, {"spec", part});
    const Json* right = find_path(b, {"spec", part});
    const auto nothing = [](const Json* v) {
      return v == nullptr || v->is_null() || (v->is_object() && v->as_object().empty()) ||
             (v->is_array() && v->as_array().empty());
    };
    if (nothing(left) && nothing(right)) continue;
    if (nothing(left) || nothing(right) || !json_equal(*left, *right)) return false;
  }
  return true;
}

bool same_pod_sets(const std::vector<PodSet>& job, const Workload& workload, bool running) {
  if (job.size() != workload.pod_sets.size()) return false;
  for (std::size_t i = 0; i < job.size(); ++i) {
    const PodSet& wanted = workload.pod_sets[i];
    std::int32_t count = wanted.count;
    if (running && workload.status.admission) {  // partial admission: the job runs with what it was given
      for (const auto& assignment : workload.status.admission->pod_set_assignments) {
        if (assignment.name == wanted.name) count = assignment.count;
      }
    }
    if (job[i].name != wanted.name || job[i].count != count || job[i].min_count != wanted.min_count)
      return false;
    const bool untouched = !running && !reserved(workload);  // nothing was added for admission
    if (untouched && job[i].topology_request != wanted.topology_request) return false;
    if (!same_template(*job[i].template_, *wanted.template_, untouched)) return false;
  }
  return true;
}

std::string eviction_message(const Workload& w) {
  const Condition* evicted = api::find_condition(w.status.conditions, kEvicted);
  return evicted == nullptr ? std::string() : evicted->message;
}

// One step of a stop, and the event with its first one.
void stop(const JobAdapter& adapter, const Json& job, const Workload& workload, std::string_view message,
          std::vector<Step>& steps) {
  const bool first = !adapter.suspended(job);
  if (auto patch = adapter.next_stop(job, workload.pod_sets)) {
    steps.push_back(PatchJob{std::move(patch->body), std::move(patch->subresource)});
    if (first) steps.push_back(JobEvent{false, "Stopped", std::string(message)});
  }
}

// What the job's labels say that its workload does not: queue, priority class. Only while it holds no quota.
Json workload_drift(const JobAdapter& adapter, const Json& job, const Workload& w, const JobFacts& facts) {
  Json patch = JsonObject();
  if (const auto queue = label(job, kQueueLabel); !reserved(w) && queue != w.queue_name)
    ensure_path(patch, {"spec", "queueName"}) = queue;
  const auto class_name = label(job, kPriorityClassLabel);
  if (!class_name.empty() && (!w.priority_class_ref || w.priority_class_ref->name != class_name)) {
    const Priority priority = resolve_priority(adapter, job, facts);
    if (priority.ref) {
      ensure_path(patch, {"spec", "priority"}) = priority.value;
      ensure_path(patch, {"spec", "priorityClassRef"}) = JsonObject{
          {"group", priority.ref->group}, {"kind", priority.ref->kind}, {"name", priority.ref->name}};
    }
  }
  const auto gates = string_at(job, {"metadata", "annotations", kAdmissionGatedBy});
  const auto present = w.meta.annotations.find(kAdmissionGatedBy);
  if (present != w.meta.annotations.end() && present->second != gates) {
    Json& value = ensure_path(patch, {"metadata", "annotations", kAdmissionGatedBy});
    if (!gates.empty()) value = gates;  // else null: removed
  }
  return patch;
}

bool holds_finalizer(const Workload& w) {
  return std::find(w.meta.finalizers.begin(), w.meta.finalizers.end(), kFinalizer) != w.meta.finalizers.end();
}

ReportJob report(const WorkloadPtr& workload, JobReport what) {
  what.workload_version = workload->meta.resource_version;
  return {workload, std::move(what)};
}

ReportJob finish(const WorkloadPtr& workload, std::string reason, std::string message) {
  JobReport what;
  what.finished = JobReport::Outcome{std::move(reason), std::move(message)};
  return report(workload, std::move(what));
}

// The workload of a job that is gone.
void clean_up_orphan(const WorkloadPtr& workload, std::vector<Step>& steps) {
  if (!has_condition(*workload, kFinished) && !workload->meta.deletion) {
    steps.push_back(finish(workload, "OwnerNotFound", "The owner of the workload does not exist any more"));
  } else if (holds_finalizer(*workload)) {
    steps.push_back(DropWorkloadFinalizer{workload});
  }
}

// Chooses the workload that stands for the job; the others are deleted. Null when none does.
WorkloadPtr choose(const std::vector<PodSet>& pod_sets, bool running,
                   const std::vector<WorkloadPtr>& workloads, std::vector<Step>& steps, bool comparable) {
  WorkloadPtr chosen;
  for (const auto& workload : workloads) {
    if (workload->meta.deletion) continue;
    if (chosen == nullptr &&
        (!comparable || has_condition(*workload, kFinished) || same_pod_sets(pod_sets, *workload, running)))
      chosen = workload;
  }
  for (const auto& workload : workloads) {
    if (chosen == nullptr || workload == chosen || workload->meta.deletion) continue;
    steps.push_back(DeleteWorkload{workload});
    steps.push_back(
        JobEvent{false, "DeletedWorkload", "Deleted not matching Workload: " + key_of(*workload)});
  }
  return chosen;
}

void without_matching_workload(const JobAdapter& adapter, const Json& job,
                               const std::vector<WorkloadPtr>& workloads, const JobFacts& facts,
                               std::vector<Step>& steps) {
  WorkloadPtr old;
  for (const auto& workload : workloads) {
    if (!workload->meta.deletion) old = workload;
  }
  if (!adapter.suspended(job) || adapter.stopping(job)) {
    static const Workload kNone;
    stop(adapter, job, old ? *old : kNone,
         old ? "No matching Workload; the job is stopped" : "Missing Workload; unable to run the job", steps);
    return;
  }
  const auto checked = adapter.check_pod_sets(job);
  if (!checked) steps.push_back(JobEvent{true, "ErrWorkloadCompose", checked.error().message});
  if (old && checked && !reserved(*old)) {  // it was changed while it waits
    Json fresh = make_workload(adapter, job, facts);
    steps.push_back(UpdateWorkload{
        old,
        JsonObject{{"spec", JsonObject{{"podSets", fresh.as_object()["spec"].as_object()["podSets"]}}}}});
    steps.push_back(JobEvent{false, "UpdatedWorkload",
                             "Updated not matching Workload for suspended job: " + key_of(*old)});
    return;
  }
  if (old) {
    steps.push_back(DeleteWorkload{old});
    steps.push_back(JobEvent{false, "DeletedWorkload", "Deleted not matching Workload: " + key_of(*old)});
    return;
  }
  if (!checked || !workloads.empty()) return;  // the old one of the same name is still going
  Json fresh = make_workload(adapter, job, facts);
  const std::string key =
      api::object_key(string_at(fresh, {"metadata", "namespace"}), string_at(fresh, {"metadata", "name"}));
  steps.push_back(CreateWorkload{std::move(fresh)});
  steps.push_back(JobEvent{false, "CreatedWorkload", "Created Workload: " + key});
}

void start(const JobAdapter& adapter, const Json& job, const WorkloadPtr& workload, const JobFacts& facts,
           std::vector<Step>& steps) {
  const auto infos = pod_set_infos(*workload, facts.flavors);
  const Result<Json> started = infos ? adapter.started(job, *infos) : tl::unexpected(infos.error());
  if (!started) {
    steps.push_back(finish(workload, "FailedToStart", started.error().message));
    return;
  }
  steps.push_back(PatchJob{make_merge_patch(job, *started), ""});
  steps.push_back(
      JobEvent{false, "Started", "Admitted by clusterQueue " + workload->status.admission->cluster_queue});
}

void with_finished_workload(const JobAdapter& adapter, const Json& job, const WorkloadPtr& workload,
                            std::vector<Step>& steps) {
  if (!adapter.finished(job)) stop(adapter, job, *workload, "The workload is finished", steps);
  if (!holds_finalizer(*workload)) return;
  steps.push_back(DropWorkloadFinalizer{workload});
  steps.push_back(JobEvent{false, "FinishedWorkload", "Workload '" + key_of(*workload) + "' is declared finished"});
}

// Its places are decided after its checks, and have not been yet.
bool waits_for_places(const Workload& w) {
  if (!w.status.admission) return false;
  const auto& assignments = w.status.admission->pod_set_assignments;
  return std::any_of(assignments.begin(), assignments.end(), [](const PodSetAssignment& assignment) {
    return assignment.delayed_topology == DelayedTopology::kPending && !assignment.topology_assignment;
  });
}

void with_workload(const JobAdapter& adapter, const Json& job, const WorkloadPtr& workload, const JobFacts& facts,
                   std::vector<Step>& steps) {
  const Workload& w = *workload;
  if (has_condition(w, kFinished)) return with_finished_workload(adapter, job, workload, steps);
  if (const auto outcome = adapter.finished(job)) {
    steps.push_back(finish(workload, outcome->succeeded ? "Succeeded" : "Failed", outcome->message));
    return;
  }
  const bool admitted = has_condition(w, kAdmitted);
  const bool suspended = adapter.suspended(job);
  const bool stopping = adapter.stopping(job);
  JobReport now;
  now.pods_ready = admitted && !suspended && adapter.pods_ready(job);
  now.reclaimable = adapter.reclaimable(job);
  now.stopped = suspended && !stopping && !adapter.active(job);
  steps.push_back(report(workload, std::move(now)));

  if (has_condition(w, kEvicted) || stopping) {
    stop(adapter, job, w, eviction_message(w), steps);
  } else if (!suspended && !admitted) {
    stop(adapter, job, w, "Not admitted by cluster queue", steps);
  } else if (Json drift = workload_drift(adapter, job, w, facts); !drift.as_object().empty()) {
    steps.push_back(UpdateWorkload{workload, std::move(drift)});
  } else if (suspended && admitted && !waits_for_places(w)) {
    start(adapter, job, workload, facts, steps);
  }
}

}  // namespace

Json make_workload(const JobAdapter& adapter, const Json& job, const JobFacts& facts) {
  const api::ObjectMeta meta = api::decode_meta(job);
  Workload w;
  w.meta.name = workload_name(adapter.kind().resource.group, adapter.kind().kind, meta.name, meta.uid);
  w.meta.ns = meta.ns;
  w.meta.labels.emplace(kJobUidLabel, meta.uid);
  for (const auto& key : facts.label_keys_to_copy) {
    if (const auto it = meta.labels.find(key); it != meta.labels.end()) w.meta.labels.emplace(key, it->second);
  }
  w.meta.finalizers.emplace_back(kFinalizer);
  w.meta.owners.push_back(
      {adapter.kind().api_version(), adapter.kind().kind, meta.name, meta.uid, true, true});
  for (const auto& [key, value] : meta.annotations) {
    if (key.starts_with(kProvisioningPrefix) || key == kAdmissionGatedBy) w.meta.annotations.emplace(key, value);
  }
  w.pod_sets = adapter.pod_sets(job);
  w.queue_name = label(job, kQueueLabel);
  const Priority priority = resolve_priority(adapter, job, facts);
  w.priority = priority.value;
  w.priority_class_ref = priority.ref;
  const auto text = label(job, kMaxExecTimeLabel);
  std::int32_t seconds = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), seconds).ec == std::errc{} && seconds > 0)
    w.maximum_execution_time_seconds = seconds;
  return encode_workload(w);
}

std::vector<Step> reconcile(const JobAdapter& adapter, const JsonPtr& job,
                            const std::vector<WorkloadPtr>& workloads, const JobFacts& facts) {
  std::vector<Step> steps;
  if (job == nullptr || deleting(*job)) {
    for (const auto& workload : workloads) {
      if (job == nullptr) {
        clean_up_orphan(workload, steps);
      } else if (workload->meta.deletion && holds_finalizer(*workload)) {
        steps.push_back(DropWorkloadFinalizer{workload});
      }
    }
    return steps;
  }
  for (const auto& workload : workloads) {
    if (!workload->meta.deletion) continue;
    // Somebody deletes the workload of a living job: the job stops first, then the workload may go and a new
    // one is made.
    if (!adapter.suspended(*job) || adapter.stopping(*job)) {
      if (!adapter.finished(*job)) stop(adapter, *job, *workload, "Workload is deleted", steps);
    }
    if (steps.empty() && holds_finalizer(*workload)) steps.push_back(DropWorkloadFinalizer{workload});
    return steps;
  }
  if (!facts.managed) return steps;
  const bool running = !adapter.suspended(*job);
  const WorkloadPtr chosen =
      choose(adapter.pod_sets(*job), running, workloads, steps, !adapter.stopping(*job));
  if (chosen) {
    with_workload(adapter, *job, chosen, facts, steps);
  } else if (!adapter.finished(*job)) {
    without_matching_workload(adapter, *job, workloads, facts, steps);
  }
  return steps;
}

}  // namespace berth::jobs
