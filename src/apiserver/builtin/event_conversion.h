// Events have two forms over one stored object: core/v1 and events.k8s.io/v1. The core form is the stored
// one.
#pragma once

#include "base/json.h"

namespace berth::apiserver {

// Each takes an Event of the other form and leaves metadata as it is; apiVersion is set. Nothing is lost on
// the way there and back, except that an Event without involvedObject.namespace keeps none.
Json to_core_event(const Json& events_event);
Json to_events_event(const Json& core_event);

}  // namespace berth::apiserver
