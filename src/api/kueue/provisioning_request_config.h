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
  kIdenticalPodTemplates,     // those whose pods are the same in everything
  kIdenticalSchedulingNeeds,  // IdenticalWorkloadSchedulingRequirements: those that need the same room
};

struct ProvisioningRequestConfig {
  ObjectMeta meta;
  std::string class_name;  // provisioningClassName
  StringMap parameters;    // passed on to the request
  std::vector<std::string>
      managed_resources;  // only pod sets that use one of them need a request; empty: all do
  // A failed request is repeated after base * 2^(n-1) seconds, at most max, and at most `limit` times.
  struct Retry {
    std::int32_t limit = 3, base_seconds = 60, max_seconds = 1800;
  } retry;
  // When the room is there, pods select the node label `key` with the value that the request's details have
  // for `detail`.
  struct NodeSelector {
    std::string key, detail;
  };
  std::vector<NodeSelector> node_selector;  // podSetUpdates.nodeSelector
  PodSetMergePolicy merge_policy = PodSetMergePolicy::kNone;
};

// Fails, naming the field, when no valid request could be made with it.
Result<ProvisioningRequestConfig> decode_provisioning_request_config(const Json& object);

}  // namespace berth::api::kueue
