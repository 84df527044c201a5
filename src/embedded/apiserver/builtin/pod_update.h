// Which fields of an existing pod may change.
// https://kubernetes.io/docs/concepts/workloads/pods/#pod-update-and-replacement
#pragma once

#include <string_view>

#include "api/field_error.h"
#include "base/json.h"

namespace berth::apiserver {

// For the pod itself: images, deadlines, more tolerations, fewer scheduling gates; while gated, a narrower node
// selection.
void validate_pod_update(const Json& pod, const Json& old, api::FieldErrors& errors);
// For its status: a container that has terminated for good must not start again.
void validate_pod_status_update(const Json& pod, const Json& old, api::FieldErrors& errors);

}  // namespace berth::apiserver
