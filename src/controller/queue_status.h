// The status of ClusterQueues, LocalQueues and Cohorts as the API shows it.
#pragma once

#include "base/json.h"
#include "base/time.h"
#include "engine/engine.h"

namespace berth::controller {

// The value of .status as it shall be. `object` is the queue as the API holds it: its generation becomes the
// observed one, and the transition time of its Active condition stays when the condition's status stays.
Json encode_status(const engine::ClusterQueueStatus& status, const Json& object, Time now);
Json encode_status(const engine::LocalQueueStatus& status, const Json& object, Time now);
Json encode_status(const engine::CohortStatus& status, const Json& object, Time now);

}  // namespace berth::controller
