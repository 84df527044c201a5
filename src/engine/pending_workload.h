// Pending workloads and their positions.
#pragma once

#include <cstddef>
#include <string>

#include "api/kueue/types.h"
#include "engine/ptr.h"

namespace berth::engine {

// A workload that waits for quota, and its position (Kueue's visibility API, KEP-168). Positions are 0-based and
// follow the order of evaluation: sticky workload, higher priority, older queue-order timestamp, UID. Parked
// workloads have positions too. The position in a local queue counts only workloads that were submitted through it.
struct PendingWorkload {
  Ptr<api::kueue::Workload> object;  // as the API holds it
  std::size_t position_in_cluster_queue = 0, position_in_local_queue = 0;
};
struct PendingPosition {
  std::string cluster_queue;
  std::size_t in_cluster_queue = 0, in_local_queue = 0;
};

}  // namespace berth::engine
