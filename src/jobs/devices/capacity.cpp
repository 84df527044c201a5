#include "jobs/devices/capacity.h"

#include <algorithm>
#include <cstdint>

namespace berth::jobs::devices {
namespace {

// The least number of steps above the minimum that is enough.
Quantity stepped(const Quantity& base, const Quantity& min, const Quantity& step) {
  const auto above = base.nano_value() - min.nano_value(), width = step.nano_value();
  const auto steps = above / width + (above % width == 0 ? 0 : 1);
  return min + step * static_cast<std::int64_t>(std::min(steps, Quantity::Nano{INT64_MAX}));
}

}  // namespace

std::optional<Quantity> capacity_taken(const api::DeviceCapacity& capacity, const api::DeviceRequest& request,
                                       const std::string& dimension) {
  const auto asked = request.capacity.find(dimension);
  const Quantity base =
      asked != request.capacity.end() ? asked->second : capacity.default_request.value_or(capacity.value);
  if (!capacity.valid_values.empty()) {
    const auto fit = std::ranges::find_if(capacity.valid_values, [&](const auto& value) { return value >= base; });
    return fit == capacity.valid_values.end() ? std::nullopt : std::optional(*fit);
  }
  Quantity out = base;
  if (capacity.min) {
    out = std::max(out, *capacity.min);
    if (capacity.step && capacity.step->sign() > 0 && out > *capacity.min)
      out = stepped(out, *capacity.min, *capacity.step);
  }
  return capacity.max && out > *capacity.max ? std::nullopt : std::optional(out);
}

std::optional<api::ResourceList> capacity_taken(const api::Device& device, const api::DeviceRequest& request) {
  for (const auto& [dimension, amount] : request.capacity) {
    if (!device.capacity.contains(dimension)) return std::nullopt;
  }
  api::ResourceList out;
  for (const auto& [dimension, capacity] : device.capacity) {
    const auto amount = capacity_taken(capacity, request, dimension);
    if (!amount) return std::nullopt;
    out.emplace(dimension, *amount);
  }
  return out;
}

bool has_capacity(const api::Device& device, const api::DeviceRequest& request) {
  const auto has = [&](const auto& each) {
    const auto it = device.capacity.find(each.first);
    return it != device.capacity.end() && each.second <= it->second.value;
  };
  if (!device.shared) return std::ranges::all_of(request.capacity, has);
  const auto taken = capacity_taken(device, request);
  return taken && std::ranges::all_of(*taken, has);
}

}  // namespace berth::jobs::devices
