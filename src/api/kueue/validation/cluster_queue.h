// Validation of a ClusterQueue beyond the schema and rules of its CustomResourceDefinition.
#pragma once

#include "api/field_error.h"
#include "base/json.h"

namespace berth::api::kueue {

// Of a new one and of each update. The flavors of admission checks are not checked while it is being deleted, so that
// its finalizer can go.
FieldErrors validate_cluster_queue(const Json& object);

}  // namespace berth::api::kueue
