// Defaults and validation of a vcjob in Volcano's webhooks, beyond its CustomResourceDefinition. Rules about its
// queue are in src/volcano; the rest of pod templates is checked when pods are created from them.
#pragma once

#include "api/field_error.h"
#include "base/json.h"

namespace berth::api::volcano {

// Sets missing names of tasks ("default" and the index), their minAvailable (all replicas, or those of the minimum
// number of partitions), and the job's minAvailable (the sum).
void default_job(Json& object);

// Requires at least one task; unique names of tasks, short enough for pod names; minAvailable of at most the
// replicas; valid policies; known plugins; volumes with different mount paths; no cycle in the tasks' dependsOn; no
// negative amounts and no devices in the templates.
FieldErrors validate_job(const Json& object);
// As validate_job(), without the templates. In addition only minAvailable, priorityClassName, and replicas and
// minAvailable of tasks may change.
FieldErrors validate_job_update(const Json& object, const Json& old);

}  // namespace berth::api::volcano
