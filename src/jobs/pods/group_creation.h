// A group of pods without a workload of its own: makes one, or takes a prebuilt one.
#pragma once

#include "jobs/pods/group_scene.h"

namespace berth::jobs {

void without_workload(GroupScene& scene);
// A client made the workload with the name of the group: for this group, or for something else.
void beside_another(GroupScene& scene, const WorkloadPtr& workload);

}  // namespace berth::jobs
