// Kueue's feature gates and settings that change scheduling decisions; defaults as Kueue's.
#pragma once

#include "engine/topology/options.h"

namespace berth::engine {

struct SchedulerOptions {
  bool partial_admission = true;
  bool flavor_fungibility = true;
  bool priority_sorting_within_cohort = true;
  bool equivalence_hashing = true;
  bool block_admission = false;    // while the pods of a holder are not ready (waitForPodsReady.blockAdmission)
  bool ignore_undeclared = false;  // quotaCheckStrategy IgnoreUndeclared
  TopologyOptions topology;
};

}  // namespace berth::engine
