#include "jobs/pods/stateful_set.h"

#include <algorithm>
#include <utility>

#include "api/kueue/pod_names.h"
#include "api/kueue/pod_rules.h"
#include "api/kueue/serving_rules.h"
#include "api/kueue/topology_annotations.h"
#include "jobs/workload_name.h"

namespace berth::jobs {
namespace {

using namespace api::kueue;

constexpr std::string_view kSetRole = "main";
constexpr std::string_view kSetPodIndexLabel = "apps.kubernetes.io/pod-index";

StatefulSetGroups groups_of(std::string_view name, std::string_view uid) {
  const auto with = [&](std::string_view id) {
    return workload_name(stateful_set_kind().resource.group, stateful_set_kind().kind, name, id);
  };
  return {with(uid), with("")};
}

PodSet pods_of(const Json& set, std::string name, std::int32_t count) {
  PodSet pod_set;
  pod_set.name = std::move(name);
  pod_set.count = count;
  Json pod_template = JsonObject{{"metadata", JsonObject()}};
  if (const Json* spec = find_path(set, {"spec", "template", "spec"})) pod_template.as_object()["spec"] = *spec;
  pod_set.template_ = std::make_shared<const Json>(std::move(pod_template));
  pod_set.topology_request =
      topology_request_of(object_at(set, {"spec", "template", "metadata", "annotations"}), kSetPodIndexLabel);
  return pod_set;
}

// The former releases named pod sets by the shape of their pods.
std::vector<std::string> roles_in(const Workload* workload) {
  std::vector<std::string> roles;
  if (workload != nullptr) {
    for (const auto& pod_set : workload->pod_sets) roles.push_back(pod_set.name);
  }
  if (roles.empty()) roles.emplace_back(kSetRole);
  return roles;
}

}  // namespace

const JobKind& stateful_set_kind() {
  static const JobKind kind{{"apps", "v1", "statefulsets"}, "StatefulSet", "statefulset-kueue-controller"};
  return kind;
}

StatefulSetGroups groups_of_stateful_set(const Json& set) {
  return groups_of(string_at(set, {"metadata", "name"}), string_at(set, {"metadata", "uid"}));
}

bool keeps_former_group(const Json& set) {
  const Json* pod = find_path(set, {"spec", "template"});
  const auto named = pod == nullptr ? std::string_view() : pod_group_name(*pod, true);
  return !named.empty() && named == groups_of_stateful_set(set).former;
}

std::optional<StatefulSetPlace> place_in_stateful_set(const Json& pod) {
  for (const auto& owner : array_at(pod, {"metadata", "ownerReferences"})) {
    if (!bool_at(owner, {"controller"}) || string_at(owner, {"kind"}) != stateful_set_kind().kind ||
        string_at(owner, {"apiVersion"}) != stateful_set_kind().api_version())
      continue;
    StatefulSetPlace place{std::string(string_at(owner, {"name"})), std::string(string_at(owner, {"uid"})), {}};
    place.groups = groups_of(place.set, place.uid);
    // Kueue 0.9 marked its pods with the group only.
    const bool serves = suspending_owner(pod) == kStatefulSetFramework || !belongs_to_berth(pod) ||
                        pod_group_name(pod, true) == place.groups.former;
    return serves ? std::optional(std::move(place)) : std::nullopt;
  }
  return std::nullopt;
}

ServedGroupState served_by_stateful_set(const JsonPtr& set, std::string name, const Workload* workload) {
  const std::vector<std::string> roles = roles_in(workload);
  ServedGroupState group;
  group.kind = stateful_set_kind();
  group.owner = set;
  group.name = std::move(name);
  group.total = static_cast<std::int32_t>(replicas_of(*set));
  group.hold_message = "StatefulSet scaled to zero; workload on hold";
  group.fast_admission = true;
  group.pod_sets = {pods_of(*set, roles.front(), group.total)};
  group.pod_priority_class = string_at(*set, {"spec", "template", "spec", "priorityClassName"});
  group.pod_index_label = kSetPodIndexLabel;
  group.role_of = [roles](const ManagedPod& pod) {
    return std::ranges::find(roles, pod.role) == roles.end() ? roles.front() : pod.role;
  };
  return group;
}

}  // namespace berth::jobs
