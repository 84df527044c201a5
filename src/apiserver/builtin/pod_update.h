// What may change in a pod that exists.
// https://kubernetes.io/docs/concepts/workloads/pods/#pod-update-and-replacement
#pragma once

#include <string_view>

#include "api/field_error.h"
#include "base/json.h"

namespace berth::apiserver {

// Of the pod itself: images, deadlines, more tolerations; fewer gates; while gated, narrower node selection.
void validate_pod_update(const Json& pod, const Json& old, api::FieldErrors& errors);
// Of its status: a container that ended for good does not start again.
void validate_pod_status_update(const Json& pod, const Json& old, api::FieldErrors& errors);

}  // namespace berth::apiserver
