#include "api/kueue/pod_shape.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "api/core/pod_resources.h"
#include "base/digest.h"

namespace berth::api::kueue {
namespace {

constexpr std::size_t kRoleHashDigits = 8;

// JSON text is hashed. Members of API types come in the order in which Kubernetes declares (and so prints)
// them; keys of maps and all others are sorted.
constexpr std::string_view kMemberOrder[] = {
    // Affinity and its parts
    "nodeAffinity", "podAffinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution", "weight", "preference", "podAffinityTerm", "labelSelector",
    "namespaces", "topologyKey", "namespaceSelector", "matchLabelKeys", "mismatchLabelKeys", "matchLabels",
    "matchExpressions", "matchFields",
    // ContainerPort, PodResourceClaim
    "name", "hostPort", "containerPort", "protocol", "hostIP", "resourceClaimName", "resourceClaimTemplateName",
    // Toleration, requirements of selectors
    "key", "operator", "value", "values", "effect", "tolerationSeconds"};
constexpr std::string_view kSpreadOrder[] = {"maxSkew",    "topologyKey",        "whenUnsatisfiable", "labelSelector",
                                             "minDomains", "nodeAffinityPolicy", "nodeTaintsPolicy",  "matchLabelKeys"};

enum class Order : std::uint8_t { kMembers, kSpread, kMap };

std::size_t place_of(std::string_view key, Order order) {
  const auto place = [&](const auto& names) {
    return static_cast<std::size_t>(std::find(std::begin(names), std::end(names), key) - std::begin(names));
  };
  return order == Order::kMembers ? place(kMemberOrder) : order == Order::kSpread ? place(kSpreadOrder) : 0;
}

Json in_order(const Json& value, Order order) {
  if (value.is_array()) {
    JsonArray out;
    for (const Json& item : value.get_array()) out.push_back(in_order(item, order));
    return out;
  }
  if (!value.is_object()) return value;
  std::vector<std::tuple<std::size_t, std::string_view, const Json*>> members;
  for (const auto& member : value.get_object())
    members.emplace_back(place_of(member.key(), order), member.key(), &member.value());
  std::sort(members.begin(), members.end());
  JsonObject out;
  for (const auto& [place, key, inner] : members)
    out.emplace(key, in_order(*inner, key == "matchLabels" ? Order::kMap : Order::kMembers));
  return out;
}

// A list or map of the spec; null when it is absent or empty, since Kubernetes does not print empty ones.
Json printed(const Json& spec, std::string_view key, Order order) {
  const Json* value = find(spec, key);
  const bool empty = value == nullptr || (value->is_array() && value->get_array().empty()) ||
                     (order == Order::kMap && value->is_object() && value->get_object().empty());
  return empty ? Json() : in_order(*value, order);
}

Json printed_amounts(const Json& owner, std::string_view key) {
  const Json* amounts = find(owner, key);
  if (amounts == nullptr || object_at(owner, {key}).empty()) return nullptr;
  if (const auto list = decode_resource_list(*amounts)) return in_order(encode_resource_list(*list), Order::kMap);
  return in_order(*amounts, Order::kMap);  // no quantities: the API server refuses the pod
}

const Json& resources_of(const Json& owner) {
  static const Json none;
  const Json* resources = find(owner, "resources");
  return resources == nullptr ? none : *resources;
}

Json shapes_of(const Json& spec, std::string_view list) {
  JsonArray out;
  for (const Json& container : array_at(spec, {list}))
    out.push_back(
        JsonObject{{"ports", printed(container, "ports", Order::kMembers)},
                   {"resources", JsonObject{{"requests", printed_amounts(resources_of(container), "requests")}}}});
  return out.empty() ? Json() : Json(std::move(out));
}

Json shape_of(const Json& spec) {
  const auto plain = [&](std::string_view key) {
    const Json* value = find(spec, key);
    return value == nullptr ? Json() : *value;
  };
  JsonObject shape{{"affinity", printed(spec, "affinity", Order::kMembers)},
                   {"containers", shapes_of(spec, "containers")},
                   {"initContainers", shapes_of(spec, "initContainers")},
                   {"nodeSelector", printed(spec, "nodeSelector", Order::kMap)},
                   {"overhead", printed_amounts(spec, "overhead")},
                   {"priority", plain("priority")},
                   {"resourceClaims", printed(spec, "resourceClaims", Order::kMembers)}};
  if (Json whole = printed_amounts(resources_of(spec), "requests"); !whole.is_null())
    shape["resources"] = JsonObject{{"requests", std::move(whole)}};
  shape["runtimeClassName"] = plain("runtimeClassName");
  shape["tolerations"] = printed(spec, "tolerations", Order::kMembers);
  shape["topologySpreadConstraints"] = printed(spec, "topologySpreadConstraints", Order::kSpread);
  return shape;
}

// Go's encoder writes these three characters as escapes. In JSON they appear in strings only.
std::string with_escapes(std::string text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else if (c == '>') {
      out += "\\u003e";
    } else if (c == '&') {
      out += "\\u0026";
    } else {
      out += c;
    }
  }
  return out;
}

void refuse_change(const Json& owner, std::string_view field, const std::string& path, FieldErrors& errors) {
  const Json* value = find(owner, field);
  errors.push_back(
      invalid_value(path + "." + std::string(field), value == nullptr ? Json() : *value, "field is immutable"));
}

void check_same_containers(const Json& pod_spec, const Json& old, std::string_view list, const std::string& path,
                           FieldErrors& errors) {
  const JsonArray &now = array_at(pod_spec, {list}), &before = array_at(old, {list});
  if (now.size() != before.size()) return refuse_change(pod_spec, list, path, errors);
  for (std::size_t i = 0; i < now.size(); ++i) {
    const std::string at = index_path(path + "." + std::string(list), i);
    if (printed_amounts(resources_of(now[i]), "requests") != printed_amounts(resources_of(before[i]), "requests"))
      refuse_change(resources_of(now[i]), "requests", at + ".resources", errors);
    if (printed(now[i], "ports", Order::kMembers) != printed(before[i], "ports", Order::kMembers))
      refuse_change(now[i], "ports", at, errors);
  }
}

}  // namespace

std::string role_hash(const Json& pod_spec) {
  return sha256_digits(with_escapes(to_string(JsonObject{{"spec", shape_of(pod_spec)}})), kRoleHashDigits);
}

void check_same_shape(const Json& pod_spec, const Json& old, const std::string& path, FieldErrors& errors) {
  const Json now_shape = shape_of(pod_spec), old_shape = shape_of(old);
  for (const auto& [key, shape] : now_shape.get_object()) {
    const std::string_view part = key;
    const Json* before = find(old_shape, part);
    if (before != nullptr && *before == shape) continue;
    if (part == "containers" || part == "initContainers") {
      check_same_containers(pod_spec, old, part, path, errors);
    } else {
      refuse_change(pod_spec, part, path, errors);
    }
  }
  if (find(now_shape, "resources") == nullptr && find(old_shape, "resources") != nullptr)
    refuse_change(pod_spec, "resources", path, errors);
}

}  // namespace berth::api::kueue
