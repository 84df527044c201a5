// The values of --nominal-quota, --borrowing-limit and --lending-limit: FLAVOR:RESOURCE=QUANTITY[;RESOURCE=QUANTITY]...
// per flavor, several flavors after a comma.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace berth::cli::queues {

struct FlavorAmounts {
  std::string flavor;
  std::vector<std::pair<std::string, std::string>> amounts;  // resource, quantity as it was written
  bool operator==(const FlavorAmounts&) const = default;
};

// An error names the flag, the value and what was expected.
Result<std::vector<FlavorAmounts>> parse_amounts(std::string_view flag, const std::vector<std::string>& values);

// spec.resourceGroups of a ClusterQueue. Flavors with the same resources are in one group, in the order of their first
// mention. A flavor or resource that only a limit names has the nominal quota 0. Error: two flavors share some of
// their resources only, which no group can hold.
Result<JsonArray> resource_groups(const std::vector<FlavorAmounts>& nominal,
                                  const std::vector<FlavorAmounts>& borrowing,
                                  const std::vector<FlavorAmounts>& lending);

}  // namespace berth::cli::queues
