// Whom a preemptor may take quota from at all: its queue's policies, and what is short.
#pragma once

#include <span>

#include "engine/quota/ledger.h"
#include "engine/schedule/holders.h"
#include "engine/schedule/preemption.h"

namespace berth::engine {

// `own`: the holder is of the preemptor's own queue.
class CandidatePolicy {
 public:
  CandidatePolicy(const Ledger& ledger, const Slots& slots, const Preemptor& preemptor, std::span<const FlavorResourceId> short_ids)
      : ledger_(ledger), slots_(slots), preemptor_(preemptor), short_ids_(short_ids) {}

  bool allows(bool own, const HolderKey& holder) const;
  // Whether it has too high a priority. Holders come by rising priority: after one that is too important all are, but for those that
  // are not evicted.
  bool too_important(bool own, const HolderKey& holder) const;
  bool within_nominal(NodeId node) const;  // of everything that is short, as it is in the present trial

 private:
  bool uses_short_ids(WorkloadId workload) const;

  const Ledger& ledger_;
  const Slots& slots_;
  const Preemptor& preemptor_;
  std::span<const FlavorResourceId> short_ids_;
};

}  // namespace berth::engine
