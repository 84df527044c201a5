// The kinds of resource.k8s.io/v1 (KEP-4381) as values: ResourceClaimTemplate, ResourceClaim, DeviceClass and
// ResourceSlice. https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/core/pod_resources.h"
#include "api/core/scheduling.h"
#include "api/meta.h"
#include "base/json.h"

namespace berth::api {

// A request for devices of one class, or one alternative of it.
struct DeviceRequest {
  std::string name;  // of an alternative
  std::string device_class;
  std::vector<std::string> selectors;  // CEL expressions about `device`
  bool all = false;                    // allocationMode All: every matching device
  std::int64_t count = 1;              // allocationMode ExactCount; at least 1 on every server
  bool admin_access = false;
  ResourceList capacity;                // by dimension: what is taken of a device that is shared (capacity.requests)
  std::vector<Toleration> tolerations;  // of taints of devices
};
// Either `exactly` or alternatives, the best first; neither: the server is newer than this code.
struct ClaimRequest {
  std::string name;
  std::optional<DeviceRequest> exactly;
  std::vector<DeviceRequest> first_available;
};
// Devices of these requests (all, if none is named) have one value of an attribute, or no two of them have one value.
struct DeviceConstraint {
  std::vector<std::string> requests;
  std::string match_attribute, distinct_attribute;  // with their domain; one of them is set
};
struct ResourceClaimTemplate {
  ObjectMeta meta;
  std::vector<ClaimRequest> requests;
};
struct ResourceClaim {
  ObjectMeta meta;
  std::vector<ClaimRequest> requests;
  std::vector<DeviceConstraint> constraints;
  JsonPtr allocation;                     // status.allocation; null: it has none
  std::vector<std::string> reserved_for;  // UIDs
};

struct DeviceClass {
  ObjectMeta meta;
  std::vector<std::string> selectors;
  std::string extended_resource_name;  // pods may request devices of the class by it; empty: they may not
};

// How much of one dimension a device has, and which parts of it are given out.
struct DeviceCapacity {
  Quantity value;
  std::optional<Quantity> default_request;
  std::vector<Quantity> valid_values;  // ascending; empty: any
  std::optional<Quantity> min, max, step;
};
// From which nodes a device can be used.
struct DevicePlace {
  std::string node;  // the one node that has it; empty: see below
  bool all_nodes = false;
  std::optional<NodeSelectorTerm> term;
  bool reaches(std::string_view node_name, const StringMap& labels) const;
};
struct Device {
  std::string name;
  JsonPtr attributes;  // by name: an object with one of int, bool, string, version; null: none
  std::map<std::string, DeviceCapacity, std::less<>> capacity;
  std::vector<std::pair<std::string, ResourceList>> counters;  // by counter set: what it consumes
  std::vector<Taint> taints;
  std::optional<DevicePlace> place;  // where the slice leaves it to its devices
  bool shared = false;               // allowMultipleAllocations
};
struct ResourceSlice {
  ObjectMeta meta;
  std::string driver, pool;
  std::int64_t generation = 0;   // of the pool; slices of older generations do not count
  std::int64_t pool_slices = 0;  // of this generation, in the whole pool
  DevicePlace place;
  std::map<std::string, ResourceList, std::less<>> shared_counters;  // by counter set
  std::vector<std::shared_ptr<const Device>> devices;
};

// Objects that a server accepted. An error names the first field that cannot be read.
Result<ResourceClaimTemplate> decode_resource_claim_template(const Json& object);
Result<ResourceClaim> decode_resource_claim(const Json& object);
Result<DeviceClass> decode_device_class(const Json& object);
Result<ResourceSlice> decode_resource_slice(const Json& object);

}  // namespace berth::api
