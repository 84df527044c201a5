// Which requests of a pod count against quota: excluded and transformed resources (KEP-2937, Configuration:
// resources).
#pragma once

#include "api/config/policies.h"
#include "api/core/pod_resources.h"

namespace berth::engine {

// True when counted_requests() may differ from what the pod requests.
bool changes_requests(const api::config::QuotaResources& resources);

// Resources with an excluded prefix do not count and have no outputs. Each other input resource adds its outputs: the
// output's quantity times the requested amount, times the amount of the `multiplyBy` resource if the pod requests that
// (also when it is excluded), rounded up to billionths. An input with strategy Replace does not count itself. Amounts
// of one name are summed. A negative amount or output counts as zero, so nothing lowers another amount. Sums saturate.
api::ResourceList counted_requests(const api::ResourceList& per_pod, const api::config::QuotaResources& resources);

}  // namespace berth::engine
