#include "engine/lifecycle/next.h"

#include <algorithm>

#include "api/kueue/reclaimable_pods.h"
#include "engine/lifecycle/change.h"
#include "engine/lifecycle/legacy_reasons.h"
#include "engine/lifecycle/preemption_gates.h"
#include "engine/lifecycle/topology.h"
#include "engine/lifecycle/words.h"

namespace berth::engine::lifecycle {

using api::kueue::CheckState;
using api::kueue::StopPolicy;

std::optional<Time> execution_deadline(const WorkloadRef& w) {
  const auto* admitted = api::find_condition(w.status.conditions, api::kueue::kAdmitted);
  if (!w.maximum_execution_time_seconds || admitted == nullptr || !admitted->status) return std::nullopt;
  const int left = *w.maximum_execution_time_seconds - w.status.accumulated_past_execution_time_seconds.value_or(0);
  return admitted->last_transition + std::chrono::seconds(std::max(left, 0));
}

namespace {

Next none() { return {}; }
Next make(Result<Change> change) { return {std::move(change), false}; }

PendingReason why(std::string_view reason, std::string message) {
  return {std::string(reason), std::move(message), {}};
}

std::optional<Time> requeue_at(const WorkloadRef& w) {
  return w.status.requeue_state ? w.status.requeue_state->requeue_at : std::nullopt;
}

PendingReason inactive_queue(const Situation& s) {
  const std::string& problem = s.cluster_queue.problem;
  return why(reason::kSuspended,
             "ClusterQueue " + s.cluster_queue_name + " is inactive" + (problem.empty() ? "" : ": " + problem));
}

std::optional<PendingReason> queue_reason(const Situation& s) {
  if (!s.local_queue.exists) {
    std::string text = "LocalQueue " + s.local_queue_name + " doesn't exist";
    if (!s.other_queues.empty()) text += "; its namespace has " + s.other_queues;
    return why(reason::kMisconfigured, std::move(text));
  }
  if (s.local_queue.stop != StopPolicy::kNone || s.local_queue.terminating)
    return why(reason::kSuspended, "LocalQueue " + s.local_queue_name + " is inactive");
  if (!s.cluster_queue.exists)
    return why(reason::kMisconfigured, "ClusterQueue " + s.cluster_queue_name + " doesn't exist");
  if (!s.cluster_queue.active) return inactive_queue(s);
  return std::nullopt;
}

Eviction deactivation(const WorkloadRef& w) {
  Eviction e{std::string(reason::kDeactivated), "", std::string(message::kDeactivated)};
  const auto* target = api::find_condition(w.status.conditions, api::kueue::kDeactivationTarget);
  if (target != nullptr && target->status) {
    e.cause = target->reason;
    e.message += " due to " + target->message;
  }
  return e;
}

// Rejected checks and an exceeded execution time lead to deactivation.
Next seek_deactivation(const WorkloadRef& w, Time now) {
  if (const std::string rejected = checks_in_state(w, CheckState::kRejected); !rejected.empty()) {
    return make(mark_target(w, reason::kAdmissionCheck, rejected,
                            Note{true, "AdmissionCheckRejected", "Deactivated due to " + rejected}, now));
  }
  if (const auto deadline = execution_deadline(w); deadline && *deadline <= now && state_of(w) == State::kAdmitted) {
    const std::string limit = std::to_string(*w.maximum_execution_time_seconds);
    return make(mark_target(w, reason::kMaximumExecutionTimeExceeded, message::kExecutionTime,
                            Note{true, std::string(reason::kMaximumExecutionTimeExceeded),
                                 "The maximum execution time (" + limit + "s) exceeded"},
                            now));
  }
  return none();
}

// Reason and message of Requeued=True, when the cause of Requeued=False has ended; nullopt: it has not.
std::optional<std::pair<std::string_view, std::string_view>> way_back(const WorkloadRef& w, const Situation& s,
                                                                      Time now) {
  if (!is_false(w.status.conditions, api::kueue::kRequeued) || !w.active) return std::nullopt;
  const std::string_view cause = api::find_condition(w.status.conditions, api::kueue::kRequeued)->reason;
  if (cause.starts_with(reason::kDeactivated)) return {{reason::kReactivated, message::kReactivated}};
  if (cause == reason::kAdmissionCheck || cause == reason::kPodsReadyTimeout || cause == reason::kPlacesTimeout) {
    if (requeue_at(w).value_or(now) > now) return std::nullopt;
    return {{reason::kBackoffFinished, message::kBackoffFinished}};
  }
  if (cause == reason::kClusterQueueStopped && s.cluster_queue.exists && s.cluster_queue.stop == StopPolicy::kNone)
    return {{reason::kClusterQueueRestarted, message::kClusterQueueRestarted}};
  if ((cause == reason::kInadmissible || cause == reason::kDevicesUnresolved) && !s.devices)
    return {{reason::kDevicesResolved, message::kDevicesResolved}};
  if (cause == reason::kLocalQueueStopped && s.local_queue.exists && s.local_queue.stop == StopPolicy::kNone)
    return {{reason::kLocalQueueRestarted, message::kLocalQueueRestarted}};
  return std::nullopt;
}

// The annotation admission-gated-by keeps it out of the queue.
PendingReason gated(const WorkloadRef& w) {
  const std::string& names = w.meta.annotations.find(kGatedByAnnotation)->second;
  PendingReason reason = why(reason::kGated, "Admission is gated by: " + names);
  reason.note = Note{false, std::string(reason::kGated), "Workload admission is gated by: " + names};
  return reason;
}

// The workload waited for its admission gates, and they were removed.
std::optional<PendingReason> gates_cleared(const WorkloadRef& w) {
  const auto* quota = api::find_condition(w.status.conditions, api::kueue::kQuotaReserved);
  if (quota == nullptr || quota->status || quota->reason != reason::kGated || hold_of(w) == Hold::kGated)
    return std::nullopt;
  PendingReason reason = why(reason::kPendingEvaluation, std::string(message::kGateCleared));
  reason.note = Note{false, "AdmissionGateCleared", "Admission gate cleared, workload is now admissible"};
  return reason;
}

// The owner of the pods holds the workload back, or does so no longer.
Next follow_owner(const WorkloadRef& w, const api::kueue::JobReport& report, Time now) {
  if (!report.on_hold || !w.active) return none();
  const Hold hold = hold_of(w);
  if (hold == Hold::kDeleting || hold == Hold::kDeactivationTarget || hold == Hold::kGated) return none();
  if (report.on_hold->empty()) {
    if (hold != Hold::kOnHold) return none();
    return make(note_pending(w, why(reason::kPendingEvaluation, std::string(message::kNoLongerHeld)), now));
  }
  const State state = state_of(w);
  const bool with_quota = state == State::kReserved || state == State::kAdmitted;
  const bool may_hold = with_quota ? report.stopped : state != State::kEvicting && hold != Hold::kOnHold;
  return may_hold ? make(hold_back(w, *report.on_hold, now)) : none();
}

// It is not queued yet, and nothing in its status says why it has no quota: another client removed or never wrote that.
std::optional<PendingReason> not_queued_yet(const WorkloadRef& w) {
  if (hold_of(w) != Hold::kRequeuedFalse || is_false(w.status.conditions, api::kueue::kQuotaReserved))
    return std::nullopt;
  const bool held = is_false(w.status.conditions, api::kueue::kRequeued);
  return why(reason::kPendingEvaluation, std::string(held ? message::kNotRequeued : message::kBackoff));
}

// Whether only uncounted devices of its pods keep it out of the queue, whatever its queues say.
bool waits_for_devices(const WorkloadRef& w, const Situation& s) {
  const Hold hold = hold_of(w);
  return s.devices && w.active && (hold == Hold::kNone || hold == Hold::kRequeuedFalse || hold == Hold::kFailedChecks);
}

bool says(const WorkloadRef& w, const PendingReason& reason) {
  const auto* quota = api::find_condition(w.status.conditions, api::kueue::kQuotaReserved);
  return quota != nullptr && !quota->status && quota->reason == reason.reason && quota->message == reason.message &&
         quota->observed_generation == w.meta.generation;
}

Next next_without_quota(const WorkloadRef& w, const Situation& s, Time now) {
  const bool inactive = state_of(w) == State::kInactive;
  if (inactive && !api::is_true(w.status.conditions, api::kueue::kEvicted)) return make(evict(w, deactivation(w), now));
  // Remove the results of failed checks: they must not deactivate the workload again after it is activated.
  const bool leftover =
      inactive && (w.status.requeue_state || !checks_in_state(w, CheckState::kRejected).empty() ||
                   !checks_in_state(w, CheckState::kRetry).empty() ||
                   api::find_condition(w.status.conditions, api::kueue::kDeactivationTarget) != nullptr);
  if (leftover) return make(tidy(w, now));
  if (!inactive && !checks_in_state(w, CheckState::kRetry).empty()) return make(retry_checks(w, now));
  if (const auto back = way_back(w, s, now)) return make(requeue(w, back->first, back->second, now));
  if (!inactive && requeue_at(w).value_or(Time::max()) <= now) return make(tidy(w, now));
  if (const auto cleared = gates_cleared(w); cleared && !inactive) return make(note_pending(w, *cleared, now));
  if (waits_for_devices(w, s))
    return says_devices_are_refused(w, *s.devices) ? none() : make(refuse_devices(w, *s.devices, now));
  if (const auto reason = pending_reason(w, s); reason && !says(w, *reason)) return make(note_pending(w, *reason, now));
  if (const auto reason = not_queued_yet(w); reason && !inactive) return make(note_pending(w, *reason, now));
  return none();
}

Next next_reserved(const WorkloadRef& w, const Situation& s, Time now) {
  const bool complete = lists_checks(w, s.checks) && all_checks_ready(w, s.checks) && !topology_is_delayed(w.status);
  // As in Kueue, nothing more is asked of it: its local queue may be missing for a moment, or for good.
  if (complete && s.cluster_queue.exists && !s.local_queue.exists) return make(admit(w, now));
  if (!s.cluster_queue.exists || s.cluster_queue.terminating || s.cluster_queue.stop != StopPolicy::kNone ||
      !s.local_queue.exists || s.local_queue.stop != StopPolicy::kNone) {
    const auto reason = queue_reason(s);
    return make(withdraw(w, reason.value_or(inactive_queue(s)), now));
  }
  if (!lists_checks(w, s.checks)) return make(sync_checks(w, s.checks, now));
  if (complete) return make(admit(w, now));
  if (const auto deadline = places_deadline(w, s.places_timeout); deadline && *deadline <= now)
    return make(places_time_out(w, s.places_timeout, s.wait_for_pods_ready, s.places_failure, now));
  if (!s.legacy_reasons && !says_what_is_missing(w, s.checks)) return make(stay_reserved(w, s.checks, now));
  return none();
}

// More pods are to run than hold quota: some were done, gave their quota back and run again, as after a restart by the
// failure policy of a JobSet.
std::optional<Eviction> outgrown(const WorkloadRef& w, const api::kueue::JobReport* report) {
  if (report == nullptr || !report->reclaimable) return std::nullopt;
  auto before = w.status.reclaimable_pods;
  std::erase_if(before, [&](const auto& each) { return has_shrunk(w, each.name); });
  const auto* done = api::kueue::first_less(*report->reclaimable, before);
  const auto pod_set =
      done == nullptr ? w.pod_sets.end() : std::ranges::find(w.pod_sets, done->name, &api::kueue::PodSet::name);
  if (pod_set == w.pod_sets.end()) return std::nullopt;
  const auto rest = [&](std::int32_t ended) { return std::to_string(std::max(0, pod_set->count - ended)); };
  return Eviction{std::string(reason::kPodsRestarted), "",
                  std::string(message::kPodsRestarted) + "of pod set " + done->name + " " +
                      rest(api::kueue::reclaimable_of(*report->reclaimable, done->name)) +
                      " pods are not done, and it holds quota for " + rest(done->count)};
}

Next next_with_quota(const WorkloadRef& w, const Situation& s, Time now) {
  if (!w.active) return make(evict(w, deactivation(w), now));
  if (const std::string retry = checks_in_state(w, CheckState::kRetry); !retry.empty())
    return make(evict(w, {std::string(reason::kAdmissionCheck), "", "Evicted due to " + retry}, now));
  if (state_of(w) == State::kReserved) return next_reserved(w, s, now);
  if (s.local_queue.exists && s.local_queue.stop == StopPolicy::kHoldAndDrain)
    return make(evict(w, {std::string(reason::kLocalQueueStopped), "", std::string(message::kLocalQueueStopped)}, now));
  if (s.cluster_queue.exists && s.cluster_queue.stop == StopPolicy::kHoldAndDrain)
    return make(
        evict(w, {std::string(reason::kClusterQueueStopped), "", std::string(message::kClusterQueueStopped)}, now));
  if (s.scheduling && says_anything_new(w, *s.scheduling, now)) return make(report_scheduling(w, *s.scheduling, now));
  if (const auto deadline = pods_ready_deadline(w, s.wait_for_pods_ready);
      deadline && std::max(*deadline, s.report_due.value_or(*deadline)) <= now)
    return make(time_out(w, s.wait_for_pods_ready, now));
  if (auto why = outgrown(w, s.report)) return make(evict(w, *why, now));
  if (s.failed_nodes && !w.meta.deletion) {
    if (auto change = follow_node_failures(w, *s.failed_nodes, s.replace_several_nodes, now))
      return make(std::move(*change));
  }
  return none();
}

}  // namespace

std::optional<PendingReason> pending_reason(const WorkloadRef& w, const Situation& s) {
  if (!w.active) return why(reason::kDeactivated, std::string(message::kDeactivated));
  const Hold hold = hold_of(w);
  if (hold == Hold::kGated) return gated(w);
  if (hold == Hold::kOnHold || hold == Hold::kReplacementPods || hold == Hold::kDeleting ||
      hold == Hold::kDeactivationTarget)
    return std::nullopt;  // their status already says why
  auto reason = queue_reason(s);
  if (reason && s.legacy_reasons) reason->reason = legacy_reason(reason->reason);
  return reason;
}

Next next(const WorkloadRef& w, const Situation& s, Time now) {
  const State state = state_of(w);
  if (state == State::kFinished) return none();
  if (!s.replaced.empty()) return make(replace(w, s.replaced, now));
  if (s.report != nullptr && s.report->finished) return make(finish(w, *s.report->finished, now));
  if (s.report != nullptr && says_anything_new(w, *s.report, now)) return make(report_pods(w, *s.report, now));
  if (is_half_released(w)) return make(settle(w, now));
  if (s.report != nullptr) {
    if (Next held = follow_owner(w, *s.report, now); held.change) return held;
  }
  if (s.preemption_gates && !lists_gates(w)) return make(sync_gates(w, now));
  const bool checks_count = state == State::kReserved || state == State::kAdmitted;
  if (checks_count && s.check_reports != nullptr && says_anything_new(w, *s.check_reports, now, s.clusters))
    return make(report_checks(w, *s.check_reports, now, s.clusters));

  if (w.active && state != State::kEvicting) {
    if (api::is_true(w.status.conditions, api::kueue::kDeactivationTarget)) return {std::nullopt, true};
    if (Next target = seek_deactivation(w, now); target.change) return target;
  }
  switch (state) {
    case State::kPending:
    case State::kHeld:
    case State::kInactive:
      return next_without_quota(w, s, now);
    case State::kReserved:
    case State::kAdmitted:
      return next_with_quota(w, s, now);
    case State::kEvicting:
      return s.job_stopped ? make(release(w, now, s.report != nullptr && s.report->for_good)) : none();
    case State::kFinished:
      break;
  }
  return none();
}

std::optional<Time> next_time(const WorkloadRef& w, const WaitForPodsReady& wait, Duration places_timeout,
                              std::optional<Time> report_due) {
  if (api::is_true(w.status.conditions, api::kueue::kDeactivationTarget)) return std::nullopt;
  switch (state_of(w)) {
    case State::kPending:
    case State::kHeld:
      return requeue_at(w);
    case State::kReserved:
      return places_deadline(w, places_timeout);
    case State::kAdmitted: {
      const auto execution = execution_deadline(w);
      auto pods = pods_ready_deadline(w, wait);
      if (pods && report_due) pods = std::max(*pods, *report_due);
      return execution && pods ? std::min(*execution, *pods) : execution ? execution : pods;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace berth::engine::lifecycle
