// What Kueue's mutating webhooks do when an object is created, beyond the defaults of the
// CustomResourceDefinitions.
#pragma once

#include "base/json.h"

namespace berth::api::kueue {

// The finalizer that keeps the object while it is in use.
void default_cluster_queue(Json& object);
void default_resource_flavor(Json& object);
// A single pod set without a name is "main"; without partial admission minCount is dropped.
void default_workload(Json& object, bool partial_admission);

}  // namespace berth::api::kueue
