// The rules of Kueue's webhooks that Deployments and StatefulSets share. Such an object is never suspended itself: its
// pods wait at their gates.
// https://kueue.sigs.k8s.io/docs/tasks/run/deployment/, https://kueue.sigs.k8s.io/docs/tasks/run/statefulset/
#pragma once

#include <cstdint>
#include <string_view>

#include "api/field_error.h"
#include "api/kueue/job_rules.h"
#include "base/json.h"

namespace berth::api::kueue {

// Whether the rules concern the object: its namespace is managed, and no owner of it is.
bool is_served(const JobContext& context);

// Marks the pod template: the pods wait for the framework's owner. Idempotent.
void suspend_template(Json& object, std::string_view framework);

// Errors in the labels and annotations of the object. `kind`: as errors name it ("apps/v1, Kind=Deployment").
FieldErrors validate_serving(const Json& object, std::string_view kind, const LabelRules& rules);
// The queue may change while no pod is ready (status.readyReplicas of the old object), and may not be taken away.
FieldErrors validate_serving_update(const Json& object, const Json& old, std::string_view kind,
                                    const LabelRules& rules);

// spec.replicas; 1 when it is absent.
std::int64_t replicas_of(const Json& object);

}  // namespace berth::api::kueue
