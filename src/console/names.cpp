#include "console/names.h"

#include <algorithm>

#include "api/resources.h"

namespace berth::console {

bool may_be_name(std::string_view name) {
  return !name.empty() && name.size() <= 253 && name.front() != '.' && name.find("..") == std::string_view::npos &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'; });
}

std::optional<NamedResource> named_resource(std::string_view word) {
  static const NamedResource kKnown[] = {{api::kWorkloads, true},
                                         {api::kClusterQueues, false},
                                         {api::kLocalQueues, true},
                                         {api::kCohorts, false},
                                         {api::kResourceFlavors, false},
                                         {api::kTopologies, false},
                                         {api::kAdmissionChecks, false},
                                         {api::kWorkloadPriorityClasses, false},
                                         {api::kProvisioningRequests, true},
                                         {api::kNodes, false},
                                         {api::kPods, true},
                                         {api::kVolcanoQueues, false}};
  for (const NamedResource& known : kKnown) {
    if (known.resource.resource == word) return known;
  }
  return std::nullopt;
}

}  // namespace berth::console
