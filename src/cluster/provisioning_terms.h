// What people ask of the pretend autoscaler for one ProvisioningRequest: delays, and failures on demand.
//
// Each is a parameter of the request (from the ProvisioningRequestConfig, or a job's annotation
// provreq.kueue.x-k8s.io/<name>) or, going before it, an annotation berth.dev/<name> on the request itself:
//   provisioning-delay: 2m   how long it takes until nodes are there
//   fail-attempts: 2         the first two attempts of a workload fail; "all": every one does
//   expire-after: 60s        how long room is kept for pods that do not come (BookingExpired); default 10m,
//   as upstream revoke-after: 5m         the room is taken away that long after it was there
//   (CapacityRevoked); default never
#pragma once

#include <optional>

#include "api/autoscaling/provisioning_request.h"
#include "base/result.h"
#include "base/time.h"

namespace berth::cluster {

struct ProvisioningTerms {
  std::optional<Duration> delay, revoke_after;
  Duration expire_after = std::chrono::minutes(10);
  bool fails = false;  // this attempt does
};

// Errors name the parameter. The attempt is the number that Kueue ends the request's name in; 1 when there is
// none.
Result<ProvisioningTerms> provisioning_terms(const api::autoscaling::ProvisioningRequest& request);

}  // namespace berth::cluster
