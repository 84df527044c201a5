// The resource requests of a pod: containers, init containers (with sidecars), pod-level resources, overhead.
// https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/field_error.h"
#include "base/json.h"
#include "base/quantity.h"

namespace berth::api {

using ResourceList = std::map<std::string, Quantity, std::less<>>;

Result<Quantity> decode_quantity(const Json& value);  // a string, or a number as in `cpu: 2`
Result<ResourceList> decode_resource_list(const Json& object);
Json encode_resource_list(const ResourceList& list);

// The ports of the node that a pod takes, as resources of which a node has one each: "hostPort/TCP/8080". Addresses
// (hostIP) are not distinguished.
inline constexpr std::string_view kHostPort = "hostPort/";
ResourceList host_ports(const Json& pod_spec);
// The effective request of one pod of this spec, overhead included.
ResourceList pod_requests(const Json& pod_spec);

struct LimitRangeItem {
  std::string type;  // Pod, Container, PersistentVolumeClaim
  ResourceList max, min, default_limits, default_requests, max_limit_request_ratio;
};
std::vector<LimitRangeItem> decode_limit_range(const Json& limit_range);

// Returns the pod spec as it will be after pod creation: with RuntimeClass overhead, LimitRange defaults, and limits
// as requests where these are missing. Quota counts these values. `overhead` may be null.
Json adjust_pod_spec(const Json& pod_spec, const std::vector<LimitRangeItem>& limits, const Json& overhead);

// An error for each container with requests above its limits. Paths start with `path`.
FieldErrors requests_above_limits(const Json& pod_spec, std::string_view path);
// Errors for amounts of containers, and sums of the pod, that are outside min and max of the limit ranges. Paths
// start with `path`.
FieldErrors outside_limit_ranges(const Json& pod_spec, const std::vector<LimitRangeItem>& limits,
                                 std::string_view path);

}  // namespace berth::api
