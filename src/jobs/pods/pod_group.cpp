#include "jobs/pods/pod_group.h"

#include <utility>

#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "jobs/pods/group_creation.h"
#include "jobs/pods/group_scene.h"
#include "jobs/pods/live_group.h"
#include "jobs/workload_steps.h"

namespace berth::jobs {
namespace {

using namespace api::kueue;

// A workload that was given up for a reason that no longer holds: the owner is there. It is removed when nothing runs.
// Returns whether there is such a reason.
bool start_anew(GroupScene& scene, const WorkloadPtr& workload) {
  const api::Condition* end = api::find_condition(workload->status.conditions, kFinished);
  if (end == nullptr || (end->reason != "OutOfSync" && end->reason != "OwnerNotFound")) return false;
  if (!holds_finalizer(*workload) && !workload->meta.deletion && !scene.any(is_active_pod))
    remove(workload, scene.plan.steps);
  return true;
}

// A client deletes the workload of pods that exist. Those that run are deleted too; the others get a new workload.
void with_deleted(GroupScene& scene, const WorkloadPtr& workload) {
  scene.release_those_that_left();
  if (scene.stop_all(kWorkloadDeleted, "Workload is deleted") || scene.any(is_active_pod)) return;
  if (holds_finalizer(*workload)) scene.plan.steps.push_back(DropWorkloadFinalizer{workload});
}

// The owner would create these pods again, so they are not deleted. Nothing removes their gates.
void report_those_that_never_start(GroupScene& scene, const Workload& w) {
  scene.report(
      scene.those(is_waiting_pod),
      cannot_compose("workload " + key_of(w) + " is finished (" +
                     api::find_condition(w.status.conditions, kFinished)->reason + "), so this pod does not start: " +
                     (scene.owner ? "delete the workload to queue its pods again" : "delete the pod")));
}

void with_finished(GroupScene& scene, const WorkloadPtr& workload) {
  const Workload& w = *workload;
  scene.release_those_that_left();
  scene.stop_all(kWorkloadFinished, "The workload is finished");
  if (holds_finalizer(w)) {
    scene.plan.steps.push_back(DropWorkloadFinalizer{workload});
    scene.say(declared_finished(w));
  }
  if (!scene.facts.managed) return;
  if (scene.served) {
    if (!scene.owner || !start_anew(scene, workload)) report_those_that_never_start(scene, w);
    return;
  }
  std::vector<ManagedPodPtr> late;  // came after the end
  bool all_are_late = true;
  const auto owning = owner_uids(w);
  for (const auto& pod : scene.pods) {
    if (is_waiting_pod(*pod) && !owning.contains(pod->uid)) {
      late.push_back(pod);
    } else {
      all_are_late = false;
    }
  }
  if (late.empty()) return;
  // The group of the same name before them is gone: they are a new one. A prebuilt workload goes with its owners.
  if (all_are_late && scene.prebuilt) return;
  if (all_are_late) return remove(workload, scene.plan.steps);
  scene.delete_excess(late);
}

void look_at(GroupScene& scene) {
  const WorkloadPtr workload = scene.workload();
  if (workload && !is_group_workload(*workload)) {
    if (!scene.pods.empty()) beside_another(scene, workload);
  } else if (!workload) {
    without_workload(scene);
  } else if (scene.owner && is_surplus(*scene.owner) && scene.facts.managed && !workload->meta.deletion) {
    scene.plan.steps.push_back(DeleteWorkload{workload});
  } else if (scene.pods.empty() && scene.owner && !finished(*workload) && !workload->meta.deletion) {
    if (scene.facts.managed) with_live_workload(scene, workload);
  } else if (scene.pods.empty()) {
    let_orphan_go(workload, scene.facts, scene.plan.steps);
    if (scene.owner) start_anew(scene, workload);
  } else if (workload->meta.deletion) {
    with_deleted(scene, workload);
  } else if (finished(*workload)) {
    with_finished(scene, workload);
  } else if (!scene.facts.managed) {
    scene.release_those_that_left();
  } else {
    with_live_workload(scene, workload);
  }
}

}  // namespace

bool is_group_workload(const Workload& w) {
  if (has_controller(w)) return false;
  const auto mark = w.meta.annotations.find(std::string(kIsGroupWorkload));
  return mark != w.meta.annotations.end() && mark->second == "true";
}

PodPlan reconcile_group(const std::string& ns, const std::string& name, std::vector<ManagedPodPtr> pods,
                        const JobFacts& facts, Time now) {
  GroupScene scene(ns, name, std::move(pods), facts, now);
  look_at(scene);
  return std::move(scene.plan);
}

}  // namespace berth::jobs
