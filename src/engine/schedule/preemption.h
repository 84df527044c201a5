// Chooses the victims for a workload that does not fit: classic preemption (KEP-83, KEP-1337, KEP-79), or by shares
// when fair sharing is on (KEP-1714).
//
// Candidates use a flavor-resource that is short and satisfy the policies of the preemptor's queue. They are removed
// one by one in a trial until the workload fits, places included; then they are put back in reverse order while it
// still fits. The cost is proportional to the candidates visited. A look at one workload asks for victims many times,
// for each flavor, each combination of flavors and each number of pods: Look bounds what that costs when it is in vain.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <utility>
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

  // While it exists, all questions are of one preemptor, and at each of them quota, claims and holders are the same.
  // Once searches in vain have cost too much, it is found what would be free without all whom the preemptor may preempt
  // at all, whatever is short. Who asks for more than that gets no victims without a search. Answers of simulate() are
  // kept. Looks do not nest.
  class Look {
   public:
    explicit Look(Preemption& preemption) : preemption_(preemption) { preemption_.looks_ = true; }
    ~Look() {
      preemption_.looks_ = false;
      preemption_.in_vain_ = 0;
      preemption_.most_.clear();
      preemption_.simulated_.clear();
    }
    Look(const Look&) = delete;
    Look& operator=(const Look&) = delete;

   private:
    Preemption& preemption_;
  };
  // Whether no victims can suffice for `usage`, as far as this look knows; false without one.
  bool in_vain(const Preemptor& preemptor, std::span<const FlavorResourceAmount> usage);
  // How many holders and queues the searches have examined, taken out or put back.
  std::uint64_t steps() const { return steps_; }

 private:
  Possibility simulate_anew(const Preemptor& preemptor, FlavorResourceId id, Amount amount);
  std::vector<Target> search(const Preemptor& preemptor, std::span<const FlavorResourceId> short_ids,
                             std::span<const FlavorResourceAmount> usage, std::span<const PlaceRequest> requests);
  void find_most(const Preemptor& preemptor);
  void take_out_all(const Preemptor& preemptor, QuotaNodeId node, Ledger::Trial& trial);
  std::vector<Target> fair_targets(const Preemptor& preemptor, std::span<const FlavorResourceId> short_ids,
                                   std::span<const FlavorResourceAmount> usage, std::span<const PlaceRequest> requests);

  Ledger& ledger_;
  Places& places_;
  Shares& shares_;
  const Slots& slots_;
  HoldersOf holders_of_;
  FairSharing fair_sharing_;
  std::uint64_t steps_ = 0;
  bool looks_ = false;
  std::uint64_t in_vain_ = 0;  // the steps of this look that found no victims
  std::map<std::pair<FlavorResourceId, Amount>, Possibility> simulated_;  // of this look
  std::vector<Amount> most_;  // by flavor-resource: what would be free at most; empty: not known
};

}  // namespace berth::engine
