// Names of MultiKueue's objects, labels and annotations.
#pragma once

#include <string>
#include <string_view>

namespace berth::multikueue {

// Who makes an object on a worker.
struct Sender {
  std::string origin;   // Configuration: multiKueue.origin
  std::string manager;  // which cluster it is; "": not known
  // Whether an object with this annotation belongs to another manager.
  bool is_other(std::string_view other) const { return !manager.empty() && !other.empty() && other != manager; }
};

// On copies and their jobs: the name of the manager (Configuration: multiKueue.origin).
inline constexpr std::string_view kOriginLabel = "kueue.x-k8s.io/multikueue-origin";
// On copies, not in Kueue: the uid of the manager's workload. It tells the copy of an earlier workload of the same
// name.
inline constexpr std::string_view kOriginalUid = "berth.dev/multikueue-original-uid";
// On copies and their jobs, not in Kueue: which cluster the manager is. Managers with the same origin do not take each
// other's objects for garbage.
inline constexpr std::string_view kManager = "berth.dev/multikueue-manager";
// Reason of the condition DeactivationTarget on a copy whose workload the manager evicts.
inline constexpr std::string_view kEvictedOnManager = "EvictedOnManagerCluster";

}  // namespace berth::multikueue
