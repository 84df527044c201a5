// What a scheduling pass decides. The caller turns decisions into writes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/kueue/types.h"
#include "engine/quota/ids.h"

namespace berth::engine {

// The flavors of one pod set and how many of its pods are admitted.
struct PodSetFlavors {
  std::int32_t count = 0;
  std::vector<std::pair<ResourceId, FlavorId>> flavors;  // resources without a quota are left out
  api::kueue::TopologyAssignmentPtr places;              // null: no places, or not yet
  bool delayed = false;  // the second pass assigns the places: delayedTopologyRequest Pending
};

// The claim is already taken. If the write fails: release(), then submit() again.
struct Admit {
  WorkloadId workload;
  QuotaNodeId cluster_queue;
  std::vector<PodSetFlavors> pod_sets;  // in the order of the workload's pod sets
  std::string considered;               // "Flavors considered: ...", for the event; empty when the first one fitted
};

enum class PreemptionReason : std::uint8_t {
  kInClusterQueue,
  kInCohortReclamation,
  kInCohortReclaimWhileBorrowing,
  kInCohortFairSharing,
};
std::string_view to_string(PreemptionReason reason);       // "InClusterQueue": the reason of the Preempted condition
std::string_view human_readable(PreemptionReason reason);  // "prioritization in the ClusterQueue"

// Evict the target. It counts as evicted from now on (it is not decided again) and holds its quota until release().
// If the write fails: hold() without `evicted`.
struct Preempt {
  WorkloadId target;
  WorkloadId preemptor;
  PreemptionReason reason = PreemptionReason::kInClusterQueue;
  // "Preempted to accommodate a workload (UID: ..., JobUID: ...) due to ...; preemptor path: ...; preemptee
  // path: ..."
  std::string message;
};

// Why QuotaReserved stays False. Reported only when it is new for the workload.
struct Wait {
  WorkloadId workload;
  std::string reason;  // reason of the condition and of the event: a constant below, or the barrier's
  std::string message;
  // True: the workload was evaluated, so its resourceRequests should be written. False: an equivalent workload was.
  bool evaluated = true;
  bool preemption_gated = false;  // preemption would help, but a closed preemption gate forbids it
};

using Decision = std::variant<Admit, Preempt, Wait>;
using Decisions = std::vector<Decision>;

inline constexpr std::string_view kNoMatchingFlavor = "NoMatchingFlavor";
inline constexpr std::string_view kExceedsMaxQuota = "ExceedsMaxQuota";
inline constexpr std::string_view kWaitingForQuota = "WaitingForQuota";
inline constexpr std::string_view kWaitingForPreemptedWorkloads = "WaitingForPreemptedWorkloads";
inline constexpr std::string_view kTopologyPlacementFailed = "TopologyPlacementFailed";
inline constexpr std::string_view kWaitingForPodsReady = "WaitingForPodsReady";

// How often workloads of a cluster queue wanted victims that others of the same cycle had chosen already, since the
// scheduler was made.
struct OverlapCounts {
  std::uint64_t skips = 0;         // in the last round: they had victims and must wait for another cycle
  std::uint64_t new_targets = 0;   // victims were searched again: others were found,
  std::uint64_t deferred_fit = 0;  // none are needed once those leave,
  std::uint64_t skipped = 0;       // or it does not fit
};

}  // namespace berth::engine
