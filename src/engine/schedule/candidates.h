// The candidates for one preemption, in order, generated on demand.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/schedule/candidate_policy.h"

namespace berth::engine {

class Candidates {
 public:
  Candidates(const Ledger& ledger, const Slots& slots, const Preemption::HoldersOf& holders_of,
             const Preemptor& preemptor, std::span<const FlavorResourceId> short_ids,
             std::span<const FlavorResourceAmount> needs_quota, std::uint64_t& steps);

  bool any_elsewhere() const { return any_hierarchical_ || any_priority_; }
  bool any_hierarchical() const { return any_hierarchical_; }

  // Starts over. With `borrowing`, skips candidates that may be reclaimed only without borrowing.
  void start(bool borrowing);
  // The next candidate whose queue still exceeds its quota in the present trial; nullopt: no more.
  std::optional<Target> next();

 private:
  enum class Advantage : std::uint8_t { kHierarchical, kPriority, kOwnQueue };
  struct Source {  // the holders of one queue
    QuotaNodeId queue;
    QuotaNodeId subtree;  // the lowest common ancestor with the preemptor's queue; invalid for the own queue
    Advantage advantage = Advantage::kOwnQueue;
    const Holders* holders = nullptr;
    std::shared_ptr<const Holders> sorted{};  // by usage: what `holders` points to
  };
  struct Cursor {
    const Source* source;
    Holders::Set::const_iterator at;
  };

  void collect_elsewhere();
  void collect_below(QuotaNodeId cohort, QuotaNodeId subtree, QuotaNodeId skip, Advantage advantage);
  void add_source(QuotaNodeId queue, QuotaNodeId subtree, Advantage advantage);
  bool exceeds(QuotaNodeId queue, QuotaNodeId subtree) const;
  bool fit_in_quota(QuotaNodeId node, std::vector<FlavorResourceAmount>& remaining) const;
  PreemptionReason reason(const Source& source, const HolderKey& holder, bool& without_borrowing_only) const;
  bool still_exceeds(const Source& source) const;
  bool later(const Cursor& a, const Cursor& b) const;
  bool settle(Cursor& cursor, bool evicted) const;  // moves to the next candidate; false: exhausted
  void begin_phase();

  const Ledger& ledger_;
  const Slots& slots_;
  const Preemption::HoldersOf& holders_of_;
  const Preemptor& preemptor_;
  CandidatePolicy policy_;
  std::span<const FlavorResourceAmount> needs_quota_;
  std::vector<Source> sources_;
  bool any_hierarchical_ = false, any_priority_ = false;

  bool borrowing_ = false;
  int phase_ = 0;  // 0 to 2: evicted holders: hierarchical, priority, own queue; 3 to 5: the others, likewise
  std::vector<Cursor> heap_;  // of the current phase, the first candidate on top
};

}  // namespace berth::engine
