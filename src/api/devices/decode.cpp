#include <utility>

#include "api/devices/types.h"
#include "api/field_error.h"

namespace berth::api {
namespace {

std::vector<std::string> selectors_of(const Json& owner) {
  std::vector<std::string> out;
  for (const Json& selector : array_at(owner, {"selectors"}))
    out.emplace_back(string_at(selector, {"cel", "expression"}));
  return out;
}

Result<ResourceList> amounts_at(const Json& owner, std::initializer_list<std::string_view> path, std::string_view at) {
  const Json* amounts = find_path(owner, path);
  if (amounts == nullptr || amounts->is_null()) return ResourceList();
  auto list = decode_resource_list(*amounts);
  if (!list) return fail(std::string(at) + ": " + list.error().message);
  return list;
}

Result<DeviceRequest> decode_request(const Json& value, const std::string& at) {
  DeviceRequest out;
  out.name = string_at(value, {"name"});
  out.device_class = string_at(value, {"deviceClassName"});
  out.selectors = selectors_of(value);
  out.all = string_at(value, {"allocationMode"}) == "All";
  if (find(value, "count") != nullptr) out.count = int_at(value, {"count"});
  out.admin_access = bool_at(value, {"adminAccess"});
  auto capacity = amounts_at(value, {"capacity", "requests"}, at + ".capacity.requests");
  if (!capacity) return tl::unexpected(capacity.error());
  out.capacity = std::move(*capacity);
  if (const Json* tolerations = find(value, "tolerations")) out.tolerations = decode_tolerations(*tolerations);
  return out;
}

Result<ClaimRequest> decode_claim_request(const Json& value, const std::string& at) {
  ClaimRequest out;
  out.name = string_at(value, {"name"});
  if (const Json* exactly = find(value, "exactly"); exactly != nullptr && exactly->is_object()) {
    auto request = decode_request(*exactly, at + ".exactly");
    if (!request) return tl::unexpected(request.error());
    out.exactly = std::move(*request);
  }
  for (const Json& alternative : array_at(value, {"firstAvailable"})) {
    auto request = decode_request(alternative, index_path(at + ".firstAvailable", out.first_available.size()));
    if (!request) return tl::unexpected(request.error());
    out.first_available.push_back(std::move(*request));
  }
  return out;
}

Result<void> decode_policy(const Json& policy, const std::string& at, DeviceCapacity& out) {
  const auto read = [&](const Json* value, const std::string& where, std::optional<Quantity>& to) -> Result<void> {
    if (value == nullptr || value->is_null()) return {};
    auto quantity = decode_quantity(*value);
    if (!quantity) return fail(where + ": " + quantity.error().message);
    to = *quantity;
    return {};
  };
  const std::pair<std::string_view, std::optional<Quantity>*> range[] = {
      {"min", &out.min}, {"max", &out.max}, {"step", &out.step}};
  if (auto done = read(find(policy, "default"), at + ".default", out.default_request); !done) return done;
  for (const auto& [name, to] : range) {
    if (auto done = read(find_path(policy, {"validRange", name}), at + ".validRange." + std::string(name), *to); !done)
      return done;
  }
  for (const Json& item : array_at(policy, {"validValues"})) {
    std::optional<Quantity> value;
    const std::string where = index_path(at + ".validValues", out.valid_values.size());
    if (auto done = read(&item, where, value); !done) return done;
    if (value) out.valid_values.push_back(*value);
  }
  return {};
}

Result<DeviceCapacity> decode_capacity(const Json& value, const std::string& at) {
  DeviceCapacity out;
  const Json* amount = find(value, "value");
  if (amount == nullptr) return fail(at + ".value: expected a quantity");
  auto quantity = decode_quantity(*amount);
  if (!quantity) return fail(at + ".value: " + quantity.error().message);
  out.value = *quantity;
  if (const Json* policy = find(value, "requestPolicy"); policy != nullptr) {
    if (auto done = decode_policy(*policy, at + ".requestPolicy", out); !done) return tl::unexpected(done.error());
  }
  return out;
}

Result<ResourceList> decode_counters(const Json& consumed, const std::string& at) {
  ResourceList out;
  for (const auto& counter : object_at(consumed, {"counters"})) {
    const Json* value = find(counter.value(), "value");
    const auto quantity = value == nullptr ? Result<Quantity>(fail("expected a quantity")) : decode_quantity(*value);
    if (!quantity) return fail(key_path(at + ".counters", counter.key()) + ".value: " + quantity.error().message);
    out.emplace(counter.key(), *quantity);
  }
  return out;
}

DevicePlace place_of(const Json& owner) {
  DevicePlace out;
  out.node = string_at(owner, {"nodeName"});
  out.all_nodes = bool_at(owner, {"allNodes"});
  // A slice has at most one term. It is read as the term of a pod's affinity is.
  if (const Json* selector = find(owner, "nodeSelector"); selector != nullptr && selector->is_object()) {
    auto terms = decode_node_constraints(JsonObject{
        {"affinity",
         JsonObject{{"nodeAffinity", JsonObject{{"requiredDuringSchedulingIgnoredDuringExecution", *selector}}}}}});
    if (!terms.required_terms.empty()) out.term = std::move(terms.required_terms.front());
  }
  return out;
}

Result<Device> decode_device(const Json& value, const std::string& at) {
  Device out;
  out.name = string_at(value, {"name"});
  out.shared = bool_at(value, {"allowMultipleAllocations"});
  if (const Json* attributes = find(value, "attributes"); attributes != nullptr && attributes->is_object())
    out.attributes = std::make_shared<const Json>(*attributes);
  for (const auto& dimension : object_at(value, {"capacity"})) {
    auto capacity = decode_capacity(dimension.value(), key_path(at + ".capacity", dimension.key()));
    if (!capacity) return tl::unexpected(capacity.error());
    out.capacity.emplace(dimension.key(), std::move(*capacity));
  }
  for (const Json& consumed : array_at(value, {"consumesCounters"})) {
    auto counters = decode_counters(consumed, index_path(at + ".consumesCounters", out.counters.size()));
    if (!counters) return tl::unexpected(counters.error());
    out.counters.emplace_back(string_at(consumed, {"counterSet"}), std::move(*counters));
  }
  if (const Json* taints = find(value, "taints")) out.taints = decode_taints(*taints);
  return out;
}

Result<std::vector<ClaimRequest>> decode_requests(const Json& devices, const std::string& at) {
  std::vector<ClaimRequest> out;
  for (const Json& request : array_at(devices, {"requests"})) {
    auto decoded = decode_claim_request(request, index_path(at, out.size()));
    if (!decoded) return tl::unexpected(decoded.error());
    out.push_back(std::move(*decoded));
  }
  return out;
}

const Json& member_at(const Json& object, std::initializer_list<std::string_view> path) {
  static const Json none;
  const Json* value = find_path(object, path);
  return value == nullptr ? none : *value;
}

}  // namespace

bool DevicePlace::reaches(std::string_view node_name, const StringMap& labels) const {
  if (all_nodes) return true;
  return term ? matches(*term, labels, node_name) : !node.empty() && node == node_name;
}

Result<ResourceClaimTemplate> decode_resource_claim_template(const Json& object) {
  auto requests = decode_requests(member_at(object, {"spec", "spec", "devices"}), "spec.spec.devices.requests");
  if (!requests) return tl::unexpected(requests.error());
  return ResourceClaimTemplate{decode_meta(object), std::move(*requests)};
}

Result<ResourceClaim> decode_resource_claim(const Json& object) {
  const Json& devices = member_at(object, {"spec", "devices"});
  auto requests = decode_requests(devices, "spec.devices.requests");
  if (!requests) return tl::unexpected(requests.error());
  ResourceClaim out{decode_meta(object), std::move(*requests), {}, nullptr, {}};
  for (const Json& constraint : array_at(devices, {"constraints"})) {
    DeviceConstraint& added = out.constraints.emplace_back();
    for (const Json& name : array_at(constraint, {"requests"})) {
      if (name.is_string()) added.requests.emplace_back(view(name.get_string()));
    }
    added.match_attribute = string_at(constraint, {"matchAttribute"});
    added.distinct_attribute = string_at(constraint, {"distinctAttribute"});
  }
  if (const Json& allocation = member_at(object, {"status", "allocation"}); allocation.is_object())
    out.allocation = std::make_shared<const Json>(allocation);
  for (const Json& each : array_at(object, {"status", "reservedFor"}))
    out.reserved_for.emplace_back(string_at(each, {"uid"}));
  return out;
}

Result<DeviceClass> decode_device_class(const Json& object) {
  DeviceClass out{decode_meta(object), {}, std::string(string_at(object, {"spec", "extendedResourceName"}))};
  if (const Json* spec = find(object, "spec")) out.selectors = selectors_of(*spec);
  return out;
}

Result<ResourceSlice> decode_resource_slice(const Json& object) {
  ResourceSlice out;
  out.meta = decode_meta(object);
  out.driver = string_at(object, {"spec", "driver"});
  out.pool = string_at(object, {"spec", "pool", "name"});
  out.generation = int_at(object, {"spec", "pool", "generation"});
  out.pool_slices = int_at(object, {"spec", "pool", "resourceSliceCount"});
  out.place = place_of(member_at(object, {"spec"}));
  for (const Json& set : array_at(object, {"spec", "sharedCounters"})) {
    auto counters = decode_counters(set, "spec.sharedCounters");
    if (!counters) return tl::unexpected(counters.error());
    out.shared_counters.emplace(string_at(set, {"name"}), std::move(*counters));
  }
  const bool places = bool_at(object, {"spec", "perDeviceNodeSelection"});
  for (const Json& device : array_at(object, {"spec", "devices"})) {
    auto decoded = decode_device(device, index_path("spec.devices", out.devices.size()));
    if (!decoded) return tl::unexpected(decoded.error());
    if (places) decoded->place = place_of(device);
    out.devices.push_back(std::make_shared<const Device>(std::move(*decoded)));
  }
  return out;
}

}  // namespace berth::api
