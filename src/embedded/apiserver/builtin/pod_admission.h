// Admission of new pods, after decoding: what the server adds and what it rejects. Priority, runtime class, default
// tolerations, limit ranges.
#pragma once

#include <optional>

#include "embedded/apiserver/resource.h"

namespace berth::apiserver {

// Fills missing fields. Idempotent. What it cannot resolve (an unknown class) is left for refuse_new_pod.
void complete_new_pod(Json& pod, const Lookup& lookup);
// 403 for an unknown priority class or runtime class, a priority that the client set itself, or a violated limit
// range. Call it after complete_new_pod.
std::optional<api::RestResponse> refuse_new_pod(const Json& pod, const Lookup& lookup);
// Adds tolerations of the not-ready and unreachable taints for 300 s, unless the pod has its own.
void add_default_tolerations(Json& pod);

}  // namespace berth::apiserver
