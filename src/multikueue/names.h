// Names of MultiKueue's objects, labels and annotations.
#pragma once

#include <string_view>

namespace berth::multikueue {

// On copies and their jobs: the name of the manager (Configuration: multiKueue.origin).
inline constexpr std::string_view kOriginLabel = "kueue.x-k8s.io/multikueue-origin";
// On copies, not in Kueue: the uid of the manager's workload. It tells the copy of an earlier workload of the same
// name.
inline constexpr std::string_view kOriginalUid = "berth.dev/multikueue-original-uid";
// Reason of the condition DeactivationTarget on a copy whose workload the manager evicts.
inline constexpr std::string_view kEvictedOnManager = "EvictedOnManagerCluster";

}  // namespace berth::multikueue
