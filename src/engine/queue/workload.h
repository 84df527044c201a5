// What the scheduler knows about a workload: what it requests, where it waits, what it holds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/pod_resources.h"
#include "api/core/scheduling.h"
#include "api/kueue/topology_spreading.h"
#include "api/kueue/types.h"
#include "base/amount.h"
#include "base/time.h"
#include "engine/quota/ids.h"

namespace berth::engine {

// One group of identical pods as it requests quota: the pod spec after LimitRange defaults, RuntimeClass overhead and
// limits-as-requests; the count without reclaimable pods.
struct PodSetRequest {
  std::string name = "main";
  std::int32_t count = 1;
  std::optional<std::int32_t> min_count;  // partial admission may reduce the count to this (KEP-420)
  std::string group;                      // podSetGroupName: assigned together; "": alone
  api::ResourceList per_pod;              // api::pod_requests() of one pod
  api::NodeConstraints constraints;
  std::optional<api::kueue::TopologyRequest> topology;  // topology request (KEP-2724)
  std::optional<api::ResourceList> counted{};  // the requests of one pod that count against quota; nullopt: per_pod
  std::optional<api::kueue::TopologySpreading> spreading{};  // over the domains of a topology (KEP-13746)
  bool operator==(const PodSetRequest&) const = default;
};

// Why a workload in the queue may not be evaluated (nomination checks other than quota).
struct Barrier {
  std::string reason;   // reason of QuotaReserved=False, for example "Misconfigured"
  std::string message;  // for example "workload namespace doesn't match ClusterQueue selector"
  // The head of a StrictFIFO queue blocks the queue with this barrier. False for a namespace mismatch, which never
  // blocks.
  bool blocks_strict_queue = true;
  bool operator==(const Barrier&) const = default;
};

// The slice of an elastic job that another one replaces (KEP-77): it holds quota in the same cluster queue, and the
// other one takes that over together with the difference.
struct Replacement {
  WorkloadId of;
  // What the other one must keep.
  struct PodSet {
    std::string name;
    api::StringMap flavors;                      // by resource
    api::kueue::TopologyAssignmentPtr places{};  // null: its pods have none
    bool operator==(const PodSet&) const = default;
  };
  std::vector<PodSet> pod_sets;
  const PodSet* find(std::string_view name) const {
    const auto found = std::ranges::find(pod_sets, name, &PodSet::name);
    return found == pod_sets.end() ? nullptr : &*found;
  }
  bool operator==(const Replacement&) const = default;
};

// A workload that waits for quota.
struct Pending {
  std::string cluster_queue;
  std::int32_t priority = 0;  // effective: with the priority boost
  Time queued_at{};           // queue-order timestamp (creation, or the time of an eviction: queue_order_time())
  std::vector<PodSetRequest> pod_sets;
  std::optional<Barrier> barrier;
  std::optional<Time> not_before;                  // back-off: status.requeueState.requeueAt
  bool on_hold = false;                            // Requeued=False: not evaluated until that changes
  std::string local_queue{};                       // "namespace/name": for its position there; may be empty
  bool preemption_gated = false;                   // may not preempt
  std::shared_ptr<const api::StringMap> labels{};  // where workloads are spread, else null
  std::optional<Replacement> replaces{};
  bool operator==(const Pending&) const = default;
};

// A workload that holds quota, according to the API (after a restart, or after an admission was written).
struct Holding {
  struct Amount {
    std::string flavor, resource;
    berth::Amount amount;  // of all pods except reclaimed ones
    bool operator==(const Amount&) const = default;
  };
  std::string cluster_queue;
  std::int32_t priority = 0;
  Time queued_at{};    // as in Pending: decides between workloads of equal priority in preemption
  Time reserved_at{};  // transition time of QuotaReserved=True
  std::vector<Amount> amounts;
  bool evicted = false;  // Evicted=True: it still holds its quota until it is released
  // The places of its pods, for pod sets with a topology assignment.
  struct PodSetPlaces {
    std::string flavor;
    api::ResourceList per_pod;  // requests of one pod, before quota transformations
    api::kueue::TopologyAssignmentPtr assignment;
    std::string unit{};  // as in PlaceAsk
  };
  std::vector<PodSetPlaces> places{};
  bool pods_ready = true;     // PodsReady=True; with block_admission nothing is admitted while it is false
  std::string local_queue{};  // as in Pending: whose usage it is
  // Since when it is used: transition time of Admitted=True, or of QuotaReserved=True where that decides (KEP-4136).
  // nullopt: not yet.
  std::optional<Time> used_since{};
  std::shared_ptr<const api::StringMap> labels{};  // as in Pending
};

}  // namespace berth::engine
