// LimitRanges and limits: the defaults that pod creation sets, and their validation.
#include <algorithm>

#include "api/core/pod_amounts.h"

namespace berth::api {
namespace {

constexpr std::string_view kContainerLists[] = {"initContainers", "containers"};

ResourceList list_at(const Json& value, std::string_view key) {
  const Json* member = find(value, key);
  if (!member) return {};
  return decode_resource_list(*member).value_or(ResourceList());
}

// Adds defaults for the resources that `resources.<field>` does not name.
void fill_in(Json& holder, std::string_view field, const JsonObject& defaults) {
  if (defaults.empty()) return;
  Json& target = ensure_path(holder, {"resources", field});
  if (!target.is_object()) target.emplace_object();
  for (const auto& member : defaults) target.get_object().emplace(member.key(), member.value());
}

void limits_as_requests(Json& holder) {
  const JsonObject limits = object_at(holder, {"resources", "limits"});
  fill_in(holder, "requests", limits);
}

template <typename Change>
void for_each_container(Json& pod_spec, Change change) {
  JsonObject* spec = pod_spec.if_object();
  if (!spec) return;
  for (const std::string_view list : kContainerLists) {
    Json* containers = spec->if_contains(boost::json::string_view(list.data(), list.size()));
    if (!containers || !containers->is_array()) continue;
    for (Json& container : containers->get_array())
      if (container.is_object()) change(container);
  }
}

// The tightest bounds of all items of one type.
struct Bounds {
  ResourceList max, min;
};

Bounds bounds_for(const std::vector<LimitRangeItem>& limits, std::string_view type) {
  Bounds bounds;
  for (const LimitRangeItem& item : limits) {
    if (item.type != type) continue;
    for (const auto& [name, quantity] : item.max) {
      const auto [it, added] = bounds.max.emplace(name, quantity);
      if (!added) it->second = std::min(it->second, quantity);
    }
    for (const auto& [name, quantity] : item.min) {
      const auto [it, added] = bounds.min.emplace(name, quantity);
      if (!added) it->second = std::max(it->second, quantity);
    }
  }
  return bounds;
}

// The names whose quantity in `a` is larger than in `b`; a name must be in both lists.
JsonArray names_above(const ResourceList& a, const ResourceList& b) {
  JsonArray names;
  for (const auto& [name, quantity] : a) {
    const auto other = b.find(name);
    if (other != b.end() && other->second < quantity) names.push_back(Json(name));
  }
  return names;
}

void check_bounds(FieldErrors& errors, const std::string& path, const ResourceList& amounts, const Bounds& bounds) {
  if (JsonArray names = names_above(amounts, bounds.max); !names.empty())
    errors.push_back(invalid_value(path, std::move(names), "must not be above the LimitRange maximum"));
  if (JsonArray names = names_above(bounds.min, amounts); !names.empty())
    errors.push_back(invalid_value(path, std::move(names), "must not be below the LimitRange minimum"));
}

void check_requests(FieldErrors& errors, const std::string& path, const Json& holder) {
  const Json* resources = find(holder, "resources");
  if (!resources) return;
  JsonArray names = names_above(list_at(*resources, "requests"), list_at(*resources, "limits"));
  if (!names.empty()) errors.push_back(invalid_value(path, std::move(names), "requests must not exceed its limits"));
}

// Calls `check(path, container)` for all containers and init containers.
void look_at_containers(const Json& pod_spec, std::string_view path, const auto& check) {
  for (const std::string_view list : kContainerLists) {
    const JsonArray& containers = array_at(pod_spec, {list});
    for (std::size_t i = 0; i < containers.size(); ++i) check(index_path(field_path(path, list), i), containers[i]);
  }
}

}  // namespace

std::vector<LimitRangeItem> decode_limit_range(const Json& limit_range) {
  std::vector<LimitRangeItem> items;
  for (const Json& value : array_at(limit_range, {"spec", "limits"})) {
    LimitRangeItem item;
    item.type = string_at(value, {"type"});
    item.max = list_at(value, "max");
    item.min = list_at(value, "min");
    item.default_limits = at_least_zero(list_at(value, "default"));
    item.default_requests = at_least_zero(list_at(value, "defaultRequest"));
    item.max_limit_request_ratio = list_at(value, "maxLimitRequestRatio");
    items.push_back(std::move(item));
  }
  return items;
}

Json adjust_pod_spec(const Json& pod_spec, const std::vector<LimitRangeItem>& limits, const Json& overhead) {
  Json spec = pod_spec;
  if (overhead.is_object() && object_at(spec, {"overhead"}).empty()) ensure_path(spec, {"overhead"}) = overhead;
  // First a limit of the user becomes the missing request, as when the API server reads a pod; then LimitRange
  // defaults apply.
  for_each_container(spec, limits_as_requests);
  for (const LimitRangeItem& item : limits) {
    if (item.type != "Container") continue;
    const Json requests = encode_resource_list(item.default_requests);
    const Json defaults = encode_resource_list(item.default_limits);
    for_each_container(spec, [&](Json& container) {
      fill_in(container, "requests", requests.get_object());
      fill_in(container, "limits", defaults.get_object());
    });
  }
  for_each_container(spec, limits_as_requests);
  if (spec.is_object()) limits_as_requests(spec);
  return spec;
}

FieldErrors requests_above_limits(const Json& pod_spec, std::string_view path) {
  FieldErrors errors;
  look_at_containers(pod_spec, path, [&](const std::string& where, const Json& container) {
    check_requests(errors, where, container);
  });
  check_requests(errors, std::string(path), pod_spec);
  return errors;
}

FieldErrors outside_limit_ranges(const Json& pod_spec, const std::vector<LimitRangeItem>& limits,
                                 std::string_view path) {
  FieldErrors errors;
  const Bounds bounds = bounds_for(limits, "Container");
  look_at_containers(pod_spec, path, [&](const std::string& where, const Json& container) {
    const Json* resources = find(container, "resources");
    if (!resources) return;
    for (const std::string_view field : {"requests", "limits"})
      check_bounds(errors, field_path(where, "resources." + std::string(field)), list_at(*resources, field), bounds);
  });
  check_bounds(errors, std::string(path), pod_requests(pod_spec), bounds_for(limits, "Pod"));
  return errors;
}

}  // namespace berth::api
