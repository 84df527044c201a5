// Which requests of a pod count against quota: excluded and transformed resources (KEP-2937, Configuration:
// resources).
#pragma once

#include "api/config/policies.h"
#include "api/core/pod_resources.h"

namespace berth::engine {

// True when counted_requests() may differ from what the pod requests.
bool changes_requests(const api::config::QuotaResources& resources);

// First drops resources with an excluded prefix. Then each input resource adds its outputs: the output's quantity
// times the requested amount (in whole units, rounded up), times the amount of the `multiplyBy` resource if the pod
// requests that. An input with strategy Replace does not count itself. Amounts of one name are summed. The result is
// never negative.
api::ResourceList counted_requests(const api::ResourceList& per_pod, const api::config::QuotaResources& resources);

}  // namespace berth::engine
