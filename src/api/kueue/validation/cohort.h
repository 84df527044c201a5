// Validation of a Cohort beyond the schema and rules of its CustomResourceDefinition.
#pragma once

#include "api/field_error.h"
#include "base/json.h"

namespace berth::api::kueue {

// The same on creation and update.
FieldErrors validate_cohort(const Json& object);

}  // namespace berth::api::kueue
