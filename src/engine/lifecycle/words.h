// Reasons and messages of a workload's conditions and events, with Kueue's texts.
#pragma once

#include <string>
#include <string_view>

namespace berth::engine::lifecycle {

inline constexpr std::string_view kGatedByAnnotation = "kueue.x-k8s.io/admission-gated-by";

namespace reason {
// QuotaReserved=True and Admitted.
inline constexpr std::string_view kQuotaReserved = "QuotaReserved";
inline constexpr std::string_view kAdmitted = "Admitted";
inline constexpr std::string_view kNoReservation = "NoReservation";
inline constexpr std::string_view kUnsatisfiedChecks = "UnsatisfiedAdmissionChecks";
inline constexpr std::string_view kPendingDelayedTopology = "PendingDelayedTopologyRequests";
// QuotaReserved=False.
inline constexpr std::string_view kPendingEvaluation = "PendingEvaluation";
inline constexpr std::string_view kNoMatchingFlavor = "NoMatchingFlavor";
inline constexpr std::string_view kWaitingForQuota = "WaitingForQuota";
inline constexpr std::string_view kExceedsMaxQuota = "ExceedsMaxQuota";
inline constexpr std::string_view kWaitingForPreempted = "WaitingForPreemptedWorkloads";
inline constexpr std::string_view kMisconfigured = "Misconfigured";
inline constexpr std::string_view kInadmissible = "Inadmissible";                 // of Requeued=False, too
inline constexpr std::string_view kDevicesUnresolved = "DRAResourcesUnresolved";  // of Requeued=False, too
inline constexpr std::string_view kSuspended = "Suspended";
inline constexpr std::string_view kGated = "AdmissionGated";
inline constexpr std::string_view kOnHold = "OnHold";
inline constexpr std::string_view kWaitingForPodsReady = "WaitingForPodsReady";
inline constexpr std::string_view kTopologyPlacementFailed = "TopologyPlacementFailed";
// BlockedOnPreemptionGates.
inline constexpr std::string_view kPreemptionGated = "PreemptionGated";
// Evicted.
inline constexpr std::string_view kPreempted = "Preempted";
inline constexpr std::string_view kPodsReadyTimeout = "PodsReadyTimeout";
inline constexpr std::string_view kAdmissionCheck = "AdmissionCheck";
inline constexpr std::string_view kClusterQueueStopped = "ClusterQueueStopped";
inline constexpr std::string_view kLocalQueueStopped = "LocalQueueStopped";
inline constexpr std::string_view kNodeFailures = "NodeFailures";
inline constexpr std::string_view kPlacesTimeout = "PlacesTimeout";  // Berth's own
inline constexpr std::string_view kPodsRestarted = "PodsRestarted";  // Berth's own
inline constexpr std::string_view kDeactivated = "Deactivated";
inline constexpr std::string_view kMaximumExecutionTimeExceeded = "MaximumExecutionTimeExceeded";
inline constexpr std::string_view kRequeuingLimitExceeded = "RequeuingLimitExceeded";
// Requeued=True.
inline constexpr std::string_view kReactivated = "Reactivated";
inline constexpr std::string_view kBackoffFinished = "BackoffFinished";
inline constexpr std::string_view kClusterQueueRestarted = "ClusterQueueRestarted";
inline constexpr std::string_view kLocalQueueRestarted = "LocalQueueRestarted";
inline constexpr std::string_view kDevicesResolved = "DRAResourcesResolved";
// PodsReady.
inline constexpr std::string_view kWaitForStart = "WaitForStart";
inline constexpr std::string_view kWaitForRecovery = "WaitForRecovery";
inline constexpr std::string_view kStarted = "Started";
inline constexpr std::string_view kRecovered = "Recovered";
// PodsReady=False and PodsScheduled (KEP-13502).
inline constexpr std::string_view kWaitForScheduling = "WaitForScheduling";
inline constexpr std::string_view kAllScheduled = "AllRequiredPodsScheduled";
// WaitingForReplacementPods=False.
inline constexpr std::string_view kNoReplacementNeeded = "PodsReady";
}  // namespace reason

namespace message {
inline constexpr std::string_view kNoReservation = "The workload has no reservation";
inline constexpr std::string_view kAdmitted = "The workload is admitted";
inline constexpr std::string_view kUnsatisfiedChecks = "The workload has not all checks ready";
inline constexpr std::string_view kPendingDelayedTopology = "There are pending delayed topology requests";
inline constexpr std::string_view kAdmissionLost =
    "status.admission is missing although quota was reserved: the workload is evaluated again";
inline constexpr std::string_view kNoLongerHeld = "The workload is no longer on hold, waiting for quota reservation";
inline constexpr std::string_view kBackoff = "The workload waits for the end of a back-off";
inline constexpr std::string_view kNotRequeued =
    "The condition Requeued is False: the workload is not queued again yet";
inline constexpr std::string_view kGateCleared = "AdmissionGatedBy cleared, waiting for quota reservation";
inline constexpr std::string_view kPreemptionGated = "Workload requires preemption, but it's gated";
inline constexpr std::string_view kDeactivated = "The workload is deactivated";
inline constexpr std::string_view kReactivated = "The workload was reactivated";
inline constexpr std::string_view kBackoffFinished = "The workload backoff was finished";
inline constexpr std::string_view kClusterQueueStopped = "The ClusterQueue is stopped";
inline constexpr std::string_view kLocalQueueStopped = "The LocalQueue is stopped";
inline constexpr std::string_view kClusterQueueRestarted = "The ClusterQueue was restarted after being stopped";
inline constexpr std::string_view kLocalQueueRestarted = "The LocalQueue was restarted after being stopped";
inline constexpr std::string_view kDevicesResolved = "The devices of the workload's pods can be counted";
inline constexpr std::string_view kPodsNotReady = "Not all pods are ready or succeeded";
inline constexpr std::string_view kPodsNotScheduled = "Not all pods have been scheduled";
inline constexpr std::string_view kPodsScheduled = "All required pods have been scheduled or succeeded";
inline constexpr std::string_view kPodsReady = "All pods reached readiness and the workload is running";
inline constexpr std::string_view kPodsRecovering = "At least one pod has failed, waiting for recovery";
inline constexpr std::string_view kNoReplacementNeeded = "No pods need replacement";
inline constexpr std::string_view kExecutionTime = "exceeding the maximum execution time";
inline constexpr std::string_view kRequeuingLimit = "exceeding the maximum number of re-queuing retries";
// Followed by the workload's namespace and name.
inline constexpr std::string_view kPodsReadyTimeout = "Exceeded the PodsReady timeout ";
// Followed by the pod set and its numbers of pods.
inline constexpr std::string_view kPodsRestarted = "Pods run again whose quota was given back: ";
// Followed by the names of nodes.
inline constexpr std::string_view kNoReplacement =
    "Workload was evicted as there was no replacement for unhealthy node(s): ";
inline constexpr std::string_view kSeveralNodesFailed =
    "Workload eviction triggered due to multiple TAS assigned node failures, including: ";
// Followed by the UIDs of the slice and of its job.
inline constexpr std::string_view kReplacedBy = "Replaced to accommodate a workload (UID: ";
// Of a workload that is not evaluated because others stand before it.
inline std::string behind_others(std::string_view cluster_queue) {
  return "ClusterQueue " + std::string(cluster_queue) +
         " is StrictFIFO: workloads that stand before it have not started";
}
inline std::string replaced_by(std::string_view uid, std::string_view job_uid) {
  return std::string(kReplacedBy) + std::string(uid) +
         ", JobUID: " + std::string(job_uid.empty() ? "UNKNOWN" : job_uid) + ") due to workload slice aggregation";
}
}  // namespace message

}  // namespace berth::engine::lifecycle
