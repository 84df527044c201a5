// Conversion of Kueue's objects between v1beta1 and v1beta2. Fields that the target version does not have are lost;
// all other fields survive the way there and back.
//
// Lost on the way up (to v1beta2): ClusterQueue status.pendingWorkloadsStatus,
// status.fairSharing.admissionFairSharingStatus (Cohort too) and the old names Borrow and Preempt of
// flavorFungibility (they become MayStopSearch, which is the same); LocalQueue status.flavors; AdmissionCheck
// spec.retryDelayMinutes; a Workload's priorityClassName without a source.
//
// Lost on the way down (to v1beta1): Workload podsetSliceRequiredTopologyConstraints and preemptionGates;
// ClusterQueue concurrentAdmissionPolicy; MultiKueueConfig quotaManagement.
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace berth::api::kueue {

// Converts `object` (with apiVersion and kind) to `version`, "v1beta1" or "v1beta2". Does nothing when it has that
// version already. Fails for other versions and for invalid fields; the error names the object and the field.
Result<void> convert(Json& object, std::string_view version);

}  // namespace berth::api::kueue
