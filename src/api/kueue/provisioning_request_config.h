// ProvisioningRequestConfig (kueue.x-k8s.io/v1beta2): how an admission check asks the cluster autoscaler for
// nodes. https://github.com/kubernetes-sigs/kueue/tree/main/keps/1136-provisioning-request-support
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/meta.h"
#include "base/json.h"
#include "base/result.h"

namespace berth::api::kueue {

inline constexpr std::string_view kProvisioningRequestConfigKind = "ProvisioningRequestConfig";

// Which pod sets of a workload share one pod set of its request.
enum class PodSetMergePolicy : std::uint8_t {
  kNone,
  kIdenticalPodTemplates,     // pod sets with equal pod templates
  kIdenticalSchedulingNeeds,  // IdenticalWorkloadSchedulingRequirements: pod sets with equal scheduling requirements
};

struct ProvisioningRequestConfig {
  ObjectMeta meta;
  std::string class_name;  // provisioningClassName
  StringMap parameters;    // passed on to the request
  std::vector<std::string>
      managed_resources;  // only pod sets that use one of these resources need a request; empty: all do
  // The n-th retry of a failed request comes after base * 2^(n-1) seconds, at most max; there are at most `limit`
  // retries.
  struct Retry {
    std::int32_t limit = 3, base_seconds = 60, max_seconds = 1800;
  } retry;
  // When the capacity is provisioned, pods get a node selector: label `key` with the value of `detail` in the
  // request's status.provisioningClassDetails.
  struct NodeSelector {
    std::string key, detail;
  };
  std::vector<NodeSelector> node_selector;  // podSetUpdates.nodeSelector
  PodSetMergePolicy merge_policy = PodSetMergePolicy::kNone;
};

// Fails when the config cannot give a valid ProvisioningRequest; the error names the field.
Result<ProvisioningRequestConfig> decode_provisioning_request_config(const Json& object);

}  // namespace berth::api::kueue
