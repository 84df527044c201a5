// Kueue's objects between v1beta1 and v1beta2 (kueue.md 7.1). What one version cannot say is lost on the way to it; everything else
// comes back as it was.
//
// Lost on the way up: ClusterQueue status.pendingWorkloadsStatus, status.fairSharing.admissionFairSharingStatus (Cohort too) and the old
// names Borrow and Preempt of flavorFungibility (they become MayStopSearch, which is the same); LocalQueue status.flavors;
// AdmissionCheck spec.retryDelayMinutes; a Workload's priorityClassName without a source.
// On the way down: Workload podsetSliceRequiredTopologyConstraints and preemptionGates; ClusterQueue concurrentAdmissionPolicy;
// MultiKueueConfig quotaManagement.
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace berth::api::kueue {

// Makes `object` (with apiVersion and kind) one of `version`, "v1beta1" or "v1beta2". Nothing to do when it is one already. Fails,
// naming the object and the field, for other versions and for what cannot be read.
Result<void> convert(Json& object, std::string_view version);

}  // namespace berth::api::kueue
