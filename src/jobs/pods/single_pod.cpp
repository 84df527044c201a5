#include "jobs/pods/single_pod.h"

#include <algorithm>
#include <utility>

#include "base/planted.h"
#include "jobs/compose.h"
#include "jobs/prebuilt.h"
#include "jobs/workload_name.h"
#include "jobs/workload_steps.h"

namespace berth::jobs {
namespace {

using namespace api::kueue;

constexpr std::string_view kMainPodSet = "main";

std::vector<PodSet> main_pod_set(const ManagedPod& pod) { return {pod_set_of(pod, std::string(kMainPodSet), 1)}; }

api::OwnerReference controlled_by(const ManagedPod& pod) {
  return {std::string(kPodApiVersion), std::string(kPodKind), pod.name, pod.uid, true, true};
}

Json taken_by(const ManagedPod& pod, const Workload& workload) { return take_ownership(controlled_by(pod), workload); }

Result<Workload> workload_of(const ManagedPod& pod, const JobFacts& facts) {
  auto made = compose({workload_name_of(pod, facts.gates.short_names),
                       *pod.object,
                       main_pod_set(pod),
                       std::string(string_at(pod.spec(), {"priorityClassName"})),
                       {controlled_by(pod)}},
                      facts);
  if (made)
    made->meta.labels.insert_or_assign(std::string(kJobUidLabel), facts.job_uid.empty() ? pod.uid : facts.job_uid);
  return made;
}

void create_workload_of(const ManagedPod& pod, const JobFacts& facts, std::vector<Step>& steps) {
  const std::string name = workload_name_of(pod, facts.gates.short_names);
  const std::string key = api::object_key(pod.ns, name);
  if (const WorkloadPtr there = facts.workload(pod.ns, name)) {
    if (!has_controller(*there)) return steps.push_back(UpdateWorkload{there, taken_by(pod, *there)});
    return steps.push_back(name_is_taken(key));
  }
  const auto made = workload_of(pod, facts);
  if (!made) return steps.push_back(JobEvent{true, std::string(kClassNotFound), made.error().message});
  steps.push_back(CreateWorkload{encode_workload(*made), created(key)});
}

// The quota of an evicted workload is given back as soon as its pod is being deleted: containers that still end are not
// counted, as in Kueue.
void leave_deleted_pod(const ManagedPodPtr& pod, const std::vector<WorkloadPtr>& workloads, const JobFacts& facts,
                       PodPlan& plan) {
  if (pod->finalizer) plan.actions.push_back(drop_finalizer(pod));
  for (const auto& workload : workloads) {
    if (has_condition(*workload, kEvicted) && has_condition(*workload, kQuotaReserved) && !finished(*workload)) {
      JobReport what;
      what.stopped = true;
      what.for_good = true;
      plan.steps.push_back(report(workload, std::move(what)));
    } else if (!pod->finalizer) {
      let_orphan_go(workload, facts, plan.steps);
    }
  }
}

void leave_ended_pod(const ManagedPodPtr& pod, const std::vector<WorkloadPtr>& workloads, PodPlan& plan) {
  bool reported = true;
  for (const auto& workload : workloads) {
    if (workload->meta.deletion || finished(*workload)) {
      if (!holds_finalizer(*workload)) continue;
      plan.steps.push_back(DropWorkloadFinalizer{workload});
      if (finished(*workload)) plan.steps.push_back(declared_finished(*workload));
    } else {
      reported = false;
      plan.steps.push_back(finish(workload, pod->phase == PodPhase::kSucceeded ? "Succeeded" : "Failed", pod->message));
    }
  }
  // The pod stays until its result is stored.
  if (reported && pod->finalizer && !planted(Planted::kKeptPodFinalizer)) plan.actions.push_back(drop_finalizer(pod));
}

// Chooses the workload that represents the pod, and deletes the others. Null when there is none.
WorkloadPtr workload_for(const ManagedPod& pod, const std::vector<WorkloadPtr>& workloads, std::vector<Step>& steps) {
  WorkloadPtr chosen;
  for (const auto& workload : workloads) {
    if (chosen == nullptr && is_controlled_by(*workload, pod.uid)) chosen = workload;
  }
  if (chosen == nullptr && !workloads.empty()) {
    steps.push_back(UpdateWorkload{workloads.front(), taken_by(pod, *workloads.front())});
    return workloads.front();
  }
  for (const auto& workload : workloads) {
    if (workload != chosen) remove(workload, steps);
  }
  return chosen;
}

void start_pod(const ManagedPodPtr& pod, const WorkloadPtr& workload, const JobFacts& facts, PodPlan& plan) {
  if (auto missing = waits_for_flavor(*workload, facts.flavors)) return plan.steps.push_back(std::move(*missing));
  const auto infos = pod_set_infos(*workload, facts.flavors);
  auto action =
      !infos ? tl::unexpected(infos.error())
      : infos->size() != 1
          ? Result<PodAction>(fail("a pod has one pod set, the admission has " + std::to_string(infos->size())))
          : let_go(pod, infos->front(), workload);
  if (action) return plan.actions.push_back(std::move(*action));
  plan.steps.push_back(finish(workload, "FailedToStart", action.error().message));
  plan.steps.push_back(JobEvent{true, "FailedToStart", action.error().message});
}

// A pod that was never let go has no result to store, so nothing keeps it.
void with_finished_workload_of(const ManagedPodPtr& pod, const WorkloadPtr& workload, PodPlan& plan, Time now) {
  if (!pod->gated) {
    plan.actions.push_back(stop(pod, kWorkloadFinished, "The workload is finished", now));
  } else if (pod->finalizer) {
    plan.actions.push_back(drop_finalizer(pod));
  }
  if (!holds_finalizer(*workload)) return;
  plan.steps.push_back(DropWorkloadFinalizer{workload});
  plan.steps.push_back(declared_finished(*workload));
}

// Any client may tighten where a gated pod runs: its workload follows. Returns whether the workload changes.
bool follow_pod(const ManagedPod& pod, const WorkloadPtr& workload, std::vector<Step>& steps) {
  if (describes(*workload, main_pod_set(pod), *pod.object, false, false)) return false;
  if (has_condition(*workload, kQuotaReserved)) {
    remove(workload, steps);
    return true;
  }
  steps.push_back(UpdateWorkload{workload, redescribe(main_pod_set(pod), *pod.object)});
  steps.push_back(
      JobEvent{false, "UpdatedWorkload", "Updated not matching Workload for suspended job: " + key_of(*workload)});
  return true;
}

void with_workload_of(const ManagedPodPtr& pod, const WorkloadPtr& workload, const JobFacts& facts, Time now,
                      PodPlan& plan) {
  const Workload& w = *workload;
  if (finished(w)) return with_finished_workload_of(pod, workload, plan, now);
  if (pod->gated && pod->prebuilt.empty() && follow_pod(*pod, workload, plan.steps)) return;
  const bool admitted = has_condition(w, kAdmitted), evicted = has_condition(w, kEvicted);
  JobReport now_reported;
  now_reported.pods_ready = admitted && !pod->gated && pod->ready;
  now_reported.stopped = pod->gated;
  plan.steps.push_back(report(workload, std::move(now_reported)));
  if (pod->gated && !admitted && planted(Planted::kOpenGate)) {
    if (auto action = let_go(pod, {}, workload)) plan.actions.push_back(std::move(*action));
    return;
  }
  if (!pod->gated && evicted) return plan.actions.push_back(stop(pod, evicted_reason(w), eviction_message(w), now));
  if (!pod->gated && !admitted)
    return plan.actions.push_back(stop(pod, kNotAdmitted, "Not admitted by cluster queue", now));
  if (evicted && has_condition(w, kQuotaReserved)) return;
  if (catch_up(*pod->object, workload, facts, plan.steps)) return;
  if (pod->gated && admitted && !waits_for_places(w)) start_pod(pod, workload, facts, plan);
}

// The pod names a workload that a client made. The pod becomes its owner; the workload is never created or changed
// here.
void with_prebuilt_workload_of(const ManagedPodPtr& pod, const std::vector<WorkloadPtr>& workloads,
                               const JobFacts& facts, Time now, PodPlan& plan) {
  const WorkloadPtr named = usable_prebuilt(pod->ns, pod->uid, pod->prebuilt, facts);
  for (const auto& workload : workloads) {
    if (!named || workload->meta.uid != named->meta.uid) remove(workload, plan.steps);
  }
  if (!named) {
    if (!pod->gated) return plan.actions.push_back(stop(pod, kNoMatchingWorkload, "missing workload", now));
    const std::string key = api::object_key(pod->ns, pod->prebuilt);
    plan.steps.push_back(facts.workload(pod->ns, pod->prebuilt) ? prebuilt_is_taken(key) : prebuilt_is_missing(key));
  } else if (!is_controlled_by(*named, pod->uid)) {
    plan.steps.push_back(UpdateWorkload{named, taken_by(*pod, *named)});
  } else if (const std::string what =
                 pod->gated && !finished(*named) ? mismatch(*named, main_pod_set(*pod), *pod->object, false, true) : "";
             !what.empty()) {
    plan.steps.push_back(finish_out_of_sync(named));
    plan.steps.push_back(is_out_of_sync(*named, what));
  } else {
    with_workload_of(pod, named, facts, now, plan);
  }
}

}  // namespace

std::string workload_name_of(const ManagedPod& pod, bool is_short) {
  return workload_name("", kPodKind, pod.name, pod.uid, is_short);
}

Result<Workload> workload_of_running(const Json& pod, const JobFacts& facts) {
  ManagedPod running = *decode_managed_pod(pod, facts.gates.identifier_annotations);
  running.object = PodKeeper::copy(pod);
  const Json* spec = find(pod, "spec");
  running.pod_template = PodKeeper::template_with(spec == nullptr ? Json(JsonObject()) : *spec);
  return workload_of(running, facts);
}

PodPlan reconcile_pod(const ManagedPodPtr& pod, const std::vector<WorkloadPtr>& workloads, const JobFacts& facts,
                      Time now) {
  PodPlan plan;
  plan.speaker = pod;
  if (pod == nullptr) {
    for (const auto& workload : workloads) let_orphan_go(workload, facts, plan.steps);
    return plan;
  }
  if (pod->ended()) {
    leave_ended_pod(pod, workloads, plan);
    return plan;
  }
  if (pod->deletion) {
    leave_deleted_pod(pod, workloads, facts, plan);
    return plan;
  }
  for (const auto& workload : workloads) {
    if (!workload->meta.deletion) continue;
    // A client deletes the workload of an existing pod: a pod that runs is deleted as well, another pod gets a new
    // workload.
    if (!pod->gated) {
      plan.actions.push_back(stop(pod, kWorkloadDeleted, "Workload is deleted", now));
    } else if (holds_finalizer(*workload)) {
      plan.steps.push_back(DropWorkloadFinalizer{workload});
    }
    return plan;
  }
  if (!facts.managed) return plan;
  if (!pod->prebuilt.empty()) {
    with_prebuilt_workload_of(pod, workloads, facts, now, plan);
  } else if (!workloads.empty()) {
    const WorkloadPtr chosen = workload_for(*pod, workloads, plan.steps);
    if (plan.steps.empty()) with_workload_of(pod, chosen, facts, now, plan);
  } else if (pod->gated) {
    create_workload_of(*pod, facts, plan.steps);
  } else {
    plan.actions.push_back(stop(pod, kNoMatchingWorkload, "Missing Workload; unable to run the job", now));
  }
  return plan;
}

}  // namespace berth::jobs
