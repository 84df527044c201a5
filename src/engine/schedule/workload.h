// What the scheduler knows about a workload: what it wants, where it waits, what it holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/core/pod_resources.h"
#include "api/core/scheduling.h"
#include "api/kueue/types.h"
#include "base/amount.h"
#include "base/time.h"

namespace berth::engine {

// One group of identical pods as it asks for quota: the pod spec after LimitRange defaults, RuntimeClass
// overhead and limits-as-requests, and the count after reclaimable pods.
struct PodSetRequest {
  std::string name = "main";
  std::int32_t count = 1;
  std::optional<std::int32_t> min_count;  // partial admission may go down to it (KEP-420)
  std::string group;                      // podSetGroupName: assigned together; "" alone
  api::ResourceList per_pod;              // api::pod_requests() of one pod
  api::NodeConstraints constraints;
  std::optional<api::kueue::TopologyRequest> topology;  // places wanted (KEP-2724)
  std::optional<api::ResourceList> counted{};           // what of one pod counts against quota; none: per_pod
  bool operator==(const PodSetRequest&) const = default;
};

// Why a workload may not be evaluated though it is in the queue (nomination checks other than quota).
struct Barrier {
  std::string reason;   // of QuotaReserved=False: "Misconfigured", ...
  std::string message;  // "workload namespace doesn't match ClusterQueue selector"
  // The head of a StrictFIFO queue blocks it with this barrier. False for a namespace mismatch, which never
  // blocks.
  bool blocks_strict_queue = true;
  bool operator==(const Barrier&) const = default;
};

// A workload that waits for quota.
struct Pending {
  std::string cluster_queue;
  std::int32_t priority = 0;  // effective: with boost
  Time queued_at{};  // queue-order timestamp (creation, or the eviction's time: kueue.md, Appendix B)
  std::vector<PodSetRequest> pod_sets;
  std::optional<Barrier> barrier;
  std::optional<Time> not_before;  // back-off: status.requeueState.requeueAt
  bool on_hold = false;            // Requeued=False: stays out of the heap until that changes
  std::string local_queue{};       // "namespace/name": for its position there; may be empty
  bool preemption_gated = false;   // may not make others give way
  bool operator==(const Pending&) const = default;
};

// A workload that holds quota, as the API says (after a restart, or after an admission was written).
struct Holding {
  struct Amount {
    std::string flavor, resource;
    berth::Amount amount;  // of all pods that count (reclaimed ones do not)
    bool operator==(const Amount&) const = default;
  };
  std::string cluster_queue;
  std::int32_t priority = 0;
  Time queued_at{};    // as Pending's: newer workloads of equal priority may have to give way
  Time reserved_at{};  // transition time of QuotaReserved=True
  std::vector<Amount> amounts;
  bool evicted = false;  // Evicted=True: still holds its quota until it is released
  // Where its pods were placed, for pod sets that have a topology assignment.
  struct PodSetPlaces {
    std::string flavor;
    api::ResourceList per_pod;  // raw requests of one pod
    api::kueue::TopologyAssignmentPtr assignment;
  };
  std::vector<PodSetPlaces> places{};
  bool pods_ready = true;  // PodsReady=True: while it is not, nobody is admitted if the options say so
};

}  // namespace berth::engine
