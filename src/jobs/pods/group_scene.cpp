#include "jobs/pods/group_scene.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include "api/kueue/pod_names.h"
#include "api/kueue/pod_rules.h"
#include "api/kueue/types.h"
#include "api/meta.h"
#include "jobs/pods/waiting.h"
#include "jobs/workload_steps.h"

namespace berth::jobs {
namespace {

JobEvent excess_deleted() { return {false, "ExcessPodDeleted", "Excess pod deleted"}; }

JobEvent pod_of_another_group(const std::string& group) {
  return {false, "PodOfAnotherGroup",
          "Deleted, so that its owner makes another: it was in the group of a former owner, and cannot join " + group};
}

}  // namespace

std::set<std::string_view> owner_uids(const api::kueue::Workload& workload) {
  std::set<std::string_view> uids;
  for (const auto& owner : workload.meta.owners) uids.insert(owner.uid);
  return uids;
}

api::OwnerReference owned_by_pod(const ManagedPod& pod) {
  return {std::string(kPodApiVersion), std::string(kPodKind), pod.name, pod.uid, false, false};
}

GroupScene::GroupScene(std::string its_ns, std::string its_name, std::vector<ManagedPodPtr> its_pods,
                       const JobFacts& its_facts, Time at)
    : ns(std::move(its_ns)), name(std::move(its_name)), facts(its_facts), now(at), pods(std::move(its_pods)) {
  std::sort(pods.begin(), pods.end(), older);
  if (facts.served_group) owner = facts.served_group(ns, name);
  count_those_that_ran_before();
  served = owner || std::ranges::any_of(pods, [](const auto& pod) { return pod->served; });
  plan.owner = owner;
  if (pods.empty()) return;
  const auto first = std::find_if(pods.begin(), pods.end(), [](const auto& pod) { return pod->runnable(); });
  plan.speaker = first == pods.end() ? pods.front() : *first;
  prebuilt = !served && !plan.speaker->prebuilt.empty();
}

std::string GroupScene::key() const { return api::object_key(ns, name); }

// Nobody stops such a pod because its workload has no quota yet. Once the workload is admitted, it has its place in
// it and stops with it.
void GroupScene::count_those_that_ran_before() {
  const WorkloadPtr known = workload();
  const bool count = owner && known && !finished(*known) && has_condition(*known, api::kueue::kAdmitted);
  if (!count) std::erase_if(pods, [](const auto& pod) { return pod->ran_before; });
  for (auto& pod : pods) {
    if (!pod->ran_before) continue;
    auto placed = std::make_shared<ManagedPod>(*pod);
    placed->role = owner->role_of(*pod);
    pod = std::move(placed);
  }
}

void GroupScene::release(const ManagedPodPtr& pod) {
  if (pod->finalizer) plan.actions.push_back(drop_finalizer(pod));
}

void GroupScene::release_those_that_left() {
  for (const auto& pod : pods) {
    if (!pod->runnable()) release(pod);
  }
}

bool GroupScene::stop_all(std::string_view reason, std::string_view message) {
  bool any = false;
  for (const auto& pod : pods) {
    if (!is_running_pod(*pod)) continue;
    plan.actions.push_back(stop(pod, reason, message, now));
    any = true;
  }
  return any;
}

void GroupScene::delete_excess(const std::vector<ManagedPodPtr>& excess) {
  if (served) return;
  for (const auto& pod : excess) plan.actions.push_back({pod, std::nullopt, true, excess_deleted()});
}

void GroupScene::report(const std::vector<ManagedPodPtr>& which, const JobEvent& event) {
  for (const auto& pod : std::span(which).first(std::min(which.size(), kReportedPods)))
    plan.actions.push_back({pod, std::nullopt, false, event});
}

std::vector<ManagedPodPtr> GroupScene::those(Which which) const {
  std::vector<ManagedPodPtr> out;
  std::copy_if(pods.begin(), pods.end(), std::back_inserter(out), [&](const auto& pod) { return which(*pod); });
  return out;
}

bool GroupScene::any(Which which) const {
  return std::any_of(pods.begin(), pods.end(), [&](const auto& pod) { return which(*pod); });
}

// The group of a pod cannot change. So a pod that waited for a former owner of the same name cannot join.
bool GroupScene::is_in_another_group(const ManagedPod& pod) const {
  const auto named = api::kueue::pod_group_name(*pod.object, facts.gates.identifier_annotations);
  return is_waiting_pod(pod) && !named.empty() && named != name;
}

void GroupScene::put_pods_into_group() {
  std::vector<ManagedPodPtr> inside;
  for (const auto& pod : pods) {
    if (owner->total == 0 && pod->gated) continue;  // it is about to be deleted
    if (is_in_another_group(*pod)) {
      plan.actions.push_back({pod, std::nullopt, true, pod_of_another_group(name)});
    } else if (auto action = put_into_group(*owner, pod, facts.gates)) {
      plan.actions.push_back(std::move(*action));
    } else {
      inside.push_back(pod);
    }
  }
  pods = std::move(inside);
}

}  // namespace berth::jobs
