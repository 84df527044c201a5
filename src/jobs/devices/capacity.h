// What a request takes of a device that is shared (KEP-5075, "Consumable capacity").
#pragma once

#include <optional>
#include <string>

#include "api/devices/types.h"

namespace berth::jobs::devices {

// Of one dimension: the amount that is requested, the default or all of it, rounded up by the policy of the device.
// nullopt: the policy refuses it.
std::optional<Quantity> capacity_taken(const api::DeviceCapacity& capacity, const api::DeviceRequest& request,
                                       const std::string& dimension);
// Of all dimensions; nullopt: a policy refuses one, or the device lacks a dimension that is requested.
std::optional<api::ResourceList> capacity_taken(const api::Device& device, const api::DeviceRequest& request);

// Whether the device, with nothing taken of it, has what the request takes; one that is not shared: what it asks for.
bool has_capacity(const api::Device& device, const api::DeviceRequest& request);

}  // namespace berth::jobs::devices
