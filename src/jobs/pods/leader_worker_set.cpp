#include "jobs/pods/leader_worker_set.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>
#include <vector>

#include "api/kueue/job_rules.h"
#include "api/kueue/leader_worker_set_rules.h"
#include "api/kueue/pod_names.h"
#include "api/kueue/pod_rules.h"
#include "api/kueue/topology_annotations.h"
#include "api/leaderworkerset/names.h"
#include "api/leaderworkerset/rolling_update.h"
#include "api/object_condition.h"
#include "jobs/workload_name.h"

namespace berth::jobs {
namespace {

using namespace api::kueue;
namespace lws = api::leaderworkerset;

constexpr std::string_view kLeaderRole = "leader", kWorkerRole = "worker", kOnlyRole = "main";

std::optional<std::int64_t> index_in(const Json& pod, std::string_view key) {
  const auto text = label_of(pod, key);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

PodSet pod_set_from(const Json& pod_template, std::string_view name, std::int32_t count, std::string_view index_label) {
  PodSet out;
  out.name = name;
  out.count = count;
  out.template_ = std::make_shared<const Json>(pod_template);
  TopologyRequest request = topology_request_of(object_at(pod_template, {"metadata", "annotations"}), index_label);
  if (request != TopologyRequest()) out.topology_request = std::move(request);
  return out;
}

std::vector<PodSet> pod_sets_of_group(const Json& set) {
  std::vector<PodSet> out;
  const Json *leaders = leader_template(set), *workers = worker_template(set);
  if (leaders != nullptr) out.push_back(pod_set_from(*leaders, kLeaderRole, 1, ""));
  const std::int32_t others = group_size(set) - static_cast<std::int32_t>(out.size());
  if (workers != nullptr && others > 0)
    out.push_back(pod_set_from(*workers, leaders == nullptr ? kOnlyRole : kWorkerRole, others, lws::kWorkerIndex));
  return out;
}

std::string class_of_pods(const std::vector<PodSet>& pod_sets) {
  for (const PodSet& pod_set : pod_sets) {
    if (const auto name = string_at(*pod_set.template_, {"spec", "priorityClassName"}); !name.empty())
      return std::string(name);
  }
  return {};
}

}  // namespace

const JobKind& leader_worker_set_kind() {
  static const JobKind kind{lws::kLeaderWorkerSets, std::string(lws::kKind),
                            "leaderworkerset.x-k8s.io/leaderworkerset-kueue-controller"};
  return kind;
}

std::int64_t groups_of_leader_worker_set(const Json& set) {
  const std::int64_t replicas = lws::replicas_of(set);
  if (!api::object_condition_is_true(set, "UpdateInProgress")) return replicas;
  return std::clamp(int_at(set, {"status", "replicas"}), replicas, replicas + lws::rolling_update_of(set).max_surge);
}

std::string group_of_leader_worker_set(const Json& set, std::int64_t index) {
  const std::string group = std::string(string_at(set, {"metadata", "name"})) + "-" + std::to_string(index);
  return workload_name(lws::kGroup, lws::kKind, group, string_at(set, {"metadata", "uid"}));
}

std::optional<LeaderWorkerSetPlace> place_in_leader_worker_set(const Json& pod) {
  if (suspending_owner(pod) != kLeaderWorkerSetFramework) return std::nullopt;
  const auto group = index_in(pod, lws::kGroupIndex);
  const auto set = label_of(pod, lws::kSetName);
  if (!group || !index_in(pod, lws::kWorkerIndex) || set.empty()) return std::nullopt;
  return LeaderWorkerSetPlace{std::string(set), *group};
}

ServedGroupState served_by_leader_worker_set(const JsonPtr& set, std::int64_t index) {
  ServedGroupState group = surplus_of_leader_worker_set(set, group_of_leader_worker_set(*set, index));
  group.pod_sets = pod_sets_of_group(*set);
  group.total = group.pod_sets.empty() ? 0 : group_size(*set);
  group.pod_priority_class = class_of_pods(group.pod_sets);
  group.annotations[std::string(kComponentWorkloadIndex)] = std::to_string(index);
  const bool leaders = leader_template(*set) != nullptr;
  group.role_of = [leaders](const ManagedPod& pod) {
    if (!leaders) return std::string(kOnlyRole);
    return std::string(index_in(*pod.object, lws::kWorkerIndex) == 0 ? kLeaderRole : kWorkerRole);
  };
  return group;
}

ServedGroupState surplus_of_leader_worker_set(const JsonPtr& set, std::string name) {
  ServedGroupState group;
  group.kind = leader_worker_set_kind();
  group.owner = set;
  group.name = std::move(name);
  return group;
}

const api::OwnerReference* owning_leader_worker_set(const Workload& workload) {
  for (const auto& owner : workload.meta.owners) {
    if (owner.kind == lws::kKind && owner.api_version == lws::kApiVersion) return &owner;
  }
  return nullptr;
}

}  // namespace berth::jobs
