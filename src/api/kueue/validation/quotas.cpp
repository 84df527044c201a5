#include "api/kueue/validation/quotas.h"

#include <set>

#include "api/core/pod_resources.h"

namespace berth::api::kueue {
namespace {

constexpr std::size_t kMaxFlavors = 256;
constexpr std::size_t kMaxResources = 256;
constexpr std::size_t kMaxPairs = 512;
constexpr std::string_view kNegative = "must be greater than or equal to 0";

// The quantity at `key`; nullopt when it is absent, or invalid (then with an error). A negative one is also an error.
std::optional<Quantity> quantity_at(const Json& resource, std::string_view key, const std::string& path,
                                    FieldErrors& errors) {
  const Json* value = find(resource, key);
  if (!value || value->is_null()) return std::nullopt;
  const auto quantity = decode_quantity(*value);
  if (!quantity) {
    errors.push_back(invalid_value(field_path(path, key), *value, quantity.error().message));
    return std::nullopt;
  }
  if (quantity->sign() < 0) errors.push_back(invalid_value(field_path(path, key), *value, kNegative));
  return *quantity;
}

void check_quota(const Json& resource, const QuotaRules& rules, const std::string& path, FieldErrors& errors) {
  const auto limit = [&](std::string_view key) {
    const auto quantity = quantity_at(resource, key, path, errors);
    if (quantity && !rules.in_cohort)
      errors.push_back(invalid_value(field_path(path, key), *find(resource, key), "must be nil when cohort is empty"));
    return quantity;
  };
  const auto nominal = quantity_at(resource, "nominalQuota", path, errors);
  limit("borrowingLimit");
  const auto lending = limit("lendingLimit");
  if (rules.lending_within_nominal && lending && nominal && *lending > *nominal)
    errors.push_back(invalid_value(field_path(path, "lendingLimit"), *find(resource, "lendingLimit"),
                                   "must be less than or equal to the nominalQuota"));
}

void check_flavor(const Json& flavor, const JsonArray& covered, const QuotaRules& rules, const std::string& path,
                  FieldErrors& errors) {
  const JsonArray& resources = array_at(flavor, {"resources"});
  for (std::size_t i = 0; i < resources.size(); ++i) {
    const std::string at = index_path(path + ".resources", i);
    const std::string_view name = string_at(resources[i], {"name"});
    if (i < covered.size() && !(covered[i].is_string() && view(covered[i].get_string()) == name))
      errors.push_back(invalid_value(at + ".name", Json(name), "must match the name in coveredResources"));
    check_quota(resources[i], rules, at, errors);
  }
}

}  // namespace

void check_resource_groups(const Json& object, const QuotaRules& rules, FieldErrors& errors) {
  std::set<std::string_view> seen_resources;
  std::set<std::string_view> seen_flavors;
  std::size_t flavor_count = 0;
  std::size_t resource_count = 0;
  const std::string groups_path = "spec.resourceGroups";
  const JsonArray& groups = array_at(object, {"spec", "resourceGroups"});
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::string path = index_path(groups_path, g);
    const JsonArray& covered = array_at(groups[g], {"coveredResources"});
    for (std::size_t i = 0; i < covered.size(); ++i) {
      const std::string at = index_path(path + ".coveredResources", i);
      const std::string_view name = covered[i].is_string() ? view(covered[i].get_string()) : std::string_view();
      if (const std::string broken = check_qualified_name(name); !broken.empty())
        errors.push_back(invalid_value(at, covered[i], broken));
      if (!seen_resources.insert(name).second) errors.push_back(duplicate(at, covered[i]));
    }
    const JsonArray& flavors = array_at(groups[g], {"flavors"});
    for (std::size_t i = 0; i < flavors.size(); ++i) {
      const std::string at = index_path(path + ".flavors", i);
      check_flavor(flavors[i], covered, rules, at, errors);
      const std::string_view name = string_at(flavors[i], {"name"});
      if (!seen_flavors.insert(name).second) errors.push_back(duplicate(at + ".name", Json(name)));
    }
    flavor_count += flavors.size();
    resource_count += covered.size();
    if (flavors.size() * covered.size() > kMaxPairs)
      errors.push_back(too_many(path + ".flavors", flavors.size() * covered.size(), kMaxPairs));
  }
  if (flavor_count > kMaxFlavors) errors.push_back(too_many(groups_path, flavor_count, kMaxFlavors));
  if (resource_count > kMaxResources) errors.push_back(too_many(groups_path, resource_count, kMaxResources));
}

void check_fair_sharing(const Json& object, FieldErrors& errors) {
  const Json* value = find_path(object, {"spec", "fairSharing", "weight"});
  if (!value || value->is_null()) return;
  const std::string path = "spec.fairSharing.weight";
  const auto weight = decode_quantity(*value);
  if (!weight) {
    errors.push_back(invalid_value(path, *value, weight.error().message));
  } else if (weight->sign() < 0) {
    errors.push_back(invalid_value(path, *value, kNegative));
  } else if (weight->sign() > 0 && *weight <= *Quantity::parse("1n")) {
    errors.push_back(invalid_value(path, *value, "When not 0, Weight must be greater than 10^-9"));
  }
}

}  // namespace berth::api::kueue
