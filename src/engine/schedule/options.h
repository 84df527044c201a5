// Kueue's feature gates and settings that change scheduling decisions; defaults as Kueue's.
#pragma once

#include "engine/topology/options.h"

namespace berth::engine {

// KEP-1714: quota that nobody needs is shared by weight. Off: whoever needs the least borrowing comes first.
struct FairSharing {
  bool enabled = false;
  bool final_share = true;    // LessThanOrEqualToFinalShare, tried first
  bool initial_share = true;  // LessThanInitialShare
  bool preempt_within_nominal = true;     // who stays within its nominal quota takes it back from any borrower
  bool prioritize_non_borrowing = true;   // who borrows nothing of what is asked for comes before who does
};

struct SchedulerOptions {
  bool partial_admission = true;
  bool flavor_fungibility = true;
  bool priority_sorting_within_cohort = true;
  bool equivalence_hashing = true;
  bool block_admission = false;    // while the pods of a holder are not ready (waitForPodsReady.blockAdmission)
  bool ignore_undeclared = false;  // quotaCheckStrategy IgnoreUndeclared
  bool prioritize_preemptors =
      false;  // what victims give back stays reserved for their preemptor, in StrictFIFO queues too
  bool recompute_on_overlap =
      true;  // whose victims were taken by another entry of the cycle is looked at as if they were gone
  TopologyOptions topology;
  FairSharing fair_sharing;
};

}  // namespace berth::engine
