// A driver that pretends: publishes devices for each node in ResourceSlices, and a DeviceClass for each kind of device.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "base/result.h"
#include "embedded/cluster/shared/pod_writes.h"

namespace berth::cluster::devices {

// Devices of one driver on each node.
struct DeviceShape {
  enum class Kind : std::uint8_t {
    kWhole,   // each is given to one claim
    kParts,   // each can be given as a whole, as halves or as quarters, which count its memory
    kShared,  // each is given to several claims, which take parts of its memory
  };
  std::string driver;  // also the name of the class
  int count = 0;
  Kind kind = Kind::kWhole;
};
inline constexpr int kMostDevices = 64;       // of one driver on a node
inline constexpr int kMostPartedDevices = 8;  // each has seven entries in a slice of at most 64

// "gpu.example.com=8", "mig.example.com=2:parts,shared.example.com=4:shared". An error says which part is wrong.
Result<std::vector<DeviceShape>> parse_devices(std::string_view text);

// The objects that the driver publishes for a node.
Json device_class(const DeviceShape& shape);
std::vector<Json> slices_of(const DeviceShape& shape, const Json& node);

class Driver {
 public:
  Driver(api::RestClient& client, Executor& executor) : writer_(client, executor) {}

  void start(std::vector<DeviceShape> shapes);
  // Publishes the slices of a new node, and removes those of a node that is gone.
  void node_changed(const JsonPtr& old, const JsonPtr& now);

 private:
  void create(const api::GroupVersionResource& resource, const Json& object);
  void remove(const std::string& slice);

  std::vector<DeviceShape> shapes_;
  Writer writer_;
};

}  // namespace berth::cluster::devices
