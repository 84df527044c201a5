// The status of a Deployment. https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status
#pragma once

#include <optional>
#include <vector>

#include "embedded/cluster/apps/deployment_sync.h"

namespace berth::cluster {

// The bounds of a rolling update, in pods.
struct RollingBounds {
  std::int64_t surge = 0, unavailable = 0;
};
RollingBounds rolling_bounds(const Json& deployment);

// Every pod is of the present template and available.
bool deployment_complete(const Json& deployment, const Json& status);

// `newest`: the ReplicaSet of the present template; null when there is none. `wake` becomes the time at which the
// progress deadline passes, if that is earlier than what is there.
Json deployment_status(const DeploymentView& view, const DeployedSet* newest, std::optional<Time>& wake);

}  // namespace berth::cluster
