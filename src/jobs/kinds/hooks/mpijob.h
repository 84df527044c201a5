// MPIJob: when the launcher is a worker too, the indexes of the other workers begin at 1. Places are assigned by rank
// within a pod set, so the pods tell by how much their index is too high. And Kueue sorts the errors of this kind.
// https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/mpi/
#pragma once

#include "jobs/kinds/hook.h"

namespace berth::jobs::kinds {

const KindHook& mpi_job_hook();

}  // namespace berth::jobs::kinds
