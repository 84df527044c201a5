// resources.deviceClassMappings: which DeviceClasses count as which resource of ClusterQueues (KEP-2941).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::api::config {

// Devices of one driver that count by what they take, not by their number.
struct DeviceSource {
  enum class Kind : std::uint8_t { kCounter, kCapacity };
  Kind kind = Kind::kCounter;
  std::string name;      // of the counter in the slices' shared counters, or of the dimension of capacity
  std::string driver;    // of the slices
  std::string selector;  // a CEL expression about `device`
  bool operator==(const DeviceSource&) const = default;
};
struct DeviceClassMapping {
  std::string name;  // the resource that ClusterQueues cover
  std::vector<std::string> classes;
  std::vector<DeviceSource> sources;  // all of one kind; none: each device counts 1
  bool operator==(const DeviceClassMapping&) const = default;

  bool has(DeviceSource::Kind kind) const { return !sources.empty() && sources.front().kind == kind; }
  bool maps(std::string_view device_class) const;
};
using DeviceClassMappings = std::vector<DeviceClassMapping>;

class Fields;
// Reads the field of `resources`. Expressions are not compiled here.
DeviceClassMappings read_device_mappings(Fields& resources);

}  // namespace berth::api::config
