// What Volcano's objects must satisfy on their own, beyond their CustomResourceDefinitions. What concerns other queues
// is in the room volcano.
#pragma once

#include "api/field_error.h"
#include "base/json.h"

namespace berth::api::volcano {

// Per resource 0 <= guarantee <= deserved <= capability (a missing deserved is 0 here, a missing capability no limit),
// whole numbers of extended resources, a state that people may write, hierarchy annotations of equal length with
// weights above 0. `old`: the queue as it is, null on creation. A state that the queue has already may stay, whatever
// it is.
FieldErrors validate_queue(const Json& object, const Json* old);

// At most one way of saying the highest tier.
FieldErrors validate_pod_group(const Json& object);

}  // namespace berth::api::volcano
