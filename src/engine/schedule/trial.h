// Supposes that workloads gave back what they hold, their quota and their places together, and that a queue used more quota. Ends with
// its scope.
#pragma once

#include "engine/quota/ledger.h"
#include "engine/topology/places.h"

namespace berth::engine {

class Trial {
 public:
  Trial(Ledger& ledger, Places& places) : quota_(ledger), places_(places) {}
  // Nothing when the workload holds nothing or is out already.
  void without(WorkloadId workload) {
    quota_.without(workload);
    places_.without(workload);
  }
  void again(WorkloadId workload) {
    quota_.again(workload);
    places_.again(workload);
  }
  void with(NodeId cluster_queue, std::span<const FlavorResourceAmount> usage) { quota_.with(cluster_queue, usage); }

 private:
  Ledger::Trial quota_;
  Places::Trial places_;
};

}  // namespace berth::engine
