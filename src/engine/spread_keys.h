// Rules of topology spreading that have no effect, because the topology lacks their level (KEP-13746).
#pragma once

#include "api/kueue/types.h"
#include "base/time.h"
#include "engine/registries.h"

namespace berth::engine {

// `status` is the one after a reservation. Sets the condition TopologySpreadKeyNotFound when a rule of the annotation
// kueue.x-k8s.io/podset-topology-spreading names a level that the topology of the assigned flavor lacks; the message
// names pod set, key, topology and levels. Otherwise resets it. `now`: of the decision.
void report_unknown_spread_keys(api::kueue::WorkloadStatus& status, const api::kueue::WorkloadRef& workload,
                                const Registries& registries, Time now);

}  // namespace berth::engine
