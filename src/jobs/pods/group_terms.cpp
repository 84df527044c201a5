#include "jobs/pods/group_terms.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>

#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "api/kueue/pod_shape.h"
#include "jobs/pods/pod_charge.h"

namespace berth::jobs {
namespace {

// The number of pod sets of a workload.
constexpr std::size_t kMaxRoles = 18;

struct Term {
  std::string_view name;  // of the label or annotation
  std::string GroupTerms::* value;
  bool by_all = true;  // false: a pod without a value takes that of the others
};
constexpr Term kTerms[] = {{api::kueue::kQueueLabel, &GroupTerms::queue},
                           {api::kueue::kPodGroupTotalCount, &GroupTerms::total_text},
                           {api::kueue::kPrebuiltWorkload, &GroupTerms::prebuilt},
                           {api::kueue::kPriorityClassLabel, &GroupTerms::priority_class, false}};

}  // namespace

Result<GroupTerms> agreed_terms(const std::string& group, const std::vector<ManagedPodPtr>& pods) {
  GroupTerms first = group_terms(*pods.front());
  const ManagedPod* with_class = pods.front().get();
  for (const auto& pod : pods) {
    const GroupTerms other = group_terms(*pod);
    if (first.priority_class.empty() && !other.priority_class.empty()) {
      first.priority_class = other.priority_class;
      with_class = pod.get();
    }
    for (const auto& term : kTerms) {
      if (other.*term.value == first.*term.value || (!term.by_all && (other.*term.value).empty())) continue;
      const ManagedPod& one = term.by_all ? *pods.front() : *with_class;
      return fail("the pods of group '" + group + "' must have the same " + std::string(term.name) + ": " + one.name +
                  " has \"" + first.*term.value + "\", " + pod->name + " has \"" + other.*term.value + "\"");
    }
  }
  if (first.total == 0) {
    return fail("pod " + pods.front()->name + " of group '" + group + "': the annotation " +
                std::string(api::kueue::kPodGroupTotalCount) + " is \"" + first.total_text +
                "\", expected the number of pods in the group");
  }
  return first;
}

JsonPtr voice_of(const GroupTerms& terms, const ManagedPod& pod) {
  if (group_terms(pod).priority_class == terms.priority_class) return pod.object;
  Json object = *pod.object;
  ensure_path(object, {"metadata", "labels", api::kueue::kPriorityClassLabel}) = terms.priority_class;
  return std::make_shared<const Json>(std::move(object));
}

Result<Roles> roles_of(const std::string& group, const GroupTerms& terms, const std::vector<ManagedPodPtr>& pods) {
  if (terms.fast) return Roles{{pods.front()->role, terms.total}};
  const auto total = static_cast<std::size_t>(terms.total);
  if (pods.size() < total) return fail("'" + group + "' group has fewer runnable pods than expected");
  const std::vector<ManagedPodPtr> members(pods.begin(), pods.begin() + terms.total);
  if (std::string why = unequal_roles(group, members); !why.empty()) return fail(std::move(why));
  Roles roles;
  for (const auto& pod : members) ++roles[pod->role];
  if (roles.size() > kMaxRoles) {
    return fail("group '" + group + "' has " + std::to_string(roles.size()) + " kinds of pods (annotation " +
                std::string(api::kueue::kRoleHash) + "), at most " + std::to_string(kMaxRoles) + " are possible");
  }
  return roles;
}

std::vector<api::kueue::PodSet> pod_sets_of(const Roles& roles, const std::vector<ManagedPodPtr>& pods, bool by_shape) {
  struct Member {
    std::string shape, first_pod;
    api::kueue::PodSet pod_set;
  };
  std::vector<Member> members;
  for (const auto& [role, count] : roles) {
    Member member;
    for (const auto& pod : pods) {
      if (pod->role != role) continue;
      if (member.first_pod.empty()) {
        member.pod_set = pod_set_of(*pod, role, count);
        if (by_shape) member.shape = api::kueue::role_hash(pod->spec());
      }
      if (member.first_pod.empty() || pod->name < member.first_pod) member.first_pod = pod->name;
    }
    if (!member.first_pod.empty()) members.push_back(std::move(member));
  }
  if (by_shape) std::ranges::sort(members, {}, [](const Member& one) { return std::tie(one.shape, one.first_pod); });
  std::vector<api::kueue::PodSet> pod_sets;
  for (Member& one : members) pod_sets.push_back(std::move(one.pod_set));
  return pod_sets;
}

}  // namespace berth::jobs
