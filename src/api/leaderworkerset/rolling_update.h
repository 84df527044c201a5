// The limits of a rolling update of a LeaderWorkerSet.
// https://lws.sigs.k8s.io/docs/concepts/rollout-strategy/
#pragma once

#include <cstdint>

#include "base/json.h"

namespace berth::api::leaderworkerset {

struct RollingUpdate {
  std::int64_t max_surge = 0;        // groups beyond the replicas
  std::int64_t max_unavailable = 1;  // at least 1 when there is no surge, or an update would never begin
  std::int64_t partition = 0;        // groups with a lower index stay as they are
};
RollingUpdate rolling_update_of(const Json& set);

// spec.replicas; 1 when it is absent.
std::int64_t replicas_of(const Json& set);

}  // namespace berth::api::leaderworkerset
