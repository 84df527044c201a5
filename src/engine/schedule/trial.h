// A scope of tentative changes of both ledgers: workloads give back their quota and places together, and a queue uses
// more quota.
#pragma once

#include <optional>

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

// While it exists, the claim of a slice counts as free for the one that replaces it. Its places stay: only the other
// pods are placed (PlaceAsk::kept). Nothing happens when there is none (an invalid id).
class TakeOver {
 public:
  TakeOver(Ledger& ledger, WorkloadId former) {
    if (former.valid()) trial_.emplace(ledger).without(former);
  }
  explicit operator bool() const { return trial_.has_value(); }

 private:
  std::optional<Ledger::Trial> trial_;
};

}  // namespace berth::engine
