// The moves of a workload from one state to the next: pure functions from the workload and what is known to
// its new status and the events to record. A move that the table (state.h) does not list is an error and
// changes nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/kueue/job_report.h"
#include "api/kueue/types.h"
#include "base/result.h"
#include "engine/lifecycle/state.h"

namespace berth::engine::lifecycle {

using api::kueue::Workload;
using api::kueue::WorkloadStatus;

// An event to record about the workload.
struct Note {
  bool warning = false;
  std::string reason;
  std::string text;
  std::string_view controller = kByLifecycle;  // the reporting part: one of the constants
  static constexpr std::string_view kByScheduler = "kueue-admission";
  static constexpr std::string_view kByLifecycle = "kueue-workload-controller";
  static constexpr std::string_view kByProvisioning = "kueue-provisioning-request-controller";
  static constexpr std::string_view kByNodeWatch = "tas-node-failure-controller";
  bool operator==(const Note&) const = default;
};

struct Change {
  Move move = Move::kNotePending;
  WorkloadStatus status;
  std::vector<Note> notes;
};

// Why there is no quota yet. `announce`: a scheduling decision, recorded as a warning whose reason is the
// condition's.
struct PendingReason {
  std::string reason, message;
  std::vector<api::kueue::PodSetRequest> requests;  // what was asked for; empty: not evaluated
  bool announce = false;
  bool preemption_gated =
      false;                   // others would give way, but a closed gate of the workload forbids to ask them
  std::optional<Note> note{};  // recorded when the reason is another one than before
  bool quiet = false;          // it lacks nothing and waits for its turn: neither requests nor an event
};
// QuotaReserved=False and Admitted=False. A decision that says the same again adds no event.
// BlockedOnPreemptionGates becomes True when the reason says so, and False when a decision does not any more, unless it waits for
// those whom it preempts.
Result<Change> note_pending(const Workload& workload, const PendingReason& why, Time now);

// QuotaReserved=True with this admission; Admitted at once when every one of `checks` is Ready and no places are delayed. `checks`
// are the names of the admission checks that the assigned flavors require. `considered` is appended to the event:
// which flavors were tried.
Result<Change> reserve(const Workload& workload, api::kueue::Admission admission,
                       const std::vector<std::string>& checks, std::string_view considered, Time now);
// An error while places are delayed: place() admits then.
Result<Change> admit(const Workload& workload, Time now);
// Admitted=False says what is missing: checks, or the places that were delayed.
Result<Change> stay_reserved(const Workload& workload, const std::vector<std::string>& checks, Time now);
bool says_what_is_missing(const Workload& workload, const std::vector<std::string>& checks);

// status.admissionChecks lists exactly `checks`, by name; new ones are Pending.
Result<Change> sync_checks(const Workload& workload, const std::vector<std::string>& checks, Time now);
// A check said Retry about a workload that holds no quota: it starts over, after the time the check asked
// for.
Result<Change> retry_checks(const Workload& workload, Time now);
bool lists_checks(const Workload& workload, const std::vector<std::string>& checks);
bool all_checks_ready(const Workload& workload, const std::vector<std::string>& checks);

// What controllers found out about checks, by the check's name. A check that is not listed is left alone, and so is one whose
// report states another retryCount: it has been reset since. What a report does not state (retryCount, requeueAfterSeconds) stays;
// podSetUpdates stay while a check is Ready (validation refuses another value). A change of state is recorded as AdmissionCheckUpdated.
using CheckReports = std::map<std::string, api::kueue::AdmissionCheckState>;
Result<Change> report_checks(const Workload& workload, const CheckReports& reports, Time now);
bool says_anything_new(const Workload& workload, const CheckReports& reports, Time now);

struct Eviction {
  std::string reason;  // Preempted, PodsReadyTimeout, AdmissionCheck, ClusterQueueStopped, LocalQueueStopped, NodeFailures, Deactivated
  std::string cause;   // counted with the reason; of a deactivation by the queueing system part of it. May be empty
  std::string message;
  std::string_view controller = Note::kByLifecycle;  // which records the event
  std::optional<api::kueue::RequeueState> requeue{};  // when it may be queued again, if the eviction says that itself
};
// Evicted=True: checks are reset, the statistics count it, quota and admission stay until the job has
// stopped. A workload that holds no quota has nothing to stop and is finished with at once.
Result<Change> evict(const Workload& workload, const Eviction& why, Time now);
// As evict, with the condition Preempted of this reason and the event Preempted, to which `priorities` is
// appended.
Result<Change> preempt(const Workload& workload, std::string_view preemption_reason, std::string_view message,
                       std::string_view priorities, Time now);
// The job of an evicted workload has stopped: quota is given back, Requeued says whether it may be queued at
// once.
Result<Change> release(const Workload& workload, Time now);
// Whether QuotaReserved and status.admission disagree: another client ended an eviction and left the admission, or removed the
// admission alone. Such a workload holds no quota.
bool is_half_released(const Workload& workload);
// Makes them agree: no reservation, no admission. What QuotaReserved=False says stays, and so does a Requeued condition that is as
// new as the eviction.
Result<Change> settle(const Workload& workload, Time now);
// Takes back quota that no job has used yet: nothing is evicted. The pending reason says why.
Result<Change> withdraw(const Workload& workload, const PendingReason& why, Time now);

// DeactivationTarget=True: spec.active becomes false next. `note`, if any, is recorded with it.
Result<Change> mark_target(const Workload& workload, std::string_view cause, std::string_view message,
                           std::optional<Note> note, Time now);
// Requeued=True.
Result<Change> requeue(const Workload& workload, std::string_view reason, std::string_view message, Time now);
// Drops what has served once the workload is inactive (DeactivationTarget, requeueState, what failed checks
// said) or its back-off is over (the time of it).
Result<Change> tidy(const Workload& workload, Time now);

// PodsReady and reclaimablePods as the job tells. No change when they say the same already: see
// says_anything_new().
Result<Change> report_pods(const Workload& workload, const api::kueue::JobReport& report, Time now);
bool says_anything_new(const Workload& workload, const api::kueue::JobReport& report, Time now);
Result<Change> finish(const Workload& workload, const api::kueue::JobReport::Outcome& outcome, Time now);

// --- What several moves say. ---

// Why a check evicts or deactivates: `AdmissionCheck in Retry state: "name" (message)`; empty when no check
// is in `state`.
std::string checks_in_state(const Workload& workload, api::kueue::CheckState state);

// The priority that counts is that of the spec and what an annotation adds to it (KEP-7990).
struct Priority {
  std::int32_t base = 0, boost = 0;
  std::int32_t effective() const;  // within the bounds of the type
};
// What the events Preempted and PreemptedWorkload append.
std::string preemption_priorities(Priority preemptor, Priority victim);

}  // namespace berth::engine::lifecycle
