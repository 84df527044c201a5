#include "cli/queues/quota_flags.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/quantity.h"
#include "cli/queues/words.h"

namespace berth::cli::queues {
namespace {

constexpr std::string_view kForm =
    "expected FLAVOR:RESOURCE=QUANTITY[;RESOURCE=QUANTITY], such as gpu-nodes:cpu=8;memory=64Gi";

template <typename List>
auto* amount_of(List& list, std::string_view resource) {
  const auto at =
      std::find_if(list.begin(), list.end(), [resource](const auto& amount) { return amount.first == resource; });
  return at == list.end() ? nullptr : &at->second;
}

FlavorAmounts& flavor_of(std::vector<FlavorAmounts>& flavors, const std::string& name) {
  const auto at = std::find_if(flavors.begin(), flavors.end(), [&](const auto& f) { return f.flavor == name; });
  if (at != flavors.end()) return *at;
  flavors.push_back({name, {}});
  return flavors.back();
}

// `text`: RESOURCE=QUANTITY.
Result<void> add_amount(std::string_view flag, const std::string& text, FlavorAmounts& into) {
  const std::string whole = into.flavor + ":" + text;
  const std::size_t equals = text.find('=');
  const std::string resource = text.substr(0, equals);
  if (equals == std::string::npos || resource.empty()) return wrong_value(flag, whole, kForm);
  const std::string quantity = text.substr(equals + 1);
  const auto parsed = Quantity::parse(quantity);
  if (!parsed || parsed->sign() < 0)
    return wrong_value(flag, whole,
                       "expected a quantity of " + resource + " that is not negative, such as 500m, 8 or 64Gi");
  if (amount_of(into.amounts, resource) != nullptr)
    return wrong_value(flag, whole, "expected " + resource + " once for flavor " + into.flavor);
  into.amounts.emplace_back(resource, quantity);
  return {};
}

struct Quota {
  std::string nominal = "0", borrowing, lending;
};
struct Flavor {
  std::string name;
  std::vector<std::pair<std::string, Quota>> quotas;  // by resource

  Quota& quota(const std::string& resource) {
    if (Quota* found = amount_of(quotas, resource)) return *found;
    return quotas.emplace_back(resource, Quota()).second;
  }
  std::set<std::string> resources() const {
    std::set<std::string> names;
    for (const auto& [resource, quota] : quotas) names.insert(resource);
    return names;
  }
};

std::vector<Flavor> joined(const std::vector<FlavorAmounts>& nominal, const std::vector<FlavorAmounts>& borrowing,
                           const std::vector<FlavorAmounts>& lending) {
  std::vector<Flavor> flavors;
  const auto add = [&flavors](const std::vector<FlavorAmounts>& all, std::string Quota::* member) {
    for (const FlavorAmounts& one : all) {
      auto at = std::find_if(flavors.begin(), flavors.end(), [&](const Flavor& f) { return f.name == one.flavor; });
      if (at == flavors.end()) at = flavors.insert(flavors.end(), Flavor{one.flavor, {}});
      for (const auto& [resource, quantity] : one.amounts) at->quota(resource).*member = quantity;
    }
  };
  add(nominal, &Quota::nominal);
  add(borrowing, &Quota::borrowing);
  add(lending, &Quota::lending);
  return flavors;
}

Json encoded(Flavor& flavor, const std::vector<std::string>& covered) {
  JsonArray resources;
  for (const std::string& resource : covered) {
    const Quota& quota = flavor.quota(resource);
    JsonObject out;
    if (!quota.borrowing.empty()) out["borrowingLimit"] = quota.borrowing;
    if (!quota.lending.empty()) out["lendingLimit"] = quota.lending;
    out["name"] = resource;
    out["nominalQuota"] = quota.nominal;
    resources.push_back(std::move(out));
  }
  return JsonObject{{"name", flavor.name}, {"resources", std::move(resources)}};
}

}  // namespace

Result<std::vector<FlavorAmounts>> parse_amounts(std::string_view flag, const std::vector<std::string>& values) {
  std::vector<FlavorAmounts> flavors;
  for (const std::string& value : values) {
    for (const std::string& part : split(value, ',')) {
      const std::size_t colon = part.find(':');
      if (colon == std::string::npos || colon == 0) return wrong_value(flag, part, kForm);
      FlavorAmounts& flavor = flavor_of(flavors, part.substr(0, colon));
      for (const std::string& amount : split(part.substr(colon + 1), ';')) {
        if (auto added = add_amount(flag, amount, flavor); !added) return tl::unexpected(added.error());
      }
    }
  }
  return flavors;
}

Result<JsonArray> resource_groups(const std::vector<FlavorAmounts>& nominal,
                                  const std::vector<FlavorAmounts>& borrowing,
                                  const std::vector<FlavorAmounts>& lending) {
  struct Group {
    std::set<std::string> resources;
    std::vector<std::string> covered;
    JsonArray flavors;
    std::string first;
  };
  std::vector<Group> groups;
  std::map<std::string, std::string> taken;  // resource -> the first flavor of its group
  for (Flavor& flavor : joined(nominal, borrowing, lending)) {
    const std::set<std::string> resources = flavor.resources();
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.resources == resources; });
    if (group == groups.end()) {
      for (const std::string& resource : resources) {
        const auto [at, first] = taken.emplace(resource, flavor.name);
        if (!first)
          return fail("flavors " + at->second + " and " + flavor.name + " both have " + resource +
                      ": expected the same resources for both, or none in common");
      }
      group = groups.insert(groups.end(), Group{resources, {}, {}, flavor.name});
      for (const auto& [resource, quota] : flavor.quotas) group->covered.push_back(resource);
    }
    group->flavors.push_back(encoded(flavor, group->covered));
  }
  JsonArray out;
  for (Group& group : groups) {
    out.push_back(JsonObject{{"coveredResources", JsonArray(group.covered.begin(), group.covered.end())},
                             {"flavors", std::move(group.flavors)}});
  }
  return out;
}

}  // namespace berth::cli::queues
