// Which devices of a node a claim gets: the part of kube-scheduler that allocates (KEP-4381). Knows whole devices,
// parts of devices with shared counters, shared devices with consumable capacity, taints, constraints and alternatives.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "api/devices/types.h"
#include "jobs/devices/inventory.h"
#include "jobs/devices/selector.h"

namespace berth::cluster::devices {

struct NodeView {
  std::string_view name;
  const api::StringMap& labels;
};

// What is taken of the devices, by all claims that have an allocation.
class Taken {
 public:
  using DeviceId = std::tuple<std::string, std::string, std::string>;  // driver, pool, name

  // Adds or takes away the results of status.allocation. Devices for administrators take nothing.
  void add(const Json& allocation, int sign = 1);
  void take(const DeviceId& device, const api::ResourceList& capacity, int sign = 1);
  int times(const DeviceId& device) const;
  Quantity capacity(const DeviceId& device, std::string_view dimension) const;

 private:
  struct Use {
    int times = 0;
    api::ResourceList capacity;
  };
  std::map<DeviceId, Use> used_;
};

class Allocator {
 public:
  explicit Allocator(jobs::devices::Inventory inventory) : inventory_(inventory) {}

  // status.allocation for each of the claims, in their order; nullopt: the node does not have the devices. Depth first,
  // the first devices that fit; gives up after kMostSteps. At most 32 devices for each claim.
  static constexpr int kMostSteps = 20'000;
  std::optional<std::vector<Json>> allocate(const std::vector<const api::ResourceClaim*>& claims, const NodeView& node,
                                            const Taken& taken);

 private:
  const jobs::devices::Inventory inventory_;
  jobs::devices::Selectors selectors_;
};

}  // namespace berth::cluster::devices
