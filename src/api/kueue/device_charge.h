// What the devices of a workload's pods count against quota (KEP-2941), and what nodes must have of them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/pod_resources.h"

namespace berth::api::kueue {

// What nodes have of devices is counted as resources whose names begin with one of these and go on with a text that
// people understand, up to the first line break (docs/devices.md, "Places"). Of a kind of request the name of the class
// follows; of a part of devices (a counter, a capacity) its driver and name.
inline constexpr std::string_view kDevice = "device:", kDevicePart = "device-part:";

// A logical resource is the name by which a ClusterQueue covers devices: that of a deviceClassMapping, or the name of
// an extended resource without one.
struct DeviceCharge {
  struct PodSet {
    ResourceList per_pod;  // by logical resource: what the claims of one pod count
    // Extended resources that devices of a DeviceClass provide, with the logical resource that they count as.
    std::map<std::string, std::string, std::less<>> extended;
    // What the claims of one pod need free on its node, by names as above, whole numbers; empty: places do not look at
    // devices.
    ResourceList on_node;
    // Of these extended resources nodes are not asked: by name, what they need on the node instead, for each one.
    std::map<std::string, ResourceList, std::less<>> extended_on_node;
    bool operator==(const PodSet&) const = default;
  };
  std::vector<PodSet> pod_sets;  // one for each pod set of the workload, in their order; empty when refused
  // Why the devices cannot be counted, as the message of QuotaReserved=False; empty: they can.
  std::string refused;
  std::string not_requeued;  // the message of Requeued=False
  bool operator==(const DeviceCharge&) const = default;
};

}  // namespace berth::api::kueue
