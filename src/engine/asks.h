// What a workload asks of the scheduler: its pod sets as Kubernetes would see their pods, and what forbids
// evaluating them.
#pragma once

#include <optional>
#include <vector>

#include "api/config/policies.h"
#include "api/kueue/types.h"
#include "engine/registries.h"
#include "engine/schedule/workload.h"

namespace berth::engine {

// The part that depends on the spec, the namespace's limit ranges and the runtime classes alone: worth
// keeping.
struct Asks {
  std::vector<PodSetRequest> pod_sets;  // with the counts of the spec
  std::string invalid;                  // why such pods could not be created; empty: they could
  bool operator==(const Asks&) const = default;
};
// `resources`: what of it counts against quota.
Asks asks_of(const api::kueue::Workload& workload, const Registries& registries, const api::config::QuotaResources& resources);

// The counts without the pods that ended.
std::vector<PodSetRequest> without_reclaimed(const std::vector<PodSetRequest>& pod_sets,
                                             const std::vector<api::kueue::ReclaimablePod>& reclaimable);

// The namespace does not match the queue's selector, or such pods could not be created.
std::optional<Barrier> barrier_of(const Asks& asks, std::string_view ns,
                                  const api::kueue::ClusterQueue* queue, const Registries& registries);

// Before whom a workload goes at equal priority: its creation, or the eviction that made it start over
// (kueue.md, Appendix B: AdmissionCheck, and PodsReadyTimeout if `wait` says so).
Time queue_order_time(const api::kueue::Workload& workload, const api::config::WaitForPodsReady& wait);

}  // namespace berth::engine
