// A group of pods with a workload that is neither finished nor being deleted: the pods wait, run, stop and are
// replaced.
#pragma once

#include "jobs/pods/group_scene.h"

namespace berth::jobs {

void with_live_workload(GroupScene& scene, const WorkloadPtr& workload);

}  // namespace berth::jobs
