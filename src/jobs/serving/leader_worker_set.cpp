#include "jobs/serving/leader_worker_set.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <utility>

#include "api/kueue/job_rules.h"
#include "api/kueue/leader_worker_set_rules.h"
#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "api/kueue/pod_rules.h"
#include "api/kueue/topology_annotations.h"
#include "api/leaderworkerset/names.h"
#include "api/leaderworkerset/rolling_update.h"
#include "jobs/compose.h"
#include "jobs/workload_name.h"
#include "jobs/workload_steps.h"

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
  const std::int32_t size = group_size(set);
  if (leaders != nullptr) out.push_back(pod_set_from(*leaders, kLeaderRole, 1, ""));
  const std::int32_t others = size - static_cast<std::int32_t>(out.size());
  if (workers != nullptr && others > 0)
    out.push_back(pod_set_from(*workers, leaders == nullptr ? kOnlyRole : kWorkerRole, others, lws::kWorkerIndex));
  return out;
}

// How many groups the set has at present. During a rolling update it may have more than it asks for.
std::int64_t wanted_groups(const Json& set) {
  const std::int64_t replicas = lws::replicas_of(set);
  const bool updating = std::ranges::any_of(array_at(set, {"status", "conditions"}), [](const Json& one) {
    return string_at(one, {"type"}) == "UpdateInProgress" && string_at(one, {"status"}) == "True";
  });
  if (!updating) return replicas;
  return std::clamp(int_at(set, {"status", "replicas"}), replicas, replicas + lws::rolling_update_of(set).max_surge);
}

bool same_counts(const Workload& w, const std::vector<PodSet>& pod_sets) {
  return std::ranges::equal(w.pod_sets, pod_sets,
                            [](const PodSet& a, const PodSet& b) { return a.name == b.name && a.count == b.count; });
}

class SetLook {
 public:
  SetLook(const Json& set, const std::vector<WorkloadPtr>& workloads, const std::vector<UngroupedPod>& pods,
          const JobFacts& facts)
      : set_(set),
        name_(string_at(set, {"metadata", "name"})),
        ns_(string_at(set, {"metadata", "namespace"})),
        uid_(string_at(set, {"metadata", "uid"})),
        pods_(pods),
        facts_(facts),
        groups_(wanted_groups(set)),
        pod_sets_(pod_sets_of_group(set)) {
    for (const auto& workload : workloads) mine_[workload->meta.name] = workload;
  }

  ServingPlan look() {
    const bool leaves = find_path(set_, {"metadata", "deletionTimestamp"}) != nullptr;
    if (leaves || !facts_.managed || pod_sets_.empty()) return std::move(plan_);
    std::size_t created = 0;
    for (std::int64_t i = 0; i < groups_; ++i) {
      const std::string name = workload_of(i);
      const auto it = mine_.find(name);
      if (it != mine_.end()) {
        keep(it->second);
        mine_.erase(it);
      } else if (created == kMaxNewWorkloads) {
        plan_.more = true;
        break;
      } else {
        created += create(i, name) ? 1 : 0;
      }
    }
    // What is left belongs to groups that the set does not have.
    if (!plan_.more) {
      for (const auto& [name, workload] : mine_) {
        if (!workload->meta.deletion) plan_.steps.push_back(DeleteWorkload{workload});
      }
    }
    for (const auto& pod : pods_) group(pod);
    return std::move(plan_);
  }

 private:
  std::string workload_of(std::int64_t group) const {
    return workload_name(lws::kGroup, lws::kKind, name_ + "-" + std::to_string(group), uid_);
  }

  bool create(std::int64_t group, const std::string& name) {
    if (facts_.workload(ns_, name)) {
      plan_.steps.push_back(name_is_taken(api::object_key(ns_, name)));
      return false;
    }
    std::string priority_class;
    for (const PodSet& pod_set : pod_sets_) {
      if (priority_class.empty()) priority_class = string_at(*pod_set.template_, {"spec", "priorityClassName"});
    }
    auto made = compose({name,
                         set_,
                         pod_sets_,
                         priority_class,
                         {{std::string(lws::kApiVersion), std::string(lws::kKind), name_, uid_, false, false}}},
                        facts_);
    if (!made) {
      plan_.steps.push_back(JobEvent{true, std::string(kClassNotFound), made.error().message});
      return false;
    }
    made->meta.labels.insert_or_assign(std::string(kJobUidLabel), uid_);
    auto& annotations = made->meta.annotations;
    annotations.insert_or_assign(std::string(kIsGroupWorkload), "true");
    annotations.insert_or_assign(std::string(kJobOwnerGvk),
                                 std::string(lws::kApiVersion) + ", Kind=" + std::string(lws::kKind));
    annotations.insert_or_assign(std::string(kJobOwnerName), name_);
    annotations.insert_or_assign(std::string(kComponentWorkloadIndex), std::to_string(group));
    plan_.steps.push_back(CreateWorkload{encode_workload(*made)});
    plan_.steps.push_back(created(api::object_key(ns_, name)));
    return true;
  }

  // A group that runs keeps its workload while the templates change (an image does): its quota is the same.
  void keep(const WorkloadPtr& workload) {
    if (workload->meta.deletion || finished(*workload)) return;
    const bool reserved = has_condition(*workload, kQuotaReserved);
    if (!same_counts(*workload, pod_sets_)) {
      if (reserved) return remove(workload, plan_.steps);
      plan_.steps.push_back(UpdateWorkload{workload, redescribe(pod_sets_, set_)});
      return;
    }
    if (!reserved && !describes(*workload, pod_sets_, set_, false, false)) {
      plan_.steps.push_back(UpdateWorkload{workload, redescribe(pod_sets_, set_)});
      return;
    }
    catch_up(set_, workload, facts_, plan_.steps);
  }

  std::string_view role_of(const UngroupedPod& pod) const {
    if (leader_template(set_) == nullptr) return kOnlyRole;
    return pod.worker == 0 ? kLeaderRole : kWorkerRole;
  }

  void group(const UngroupedPod& pod) {
    if (pod.group >= groups_) return;  // on its way out, or ahead of the set's status
    if (plan_.groupings.size() == kMaxGroupings) {
      plan_.more = true;
      return;
    }
    const std::string workload = workload_of(pod.group);
    Json patch = JsonObject();
    const auto annotate = [&](std::string_view key, std::string_view value) {
      ensure_path(patch, {"metadata", "annotations", key}) = value;
    };
    if (facts_.gates.identifier_annotations) {
      annotate(kPodGroupName, workload);
      annotate(kPrebuiltWorkload, workload);
    } else {
      ensure_path(patch, {"metadata", "labels", kPodGroupName}) = workload;
      ensure_path(patch, {"metadata", "labels", kPrebuiltWorkload}) = workload;
    }
    annotate(kPodGroupTotalCount, std::to_string(group_size(set_)));
    annotate(kRoleHash, role_of(pod));
    plan_.groupings.push_back({pod, std::move(patch)});
  }

  const Json& set_;
  const std::string name_, ns_, uid_;
  const std::vector<UngroupedPod>& pods_;
  const JobFacts& facts_;
  const std::int64_t groups_;
  const std::vector<PodSet> pod_sets_;
  std::map<std::string, WorkloadPtr> mine_;  // by name
  ServingPlan plan_;
};

}  // namespace

std::optional<UngroupedPod> decode_ungrouped_pod(const Json& pod, bool identifier_annotations) {
  if (suspending_owner(pod) != kLeaderWorkerSetFramework) return std::nullopt;
  if (!pod_group_name(pod, identifier_annotations).empty() || !has_scheduling_gate(pod, kAdmissionGate))
    return std::nullopt;
  const auto group = index_in(pod, lws::kGroupIndex), worker = index_in(pod, lws::kWorkerIndex);
  const auto set = label_of(pod, lws::kSetName);
  if (!group || !worker || set.empty() || find_path(pod, {"metadata", "deletionTimestamp"}) != nullptr)
    return std::nullopt;
  UngroupedPod out;
  out.ns = string_at(pod, {"metadata", "namespace"});
  out.name = string_at(pod, {"metadata", "name"});
  out.uid = string_at(pod, {"metadata", "uid"});
  out.version = string_at(pod, {"metadata", "resourceVersion"});
  out.set = set;
  out.group = *group;
  out.worker = *worker;
  return out;
}

ServingPlan plan_leader_worker_set(const Json& set, const std::vector<WorkloadPtr>& workloads,
                                   const std::vector<UngroupedPod>& pods, const JobFacts& facts) {
  return SetLook(set, workloads, pods, facts).look();
}

const api::OwnerReference* owning_leader_worker_set(const Workload& workload) {
  for (const auto& owner : workload.meta.owners) {
    if (owner.kind == lws::kKind && owner.api_version == lws::kApiVersion) return &owner;
  }
  return nullptr;
}

}  // namespace berth::jobs
