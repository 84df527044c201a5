#include "api/core/devices.h"

namespace berth::api {

bool uses_devices(const Json& pod_spec) { return !array_at(pod_spec, {"resourceClaims"}).empty(); }

}  // namespace berth::api
