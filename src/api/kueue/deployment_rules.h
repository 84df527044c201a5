// The rules of Kueue's webhooks for apps/v1 Deployments, as pure functions. Each pod of a Deployment is queued by
// itself. https://kueue.sigs.k8s.io/docs/tasks/run/deployment/
#pragma once

#include "api/field_error.h"
#include "api/kueue/job_rules.h"
#include "base/json.h"

namespace berth::api::kueue {

// On creation and on updates: gives a managed Deployment the default queue and priority class, and hands queue and
// priority class to its pods. Idempotent.
void default_deployment(Json& deployment, const JobContext& context);

FieldErrors validate_deployment(const Json& deployment, const JobContext& context);
FieldErrors validate_deployment_update(const Json& deployment, const Json& old, const JobContext& context);

}  // namespace berth::api::kueue
