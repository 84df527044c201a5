// The status of ClusterQueues, LocalQueues and Cohorts as the API shows it.
#pragma once

#include "base/json.h"
#include "base/time.h"
#include "engine/engine.h"

namespace berth::controller {

// The value for .status. `object` is the queue as stored in the API server: its generation becomes
// observedGeneration, and the Active condition keeps its lastTransitionTime while its status does not change.
Json encode_status(const engine::ClusterQueueStatus& status, const Json& object, Time now);
Json encode_status(const engine::LocalQueueStatus& status, const Json& object, Time now);
Json encode_status(const engine::CohortStatus& status, const Json& object, Time now);

}  // namespace berth::controller
