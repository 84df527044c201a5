// What of a pod's requests counts against quota: excluded and transformed resources (KEP-2937, Configuration: resources).
#pragma once

#include "api/config/policies.h"
#include "api/core/pod_resources.h"

namespace berth::engine {

// Whether counted_requests() may differ from what the pod asks for.
bool changes_requests(const api::config::QuotaResources& resources);

// Resources with an excluded prefix are dropped first. Then an input gives each of its outputs, times its own whole number (rounded
// up), times that of the resource it is multiplied by if the pod asks for it; whatever is counted under one name is summed. Never
// negative.
api::ResourceList counted_requests(const api::ResourceList& per_pod, const api::config::QuotaResources& resources);

}  // namespace berth::engine
