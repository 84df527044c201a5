// Computes what a Volcano Job needs next, as Volcano's job controller does: a PodGroup, pods once the group is
// Inqueue, a phase that follows the pods, and the actions of policies and Commands. Pure: call it again with the
// result of the step until there is nothing to do.
//
// Pods above the group's minimum are created with Volcano's scheduling gate for queue quota; the controller of the
// queue removes the gate. Not supported: dependsOn, plugins, volumes, timeouts of policies, and the actions
// RestartTask, RestartPod and RestartPartition. Unlike in Volcano, aborting a job by Command and resuming it does not
// count as a retry.
// https://volcano.sh/en/docs/vcjob/
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/volcano/types.h"
#include "base/time.h"
#include "embedded/cluster/vcjob_pods.h"

namespace berth::cluster {

struct VcJobView {
  const Json& object;
  const api::volcano::Job& job;                   // `object`, decoded
  const api::volcano::PodGroup* group = nullptr;  // the job's PodGroup; null: it does not exist
  const std::vector<VcJobPod>& pods;              // the pods that the job owns, in any order
  std::string_view order;                         // the action of a Command about the job; "": none
  Time now;
  bool may_create = true;  // false: another client deleted pods and the wait before creating them again is not over
};

struct VcJobStep {
  std::optional<api::volcano::JobStatus> status;  // to write
  bool create_group = false, delete_group = false, delete_job = false;
  bool order_done = false;  // the Command is to be deleted
  std::vector<Json> create;
  std::vector<JsonPtr> remove;
  std::optional<Time> wake;  // call again at this time if nothing happens before
};

// The largest number of pods that one step creates.
inline constexpr std::size_t kMaxVcJobPods = 500;

VcJobStep next_step(const VcJobView& view);

// Completed, Failed or Terminated: the job runs no more pods. An aborted job can be resumed and is not over.
bool is_over(api::volcano::JobPhase phase);

}  // namespace berth::cluster
