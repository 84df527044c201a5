// What a vcjob needs next, as Volcano's job controller has it: a PodGroup, its pods once that is let in, a phase that
// follows them, and what policies and Commands order. Pure: called again with what the step changed until there is
// nothing to do.
//
// Pods above the group's minimum come with Volcano's gate for quota of the queue: whoever answers for the queue takes it
// away. Not followed: dependsOn, plugins, volumes, timeouts of policies, and the actions RestartTask, RestartPod and
// RestartPartition. Stopping a job by Command and resuming it does not count as a try, as it does in Volcano.
// https://volcano.sh/en/docs/vcjob/
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/volcano/types.h"
#include "base/time.h"
#include "cluster/vcjob_pods.h"

namespace berth::cluster {

struct VcJobView {
  const Json& object;
  const api::volcano::Job& job;                   // the same, decoded
  const api::volcano::PodGroup* group = nullptr;  // of the job; null: none is there
  const std::vector<VcJobPod>& pods;              // that the job owns, in any order
  std::string_view order;                         // the action of a Command about the job; "": none
  Time now;
  bool may_create = true;  // false: pods that were taken or could not be made wait for their next try
};

struct VcJobStep {
  std::optional<api::volcano::JobStatus> status;  // to be written
  bool create_group = false, delete_group = false, delete_job = false;
  bool order_done = false;  // the Command is to be deleted
  std::vector<Json> create;
  std::vector<JsonPtr> remove;
  std::optional<Time> wake;  // look again then, if nothing happens before
};

// No more pods than this are created in one step.
inline constexpr std::size_t kMaxVcJobPods = 500;

VcJobStep next_step(const VcJobView& view);

// Completed, Failed, Terminated: nothing more will run. An aborted job can be resumed.
bool is_over(api::volcano::JobPhase phase);

}  // namespace berth::cluster
