// ProvisioningRequest (autoscaling.x-k8s.io/v1): asks the cluster autoscaler for room for pods that do not
// exist yet.
// https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/proposals/provisioning-request.md
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
inline constexpr std::string_view kAccepted = "Accepted";        // somebody takes care of it
inline constexpr std::string_view kProvisioned = "Provisioned";  // the room is there
inline constexpr std::string_view kFailed = "Failed";            // there will be none
inline constexpr std::string_view kBookingExpired =
    "BookingExpired";  // the room was there and is not kept any longer
inline constexpr std::string_view kCapacityRevoked =
    "CapacityRevoked";  // the room is taken away, in use or not

// On pods: which request made room for them, and of which class it is.
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

// Lenient: what is absent or of a wrong type is left empty.
ProvisioningRequest decode_provisioning_request(const Json& object);
// The object as it is created: without status.
Json encode_provisioning_request(const ProvisioningRequest& request);

}  // namespace berth::api::autoscaling
