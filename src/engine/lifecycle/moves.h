// The moves of a workload from one state to the next: pure functions that return the new status and the events to
// record. A move that the table (state.h) does not list returns an error and changes nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/kueue/job_report.h"
#include "api/kueue/workload_ref.h"
#include "base/result.h"
#include "engine/lifecycle/state.h"

namespace berth::engine::lifecycle {

using api::kueue::Workload;
using api::kueue::WorkloadRef;
using api::kueue::WorkloadStatus;

// An event to record about the workload.
struct Note {
  bool warning = false;
  std::string reason;
  std::string text;
  std::string_view controller = kByLifecycle;  // reportingController of the event: one of the constants below
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

// Why the workload has no quota yet. `announce`: it comes from a scheduling decision, so record a warning event with
// the same reason.
struct PendingReason {
  std::string reason, message;
  std::vector<api::kueue::PodSetRequest> requests;  // requested per pod set; empty: not evaluated
  bool announce = false;
  // preemption would help, but a closed preemption gate of the workload forbids it
  bool preemption_gated = false;
  std::optional<Note> note{};  // recorded when the reason differs from the previous one
  bool quiet = false;          // it only waits for its turn: write no requests and no event
};
// QuotaReserved=False and Admitted=False. Repeating the same reason and message adds no event.
// BlockedOnPreemptionGates becomes True when `why.preemption_gated`; a decision without it sets it to False, unless
// the workload waits for its victims.
Result<Change> note_pending(const WorkloadRef& workload, const PendingReason& why, Time now);

// QuotaReserved=False and Requeued=False, because the devices that its pods use cannot be counted.
struct DeviceRefusal {
  std::string_view reason, requeued_reason;  // of the two conditions
  std::string message, requeued_message;
};
Result<Change> refuse_devices(const WorkloadRef& workload, const DeviceRefusal& why, Time now);
bool says_devices_are_refused(const WorkloadRef& workload, const DeviceRefusal& why);

// QuotaReserved=True with this admission. Also Admitted=True when every one of `checks` is Ready and no topology
// assignment is delayed. `checks` are the names of the admission checks that the assigned flavors require.
// `considered` (the flavors that were tried) is appended to the event.
Result<Change> reserve(const WorkloadRef& workload, api::kueue::Admission admission,
                       const std::vector<std::string>& checks, std::string_view considered, Time now);
// Returns an error while a topology assignment is delayed: place() admits then.
Result<Change> admit(const WorkloadRef& workload, Time now);
// Sets the reason of Admitted=False: unsatisfied checks, or delayed topology assignments.
Result<Change> stay_reserved(const WorkloadRef& workload, const std::vector<std::string>& checks, Time now);
// Returns whether Admitted=False already has that reason.
bool says_what_is_missing(const WorkloadRef& workload, const std::vector<std::string>& checks);

// Makes status.admissionChecks list exactly `checks`, sorted by name; new ones are Pending.
Result<Change> sync_checks(const WorkloadRef& workload, const std::vector<std::string>& checks, Time now);
// Resets the checks of a workload without quota when one says Retry. requeueAt becomes the time that the check asked
// for.
Result<Change> retry_checks(const WorkloadRef& workload, Time now);
bool lists_checks(const WorkloadRef& workload, const std::vector<std::string>& checks);
bool all_checks_ready(const WorkloadRef& workload, const std::vector<std::string>& checks);

// Takes over the results of admission check controllers, by the check's name. Ignores checks that are not listed, and
// reports with another retryCount than the check (it has been reset since). Fields that a report does not set
// (retryCount, requeueAfterSeconds) keep their value. podSetUpdates do not change while a check stays Ready
// (validation refuses that). A change of state is recorded as event AdmissionCheckUpdated.
using CheckReports = std::map<std::string, api::kueue::AdmissionCheckState>;
// What belongs to the report about the check `check` of MultiKueue: status.clusterName and nominatedClusterNames. A
// change of its state is recorded as event MultiKueue.
struct ClusterReport {
  std::string check, cluster_name;
  std::vector<std::string> nominated_cluster_names;
  bool operator==(const ClusterReport&) const = default;
};
Result<Change> report_checks(const WorkloadRef& workload, const CheckReports& reports, Time now,
                             const ClusterReport* clusters = nullptr);
bool says_anything_new(const WorkloadRef& workload, const CheckReports& reports, Time now,
                       const ClusterReport* clusters = nullptr);

struct Eviction {
  // Preempted, PodsReadyTimeout, AdmissionCheck, PlacesTimeout, ClusterQueueStopped, LocalQueueStopped, NodeFailures,
  // PodsRestarted or Deactivated
  std::string reason;
  // counted with the reason in status.schedulingStats.evictions; for reason Deactivated it becomes part of the
  // condition's reason; may be empty
  std::string cause;
  std::string message;
  std::string_view controller = Note::kByLifecycle;  // reportingController of the event
  // set when the eviction itself decides when the workload may be queued again
  std::optional<api::kueue::RequeueState> requeue{};
};
// Evicted=True. Resets checks, closes preemption gates and counts the eviction. Quota and admission stay until the
// job has stopped (release()). Without quota there is no job to stop: the eviction completes at once.
Result<Change> evict(const WorkloadRef& workload, const Eviction& why, Time now);
// As evict() with reason Preempted. Adds condition Preempted with `preemption_reason`, and the event Preempted with
// `priorities` appended to its text.
Result<Change> preempt(const WorkloadRef& workload, std::string_view preemption_reason, std::string_view message,
                       std::string_view priorities, Time now);
// The job of an evicted workload has stopped: gives quota back. Requeued=True when the workload may be queued at
// once, else False. `for_good`: the job is being deleted, so it may not be queued again.
Result<Change> release(const WorkloadRef& workload, Time now, bool for_good = false);
// Returns whether QuotaReserved and status.admission disagree: another client completed an eviction but left the
// admission, or removed only the admission. Such a workload holds no quota.
bool is_half_released(const WorkloadRef& workload);
// Makes them agree: no reservation, no admission. Keeps the reason and message of QuotaReserved=False, and a Requeued
// condition that is not older than the eviction.
Result<Change> settle(const WorkloadRef& workload, Time now);
// Takes back quota that no job has used yet, without an eviction. `why` becomes the reason of QuotaReserved=False.
Result<Change> withdraw(const WorkloadRef& workload, const PendingReason& why, Time now);

// The owner holds the workload back: QuotaReserved=False with reason OnHold and this message. Gives quota back without
// an eviction; checks start anew when it is queued again.
Result<Change> hold_back(const WorkloadRef& workload, std::string_view message, Time now);

// DeactivationTarget=True: the engine writes spec.active=false next. Records `note`, if any.
Result<Change> mark_target(const WorkloadRef& workload, std::string_view cause, std::string_view message,
                           std::optional<Note> note, Time now);
// Requeued=True: the workload may be queued again.
Result<Change> requeue(const WorkloadRef& workload, std::string_view reason, std::string_view message, Time now);
// Removes fields that are no longer needed. Inactive: DeactivationTarget, requeueState, the results of failed checks.
// Active, after its back-off: requeueState.requeueAt.
Result<Change> tidy(const WorkloadRef& workload, Time now);

// Sets PodsReady, reclaimablePods and WaitingForReplacementPods as the job reports them. Call it only when
// says_anything_new().
Result<Change> report_pods(const WorkloadRef& workload, const api::kueue::JobReport& report, Time now);
bool says_anything_new(const WorkloadRef& workload, const api::kueue::JobReport& report, Time now);
// Whether the job gave up pods of this pod set since the admission (KEP-77).
bool has_shrunk(const WorkloadRef& workload, std::string_view pod_set);
// Another slice of its job took its quota over (KEP-77); `why`: message::replaced_by().
Result<Change> replace(const WorkloadRef& workload, const std::string& why, Time now);
Result<Change> finish(const WorkloadRef& workload, const api::kueue::JobReport::Outcome& outcome, Time now);

// --- Helpers shared by several moves. ---

// The checks in `state` as text, by name: `AdmissionChecks in Retry state: "a" (message); "b"`. `state` is Retry or
// Rejected. Empty when there is none.
std::string checks_in_state(const WorkloadRef& workload, api::kueue::CheckState state);

// A workload's priority: the spec's value plus a boost from an annotation (KEP-7990).
struct Priority {
  std::int32_t base = 0, boost = 0;
  std::int32_t effective() const;  // base + boost, clamped to the int32 range
};
// The text that the events Preempted and PreemptedWorkload append.
std::string preemption_priorities(Priority preemptor, Priority victim);

}  // namespace berth::engine::lifecycle
