// The rules of Kueue's webhooks for apps/v1 StatefulSets, as pure functions. All pods of a StatefulSet are one group
// with one workload; its size is fixed while it has pods.
// https://kueue.sigs.k8s.io/docs/tasks/run/statefulset/
#pragma once

#include "api/field_error.h"
#include "api/kueue/job_rules.h"
#include "base/json.h"

namespace berth::api::kueue {

// On creation and on updates: gives a managed StatefulSet the default queue and priority class, and lets its pods wait.
// Idempotent.
void default_stateful_set(Json& set, const JobContext& context);

FieldErrors validate_stateful_set(const Json& set, const JobContext& context);
// Of a managed StatefulSet, the number of replicas may only go to 0 and come from 0, and the shape of the pods stays.
FieldErrors validate_stateful_set_update(const Json& set, const Json& old, const JobContext& context);

}  // namespace berth::api::kueue
