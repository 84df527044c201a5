// What a pod asks for, counted as the scheduler, LimitRange and the quality-of-service classes do.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/quantity.h"

namespace berth::apiserver {

using ResourceTotals = std::map<std::string, Quantity, std::less<>>;

// The quantity at the value, nullopt when it is none.
std::optional<Quantity> quantity_of(const Json& value);

// Requests (limits) of all containers together: the sum of containers and sidecars, or the largest init
// container together with the sidecars started before it, whichever is more.
// https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers
ResourceTotals container_requests(const Json& pod_spec);
ResourceTotals container_limits(const Json& pod_spec);

// "Guaranteed", "Burstable" or "BestEffort". https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/
std::string_view qos_class(const Json& pod_spec);

}  // namespace berth::apiserver
