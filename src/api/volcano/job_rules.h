// What Volcano's webhooks fill in, demand and forbid of a vcjob, beyond its CustomResourceDefinition. What concerns its
// queue is in the room volcano; pod templates are checked when pods are made from them.
#pragma once

#include "api/field_error.h"
#include "base/json.h"

namespace berth::api::volcano {

// Names of tasks ("default" and the index), what each needs at least (all replicas, or those of its partitions), and
// what the job needs at least (the sum).
void default_job(Json& object);

// Tasks with different names and short enough ones for their pods; as many pods as have to run at once; policies that
// can be followed; known plugins; volumes at different places; tasks that do not wait for each other in a circle.
FieldErrors validate_job(const Json& object);
// The same, and only minAvailable, priorityClassName and the numbers of the tasks' pods may change.
FieldErrors validate_job_update(const Json& object, const Json& old);

}  // namespace berth::api::volcano
