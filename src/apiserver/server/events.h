// Events are served in two groups over the same stored objects: core/v1 (as stored) and events.k8s.io/v1,
// which has other names for some fields.
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
#pragma once

#include <string_view>

#include "base/json.h"

namespace berth::apiserver {

inline constexpr std::string_view kEventsGroup = "events.k8s.io";

Json event_to_core(Json event);    // events.k8s.io/v1 -> v1
Json event_from_core(Json event);  // v1 -> events.k8s.io/v1

}  // namespace berth::apiserver
