// What was seen of the devices of nodes: for rebuilding the scheduler.
#pragma once

#include <map>
#include <string>

#include "engine/events.h"

namespace berth::engine {

// Plain values, copied as a whole.
struct NodeDevices {
  std::map<std::string, NodeDevicesSeen> nodes;  // by name; none without devices
  std::map<std::string, DevicesTaken> taken;     // by claim

  void see(const NodeDevicesSeen& e);
  void see(const DevicesTaken& e);
};
// As a pod that requests them: in the form of Places::set_taken_devices().
api::kueue::PodPlacement placement_of(const DevicesTaken& e);

}  // namespace berth::engine
