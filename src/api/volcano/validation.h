// Validation of single Volcano objects, beyond their CustomResourceDefinitions. Rules that need other queues are in
// src/volcano.
#pragma once

#include "api/field_error.h"
#include "base/json.h"

namespace berth::api::volcano {

// Requires for each resource 0 <= guarantee <= deserved <= capability (a guarantee requires deserved of the same
// resource, a missing capability is no limit); integers for extended resources; a state that users may write (Open,
// Closed or none) or that the queue has already; hierarchy annotations of equal length with weights above 0. `old`:
// the present queue, null on creation.
FieldErrors validate_queue(const Json& object, const Json* old);

// Amounts of minResources as those of a queue; a network topology may have at most one of highestTierAllowed and
// highestTierName.
FieldErrors validate_pod_group(const Json& object);

}  // namespace berth::api::volcano
