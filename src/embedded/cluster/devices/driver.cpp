#include "embedded/cluster/devices/driver.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/field_error.h"
#include "api/resources.h"

namespace berth::cluster::devices {
namespace {

constexpr std::string_view kMemory = "80Gi";

Result<DeviceShape> parse_shape(std::string_view text) {
  const auto wrong = [&](const std::string& why) {
    return fail("devices \"" + std::string(text) + "\": " + why +
                "; expected DRIVER=COUNT, DRIVER=COUNT:parts or DRIVER=COUNT:shared, for example gpu.example.com=8");
  };
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return wrong("there is no =");
  DeviceShape out;
  out.driver = text.substr(0, equals);
  if (const std::string broken = api::check_dns_subdomain(out.driver); !broken.empty() || out.driver.size() > 63)
    return wrong("\"" + out.driver + "\" is no name of a driver");
  std::string_view number = text.substr(equals + 1), kind;
  if (const auto colon = number.find(':'); colon != std::string_view::npos) {
    kind = number.substr(colon + 1);
    number = number.substr(0, colon);
  }
  if (kind == "parts")
    out.kind = DeviceShape::Kind::kParts;
  else if (kind == "shared")
    out.kind = DeviceShape::Kind::kShared;
  else if (!kind.empty())
    return wrong("\"" + std::string(kind) + "\" is no kind of device");
  const int most = out.kind == DeviceShape::Kind::kParts ? kMostPartedDevices : kMostDevices;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), out.count);
  if (error != std::errc() || end != number.data() + number.size() || out.count < 1 || out.count > most)
    return wrong("the number must be from 1 to " + std::to_string(most));
  return out;
}

Json memory_of(std::string_view amount) { return JsonObject{{"memory", JsonObject{{"value", amount}}}}; }

Json attributes_of(int index, std::string_view type) {
  return JsonObject{{"index", JsonObject{{"int", index}}},
                    {"type", JsonObject{{"string", type}}},
                    {"model", JsonObject{{"string", "pretend"}}}};
}

Json part(int gpu, const std::string& name, std::string_view type, std::string_view memory) {
  return JsonObject{{"name", name},
                    {"attributes", attributes_of(gpu, type)},
                    {"capacity", memory_of(memory)},
                    {"consumesCounters", JsonArray{JsonObject{{"counterSet", "gpu-" + std::to_string(gpu)},
                                                              {"counters", memory_of(memory)}}}}};
}

void add_parts(int gpu, JsonArray& devices) {
  const std::string name = "gpu-" + std::to_string(gpu);
  devices.push_back(part(gpu, name, "whole", kMemory));
  for (int i = 0; i < 2; ++i) devices.push_back(part(gpu, name + "-half-" + std::to_string(i), "half", "40Gi"));
  for (int i = 0; i < 4; ++i) devices.push_back(part(gpu, name + "-quarter-" + std::to_string(i), "quarter", "20Gi"));
}

Json shared_device(int gpu) {
  Json capacity = memory_of(kMemory);
  capacity.at("memory").as_object()["requestPolicy"] =
      JsonObject{{"default", "10Gi"}, {"validRange", JsonObject{{"min", "1Gi"}, {"max", kMemory}, {"step", "1Gi"}}}};
  return JsonObject{{"name", "gpu-" + std::to_string(gpu)},
                    {"attributes", attributes_of(gpu, "shared")},
                    {"allowMultipleAllocations", true},
                    {"capacity", std::move(capacity)}};
}

Json slice(const DeviceShape& shape, const Json& node, std::string_view suffix, int slices, JsonObject contents) {
  const std::string name(string_at(node, {"metadata", "name"}));
  JsonObject spec{{"driver", shape.driver},
                  {"nodeName", name},
                  {"pool", JsonObject{{"name", name}, {"generation", 1}, {"resourceSliceCount", slices}}}};
  for (auto& member : contents) spec.emplace(member.key(), std::move(member.value()));
  return JsonObject{
      {"apiVersion", "resource.k8s.io/v1"},
      {"kind", "ResourceSlice"},
      {"metadata", JsonObject{{"name", name + "-" + shape.driver + std::string(suffix)},
                              {"ownerReferences", JsonArray{JsonObject{{"apiVersion", "v1"},
                                                                       {"kind", "Node"},
                                                                       {"name", name},
                                                                       {"uid", string_at(node, {"metadata", "uid"})},
                                                                       {"controller", true}}}}}},
      {"spec", std::move(spec)}};
}

}  // namespace

Result<std::vector<DeviceShape>> parse_devices(std::string_view text) {
  std::vector<DeviceShape> out;
  while (!text.empty()) {
    const auto comma = text.find(',');
    auto shape = parse_shape(text.substr(0, comma));
    if (!shape) return tl::unexpected(shape.error());
    if (std::ranges::find(out, shape->driver, &DeviceShape::driver) != out.end())
      return fail("devices: " + shape->driver + " stands there twice; expected each driver once");
    out.push_back(std::move(*shape));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return out;
}

Json device_class(const DeviceShape& shape) {
  return JsonObject{
      {"apiVersion", "resource.k8s.io/v1"},
      {"kind", "DeviceClass"},
      {"metadata", JsonObject{{"name", shape.driver}}},
      {"spec", JsonObject{{"selectors",
                           JsonArray{JsonObject{
                               {"cel", JsonObject{{"expression", "device.driver == \"" + shape.driver + "\""}}}}}}}}};
}

std::vector<Json> slices_of(const DeviceShape& shape, const Json& node) {
  JsonArray devices;
  JsonArray counters;
  for (int i = 0; i < shape.count; ++i) {
    switch (shape.kind) {
      case DeviceShape::Kind::kWhole:
        devices.push_back(JsonObject{{"name", "gpu-" + std::to_string(i)},
                                     {"attributes", attributes_of(i, "whole")},
                                     {"capacity", memory_of(kMemory)}});
        break;
      case DeviceShape::Kind::kParts:
        add_parts(i, devices);
        counters.push_back(JsonObject{{"name", "gpu-" + std::to_string(i)}, {"counters", memory_of(kMemory)}});
        break;
      case DeviceShape::Kind::kShared:
        devices.push_back(shared_device(i));
        break;
    }
  }
  std::vector<Json> out;
  const int slices = counters.empty() ? 1 : 2;
  if (!counters.empty())
    out.push_back(slice(shape, node, "-counters", slices, {{"sharedCounters", std::move(counters)}}));
  out.push_back(slice(shape, node, "", slices, {{"devices", std::move(devices)}}));
  return out;
}

void Driver::start(std::vector<DeviceShape> shapes) {
  shapes_ = std::move(shapes);
  for (const auto& shape : shapes_) create(api::kDeviceClasses, device_class(shape));
}

// After a restart the object exists already (409).
void Driver::create(const api::GroupVersionResource& resource, const Json& object) {
  api::RestRequest request;
  request.verb = api::Verb::kCreate;
  request.resource = resource;
  request.body = object;
  writer_.send(std::move(request), [this, resource, object] { create(resource, object); });
}

void Driver::remove(const std::string& slice) {
  api::RestRequest request;
  request.verb = api::Verb::kDelete;
  request.resource = api::kResourceSlices;
  request.name = slice;
  writer_.send(std::move(request), [this, slice] { remove(slice); });
}

void Driver::node_changed(const JsonPtr& old, const JsonPtr& now) {
  if (old && now) return;
  for (const auto& shape : shapes_) {
    for (const Json& object : slices_of(shape, now ? *now : *old)) {
      if (now)
        create(api::kResourceSlices, object);
      else
        remove(std::string(string_at(object, {"metadata", "name"})));
    }
  }
}

}  // namespace berth::cluster::devices
