// What the devices of a workload's pods count against quota (KEP-2941).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/core/pod_resources.h"

namespace berth::api::kueue {

// A logical resource is the name by which a ClusterQueue covers devices: that of a deviceClassMapping, or the name of
// an extended resource without one.
struct DeviceCharge {
  struct PodSet {
    ResourceList per_pod;  // by logical resource: what the claims of one pod count
    // Extended resources that devices of a DeviceClass provide, with the logical resource that they count as.
    std::map<std::string, std::string, std::less<>> extended;
    bool operator==(const PodSet&) const = default;
  };
  std::vector<PodSet> pod_sets;  // one for each pod set of the workload, in their order; empty when refused
  // Why the devices cannot be counted, as the message of QuotaReserved=False; empty: they can.
  std::string refused;
  std::string not_requeued;  // the message of Requeued=False
  bool operator==(const DeviceCharge&) const = default;
};

}  // namespace berth::api::kueue
