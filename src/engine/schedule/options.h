// Kueue's feature gates and settings that change scheduling decisions; defaults as Kueue's.
#pragma once

#include "api/config/policies.h"
#include "engine/topology/options.h"

namespace berth::engine {

// KEP-1714: unused quota is shared by weight. Off: workloads that borrow less come first.
struct FairSharing {
  bool enabled = false;
  bool final_share = true;             // LessThanOrEqualToFinalShare, tried first
  bool initial_share = true;           // LessThanInitialShare
  bool preempt_within_nominal = true;  // a queue within its nominal quota reclaims from any borrower
  // a workload that borrows nothing of what it requests comes before one that borrows
  bool prioritize_non_borrowing = true;
};

struct SchedulerOptions {
  bool partial_admission = true;
  bool flavor_fungibility = true;
  bool priority_sorting_within_cohort = true;
  bool equivalence_hashing = true;
  // admit nothing while the pods of a holder are not ready (waitForPodsReady.blockAdmission)
  bool block_admission = false;
  bool ignore_undeclared = false;  // quotaCheckStrategy IgnoreUndeclared
  bool prioritize_preemptors =
      false;  // quota that victims give back stays reserved for their preemptor, in StrictFIFO queues too
  bool recompute_on_overlap =
      true;  // an entry whose victims another entry of the cycle has chosen is assigned as if they were gone
  TopologyOptions topology;
  FairSharing fair_sharing;
  api::config::AdmissionFairSharing usage;  // KEP-4136: how the past usage of local queues is counted
};

}  // namespace berth::engine
