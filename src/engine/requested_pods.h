// What a workload requests: its pod sets as Kubernetes would see their pods, and what forbids evaluating them.
#pragma once

#include <optional>
#include <vector>

#include "api/config/policies.h"
#include "api/kueue/device_charge.h"
#include "api/kueue/workload_ref.h"
#include "engine/options.h"
#include "engine/queue/workload.h"
#include "engine/registries.h"

namespace berth::engine {

// Depends only on the spec, the charge of its devices, the namespace's LimitRanges and the RuntimeClasses, so it is
// cached.
struct RequestedPods {
  std::vector<PodSetRequest> pod_sets;  // with the counts of the spec
  std::string invalid;                  // why such pods could not be created; empty: they could
  bool devices = false;                 // the pods use devices that cannot be counted: it is not queued
  bool operator==(const RequestedPods&) const = default;
};
// `resources` says which requests count against quota, `topology` whether preferred affinity and spreading count,
// `devices` what the devices of the pods count, null: nothing.
RequestedPods requested_pods(const api::kueue::WorkloadRef& workload, const Registries& registries,
                             const api::config::QuotaResources& resources, const TopologyOptions& topology = {},
                             const api::kueue::DeviceCharge* devices = nullptr);

// Whether the pods use devices that cannot be counted: their charge is refused, or they have claims without a charge.
bool has_uncounted_devices(const api::kueue::WorkloadRef& workload, const api::kueue::DeviceCharge* devices);

// Reduces the counts by the reclaimable pods; min_count as well, so that it does not exceed the count.
std::vector<PodSetRequest> without_reclaimed(const std::vector<PodSetRequest>& pod_sets,
                                             const std::vector<api::kueue::ReclaimablePod>& reclaimable);
// By pod set, how many pods of the admission are gone or done since: the reclaimable ones (`reclaims`: the gate
// ReclaimablePods is on), and those that an elastic job gave up (KEP-77: its spec counts fewer pods). The admission was
// given without the pods that were reclaimable before it.
std::vector<api::kueue::ReclaimablePod> ended_since(const api::kueue::Admission& admission,
                                                    const api::kueue::WorkloadRef& workload, bool reclaims);

// What a workload with this admission uses now: without the pods that ended since.
std::vector<Holding::Amount> amounts_held(const api::kueue::Admission& admission,
                                          const api::kueue::WorkloadRef& workload, const Options& options);

// A barrier when the pods use devices that cannot be counted, when the namespace does not match the queue's selector,
// or when such pods could not be created; nullopt: none of them.
std::optional<Barrier> barrier_of(const RequestedPods& requests, std::string_view ns,
                                  const api::kueue::ClusterQueue* queue, const Registries& registries);

// The timestamp that orders workloads of equal priority: the creation time, or the time of the eviction when the
// workload was evicted for AdmissionCheck, PlacesTimeout, or PodsReadyTimeout if `wait` says so
// (requeuingStrategy.timestamp: Eviction).
Time queue_order_time(const api::kueue::WorkloadRef& workload, const api::config::WaitForPodsReady& wait);

}  // namespace berth::engine
