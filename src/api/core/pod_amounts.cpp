#include "api/core/pod_amounts.h"

#include <algorithm>

namespace berth::api {
namespace {

constexpr std::string_view kAllContainers[] = {"initContainers", "containers", "ephemeralContainers"};

void check_resources(const Json& owner, const std::string& path, FieldErrors& errors) {
  const Json* resources = find(owner, "resources");
  if (resources == nullptr) return;
  for (const std::string_view list : {"requests", "limits"})
    check_amounts(*resources, list, path + ".resources", errors);
}

}  // namespace

void check_amounts(const Json& owner, std::string_view list, const std::string& path, FieldErrors& errors) {
  for (const auto& member : object_at(owner, {list})) {
    const std::string_view name(member.key().data(), member.key().size());
    const std::string at = key_path(field_path(path, list), name);
    if (name == "pods") errors.push_back(invalid_value(at, Json(name), "the key is reserved for internal kueue use"));
    const auto quantity = decode_quantity(member.value());
    if (quantity && quantity->sign() < 0)
      errors.push_back(invalid_value(at, member.value(), "must be greater than or equal to 0"));
  }
}

void check_pod_amounts(const Json& pod_spec, const std::string& path, FieldErrors& errors) {
  for (const std::string_view list : kAllContainers) {
    const JsonArray& containers = array_at(pod_spec, {list});
    for (std::size_t i = 0; i < containers.size(); ++i)
      check_resources(containers[i], index_path(field_path(path, list), i), errors);
  }
  check_resources(pod_spec, path, errors);
  check_amounts(pod_spec, "overhead", path, errors);
}

ResourceList at_least_zero(ResourceList list) {
  for (auto& [name, quantity] : list) quantity = std::max(quantity, Quantity());
  return list;
}

}  // namespace berth::api
