// The pod sets of a workload that need a ProvisioningRequest, and their pod templates in the request.
#pragma once

#include <string>
#include <vector>

#include "api/kueue/provisioning_request_config.h"
#include "api/kueue/types.h"
#include "base/json.h"
#include "jobs/pod_set_info.h"

namespace berth::jobs {

// A pod set that needs a request: it has pods and, when the configuration names managed resources, uses at least one
// of them.
struct NeededPodSet {
  const api::kueue::PodSet* pod_set = nullptr;  // of the workload, never null
  std::int32_t count = 0;                       // as admitted, at least 1
};
// In the order of the workload. Empty: no request is needed.
std::vector<NeededPodSet> needed_pod_sets(const api::kueue::Workload& workload,
                                          const api::kueue::ProvisioningRequestConfig& config);

// One pod set of a request.
struct RequestedPodSet {
  std::string name;  // of the first pod set in it
  std::int64_t count = 0;
  // PodTemplateSpec with the flavors' node labels and tolerations, and with a request for every limit.
  Json pod_template;
};
// Whether pods of two PodTemplateSpecs need the same nodes: they request the same, and may run in the same places.
bool need_the_same(const Json& a, const Json& b);
// The needed pod sets as they are requested. Pod sets that the policy allows are merged into the first of them. Two
// pod sets that were assigned to different nodes are never merged. Fails when a flavor does not exist or contradicts
// a pod template.
Result<std::vector<RequestedPodSet>> requested_pod_sets(const api::kueue::Workload& workload,
                                                        const api::kueue::ProvisioningRequestConfig& config,
                                                        const FlavorLookup& flavors);

}  // namespace berth::jobs
