// Which workloads a preemptor may preempt at all: by the policies of its queue and what is short.
#pragma once

#include <cstdint>
#include <span>

#include "engine/quota/ledger.h"
#include "engine/schedule/holders.h"
#include "engine/schedule/preemption.h"

namespace berth::engine {

// `own`: the holder is in the preemptor's own queue.
class CandidatePolicy {
 public:
  // `steps` counts the questions about holders and queues.
  CandidatePolicy(const Ledger& ledger, const Slots& slots, const Preemptor& preemptor,
                  std::span<const FlavorResourceId> short_ids, std::uint64_t& steps)
      : ledger_(ledger), slots_(slots), preemptor_(preemptor), short_ids_(short_ids), steps_(steps) {}

  bool allows(bool own, const HolderKey& holder) const;
  // The same whatever is short.
  bool ever_allows(bool own, const HolderKey& holder) const;
  // Whether the holder's priority is too high. Unless by usage, holders are sorted by rising priority, evicted ones
  // first: so after one that is too important, all of the same group are.
  bool too_important(bool own, const HolderKey& holder) const;
  // no short flavor-resource is used beyond the subtree quota, in the present trial
  bool within_nominal(QuotaNodeId node) const;

 private:
  bool uses_short_ids(WorkloadId workload) const;

  const Ledger& ledger_;
  const Slots& slots_;
  const Preemptor& preemptor_;
  std::span<const FlavorResourceId> short_ids_;
  std::uint64_t& steps_;
};

}  // namespace berth::engine
