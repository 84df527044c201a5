// Kueue's feature gates that change scheduling decisions; defaults as Kueue's.
#pragma once

#include "engine/topology/options.h"

namespace berth::engine {

struct SchedulerOptions {
  bool partial_admission = true;
  bool flavor_fungibility = true;
  bool priority_sorting_within_cohort = true;
  bool equivalence_hashing = true;
  TopologyOptions topology;
};

}  // namespace berth::engine
