#include "api/volcano/validation.h"

#include <algorithm>
#include <optional>

#include "api/core/pod_resources.h"
#include "api/volcano/names.h"

namespace berth::api::volcano {
namespace {

constexpr std::string_view kCapability = "spec.capability";
constexpr std::string_view kDeserved = "spec.deserved";
constexpr std::string_view kGuarantee = "spec.guarantee.resource";

// Whether a resource is an extended resource: these have integer amounts only; Kubernetes' own resources may have
// fractions.
bool is_extended(std::string_view resource) {
  return resource.find('/') != std::string_view::npos && !resource.starts_with("kubernetes.io/") &&
         !resource.starts_with("requests.");
}

ResourceList amounts_at(const Json& object, std::initializer_list<std::string_view> keys, std::string_view path,
                        FieldErrors& errors) {
  ResourceList list;
  for (const auto& [resource, value] : object_at(object, keys)) {
    const std::string at = field_path(path, resource);
    const auto quantity = decode_quantity(value);
    if (!quantity) {
      errors.push_back(invalid_value(at, value, quantity.error().message));
      continue;
    }
    if (quantity->sign() < 0) errors.push_back(invalid_value(at, value, "must be greater than or equal to 0"));
    if (is_extended(resource) && Quantity::of(quantity->value()) != *quantity)
      errors.push_back(invalid_value(at, value, "must be an integer: " + std::string(resource) + " cannot be divided"));
    list.emplace(resource, *quantity);
  }
  return list;
}

// As in Volcano, a guarantee requires that deserved names the resource; a resource without capability has no limit.
void check_order(const ResourceList& capability, const ResourceList& deserved, const ResourceList& guarantee,
                 FieldErrors& errors) {
  for (const auto& [resource, amount] : guarantee) {
    const auto entitled = deserved.find(resource);
    const std::string at = field_path(kDeserved, resource);
    if (entitled == deserved.end()) {
      errors.push_back(required(
          at, "the queue guarantees " + amount.to_string() + " of " + resource + ": set deserved to at least that"));
    } else if (entitled->second < amount) {
      errors.push_back(invalid_value(
          at, Json(entitled->second.to_string()),
          "must be at least the guarantee of " + amount.to_string() + ": raise it or lower the guarantee"));
    }
  }
  for (const auto& [resource, amount] : deserved) {
    const auto limit = capability.find(resource);
    if (limit == capability.end() || amount <= limit->second) continue;
    errors.push_back(invalid_value(
        field_path(kDeserved, resource), Json(amount.to_string()),
        "must be at most the capability of " + limit->second.to_string() + ": lower it or raise the capability"));
  }
}

void check_state(const Json& object, const Json* old, FieldErrors& errors) {
  const std::string_view state = string_at(object, {"status", "state"});
  if (state.empty() || state == "Open" || state == "Closed") return;
  if (old != nullptr && string_at(*old, {"status", "state"}) == state) return;
  errors.push_back(not_supported("status.state", Json(state), {"Open", "Closed"}));
}

// Whether the text is a decimal number above 0; it may have a point and an exponent: "2", "0.5", "1e3".
bool is_positive_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  std::string_view exponent = "0";
  if (const std::size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    exponent = text.substr(e + 1);
    text = text.substr(0, e);
    if (exponent.starts_with('+') || exponent.starts_with('-')) exponent.remove_prefix(1);
  }
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto points = std::count(text.begin(), text.end(), '.');
  const bool digits_only = std::all_of(text.begin(), text.end(), [&](char c) { return digit(c) || c == '.'; });
  const bool above_zero = std::any_of(text.begin(), text.end(), [&](char c) { return digit(c) && c != '0'; });
  return digits_only && above_zero && points <= 1 && !exponent.empty() &&
         std::all_of(exponent.begin(), exponent.end(), digit);
}

std::vector<std::string_view> split_path(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t slash = text.find('/');
    parts.push_back(text.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    text.remove_prefix(slash + 1);
  }
}

void check_hierarchy(const Json& object, FieldErrors& errors) {
  const std::string_view path = string_at(object, {"metadata", "annotations", kHierarchy});
  const std::string_view weights = string_at(object, {"metadata", "annotations", kHierarchyWeights});
  if (path.empty() && weights.empty()) return;
  const std::string at = key_path("metadata.annotations", kHierarchyWeights);
  const auto parts = split_path(weights);
  const std::size_t steps = split_path(path).size();
  if (parts.size() != steps) {
    errors.push_back(invalid_value(at, Json(weights),
                                   "must have one weight for each of the " + std::to_string(steps) +
                                       " parts of the hierarchy \"" + std::string(path) + "\", has " +
                                       std::to_string(parts.size())));
    return;
  }
  for (const std::string_view weight : parts) {
    if (is_positive_number(weight)) continue;
    errors.push_back(invalid_value(at, Json(weights), "\"" + std::string(weight) + "\" must be a number above 0"));
  }
}

void check_tier(const Json& object, std::initializer_list<std::string_view> keys, const std::string& path,
                FieldErrors& errors) {
  const Json* topology = find_path(object, keys);
  if (topology == nullptr || find(*topology, "highestTierAllowed") == nullptr) return;
  if (string_at(*topology, {"highestTierName"}).empty()) return;
  errors.push_back(
      forbidden_field(path + ".highestTierName", "highestTierAllowed says the tier already: leave out one of them"));
}

}  // namespace

FieldErrors validate_queue(const Json& object, const Json* old) {
  FieldErrors errors;
  const ResourceList capability = amounts_at(object, {"spec", "capability"}, kCapability, errors);
  const ResourceList deserved = amounts_at(object, {"spec", "deserved"}, kDeserved, errors);
  const ResourceList guarantee = amounts_at(object, {"spec", "guarantee", "resource"}, kGuarantee, errors);
  check_order(capability, deserved, guarantee, errors);
  check_state(object, old, errors);
  check_hierarchy(object, errors);
  return errors;
}

FieldErrors validate_pod_group(const Json& object) {
  FieldErrors errors;
  amounts_at(object, {"spec", "minResources"}, "spec.minResources", errors);
  check_tier(object, {"spec", "networkTopology"}, "spec.networkTopology", errors);
  const JsonArray& policies = array_at(object, {"spec", "subGroupPolicy"});
  for (std::size_t i = 0; i < policies.size(); ++i)
    check_tier(policies[i], {"networkTopology"}, index_path("spec.subGroupPolicy", i) + ".networkTopology", errors);
  return errors;
}

}  // namespace berth::api::volcano
