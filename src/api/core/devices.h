// Devices of dynamic resource allocation (KEP-4381).
#pragma once

#include <string_view>

#include "base/json.h"

namespace berth::api {

// Whether pods of this spec have claims of devices. Extended resources do not count as such: they are counted by name.
bool uses_devices(const Json& pod_spec);

// Kueue's message about a workload whose pods have claims while its gate is off.
inline constexpr std::string_view kUncountedDevices =
    "Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled";

}  // namespace berth::api
