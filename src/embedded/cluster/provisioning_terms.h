// Settings for one ProvisioningRequest of the pretend autoscaler: delays, and failures on demand.
//
// Each is a parameter of the request (from the ProvisioningRequestConfig, or a job's annotation
// provreq.kueue.x-k8s.io/<name>). An annotation berth.dev/<name> on the request itself has precedence:
//   provisioning-delay: 2m   time until the nodes exist
//   fail-attempts: 2         the first two attempts of a workload fail; "all": each attempt fails
//   expire-after: 60s        how long capacity is kept for pods that do not come (BookingExpired);
//                            default 10m, as in the cluster autoscaler
//   revoke-after: 5m         the capacity is revoked this long after it was provisioned (CapacityRevoked);
//                            default never
#pragma once

#include <optional>

#include "api/autoscaling/provisioning_request.h"
#include "base/result.h"
#include "base/time.h"

namespace berth::cluster {

struct ProvisioningTerms {
  std::optional<Duration> delay, revoke_after;
  Duration expire_after = std::chrono::minutes(10);
  bool fails = false;  // this attempt fails
};

// An error names the parameter. The number of the attempt is the suffix that Kueue gives the request's name; 1 when
// there is none.
Result<ProvisioningTerms> provisioning_terms(const api::autoscaling::ProvisioningRequest& request);

}  // namespace berth::cluster
