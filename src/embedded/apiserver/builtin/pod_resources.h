// The resources that a pod requests, computed as the scheduler, LimitRange and the QoS classes do.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/quantity.h"

namespace berth::apiserver {

using ResourceTotals = std::map<std::string, Quantity, std::less<>>;

// Reads a quantity; nullopt when the value is not one.
std::optional<Quantity> quantity_of(const Json& value);

// Requests (or limits) of all containers: the larger one of (a) the sum of containers and sidecars, and (b) the
// largest init container plus the sidecars that start before it.
// https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers
ResourceTotals container_requests(const Json& pod_spec);
ResourceTotals container_limits(const Json& pod_spec);

// "Guaranteed", "Burstable" or "BestEffort". https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/
std::string_view qos_class(const Json& pod_spec);

}  // namespace berth::apiserver
