// Validation of a ResourceFlavor beyond the schema and rules of its CustomResourceDefinition.
#pragma once

#include "api/field_error.h"
#include "base/json.h"

namespace berth::api::kueue {

// Labels, taints and tolerations follow Kubernetes' rules. The same on creation and update.
FieldErrors validate_resource_flavor(const Json& object);

}  // namespace berth::api::kueue
