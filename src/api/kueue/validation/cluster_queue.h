// Validation of a ClusterQueue beyond the schema and rules of its CustomResourceDefinition.
#pragma once

#include "api/field_error.h"
#include "base/json.h"

namespace berth::api::kueue {

FieldErrors validate_cluster_queue(const Json& object);
// As on creation, but an admission check with an unknown flavor is allowed when neither the check nor the flavors
// changed.
FieldErrors validate_cluster_queue_update(const Json& object, const Json& old);

}  // namespace berth::api::kueue
