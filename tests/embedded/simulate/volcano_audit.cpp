#include "embedded/simulate/volcano_audit.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "api/kueue/pod_placement.h"
#include "api/resources.h"
#include "api/volcano/names.h"
#include "controller/group_pods.h"
#include "embedded/simulate/storm.h"
#include "embedded/simulate/volcano_people.h"
#include "volcano/group_workloads.h"
#include "volcano/quota_tree.h"

namespace berth::simulation {
namespace {

using api::volcano::PodGroupPhase;
using volcano::testing::Drawing;

constexpr std::size_t kDeepest = 12;  // steps towards root; no chain of parents is longer, so more means a cycle

std::int64_t count_of(const Amount& amount) {
  return std::min<std::int64_t>(amount.is_unlimited() ? Drawing::kInfinite : amount.count(), Drawing::kInfinite);
}

// Kueue's shared ClusterQueue acts as a child of root that adds its own quota of 4 cpu. The capability of root grows
// by the same amount.
void add_shared(Drawing& drawing) {
  api::volcano::Queue shared;
  shared.meta.name = kSharedQueue;
  shared.deserved["cpu"] = Quantity::of(4);
  drawing.queues[shared.meta.name] = shared;
  const auto root = drawing.queues.find("root");
  if (root == drawing.queues.end()) return;
  const auto limit = root->second.capability.find("cpu");
  if (limit != root->second.capability.end()) limit->second = limit->second + Quantity::of(4);
}

const api::Condition* preemption_of(const api::kueue::WorkloadRef& workload) {
  const auto* evicted = api::find_condition(workload.status.conditions, api::kueue::kEvicted);
  if (evicted == nullptr || !evicted->status || evicted->reason != "Preempted") return nullptr;
  return api::find_condition(workload.status.conditions, "Preempted");
}

}  // namespace

Drawing draw_queues(const std::vector<Json>& queues) {
  Drawing drawing;
  for (const Json& object : queues) {
    if (auto queue = api::volcano::decode_queue(object)) drawing.queues[queue->meta.name] = std::move(*queue);
  }
  add_shared(drawing);
  return drawing;
}

// --- After a decision round.

std::vector<std::string> VolcanoAudit::after_round(const controller::Controller& controller) {
  std::vector<std::string> broken;
  if (!controller.leading()) return broken;
  const std::vector<engine::HeldQuota> claims = controller.engine().held_quotas();
  draw(controller, claims);
  std::map<std::string, bool> known;
  for (const auto& claim : claims) {
    const std::string& uid = claim.workload.meta.uid;
    const bool gives_way = preemption_of(claim.workload) != nullptr;
    known[uid] = gives_way;
    const auto before = known_ ? known_->find(uid) : std::map<std::string, bool>::iterator();
    const bool is_new = known_ && before == known_->end();
    if (is_new) check_let_in(controller, claim, broken);
    if (gives_way && known_ && !is_new && !before->second) check_evicted(claim, broken);
  }
  known_ = std::move(known);
  return broken;
}

void VolcanoAudit::draw(const controller::Controller& controller, const std::vector<engine::HeldQuota>& claims) {
  std::vector<Json> objects;
  std::vector<std::string> names = possible_queues();
  names.insert(names.end(), {"root", "default"});
  for (const std::string& name : names) {
    if (const JsonPtr object = controller.find(api::kVolcanoQueues, "", name)) objects.push_back(*object);
  }
  drawing_ = draw_queues(objects);
  for (const auto& claim : claims) {
    const std::string_view queue = volcano::queue_of_node(claim.cluster_queue);
    auto& used = drawing_.used[queue.empty() ? claim.cluster_queue : std::string(queue)];
    for (const auto& [resource, amount] : claim.amounts) used[resource] += count_of(amount);
  }
}

bool VolcanoAudit::is_drawn(const std::string& queue) const {
  std::string at = queue;
  for (std::size_t steps = 0; steps <= kDeepest && drawing_.queues.contains(at); ++steps) {
    if (at == "root") return true;
    at = drawing_.parent(at);
  }
  return false;
}

void VolcanoAudit::check_let_in(const controller::Controller& controller, const engine::HeldQuota& claim,
                                std::vector<std::string>& broken) {
  std::string queue = claim.cluster_queue;
  if (claim.workload.meta.ns == volcano::kGroupNamespace) {
    const auto ref = volcano::group_of_workload(claim.workload.meta.name);
    if (!ref || ref->part == volcano::Part::kSurplus) return;  // its pods run already: no admission was needed
    const bool grows = ref->part == volcano::Part::kGrowth;
    const JsonPtr object = controller.find(api::kPodGroups, ref->ns, ref->name);
    const auto group = object ? api::volcano::decode_pod_group(*object) : Result<api::volcano::PodGroup>(fail("none"));
    if (!group) return;
    const PodGroupPhase phase = group->status.phase;
    const bool waited = phase == PodGroupPhase::kNone || phase == PodGroupPhase::kPending;
    if (!waited && !grows) return;  // its phase says that it was admitted before
    queue = volcano::queue_of_node(claim.cluster_queue);
  }
  ++let_in_;
  if (!is_drawn(queue))
    return broken.push_back(claim.workload.meta.name + " was let in to " + queue + ", which does not lead to root");
  for (const auto& [resource, amount] : claim.amounts) {
    const std::int64_t left = drawing_.headroom(queue, resource);
    if (left >= 0) continue;
    broken.push_back(claim.workload.meta.name + " was let in to " + queue + " and took " + std::to_string(-left) +
                     " of " + resource + " that is not its own; capability " +
                     std::to_string(drawing_.capability(queue, resource)) + ", held " +
                     std::to_string(drawing_.load(queue, resource)));
  }
}

void VolcanoAudit::check_evicted(const engine::HeldQuota& claim, std::vector<std::string>& broken) {
  const auto* why = preemption_of(claim.workload);
  ++gave_way_;
  const std::string_view name = volcano::queue_of_node(claim.cluster_queue);
  if (name.empty() || why == nullptr || why->reason == "InClusterQueue") return;
  const std::string queue(name);
  if (!drawing_.queues.contains(queue)) return;
  const std::string what = claim.workload.meta.name + " gives way to another queue (" + why->reason + ") in " + queue;
  if (!drawing_.queues.at(queue).reclaimable) broken.push_back(what + ", which is not reclaimable");
  const auto ref = volcano::group_of_workload(claim.workload.meta.name);
  if (ref && ref->part != volcano::Part::kMinimum) return;  // pods above the minimum may always be preempted
  const bool above = std::ranges::any_of(claim.amounts, [&](const auto& each) {
    return drawing_.load(queue, each.first) > drawing_.deserved(queue, each.first);
  });
  if (!above) broken.push_back(what + ", which holds no more than it deserves");
}

// --- At rest.

namespace {

using Sums = std::map<std::string, std::int64_t>;  // by resource; without zeros

void add(Sums& sums, const api::ResourceList& list) {
  for (const auto& [resource, quantity] : list) {
    std::int64_t& sum = sums[resource];
    sum += count_of(to_amount(resource, quantity));
    if (sum == 0) sums.erase(resource);
  }
}

std::string text(const Sums& sums) {
  std::string out;
  for (const auto& [resource, sum] : sums) out += (out.empty() ? "" : ",") + resource + "=" + std::to_string(sum);
  return out.empty() ? "nothing" : out;
}

// What a group holds: for each resource, the larger of its minimum (if it is admitted) and its running or ungated
// pods.
api::ResourceList held_by(const api::volcano::PodGroup& group, const api::ResourceList& running) {
  const PodGroupPhase phase = group.status.phase;
  const bool in =
      phase == PodGroupPhase::kInqueue || phase == PodGroupPhase::kRunning || phase == PodGroupPhase::kUnknown;
  api::ResourceList out = running;
  if (!in || !group.min_resources) return out;
  api::ResourceList minimum = *group.min_resources;
  minimum[std::string(api::volcano::kPods)] = Quantity::of(std::max(group.min_member, 1));
  for (const auto& [resource, amount] : minimum) {
    const auto [there, is_new] = out.try_emplace(resource, amount);
    if (!is_new && there->second < amount) there->second = amount;
  }
  return out;
}

std::map<std::string, api::ResourceList> running_by_group(simulate::World& world) {
  std::map<std::string, api::ResourceList> out;
  for (const Json& pod : list_all(world, "v1", "Pod")) {
    const std::string group = controller::group_of_pod(pod);
    const auto placement = api::kueue::decode_pod_placement(pod);
    const bool let_go = string_at(pod, {"metadata", "annotations", api::volcano::kQueueCharged}) == "true";
    if (group.empty() || placement.terminated || !(placement.bound || let_go)) continue;
    auto& sum = out[group];
    auto requests = placement.requests;
    requests[std::string(api::volcano::kPods)] = Quantity::of(1);
    for (const auto& [resource, amount] : requests) {
      const auto [there, is_new] = sum.try_emplace(resource, amount);
      if (!is_new) there->second = there->second + amount;
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> compare_statuses(simulate::World& world) {
  const Drawing drawing = draw_queues(list_all(world, "scheduling.volcano.sh/v1beta1", "Queue"));
  const auto running = running_by_group(world);
  std::map<std::string, Sums> held;  // by queue, queues below it included
  for (const Json& object : list_all(world, "scheduling.volcano.sh/v1beta1", "PodGroup")) {
    const auto group = api::volcano::decode_pod_group(object);
    if (!group) continue;
    const auto runs = running.find(api::object_key(group->meta));
    const auto amounts = held_by(*group, runs == running.end() ? api::ResourceList() : runs->second);
    // The queues above count it too. In a cycle of parents, each queue counts it once.
    std::string at = group->queue;
    std::set<std::string> seen;
    while (drawing.queues.contains(at) && seen.insert(at).second) {
      add(held[at], amounts);
      if (at == "root") break;
      at = drawing.parent(at);
    }
  }
  std::vector<std::string> out;
  for (const auto& [name, queue] : drawing.queues) {
    if (name == kSharedQueue) continue;
    Sums reported;
    add(reported, queue.status.allocated);
    if (reported != held[name])
      out.push_back("queue " + name + " tells " + text(reported) + " allocated, it holds " + text(held[name]));
  }
  return out;
}

}  // namespace berth::simulation
