// The defaults that Kueue's mutating webhooks set on creation, beyond those of the CustomResourceDefinitions.
#pragma once

#include "base/json.h"

namespace berth::api::kueue {

// Adds the finalizer that keeps the object while it is in use.
void default_cluster_queue(Json& object);
void default_resource_flavor(Json& object);
// Names a single pod set without a name "main"; removes minCount without partial admission.
void default_workload(Json& object, bool partial_admission);

}  // namespace berth::api::kueue
