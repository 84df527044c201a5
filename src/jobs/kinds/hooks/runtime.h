// The JobSet that the trainer makes of a runtime and a TrainJob, as far as it decides about pods.
// https://www.kubeflow.org/docs/components/trainer/operator-guides/runtime/
#pragma once

#include <string_view>

#include "api/kueue/webhooks/admission.h"
#include "base/json.h"
#include "base/result.h"

namespace berth::jobs::kinds {

// The manager of the patch that admission writes.
inline constexpr std::string_view kOwnManager = "kueue.x-k8s.io/manager";

// The replicatedJobs of the JobSet, with the patches of all managers but kOwnManager. Fails when the runtime is not
// known or is not there.
Result<JsonArray> replicated_jobs(const Json& train_job, const api::kueue::ObjectGetter& get);

// Applies a part of a patch: members of objects one by one, lists of objects with names by name, other lists as a
// whole. `depth` bounds hostile input.
void apply_patch(Json& target, const Json& patch, int depth = 0);

}  // namespace berth::jobs::kinds
