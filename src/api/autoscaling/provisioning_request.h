// ProvisioningRequest (autoscaling.x-k8s.io/v1): asks the cluster autoscaler for capacity for pods that do not exist
// yet. https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/proposals/provisioning-request.md
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/meta.h"
#include "api/rest.h"
#include "base/json.h"

namespace berth::api::autoscaling {

inline constexpr std::string_view kProvisioningRequestKind = "ProvisioningRequest";
inline constexpr std::string_view kApiVersion = "autoscaling.x-k8s.io/v1";

// Condition types, all of which may be absent.
inline constexpr std::string_view kAccepted = "Accepted";        // the autoscaler handles the request
inline constexpr std::string_view kProvisioned = "Provisioned";  // the capacity is available
inline constexpr std::string_view kFailed = "Failed";            // the capacity will not be available
inline constexpr std::string_view kBookingExpired =
    "BookingExpired";  // the capacity was available and is not reserved any longer
inline constexpr std::string_view kCapacityRevoked = "CapacityRevoked";  // the capacity is removed, in use or not

// Annotations of pods: the request whose capacity they use, and its class.
inline constexpr std::string_view kConsumeAnnotation = "autoscaling.x-k8s.io/consume-provisioning-request";
inline constexpr std::string_view kClassNameAnnotation = "autoscaling.x-k8s.io/provisioning-class-name";

struct ProvisioningRequest {
  ObjectMeta meta;
  struct PodSet {
    std::string pod_template;  // name of a PodTemplate in the same namespace
    std::int32_t count = 0;    // at least 1
    bool operator==(const PodSet&) const = default;
  };
  std::vector<PodSet> pod_sets;  // 1 to 32
  std::string class_name;
  StringMap parameters;  // at most 100, values of at most 255 characters
  Conditions conditions;
  StringMap details;  // status.provisioningClassDetails
  bool operator==(const ProvisioningRequest&) const = default;
};
using ProvisioningRequestPtr = std::shared_ptr<const ProvisioningRequest>;

// Lenient: fields that are absent or of a wrong type stay empty.
ProvisioningRequest decode_provisioning_request(const Json& object);
// The object to create, without status.
Json encode_provisioning_request(const ProvisioningRequest& request);

}  // namespace berth::api::autoscaling
