// Events have two API forms for one stored object: core/v1 and events.k8s.io/v1. The stored form is core/v1.
#pragma once

#include "base/json.h"

namespace berth::apiserver {

// Each function converts an Event of the other form, keeps metadata unchanged and sets apiVersion. A round trip loses
// nothing; an Event without involvedObject.namespace stays without it.
Json to_core_event(const Json& events_event);
Json to_events_event(const Json& core_event);

}  // namespace berth::apiserver
