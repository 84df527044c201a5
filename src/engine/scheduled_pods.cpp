#include "engine/scheduled_pods.h"

#include <algorithm>
#include <utility>

#include "api/kueue/reclaimable_pods.h"
#include "api/meta.h"
#include "engine/slices.h"

namespace berth::engine {
namespace {

std::string key_of(const api::kueue::PodPlacement& pod) { return api::object_key(pod.ns, pod.workload); }

}  // namespace

std::string ScheduledPods::set(const Ptr<api::kueue::PodPlacement>& pod) {
  if (!on_) return "";
  if (pod->workload.empty()) return remove(pod->uid);
  const auto before = std::exchange(pods_[pod->uid], pod);
  if (before && *before == *pod) return "";
  count(*pod, 1);
  if (before) count(*before, -1);
  return key_of(*pod);
}

std::string ScheduledPods::remove(const std::string& uid) {
  const auto it = pods_.find(uid);
  if (it == pods_.end()) return "";
  const auto before = it->second;
  pods_.erase(it);
  count(*before, -1);
  return key_of(*before);
}

void ScheduledPods::count(const api::kueue::PodPlacement& pod, int by) {
  const bool alive = !pod.terminated && !pod.terminating;
  if (!alive && !pod.succeeded) return;
  auto& of_workload = by_workload_[key_of(pod)];
  Counts& counts = of_workload[pod.pod_set];
  (pod.succeeded ? counts.succeeded : pod.bound ? counts.scheduled : counts.waiting) += by;
  if (counts.waiting + counts.scheduled + counts.succeeded == 0) of_workload.erase(pod.pod_set);
  if (of_workload.empty()) by_workload_.erase(key_of(pod));
}

lifecycle::SchedulingSeen ScheduledPods::seen(const api::kueue::WorkloadRef& w) const {
  lifecycle::SchedulingSeen out{false, true};
  const auto known = by_workload_.find(name_for_pods(w.meta));
  if (known == by_workload_.end() || !w.status.admission) return {};
  bool all_succeeded = true, any_succeeded = false;
  for (const auto& assigned : w.status.admission->pod_set_assignments) {
    const auto of_set = known->second.find(assigned.name);
    const Counts counts = of_set == known->second.end() ? Counts() : of_set->second;
    const int given_back = reclaimable_ ? api::kueue::reclaimable_of(w.status.reclaimable_pods, assigned.name) : 0;
    out.any = out.any || counts.waiting + counts.scheduled > 0;
    out.all = out.all && counts.scheduled + std::max(counts.succeeded, given_back) >= assigned.count;
    any_succeeded = any_succeeded || counts.succeeded > 0;
    all_succeeded = all_succeeded && counts.succeeded >= assigned.count;
  }
  out.any = out.any || (any_succeeded && all_succeeded);
  return out;
}

}  // namespace berth::engine
