// Checks the amounts of a Volcano queue against the queues around it.
#pragma once

#include "api/field_error.h"
#include "volcano/queue_forest.h"

namespace berth::volcano {

// Checks capability against ancestors and descendants, and guarantee and deserved against the sums of siblings and
// children, as Volcano's webhook does. A resource that a parent does not name counts as 0 for guarantee and deserved,
// and as unlimited for capability. Root is not checked and does not limit its children. `queue`: the new version;
// `forest`: the queues before the change.
api::FieldErrors check_amounts(const QueueForest& forest, const api::volcano::Queue& queue);

}  // namespace berth::volcano
