// Slices of devices.
#include <array>
#include <set>
#include <utility>

#include "api/core/pod_resources.h"
#include "embedded/apiserver/builtin/device_validation.h"

namespace berth::apiserver {
namespace {

using api::index_path;
using api::key_path;

constexpr std::size_t kMostDevices = 128, kMostRichDevices = 64, kMostCounterSets = 8, kMostValues = 32;
constexpr std::size_t kMostTaints = 16, kMostConsumed = 2, kMostValidValues = 10;
constexpr std::size_t kLongestText = 64, kLongestDriver = 63, kLongestPool = 253;

// How many of these members are set.
template <std::size_t N>
std::size_t count_set(const Json& owner, const std::array<std::string_view, N>& keys) {
  std::size_t out = 0;
  for (const auto key : keys) {
    const Json* value = find(owner, key);
    if (value != nullptr && !value->is_null() && *value != Json(false)) ++out;
  }
  return out;
}

void check_amount(const Json& owner, std::string_view key, const std::string& path, FieldErrors& errors) {
  const Json* value = find(owner, key);
  if (value == nullptr) return errors.push_back(api::required(api::field_path(path, key), ""));
  const auto quantity = api::decode_quantity(*value);
  if (quantity && quantity->sign() < 0)
    errors.push_back(api::invalid_value(api::field_path(path, key), *value, "must be greater than or equal to 0"));
}

void check_attributes(const Json& device, const std::string& path, FieldErrors& errors) {
  const JsonObject &attributes = object_at(device, {"attributes"}), &capacity = object_at(device, {"capacity"});
  if (attributes.size() + capacity.size() > kMostValues)
    errors.push_back(api::too_many(path, attributes.size() + capacity.size(), kMostValues));
  for (const auto& attribute : attributes) {
    const std::string at = key_path(path + ".attributes", attribute.key());
    if (count_set(attribute.value(), std::array<std::string_view, 3>{"int", "string", "version"}) +
            (find(attribute.value(), "bool") != nullptr ? 1 : 0) !=
        1)
      errors.push_back(api::invalid_value(at, attribute.value(), "exactly one value must be specified"));
    for (const auto* key : {"string", "version"}) {
      if (string_at(attribute.value(), {key}).size() > kLongestText)
        errors.push_back(api::invalid_value(api::field_path(at, key), Json(string_at(attribute.value(), {key})),
                                            "may not be more than 64 bytes"));
    }
  }
}

void check_policy(const Json& policy, const std::string& path, FieldErrors& errors) {
  const JsonArray& values = array_at(policy, {"validValues"});
  const Json* range = find(policy, "validRange");
  if (!values.empty() && range != nullptr)
    errors.push_back(api::forbidden_field(path,
                                          "exactly one policy can be specified, cannot specify `validValues` and "
                                          "`validRange` at the same time"));
  if ((!values.empty() || range != nullptr) && find(policy, "default") == nullptr)
    errors.push_back(api::required(path + ".default", "required when validValues or validRange is defined"));
  if (values.size() > kMostValidValues)
    errors.push_back(api::too_many(path + ".validValues", values.size(), kMostValidValues));
  for (std::size_t i = 1; i < values.size(); ++i) {
    const auto a = api::decode_quantity(values[i - 1]), b = api::decode_quantity(values[i]);
    if (a && b && *b <= *a)
      errors.push_back(api::invalid_value(index_path(path + ".validValues", i), values[i],
                                          "values must be sorted in ascending order"));
  }
  if (range != nullptr) check_amount(*range, "min", path + ".validRange", errors);
}

void check_capacity(const Json& device, const std::string& path, FieldErrors& errors) {
  for (const auto& dimension : object_at(device, {"capacity"})) {
    const std::string at = key_path(path + ".capacity", dimension.key());
    check_amount(dimension.value(), "value", at, errors);
    const Json* policy = find(dimension.value(), "requestPolicy");
    if (policy == nullptr) continue;
    if (!bool_at(device, {"allowMultipleAllocations"}))
      errors.push_back(api::forbidden_field(at + ".requestPolicy", "allowMultipleAllocations must be true"));
    check_policy(*policy, at + ".requestPolicy", errors);
  }
}

void check_counters(const Json& owner, const std::string& path, FieldErrors& errors) {
  const JsonObject& counters = object_at(owner, {"counters"});
  if (counters.empty()) errors.push_back(api::required(path + ".counters", ""));
  if (counters.size() > kMostValues) errors.push_back(api::too_many(path + ".counters", counters.size(), kMostValues));
  for (const auto& counter : counters) {
    const std::string at = key_path(path + ".counters", counter.key());
    if (const std::string broken = api::check_dns_label(counter.key()); !broken.empty())
      errors.push_back(api::invalid_value(at, Json(counter.key()), broken));
    check_amount(counter.value(), "value", at, errors);
  }
}

void check_consumed(const Json& device, const std::string& path, FieldErrors& errors) {
  const JsonArray& consumed = array_at(device, {"consumesCounters"});
  if (consumed.size() > kMostConsumed)
    errors.push_back(api::too_many(path + ".consumesCounters", consumed.size(), kMostConsumed));
  std::set<std::string_view> sets;
  for (std::size_t i = 0; i < consumed.size(); ++i) {
    const std::string at = index_path(path + ".consumesCounters", i);
    check_required(consumed[i], "counterSet", at, errors);
    const std::string_view name = string_at(consumed[i], {"counterSet"});
    if (!name.empty() && !sets.insert(name).second) errors.push_back(api::duplicate(at + ".counterSet", Json(name)));
    check_counters(consumed[i], at, errors);
  }
}

void check_taints(const Json& device, const std::string& path, FieldErrors& errors) {
  const JsonArray& taints = array_at(device, {"taints"});
  if (taints.size() > kMostTaints) errors.push_back(api::too_many(path + ".taints", taints.size(), kMostTaints));
  for (std::size_t i = 0; i < taints.size(); ++i) {
    const std::string at = index_path(path + ".taints", i);
    if (check_required(taints[i], "key", at, errors))
      check_text(taints[i], "key", at, api::check_qualified_name, errors);
    check_text(taints[i], "value", at, api::check_label_value, errors);
    check_enum(taints[i], "effect", at, {"NoExecute", "NoSchedule", "None"}, true, errors);
  }
}

constexpr std::array<std::string_view, 3> kDevicePlaces{"nodeName", "nodeSelector", "allNodes"};

void check_device(const Json& device, bool places_itself, const std::string& path, FieldErrors& errors) {
  if (check_required(device, "name", path, errors)) check_text(device, "name", path, api::check_dns_label, errors);
  check_attributes(device, path, errors);
  check_capacity(device, path, errors);
  check_consumed(device, path, errors);
  check_taints(device, path, errors);
  const std::size_t places = count_set(device, kDevicePlaces);
  if (places_itself && places != 1)
    errors.push_back(api::required(path,
                                   "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
                                   "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"));
  if (!places_itself && places != 0)
    errors.push_back(api::invalid_value(path, Json(),
                                        "`nodeName`, `nodeSelector` and `allNodes` can only be set when "
                                        "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"));
}

void check_devices(const Json& spec, FieldErrors& errors) {
  const JsonArray& devices = array_at(spec, {"devices"});
  bool rich = false;
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string at = index_path("spec.devices", i);
    check_device(devices[i], bool_at(spec, {"perDeviceNodeSelection"}), at, errors);
    rich = rich || !array_at(devices[i], {"taints"}).empty() || !array_at(devices[i], {"consumesCounters"}).empty();
    const std::string_view name = string_at(devices[i], {"name"});
    if (!name.empty() && !names.insert(name).second) errors.push_back(api::duplicate(at + ".name", Json(name)));
  }
  const std::size_t most = rich ? kMostRichDevices : kMostDevices;
  if (devices.size() > most) errors.push_back(api::too_many("spec.devices", devices.size(), most));
}

void check_counter_sets(const Json& spec, FieldErrors& errors) {
  const JsonArray& sets = array_at(spec, {"sharedCounters"});
  if (sets.size() > kMostCounterSets)
    errors.push_back(api::too_many("spec.sharedCounters", sets.size(), kMostCounterSets));
  if (!sets.empty() && !array_at(spec, {"devices"}).empty())
    errors.push_back(api::invalid_value("spec", Json(),
                                        "exactly one of `sharedCounters`, `devices` is required, but multiple "
                                        "fields are set"));
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const std::string at = index_path("spec.sharedCounters", i);
    if (check_required(sets[i], "name", at, errors)) check_text(sets[i], "name", at, api::check_dns_label, errors);
    const std::string_view name = string_at(sets[i], {"name"});
    if (!name.empty() && !names.insert(name).second) errors.push_back(api::duplicate(at + ".name", Json(name)));
    check_counters(sets[i], at, errors);
  }
}

void check_pool(const Json& spec, FieldErrors& errors) {
  const Json& pool = member_or_null(spec, "pool");
  const std::string_view name = string_at(pool, {"name"});
  if (check_required(pool, "name", "spec.pool", errors) && name.size() > kLongestPool)
    errors.push_back(api::invalid_value("spec.pool.name", Json(name), "may not be more than 253 bytes"));
  check_non_negative(pool, "generation", "spec.pool", errors);
  check_positive(pool, "resourceSliceCount", "spec.pool", errors);
}

}  // namespace

FieldErrors validate_resource_slice(const Json& object, const Lookup&) {
  FieldErrors errors;
  const Json& spec = member_or_null(object, "spec");
  if (check_required(spec, "driver", "spec", errors))
    check_text(spec, "driver", "spec", api::check_dns_subdomain, errors);
  const std::string_view driver = string_at(spec, {"driver"});
  if (driver.size() > kLongestDriver)
    errors.push_back(api::invalid_value("spec.driver", Json(driver), "may not be more than 63 bytes"));
  check_pool(spec, errors);
  constexpr std::array<std::string_view, 4> kPlaces{"nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"};
  if (count_set(spec, kPlaces) != 1)
    errors.push_back(api::required("spec",
                                   "exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
                                   "`perDeviceNodeSelection` is required"));
  const JsonArray& terms = array_at(spec, {"nodeSelector", "nodeSelectorTerms"});
  if (find(spec, "nodeSelector") != nullptr && terms.size() != 1)
    errors.push_back(api::invalid_value("spec.nodeSelector.nodeSelectorTerms",
                                        Json(static_cast<std::int64_t>(terms.size())),
                                        "must have exactly one node selector term"));
  check_devices(spec, errors);
  check_counter_sets(spec, errors);
  return errors;
}

FieldErrors validate_resource_slice_update(const Json& object, const Json& old, std::string_view) {
  FieldErrors errors;
  const Json &now = member_or_null(object, "spec"), &before = member_or_null(old, "spec");
  check_immutable(now, before, "driver", "spec", errors);
  check_immutable(now, before, "nodeName", "spec", errors);
  check_immutable(member_or_null(now, "pool"), member_or_null(before, "pool"), "name", "spec.pool", errors);
  return errors;
}

}  // namespace berth::apiserver
