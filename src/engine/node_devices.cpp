#include "engine/node_devices.h"

namespace berth::engine {

void NodeDevices::see(const NodeDevicesSeen& e) {
  if (e.devices.empty()) {
    nodes.erase(e.node);
  } else {
    nodes.insert_or_assign(e.node, e);
  }
}

void NodeDevices::see(const DevicesTaken& e) {
  if (e.amounts.empty()) {
    taken.erase(e.claim);
  } else {
    taken.insert_or_assign(e.claim, e);
  }
}

api::kueue::PodPlacement placement_of(const DevicesTaken& e) {
  api::kueue::PodPlacement out;
  out.uid = e.claim;
  out.ns = e.ns;
  out.workload = e.workload;
  out.node = e.node;
  out.bound = true;
  out.requests = e.amounts;
  return out;
}

}  // namespace berth::engine
