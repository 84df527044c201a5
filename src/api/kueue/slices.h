// Names of the slices of elastic jobs (KEP-77), beside kElasticJob and kSliceReplacementFor of names.h.
#pragma once

#include <string_view>

namespace berth::api::kueue {

// Annotation of slices, of the pod template of their job and of its pods: the name of the first slice of the chain.
inline constexpr std::string_view kSliceName = "kueue.x-k8s.io/workload-slice-name";
// Scheduling gate of the pods of an elastic job, until quota for that many pods is granted.
inline constexpr std::string_view kElasticGate = "kueue.x-k8s.io/elastic-job";
// Reason of Finished=True, and of the event: another slice of the job took the quota over.
inline constexpr std::string_view kSliceReplaced = "WorkloadSliceReplaced";

}  // namespace berth::api::kueue
