// The rules of Kueue's webhooks for batch/v1 Jobs, as pure functions.
// https://kueue.sigs.k8s.io/docs/tasks/run/jobs/
#pragma once

#include "api/field_error.h"
#include "api/kueue/job_rules.h"
#include "base/json.h"

namespace berth::api::batch {

using kueue::is_managed;
using kueue::JobContext;

// On creation: sets the default queue and priority class, and suspends a managed Job.
void default_job(Json& job, const JobContext& context);

FieldErrors validate_job(const Json& job, const kueue::LabelRules& rules = {});
// `default_queue_exists`: a LocalQueue "default" exists in the namespace; then the queue name cannot be removed.
FieldErrors validate_job_update(const Json& job, const Json& old, bool default_queue_exists,
                                const kueue::LabelRules& rules = {});

}  // namespace berth::api::batch
