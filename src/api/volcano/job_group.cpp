#include "api/volcano/job_group.h"

#include <algorithm>
#include <vector>

#include "api/volcano/names.h"

namespace berth::api::volcano {
namespace {

struct TaskShare {
  std::int32_t priority = 0, count = 0, replicas = 0;
  ResourceList per_pod;
};

std::vector<TaskShare> shares_of(const Job& job, const PriorityOf& priority_of) {
  std::vector<TaskShare> out;
  for (const Task& task : job.tasks) {
    const Json* spec = find(*task.template_, "spec");
    TaskShare share;
    share.priority = spec == nullptr ? 0 : priority_of(string_at(*spec, {"priorityClassName"}));
    share.replicas = task.replicas;
    share.count = std::min(task.min_available.value_or(task.replicas), task.replicas);
    if (spec != nullptr) share.per_pod = pod_requests(*spec);
    out.push_back(std::move(share));
  }
  return out;
}

// Changes the counts so that their sum is `wanted`, or as many as there are replicas.
void bring_to(std::vector<TaskShare>& shares, std::int32_t wanted) {
  std::vector<TaskShare*> by_priority;
  std::int32_t sum = 0;
  for (TaskShare& share : shares) {
    by_priority.push_back(&share);
    sum += share.count;
  }
  std::stable_sort(by_priority.begin(), by_priority.end(),
                   [](const TaskShare* a, const TaskShare* b) { return a->priority > b->priority; });
  if (wanted < sum) {  // the first `wanted` pods in order of priority; the minimum of a task does not count
    for (TaskShare* share : by_priority) {
      share->count = std::min(wanted, share->replicas);
      wanted -= share->count;
    }
    return;
  }
  std::int32_t more = wanted - sum;
  for (TaskShare* share : by_priority) {
    const std::int32_t added = std::min(more, share->replicas - share->count);
    share->count += added;
    more -= added;
  }
}

}  // namespace

PodGroup pod_group_of(const Job& job, const PriorityOf& priority_of) {
  PodGroup group;
  group.meta.ns = job.meta.ns;
  group.meta.name = job.meta.name + "-" + job.meta.uid;
  group.meta.annotations = job.meta.annotations;
  group.meta.owners.push_back(
      {std::string(kBatchGroup) + "/" + std::string(kBatchVersion), "Job", job.meta.name, job.meta.uid, true, true});
  group.queue = job.queue;
  group.priority_class_name = job.priority_class_name;
  group.network_topology = job.network_topology;
  std::vector<TaskShare> shares = shares_of(job, priority_of);
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    group.min_task_member[job.tasks[i].name] = shares[i].count;
    sum += shares[i].count;
  }
  group.min_member = job.min_available.value_or(0) == 0 ? sum : *job.min_available;
  bring_to(shares, group.min_member);
  ResourceList& total = group.min_resources.emplace();
  for (const TaskShare& share : shares) {
    for (const auto& [resource, amount] : share.per_pod) {
      if (share.count == 0) continue;
      const Quantity all = amount * share.count;
      const auto [known, is_new] = total.try_emplace(resource, all);
      if (!is_new) known->second = known->second + all;
    }
  }
  return group;
}

Json encode_pod_group(const PodGroup& group) {
  JsonObject spec{{"minMember", group.min_member}, {"queue", group.queue}};
  if (!group.min_task_member.empty()) {
    JsonObject tasks;
    for (const auto& [task, count] : group.min_task_member) tasks[task] = count;
    spec["minTaskMember"] = std::move(tasks);
  }
  if (group.min_resources) spec["minResources"] = encode_resource_list(*group.min_resources);
  if (!group.priority_class_name.empty()) spec["priorityClassName"] = group.priority_class_name;
  if (const auto& topology = group.network_topology) {
    JsonObject out{{"mode", topology->mode == TopologyMode::kHard ? "hard" : "soft"}};
    if (topology->highest_tier_allowed) out["highestTierAllowed"] = *topology->highest_tier_allowed;
    if (!topology->highest_tier_name.empty()) out["highestTierName"] = topology->highest_tier_name;
    spec["networkTopology"] = std::move(out);
  }
  JsonObject object{{"apiVersion", std::string(kSchedulingGroup) + "/" + std::string(kSchedulingVersion)},
                    {"kind", "PodGroup"},
                    {"metadata", encode_meta(group.meta)},
                    {"spec", std::move(spec)}};
  if (group.status != PodGroupStatus{}) object["status"] = encode_pod_group_status(group.status);
  return object;
}

}  // namespace berth::api::volcano
