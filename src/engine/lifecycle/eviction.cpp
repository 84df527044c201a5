// Moves that lose quota: eviction in two steps, withdrawing unused quota, and requeueing.
#include <algorithm>
#include <limits>

#include "api/kueue/check_state.h"
#include "base/planted.h"
#include "engine/lifecycle/change.h"
#include "engine/lifecycle/preemption_gates.h"
#include "engine/lifecycle/words.h"

namespace berth::engine::lifecycle {

using api::kueue::CheckState;

namespace {

// Resets all checks to Pending. For a check in Retry, requeueAt becomes its last transition plus requeueAfterSeconds,
// but never an earlier time than before. A transition in the future counts as now: any client may write the year 9999,
// and the sum would be no RFC 3339 time. podSetUpdates stay until the next report: only those of Ready checks are
// used.
void reset_checks(WorkloadStatus& status, Time now) {
  for (auto& check : status.admission_checks) {
    if (check.state == CheckState::kPending) continue;
    if (check.state == CheckState::kRetry) {
      check.retry_count = check.retry_count.value_or(0) + 1;
      if (check.requeue_after_seconds) {
        const Time since = check.last_transition == Time{} ? now : std::min(check.last_transition, now);
        const Time at = to_seconds(since) + std::chrono::seconds(*check.requeue_after_seconds);
        if (!status.requeue_state) status.requeue_state.emplace();
        auto& when = status.requeue_state->requeue_at;
        when = std::max(when.value_or(at), at);
      }
    }
    check.message = "Reset to Pending after eviction. Previously: " + std::string(api::kueue::name_of(check.state));
    check.state = CheckState::kPending;
    check.last_transition = to_seconds(now);
  }
}

void count_eviction(WorkloadStatus& status, const Eviction& why) {
  const auto it = std::ranges::find_if(
      status.evictions, [&](const auto& e) { return e.reason == why.reason && e.underlying_cause == why.cause; });
  if (it != status.evictions.end()) {
    ++it->count;
  } else {
    status.evictions.push_back({why.reason, why.cause, 1});
  }
}

std::string full_reason(const Eviction& why) {
  return why.cause.empty() || why.reason != reason::kDeactivated ? why.reason : why.reason + "DueTo" + why.cause;
}

// After these the workload may be queued at once; after other reasons it waits for what the reason names.
bool requeued_at_once(std::string_view evicted_reason) {
  return evicted_reason == reason::kPreempted || evicted_reason == reason::kNodeFailures ||
         evicted_reason == reason::kPodsRestarted;
}

void set_requeued_after_eviction(WorkloadStatus& status, const WorkloadRef& w, Time now, bool for_good = false) {
  const auto* evicted = api::find_condition(status.conditions, api::kueue::kEvicted);
  if (evicted == nullptr || !evicted->status) return;
  const std::string why = evicted->reason, text = evicted->message;
  set(status, w, api::kueue::kRequeued, !for_good && requeued_at_once(why), why, text, now);
}

// Shared by evict() and preempt(). Without quota (an inactive pending workload) the eviction completes at once.
std::vector<Note> begin_eviction(WorkloadStatus& status, const WorkloadRef& w, const Eviction& why, Time now) {
  const bool held = holds_quota(status);
  set(status, w, api::kueue::kEvicted, true, full_reason(why), why.message, now);
  reset_checks(status, now);
  close_gates(status, now);
  unblock(status, w, full_reason(why), now);
  if (!planted(Planted::kSecondPassOfEvicted)) status.unhealthy_nodes.clear();
  count_eviction(status, why);
  if (why.requeue) status.requeue_state = why.requeue;
  if (why.reason == reason::kDeactivated) {
    api::remove_condition(status.conditions, api::kueue::kDeactivationTarget);
    status.requeue_state.reset();
  }
  if (!held) {
    unreserve(status, w, reason::kDeactivated, message::kDeactivated, now);
    set_requeued_after_eviction(status, w, now);
    return {};
  }
  return {{false, "EvictedDueTo" + full_reason(why), why.message, why.controller}};
}

}  // namespace

Result<Change> evict(const WorkloadRef& w, const Eviction& why, Time now) {
  WorkloadStatus status = w.status;
  auto notes = begin_eviction(status, w, why, now);
  return close(Move::kEvict, w, std::move(status), std::move(notes));
}

Result<Change> preempt(const WorkloadRef& w, std::string_view preemption_reason, std::string_view text,
                       std::string_view priorities, Time now) {
  WorkloadStatus status = w.status;
  auto notes =
      begin_eviction(status, w, {std::string(reason::kPreempted), "", std::string(text), Note::kByScheduler}, now);
  // Kueue sets no observedGeneration here, and only here.
  set(status, 0, api::kueue::kPreempted, true, preemption_reason, text, now);
  notes.insert(notes.begin(), {false, std::string(reason::kPreempted), std::string(text) + std::string(priorities),
                               Note::kByScheduler});
  return close(Move::kEvict, w, std::move(status), std::move(notes));
}

Result<Change> retry_checks(const WorkloadRef& w, Time now) {
  WorkloadStatus status = w.status;
  reset_checks(status, now);
  return close(Move::kSyncChecks, w, std::move(status));
}

Result<Change> release(const WorkloadRef& w, Time now, bool for_good) {
  WorkloadStatus status = w.status;
  const auto* evicted = api::find_condition(status.conditions, api::kueue::kEvicted);
  const std::string text = evicted != nullptr ? evicted->message : std::string();
  if (w.active) {
    unreserve(status, w, reason::kPendingEvaluation, text, now);
  } else {
    unreserve(status, w, reason::kDeactivated, message::kDeactivated, now);
  }
  set_requeued_after_eviction(status, w, now, for_good);
  return close(Move::kRelease, w, std::move(status));
}

bool is_half_released(const WorkloadRef& w) {
  return w.status.admission.has_value() != api::is_true(w.status.conditions, api::kueue::kQuotaReserved);
}

Result<Change> settle(const WorkloadRef& w, Time now) {
  WorkloadStatus status = w.status;
  const auto* quota = api::find_condition(w.status.conditions, api::kueue::kQuotaReserved);
  const bool reported = quota != nullptr && !quota->status && !quota->reason.empty();
  const std::string_view why = reported ? std::string_view(quota->reason) : reason::kPendingEvaluation;
  const std::string_view text = reported ? std::string_view(quota->message) : message::kAdmissionLost;
  unreserve(status, w, why, text, now);
  const auto* evicted = api::find_condition(w.status.conditions, api::kueue::kEvicted);
  const auto* requeued = api::find_condition(w.status.conditions, api::kueue::kRequeued);
  const bool decided =
      requeued != nullptr && evicted != nullptr && requeued->last_transition >= evicted->last_transition;
  if (!decided) set_requeued_after_eviction(status, w, now);
  return close(Move::kSettle, w, std::move(status));
}

Result<Change> withdraw(const WorkloadRef& w, const PendingReason& why, Time now) {
  WorkloadStatus status = w.status;
  unreserve(status, w, why.reason, why.message, now);
  return close(Move::kWithdraw, w, std::move(status));
}

Result<Change> hold_back(const WorkloadRef& w, std::string_view text, Time now) {
  WorkloadStatus status = w.status;
  if (holds_quota(status)) {
    reset_checks(status, now);
    close_gates(status, now);
    status.unhealthy_nodes.clear();
  }
  unblock(status, w, reason::kOnHold, now);
  unreserve(status, w, reason::kOnHold, text, now);
  return close(Move::kHoldBack, w, std::move(status));
}

Result<Change> mark_target(const WorkloadRef& w, std::string_view cause, std::string_view text,
                           std::optional<Note> note, Time now) {
  WorkloadStatus status = w.status;
  set(status, w, api::kueue::kDeactivationTarget, true, cause, text, now);
  std::vector<Note> notes;
  if (note) notes.push_back(std::move(*note));
  return close(Move::kMarkTarget, w, std::move(status), std::move(notes));
}

Result<Change> requeue(const WorkloadRef& w, std::string_view why, std::string_view text, Time now) {
  WorkloadStatus status = w.status;
  const auto* before = api::find_condition(status.conditions, api::kueue::kRequeued);
  // A workload that used up its maximum execution time starts from zero when it is activated again; otherwise it
  // could never run.
  if (before != nullptr && before->reason.ends_with(reason::kMaximumExecutionTimeExceeded))
    status.accumulated_past_execution_time_seconds.reset();
  set(status, w, api::kueue::kRequeued, true, why, text, now);
  if (status.requeue_state) status.requeue_state->requeue_at.reset();
  if (status.requeue_state == api::kueue::RequeueState{}) status.requeue_state.reset();
  return close(Move::kRequeue, w, std::move(status));
}

Result<Change> tidy(const WorkloadRef& w, Time now) {
  WorkloadStatus status = w.status;
  if (!w.active) {
    reset_checks(status, now);
    api::remove_condition(status.conditions, api::kueue::kDeactivationTarget);
    status.requeue_state.reset();
  } else if (status.requeue_state) {
    status.requeue_state->requeue_at.reset();
    if (status.requeue_state == api::kueue::RequeueState{}) status.requeue_state.reset();
  }
  return close(Move::kTidy, w, std::move(status));
}

std::int32_t Priority::effective() const {
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(std::int64_t{base} + boost, Limits::min(), Limits::max()));
}

std::string preemption_priorities(Priority preemptor, Priority victim) {
  const auto text = [](Priority p) {
    return "effective priority: " + std::to_string(p.effective()) + " (base: " + std::to_string(p.base) +
           ", boost: " + std::to_string(p.boost) + ")";
  };
  return "; preemptor " + text(preemptor) + "; preemptee " + text(victim);
}

}  // namespace berth::engine::lifecycle
