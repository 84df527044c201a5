// The amounts of a Volcano queue against those around it.
#pragma once

#include "api/field_error.h"
#include "volcano/queue_forest.h"

namespace berth::volcano {

// Capability against ancestors and descendants, guarantee and deserved against the sums of siblings and children, as
// Volcano's webhook has it. What a parent does not name is 0 for guarantees and deserved amounts, and no limit for
// capabilities. Nothing is demanded of root, nor of its children by it. `queue`: as it would be; `forest`: as it is.
api::FieldErrors check_amounts(const QueueForest& forest, const api::volcano::Queue& queue);

}  // namespace berth::volcano
