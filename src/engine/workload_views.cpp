#include "engine/workload_views.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/core/devices.h"
#include "api/kueue/priority_boost.h"
#include "api/meta.h"
#include "engine/lifecycle/preemption_gates.h"
#include "engine/lifecycle/topology.h"
#include "engine/lifecycle/words.h"
#include "engine/version.h"

namespace berth::engine {

using api::kueue::WorkloadRef;
using api::kueue::WorkloadStatus;
using lifecycle::Hold;
using lifecycle::SecondPassNeed;
using lifecycle::State;

namespace {

// A workload that was preempted often waits before it is queued again. Otherwise two workloads that may preempt each
// other would do so endlessly (Kueue's rules allow it). The first preemptions cost no wait.
constexpr std::int32_t kFreePreemptions = 3;
constexpr std::int32_t kLongestDoubling = 9;  // 2^9 s: about eight minutes
// The wait is at most this fraction of the workload's age (1/8): a workload that is preempted now and then for a
// minute must not be kept from free quota for minutes. Waits still grow until one of the two workloads gets through.
constexpr int kPartOfAge = 8;
constexpr Duration kShortestRest = std::chrono::seconds(2);

std::optional<Time> after_preemptions(const WorkloadRef& workload) {
  const auto* evicted = api::find_condition(workload.status.conditions, api::kueue::kEvicted);
  if (evicted == nullptr || !evicted->status || evicted->reason != api::kueue::kPreempted) return std::nullopt;
  for (const auto& eviction : workload.status.evictions) {
    if (eviction.reason != api::kueue::kPreempted || eviction.count <= kFreePreemptions) continue;
    const Duration doubled = std::chrono::seconds(1 << std::min(eviction.count - kFreePreemptions, kLongestDoubling));
    const Duration age = evicted->last_transition - workload.meta.creation;
    return evicted->last_transition + std::min(doubled, std::max(kShortestRest, age / kPartOfAge));
  }
  return std::nullopt;
}

// Whether a workload that holds quota is about to give it back.
bool leaves(const Tracked& t) {
  return api::is_true(t.now.status().conditions, api::kueue::kEvicted) || !lifecycle::holds_quota(t.now.status());
}

}  // namespace

std::optional<Time> WorkloadViews::report_due(const Tracked& t) const {
  constexpr auto kFirstReports = std::chrono::minutes(1);
  if (!facts_.synced_at || t.report || t.now->meta.owners.empty()) return std::nullopt;
  const auto* admitted = api::find_condition(t.now.status().conditions, api::kueue::kAdmitted);
  if (admitted == nullptr || admitted->last_transition >= *facts_.synced_at) return std::nullopt;
  return *facts_.synced_at + kFirstReports;
}

// Gate off: the reasons of Kueue up to 0.19, which has the granular one since 0.20.
std::optional<lifecycle::DeviceRefusal> WorkloadViews::devices_refused(const Tracked& t) const {
  using namespace lifecycle;
  if (holds_quota(t.now.status()) || !has_uncounted_devices(*t.now, t.devices.get())) return std::nullopt;
  if (!t.devices || t.devices->refused.empty())
    return DeviceRefusal{reason::kMisconfigured, reason::kInadmissible, std::string(api::kUncountedDevices),
                         std::string(api::kUncountedDevices)};
  const auto requeued = facts_.options.unadmitted_observability ? reason::kDevicesUnresolved : reason::kInadmissible;
  return DeviceRefusal{reason::kDevicesUnresolved, requeued, t.devices->refused, t.devices->not_requeued};
}

lifecycle::Situation WorkloadViews::situation(const Tracked& t) const {
  lifecycle::Situation s;
  s.local_queue_name = t.now->queue_name;
  const std::string key = api::object_key(t.now->meta.ns, t.now->queue_name);
  s.local_queue = facts_.registries.view_of_local_queue(key);
  if (!s.local_queue.exists && !t.now->queue_name.empty())
    s.other_queues = facts_.registries.queues_like(t.now->meta.ns, t.now->queue_name);
  if (t.now.status().admission) {
    s.cluster_queue_name = t.now.status().admission->cluster_queue;
    s.checks = facts_.registries.required_checks(*t.now.status().admission);
  } else if (const auto* local = facts_.registries.local_queue(key)) {
    s.cluster_queue_name = local->cluster_queue;
  }
  s.cluster_queue = facts_.registries.view_of_cluster_queue(s.cluster_queue_name);
  s.devices = devices_refused(t);
  if (!t.check_reports.empty()) s.check_reports = &t.check_reports;
  if (t.clusters) s.clusters = &*t.clusters;
  s.replace_several_nodes = facts_.options.replace_several_nodes;
  s.wait_for_pods_ready = facts_.options.wait_for_pods_ready;
  s.places_timeout = facts_.options.topology_waits.places_timeout;
  if (t.replaced) s.replaced = slices_.reported_replacement(t);
  if (t.second_pass) s.places_failure = t.second_pass->failure;
  s.preemption_gates = facts_.options.preemption_gates;
  s.legacy_reasons = !facts_.options.unadmitted_observability;
  s.report_due = report_due(t);
  if (t.report) {
    s.report = &*t.report;
    s.job_stopped = t.report->stopped && !t.evicting_since.empty() && !t.report->workload_version.empty() &&
                    !older(t.report->workload_version, t.evicting_since);
  }
  return s;
}

SecondPassNeed WorkloadViews::second_pass_need(const Tracked& t) const {
  // Fast path: few workloads need it, and this test needs neither queues nor checks.
  if (!lifecycle::topology_is_delayed(t.now.status()) && t.now.status().unhealthy_nodes.empty())
    return SecondPassNeed::kNone;
  const auto need = lifecycle::second_pass_need(*t.now, situation(t));
  return need == SecondPassNeed::kFailedNodes && !facts_.options.replace_failed_nodes ? SecondPassNeed::kNone : need;
}

lifecycle::Priority WorkloadViews::priority(const WorkloadRef& workload) const {
  const auto boost = workload.meta.annotations.empty() || !facts_.options.priority_boost
                         ? std::nullopt
                         : api::kueue::priority_boost(workload.meta);
  return {workload.priority, boost.value_or(0)};
}

Time WorkloadViews::queue_order_time(const Tracked& t) const {
  return engine::queue_order_time(*t.now, facts_.options.wait_for_pods_ready);
}

const RequestedPods& WorkloadViews::requests(Tracked& t) {
  constexpr std::size_t kKnown = 64;
  if (!t.requests || t.requests_generation != t.now->meta.generation) {
    RequestedPods requests =
        requested_pods(*t.now, facts_.registries, facts_.options.resources, facts_.options.topology, t.devices.get());
    const auto same = std::ranges::find_if(known_, [&](const Ptr<RequestedPods>& known) { return *known == requests; });
    if (same != known_.end()) {
      t.requests = *same;
    } else {
      t.requests = std::make_shared<const RequestedPods>(std::move(requests));
      known_.push_front(t.requests);
      if (known_.size() > kKnown) known_.pop_back();
    }
    t.requests_generation = t.now->meta.generation;
  }
  return *t.requests;
}

Ptr<RequestedPods> WorkloadViews::present_requests(const Tracked& t) const {
  if (t.requests && t.requests_generation == t.now->meta.generation) return t.requests;
  return std::make_shared<const RequestedPods>(
      requested_pods(*t.now, facts_.registries, facts_.options.resources, facts_.options.topology, t.devices.get()));
}

// The condition since which what the workload holds is used.
std::string_view WorkloadViews::decides_use(const api::kueue::Admission& admission) const {
  const Options& options = facts_.options;
  if (!options.admission_fair_sharing.enabled || !options.usage_from_reservation) return api::kueue::kAdmitted;
  const auto* queue = facts_.registries.cluster_queue(admission.cluster_queue);
  return queue != nullptr && queue->admission_by_usage ? api::kueue::kQuotaReserved : api::kueue::kAdmitted;
}

Holding WorkloadViews::holding(const Tracked& t, const WorkloadStatus& status) const {
  Holding h;
  h.cluster_queue = status.admission->cluster_queue;
  h.priority = priority(*t.now).effective();
  h.queued_at = queue_order_time(t);
  if (const auto* reserved = api::find_condition(status.conditions, api::kueue::kQuotaReserved))
    h.reserved_at = reserved->last_transition;
  h.amounts = amounts_held(*status.admission, *t.now, facts_.options);
  // A workload that is about to give its quota back, evicted or not, is the first candidate for preemption.
  h.evicted = leaves(t);
  h.places = places(t, status);
  if (facts_.options.topology.spreading) h.labels = std::make_shared<const api::StringMap>(t.now->meta.labels);
  h.local_queue = t.local_queue;
  // In whole seconds, as the API shows it: a restarted engine counts from the same time.
  const auto* used = api::find_condition(status.conditions, decides_use(*status.admission));
  if (used != nullptr && used->status) h.used_since = to_seconds(used->last_transition);
  h.pods_ready = api::is_true(t.now.status().conditions, api::kueue::kPodsReady);
  return h;
}

std::optional<Pending> WorkloadViews::pending(Tracked& t) {
  const State state = lifecycle::state_of(*t.now);
  const Hold hold = lifecycle::hold_of(*t.now);
  const bool waits_for_time = state == State::kHeld && hold == Hold::kRequeuedFalse;
  if (state != State::kPending && !waits_for_time) return std::nullopt;
  const auto* local = facts_.registries.local_queue(t.local_queue);
  if (local == nullptr || local->stop_policy != api::kueue::StopPolicy::kNone || local->meta.deletion)
    return std::nullopt;
  const RequestedPods& asked = requests(t);
  if (asked.devices) return std::nullopt;
  return pending_with(t, *local, asked);
}

std::optional<Pending> WorkloadViews::as_if_pending(const Tracked& t) const {
  const auto* local = facts_.registries.local_queue(t.local_queue);
  if (local == nullptr) return std::nullopt;
  return pending_with(t, *local, *present_requests(t));
}

// Whether an admission check makes the nodes of flavors that it has.
bool WorkloadViews::is_delayed(const Tracked& former, const std::string& cluster_queue) const {
  const auto* queue = facts_.registries.cluster_queue(cluster_queue);
  if (queue == nullptr) return false;
  const auto delayed = facts_.registries.delayed_flavors(*queue);
  const auto& all = holding_status(former)->admission->pod_set_assignments;
  return std::ranges::any_of(all, [&](const api::kueue::PodSetAssignment& each) {
    return std::ranges::any_of(
        each.flavors, [&](const auto& flavor) { return std::ranges::find(delayed, flavor.second) != delayed.end(); });
  });
}

Pending WorkloadViews::pending_with(const Tracked& t, const api::kueue::LocalQueue& local,
                                    const RequestedPods& requests) const {
  Pending p;
  p.cluster_queue = local.cluster_queue;
  p.priority = priority(*t.now).effective();
  p.preemption_gated = facts_.options.preemption_gates && lifecycle::preemption_gated(*t.now);
  p.queued_at = queue_order_time(t);
  p.pod_sets = facts_.options.reclaimable_pods ? without_reclaimed(requests.pod_sets, t.now.status().reclaimable_pods)
                                               : requests.pod_sets;
  p.barrier = barrier_of(requests, t.now->meta.ns, facts_.registries.cluster_queue(p.cluster_queue), facts_.registries);
  p.local_queue = t.local_queue;
  if (facts_.options.topology.spreading) p.labels = std::make_shared<const api::StringMap>(t.now->meta.labels);
  const Tracked* former = slices_.predecessor(t);
  if (former != nullptr) p.replaces = slices_.replacement(*former, p.cluster_queue);
  // The second pass places all pods anew, and those that run must keep their places.
  if (p.replaces && has_places(*holding_status(*former)->admission) && is_delayed(*former, p.cluster_queue))
    p.barrier = Barrier{"TopologyPlacementFailed",
                        "An elastic job whose nodes are made for it by an admission check cannot grow while it runs: "
                        "suspend it first",
                        false};
  // The job of a slice that is being evicted stops first.
  p.on_hold = lifecycle::is_false(t.now.status().conditions, api::kueue::kRequeued) ||
              (former != nullptr && holding_status(*former) != nullptr && leaves(*former));
  if (t.now.status().requeue_state) p.not_before = t.now.status().requeue_state->requeue_at;
  for (const auto& later : {t.retry_at, after_preemptions(*t.now)}) {
    if (later && (!p.not_before || *p.not_before < *later)) p.not_before = later;
  }
  return p;
}

}  // namespace berth::engine
