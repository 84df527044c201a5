// Chooses the victims for a workload that does not fit: classic preemption (KEP-83, KEP-1337, KEP-79), or by shares
// when fair sharing is on (KEP-1714).
//
// Candidates use a flavor-resource that is short and satisfy the policies of the preemptor's queue. They are removed
// one by one in a trial until the workload fits, places included; then they are put back in reverse order while it
// still fits. The cost is proportional to the candidates visited.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/quota/fair_share.h"
#include "engine/schedule/decision.h"
#include "engine/schedule/holders.h"
#include "engine/schedule/options.h"
#include "engine/schedule/queue_config.h"
#include "engine/topology/places.h"

namespace berth::engine {

// The workload that needs quota.
struct Preemptor {
  // The part of `usage` that must be within the queue's quota when it must not borrow. Without
  // terms.flavor_of_the_rest this is all of it; with it, resources with nominal quota 0 that are not short are left
  // out.
  std::vector<FlavorResourceAmount> needs_quota(const Ledger& ledger, std::span<const FlavorResourceId> short_ids,
                                                std::span<const FlavorResourceAmount> usage) const;

  QuotaNodeId queue;
  const QueueConfig* config = nullptr;
  std::int32_t priority = 0;
  Time queued_at{};
  std::vector<WorkloadId> spares{};  // those that it may not preempt (Precedence), sorted by id
};

struct Target {
  WorkloadId workload;
  PreemptionReason reason = PreemptionReason::kInClusterQueue;
  bool operator==(const Target&) const = default;
};

// What preemption for one flavor-resource alone can do, and the borrowing level afterwards.
struct Possibility {
  enum class Kind : std::uint8_t {
    kNoCandidates,
    kPreempt,
    kReclaim
  };  // kPreempt: some victim is in the preemptor's own queue
  Kind kind = Kind::kNoCandidates;
  int borrow = 0;
};

class Preemption {
 public:
  using HoldersOf = std::function<const Holders*(QuotaNodeId)>;  // nullptr: none
  Preemption(Ledger& ledger, Places& places, Shares& shares, const Slots& slots, HoldersOf holders_of,
             const FairSharing& fair_sharing)
      : ledger_(ledger),
        places_(places),
        shares_(shares),
        slots_(slots),
        holders_of_(std::move(holders_of)),
        fair_sharing_(fair_sharing) {}

  // The victims for `usage` (of which `short_ids` are short) and for the requested places; empty when no set of
  // victims suffices. Workloads that an open trial has taken out are no candidates.
  std::vector<Target> targets(const Preemptor& preemptor, std::span<const FlavorResourceId> short_ids,
                              std::span<const FlavorResourceAmount> usage, std::span<const PlaceRequest> requests = {});
  Possibility simulate(const Preemptor& preemptor, FlavorResourceId id, Amount amount);

 private:
  std::vector<Target> fair_targets(const Preemptor& preemptor, std::span<const FlavorResourceId> short_ids,
                                   std::span<const FlavorResourceAmount> usage, std::span<const PlaceRequest> requests);

  Ledger& ledger_;
  Places& places_;
  Shares& shares_;
  const Slots& slots_;
  HoldersOf holders_of_;
  FairSharing fair_sharing_;
};

}  // namespace berth::engine
