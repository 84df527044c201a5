#include "jobs/kinds/pod_set_groups.h"

#include <algorithm>
#include <utility>

#include "api/kueue/names.h"

namespace berth::jobs::kinds {
namespace {

using api::FieldErrors;
using api::kueue::kPodSetGroupName;
using api::kueue::kPreferredTopology;
using api::kueue::kRequiredTopology;

using Group = std::vector<const FoundPodSet*>;

// In the order of their first pod sets.
std::vector<std::pair<std::string, Group>> groups_of(const std::vector<FoundPodSet>& found) {
  std::vector<std::pair<std::string, Group>> groups;
  for (const auto& one : found) {
    if (!one.pod_set.topology_request || one.pod_set.topology_request->pod_set_group_name.empty()) continue;
    const auto& name = one.pod_set.topology_request->pod_set_group_name;
    auto group = std::ranges::find(groups, name, [](const auto& entry) { return entry.first; });
    if (group == groups.end()) group = groups.insert(group, {name, {}});
    group->second.push_back(&one);
  }
  return groups;
}

void refuse(const std::string& name, const Group& group, const std::string& why, FieldErrors& errors) {
  for (const auto* one : group)
    errors.push_back(api::invalid_value(api::key_path(annotations_path(*one), kPodSetGroupName), Json(name), why));
}

void check_pair(const std::string& name, const Group& group, FieldErrors& errors) {
  const auto &first = group[0]->pod_set, &second = group[1]->pod_set;
  if (first.count != 1 && second.count != 1)
    refuse(name, group,
           "can only define groups where at least one pod set has only 1 replica, got: " + std::to_string(first.count) +
               " replica(s) and " + std::to_string(second.count) + " replica(s) in the group",
           errors);
  if (first.topology_request->required == second.topology_request->required &&
      first.topology_request->preferred == second.topology_request->preferred)
    return;
  for (const auto& [one, other] : {std::pair(group[0], group[1]), std::pair(group[1], group[0])})
    errors.push_back(api::invalid_without_value(annotations_path(*one),
                                                "must specify '" + std::string(kRequiredTopology) + "' or '" +
                                                    std::string(kPreferredTopology) + "' topology consistent with '" +
                                                    annotations_path(*other) + "' in group '" + name + "'"));
}

}  // namespace

std::string annotations_path(const FoundPodSet& found) {
  return found.annotations.empty() ? found.field + ".metadata.annotations" : found.annotations;
}

void check_pod_set_groups(const std::vector<FoundPodSet>& found, FieldErrors& errors) {
  for (const auto& [name, group] : groups_of(found)) {
    if (group.size() == 2) {
      check_pair(name, group, errors);
    } else {
      refuse(name, group,
             "can only define groups of exactly 2 pod sets, got: " + std::to_string(group.size()) + " pod set(s)",
             errors);
    }
  }
}

}  // namespace berth::jobs::kinds
