// What a server adds to new pods after decoding them, and why it refuses some: priority, runtime class,
// default tolerations, limit ranges.
#pragma once

#include <optional>

#include "apiserver/resource.h"

namespace berth::apiserver {

// Fills what the pod lacks. Idempotent; leaves what it cannot fill (an unknown class) for refuse_pod.
void complete_new_pod(Json& pod, const Lookup& lookup);
// 403 for an unknown priority or runtime class, a priority of the client's own, a broken limit range. `pod`
// is complete.
std::optional<api::RestResponse> refuse_new_pod(const Json& pod, const Lookup& lookup);
// Tolerations of not-ready and unreachable nodes, for 300 s, unless the pod has its own.
void add_default_tolerations(Json& pod);

}  // namespace berth::apiserver
