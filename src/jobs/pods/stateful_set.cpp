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

std::string group_name(std::string_view name, std::string_view uid) {
  return workload_name(stateful_set_kind().resource.group, stateful_set_kind().kind, name, uid);
}

PodSet pods_of(const Json& set, std::int32_t count) {
  PodSet pod_set;
  pod_set.name = kSetRole;
  pod_set.count = count;
  Json pod_template = JsonObject{{"metadata", JsonObject()}};
  if (const Json* spec = find_path(set, {"spec", "template", "spec"})) pod_template.as_object()["spec"] = *spec;
  pod_set.template_ = std::make_shared<const Json>(std::move(pod_template));
  pod_set.topology_request =
      topology_request_of(object_at(set, {"spec", "template", "metadata", "annotations"}), kSetPodIndexLabel);
  return pod_set;
}

}  // namespace

const JobKind& stateful_set_kind() {
  static const JobKind kind{{"apps", "v1", "statefulsets"}, "StatefulSet", "statefulset-kueue-controller"};
  return kind;
}

std::string group_of_stateful_set(const Json& set) {
  return group_name(string_at(set, {"metadata", "name"}), string_at(set, {"metadata", "uid"}));
}

std::optional<std::string> group_of_stateful_set_pod(const Json& pod) {
  if (suspending_owner(pod) != kStatefulSetFramework && belongs_to_berth(pod)) return std::nullopt;
  for (const auto& owner : array_at(pod, {"metadata", "ownerReferences"})) {
    if (bool_at(owner, {"controller"}) && string_at(owner, {"kind"}) == stateful_set_kind().kind &&
        string_at(owner, {"apiVersion"}) == stateful_set_kind().api_version())
      return group_name(string_at(owner, {"name"}), string_at(owner, {"uid"}));
  }
  return std::nullopt;
}

ServedGroupState served_by_stateful_set(const JsonPtr& set) {
  ServedGroupState group;
  group.kind = stateful_set_kind();
  group.owner = set;
  group.name = group_of_stateful_set(*set);
  group.total = static_cast<std::int32_t>(replicas_of(*set));
  group.hold_message = "StatefulSet scaled to zero; workload on hold";
  group.fast_admission = true;
  group.pod_sets = {pods_of(*set, group.total)};
  group.pod_priority_class = string_at(*set, {"spec", "template", "spec", "priorityClassName"});
  group.pod_index_label = kSetPodIndexLabel;
  group.role_of = [](const ManagedPod&) { return std::string(kSetRole); };
  return group;
}

}  // namespace berth::jobs
