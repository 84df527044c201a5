// Clusters, jobs and services of Ray. KubeRay adds containers and a pod to what their templates say, and they count.
// https://docs.ray.io/en/latest/cluster/kubernetes/index.html
#pragma once

#include "jobs/kinds/hook.h"

namespace berth::jobs::kinds {

const KindHook& ray_cluster_hook();
const KindHook& ray_job_hook();  // also adds the pod that submits the job
const KindHook& ray_service_hook();

}  // namespace berth::jobs::kinds
