#include "api/kueue/provisioning_request_config.h"

#include <utility>

namespace berth::api::kueue {
namespace {

constexpr std::size_t kMaxParameters = 100;  // of a ProvisioningRequest
constexpr std::size_t kMaxParameterValue = 255;

std::int32_t seconds_or(const Json& strategy, std::string_view key, std::int32_t otherwise) {
  return static_cast<std::int32_t>(int_at(strategy, {key}, otherwise));
}

Result<PodSetMergePolicy> decode_merge_policy(std::string_view text) {
  if (text.empty()) return PodSetMergePolicy::kNone;
  if (text == "IdenticalPodTemplates") return PodSetMergePolicy::kIdenticalPodTemplates;
  if (text == "IdenticalWorkloadSchedulingRequirements") return PodSetMergePolicy::kIdenticalSchedulingNeeds;
  return fail("spec.podSetMergePolicy is \"" + std::string(text) +
              "\"; IdenticalPodTemplates and IdenticalWorkloadSchedulingRequirements are known");
}

// Our CRD has the same bounds, but another version of the CRD may not have them.
Result<void> check(const ProvisioningRequestConfig& config) {
  if (config.class_name.empty())
    return fail("spec.provisioningClassName is empty; name the class that shall answer the requests");
  if (config.parameters.size() > kMaxParameters) {
    return fail("spec.parameters has " + std::to_string(config.parameters.size()) + " entries; a request takes " +
                std::to_string(kMaxParameters));
  }
  for (const auto& [key, value] : config.parameters) {
    if (value.size() > kMaxParameterValue) {
      return fail("spec.parameters[" + key + "] is longer than the " + std::to_string(kMaxParameterValue) +
                  " characters that a request takes");
    }
  }
  return {};
}

}  // namespace

Result<ProvisioningRequestConfig> decode_provisioning_request_config(const Json& object) {
  ProvisioningRequestConfig config;
  config.meta = decode_meta(object);
  config.class_name = string_at(object, {"spec", "provisioningClassName"});
  if (const Json* parameters = find_path(object, {"spec", "parameters"}))
    config.parameters = decode_string_map(*parameters);
  for (const Json& resource : array_at(object, {"spec", "managedResources"})) {
    if (resource.is_string()) config.managed_resources.emplace_back(view(resource.get_string()));
  }
  if (const Json* strategy = find_path(object, {"spec", "retryStrategy"})) {
    config.retry = {seconds_or(*strategy, "backoffLimitCount", config.retry.limit),
                    seconds_or(*strategy, "backoffBaseSeconds", config.retry.base_seconds),
                    seconds_or(*strategy, "backoffMaxSeconds", config.retry.max_seconds)};
  }
  for (const Json& selector : array_at(object, {"spec", "podSetUpdates", "nodeSelector"})) {
    config.node_selector.push_back({std::string(string_at(selector, {"key"})),
                                    std::string(string_at(selector, {"valueFromProvisioningClassDetail"}))});
  }
  const auto policy = decode_merge_policy(string_at(object, {"spec", "podSetMergePolicy"}));
  const Result<void> valid = policy ? check(config) : Result<void>(tl::unexpected(policy.error()));
  if (!valid) return fail("ProvisioningRequestConfig \"" + config.meta.name + "\": " + valid.error().message);
  config.merge_policy = *policy;
  return config;
}

}  // namespace berth::api::kueue
