#include "api/core/pod_resources.h"

#include <algorithm>

#include "api/core/pod_amounts.h"

namespace berth::api {
namespace {

void add(ResourceList& sum, const ResourceList& more) {
  for (const auto& [name, quantity] : more) sum[name] = sum[name] + quantity;
}

void raise(ResourceList& most, const ResourceList& other) {
  for (const auto& [name, quantity] : other) {
    const auto [it, added] = most.emplace(name, quantity);
    if (!added && it->second < quantity) it->second = quantity;
  }
}

// Leaves out invalid quantities, and takes zero for negative ones: the API server refuses such pods anyway.
ResourceList lenient(const JsonObject& object) {
  ResourceList list;
  for (const auto& member : object)
    if (const auto quantity = decode_quantity(member.value())) list.emplace(member.key(), *quantity);
  return at_least_zero(std::move(list));
}

bool is_sidecar(const Json& init_container) { return string_at(init_container, {"restartPolicy"}) == "Always"; }

// Only these resources can be set at pod level (KEP-2837).
bool is_pod_level(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource.starts_with("hugepages-");
}

}  // namespace

Result<Quantity> decode_quantity(const Json& value) {
  if (value.is_string()) return Quantity::parse(view(value.get_string()));
  if (value.is_number()) return Quantity::parse(to_string(value));
  return fail("a quantity must be a string or a number");
}

Result<ResourceList> decode_resource_list(const Json& value) {
  ResourceList list;
  if (value.is_null()) return list;
  const JsonObject* object = value.if_object();
  if (!object) return fail("a resource list must be an object");
  for (const auto& member : *object) {
    const auto quantity = decode_quantity(member.value());
    if (!quantity) return fail(std::string(member.key()) + ": " + quantity.error().message);
    list.emplace(member.key(), *quantity);
  }
  return list;
}

Json encode_resource_list(const ResourceList& list) {
  JsonObject object;
  for (const auto& [name, quantity] : list) object.emplace(name, quantity.to_string());
  return object;
}

ResourceList pod_requests(const Json& pod_spec) {
  ResourceList total;
  for (const Json& container : array_at(pod_spec, {"containers"}))
    add(total, lenient(object_at(container, {"resources", "requests"})));
  // Init containers run one after another, together with the sidecars that started before them.
  ResourceList sidecars;
  ResourceList init_peak;
  for (const Json& container : array_at(pod_spec, {"initContainers"})) {
    ResourceList requests = lenient(object_at(container, {"resources", "requests"}));
    if (is_sidecar(container)) {
      add(sidecars, requests);
      raise(init_peak, sidecars);
    } else {
      add(requests, sidecars);
      raise(init_peak, requests);
    }
  }
  add(total, sidecars);
  raise(total, init_peak);
  // No pod can be created whose own request is below that of its containers. A template may say so.
  for (const auto& [name, quantity] : lenient(object_at(pod_spec, {"resources", "requests"})))
    if (is_pod_level(name)) total[name] = std::max(total[name], quantity);
  add(total, lenient(object_at(pod_spec, {"overhead"})));
  return total;
}

ResourceList host_ports(const Json& pod_spec) {
  ResourceList out;
  for (const auto* list : {"containers", "initContainers"}) {
    for (const Json& container : array_at(pod_spec, {list})) {
      for (const Json& port : array_at(container, {"ports"})) {
        const std::int64_t number = int_at(port, {"hostPort"}, 0);
        if (number <= 0) continue;
        const std::string_view protocol = string_at(port, {"protocol"});
        out[std::string(kHostPort) + std::string(protocol.empty() ? "TCP" : protocol) + "/" + std::to_string(number)] =
            Quantity::of(1);
      }
    }
  }
  return out;
}

}  // namespace berth::api
