// Which pods of a workload its ProvisioningRequest asks room for, and what they look like.
#pragma once

#include <string>
#include <vector>

#include "api/kueue/provisioning_request_config.h"
#include "api/kueue/types.h"
#include "base/json.h"
#include "jobs/pod_set_info.h"

namespace berth::jobs {

// A pod set that needs a request: it has pods, and it uses a managed resource when the configuration names
// some.
struct NeededPodSet {
  const api::kueue::PodSet* pod_set = nullptr;  // of the workload, never null
  std::int32_t count = 0;                       // as admitted, at least 1
};
// In the order of the workload. Empty: no request is needed.
std::vector<NeededPodSet> needed_pod_sets(const api::kueue::Workload& workload,
                                          const api::kueue::ProvisioningRequestConfig& config);

// One pod set of a request.
struct RequestedPodSet {
  std::string name;  // of the first pod set that is part of it
  std::int64_t count = 0;
  Json pod_template;  // PodTemplateSpec with the flavors' node labels and tolerations, and requests for all
                      // limits
};
// The needed pod sets as they are requested, those that the policy allows merged into the first of them. Two
// pod sets that were given different nodes are never merged. Fails when a flavor is unknown or contradicts a
// pod template.
Result<std::vector<RequestedPodSet>> requested_pod_sets(const api::kueue::Workload& workload,
                                                        const api::kueue::ProvisioningRequestConfig& config,
                                                        const FlavorLookup& flavors);

}  // namespace berth::jobs
