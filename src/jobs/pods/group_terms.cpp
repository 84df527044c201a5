#include "jobs/pods/group_terms.h"

#include <algorithm>
#include <cstddef>

#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"

namespace berth::jobs {
namespace {

// The number of pod sets of a workload.
constexpr std::size_t kMaxRoles = 18;

struct Term {
  std::string_view name;  // of the label or annotation
  std::string GroupTerms::* value;
};
constexpr Term kTerms[] = {{api::kueue::kQueueLabel, &GroupTerms::queue},
                           {api::kueue::kPodGroupTotalCount, &GroupTerms::total_text},
                           {api::kueue::kPriorityClassLabel, &GroupTerms::priority_class}};

}  // namespace

Result<GroupTerms> agreed_terms(const std::string& group, const std::vector<ManagedPodPtr>& pods) {
  const GroupTerms first = group_terms(*pods.front());
  for (const auto& pod : pods) {
    const GroupTerms other = group_terms(*pod);
    for (const auto& term : kTerms) {
      if (other.*term.value == first.*term.value) continue;
      return fail("the pods of group '" + group + "' must have the same " + std::string(term.name) + ": " +
                  pods.front()->name + " has \"" + first.*term.value + "\", " + pod->name + " has \"" +
                  other.*term.value + "\"");
    }
  }
  if (first.total == 0) {
    return fail("pod " + pods.front()->name + " of group '" + group + "': the annotation " +
                std::string(api::kueue::kPodGroupTotalCount) + " is \"" + first.total_text +
                "\", expected the number of pods in the group");
  }
  return first;
}

Result<Roles> roles_of(const std::string& group, const GroupTerms& terms, const std::vector<ManagedPodPtr>& pods) {
  if (terms.fast) return Roles{{pods.front()->role, terms.total}};
  const auto total = static_cast<std::size_t>(terms.total);
  if (pods.size() < total) return fail("'" + group + "' group has fewer runnable pods than expected");
  Roles roles;
  for (std::size_t i = 0; i < total; ++i) ++roles[pods[i]->role];
  if (roles.size() > kMaxRoles) {
    return fail("group '" + group + "' has " + std::to_string(roles.size()) + " kinds of pods (annotation " +
                std::string(api::kueue::kRoleHash) + "), at most " + std::to_string(kMaxRoles) + " are possible");
  }
  return roles;
}

std::vector<api::kueue::PodSet> pod_sets_of(const Roles& roles, const std::vector<ManagedPodPtr>& pods) {
  std::vector<api::kueue::PodSet> pod_sets;
  for (const auto& [role, count] : roles) {
    const auto model =
        std::find_if(pods.begin(), pods.end(), [&](const ManagedPodPtr& pod) { return pod->role == role; });
    if (model != pods.end()) pod_sets.push_back(pod_set_of(**model, role, count));
  }
  return pod_sets;
}

}  // namespace berth::jobs
