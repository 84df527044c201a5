// TrainJob of the Kubeflow trainer. Its pods are those of a runtime, another object, with the changes of the job; and
// admission is a patch of the runtime in the job. https://www.kubeflow.org/docs/components/trainer/
#pragma once

#include "jobs/kinds/hook.h"

namespace berth::jobs::kinds {

const KindHook& train_job_hook();

}  // namespace berth::jobs::kinds
