// A scope of tentative changes of both ledgers: workloads give back their quota and places together, and a queue uses
// more quota.
#pragma once

#include "engine/quota/ledger.h"
#include "engine/topology/places.h"

namespace berth::engine {

class Trial {
 public:
  Trial(Ledger& ledger, Places& places) : quota_(ledger), places_(places) {}
  // No effect when the workload holds nothing or is out already.
  void without(WorkloadId workload) {
    quota_.without(workload);
    places_.without(workload);
  }
  void again(WorkloadId workload) {
    quota_.again(workload);
    places_.again(workload);
  }
  void with(QuotaNodeId cluster_queue, std::span<const FlavorResourceAmount> usage) {
    quota_.with(cluster_queue, usage);
  }

 private:
  Ledger::Trial quota_;
  Places::Trial places_;
};

}  // namespace berth::engine
