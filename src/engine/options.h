// The options of the engine: Kueue's feature gates and settings that change decisions.
#pragma once

#include "api/config/policies.h"
#include "engine/topology/options.h"

namespace berth::engine {

// Kueue's feature gates and settings that change decisions; defaults as Kueue's.
struct Options {
  bool partial_admission = true;
  bool flavor_fungibility = true;
  bool priority_sorting_within_cohort = true;
  bool reclaimable_pods = true;
  bool scheduling_equivalence_hashing = true;
  api::config::WaitForPodsReady wait_for_pods_ready;
  api::config::WorkloadRetention retention;
  api::config::QuotaResources resources;
  api::config::FairSharing fair_sharing;
  // FairSharingPreemptWithinNominal: a queue that stays within its nominal quota may reclaim from any borrower
  bool fair_preempt_within_nominal = true;
  // FairSharingPrioritizeNonBorrowing: a workload that borrows nothing of what it requests goes first
  bool fair_prioritize_non_borrowing = true;
  bool preemption_gates =
      true;  // MultiKueueOrchestratedPreemption: a workload with a closed preemption gate preempts nothing
  bool priority_boost = false;  // PriorityBoost: an annotation adds to the priority of its workload
  // PrioritizePreemptorWorkloads: quota that victims give back stays reserved for their preemptor until all of them
  // are gone, whatever the queueing strategy of its queue.
  bool prioritize_preemptors = false;
  // RecomputeAssignmentUponPreemptionTargetsOverlap: when another workload of the same cycle has chosen the same
  // victims, assign flavors again as if these were gone. Off: the workload waits for the next cycle.
  bool recompute_on_overlap = true;
  // How the status says why a workload is not admitted. UnadmittedWorkloadsObservability: one reason per cause (off:
  // only Pending, Inadmissible or Waiting, and Admitted=False only for workloads that were admitted before).
  // UnadmittedWorkloadsExplicitStatus: also for a workload that was not evaluated because it shares the verdict of an
  // equivalent one.
  bool unadmitted_observability = true;
  bool unadmitted_explicit_status = true;
  TopologyOptions topology;
  api::config::TopologyWaits topology_waits;
  // Replacement of failed nodes (KEP-2724).
  bool replace_failed_nodes = true;  // TASFailedNodeReplacement
  // TASFailedNodeReplacementFailFast: evict when the first search for a replacement fails
  bool replace_fail_fast = true;
  bool replace_on_pod_termination = true;  // TASReplaceNodeOnPodTermination; off: after 30 s of NotReady
  bool replace_on_taints = true;           // TASReplaceNodeOnNodeTaints
  // Berth's own: replace several failed nodes of one workload in one joint placement. Off: the second one evicts, as
  // in Kueue.
  bool replace_several_nodes = true;
  api::config::AdmissionFairSharing admission_fair_sharing;
  bool admission_by_usage = true;  // AdmissionFairSharing: off as if the part of the configuration were missing
  // AdmissionFairSharingAnchorAtQuotaReservation: in cluster queues that admit by usage, what a workload uses counts
  // from its quota reservation. Off: from its admission, as in all other cluster queues.
  bool usage_from_reservation = true;
  // SkipReassignmentForPodOwnedWorkloads: a workload that one pod owns keeps its place while the pod runs, because no
  // other pod could take another one.
  bool keep_places_of_single_pods = true;
  // TASReplaceNodeDueToNotReadyOverFixedTime: also with replace_on_pod_termination, a node counts as failed after 30 s
  // of NotReady, whatever its pods do.
  bool replace_not_ready = false;
  // ElasticJobsViaWorkloadSlices: a slice of an elastic job takes over the quota of the one that it replaces. Off: the
  // annotations mean nothing.
  bool elastic_jobs = true;
};

}  // namespace berth::engine
