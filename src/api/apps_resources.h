// The resources of the group apps.
#pragma once

#include "api/rest.h"

namespace berth::api {

inline const GroupVersionResource kControllerRevisions{"apps", "v1", "controllerrevisions"};
inline const GroupVersionResource kDeployments{"apps", "v1", "deployments"};
inline const GroupVersionResource kReplicaSets{"apps", "v1", "replicasets"};
inline const GroupVersionResource kStatefulSets{"apps", "v1", "statefulsets"};

}  // namespace berth::api
