// What a ClusterQueue must satisfy beyond its CustomResourceDefinition's schema and rules.
#pragma once

#include "api/field_error.h"
#include "base/json.h"

namespace berth::api::kueue {

FieldErrors validate_cluster_queue(const Json& object);
// As on creation; an admission check that names an unknown flavor is let pass when neither it nor the flavors
// changed.
FieldErrors validate_cluster_queue_update(const Json& object, const Json& old);

}  // namespace berth::api::kueue
