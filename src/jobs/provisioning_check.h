// The state of an admission check that follows from its ProvisioningRequest, as one table.
#pragma once

#include <cstdint>
#include <string_view>

#include "api/autoscaling/provisioning_request.h"
#include "api/kueue/provisioning_request_config.h"
#include "api/kueue/types.h"

namespace berth::jobs {

inline constexpr std::string_view kCheckInactive = "the check is not active";
inline constexpr std::string_view kNoRequestNeeded = "the provisioning request is not needed";

struct ProvisioningCase {
  const api::kueue::Workload& workload;          // reserves quota, is active and neither evicted nor finished
  const api::kueue::AdmissionCheckState& check;  // as in the workload's status
  // Null: no usable configuration.
  const api::kueue::ProvisioningRequestConfig* config = nullptr;
  bool needed = true;                                              // some pod set needs a request
  const api::autoscaling::ProvisioningRequest* request = nullptr;  // the newest for the check; null: none yet
  std::int32_t attempt = 0;  // of the request, greater than the check's retryCount
};

// The new state of the check, from the first row of the table that applies. retryCount stays the same: the eviction
// that follows a retry increments it.
api::kueue::AdmissionCheckState decide_check(const ProvisioningCase& c);

// Seconds before the n-th retry, n >= 1: base * 2^(n-1), at most max; never negative.
std::int32_t retry_delay(const api::kueue::ProvisioningRequestConfig::Retry& retry, std::int32_t n);

}  // namespace berth::jobs
