// The candidates for one preemption under fair sharing (KEP-1714), in order, generated on demand.
//
// The search descends from the root to the child with the largest share. It skips nodes that borrow nothing, except
// those on the path to the preemptor. Workloads of the queue it reaches come in preemption order (HolderOrder). A
// strategy compares the shares of the two nodes just below the lowest common ancestor of both queues. Choosing a
// victim changes shares on one path only, so the next step costs the height of the tree and a logarithm of its width.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/quota/fair_share.h"
#include "engine/schedule/candidate_policy.h"
#include "engine/schedule/options.h"

namespace berth::engine {

class FairCandidates {
 public:
  FairCandidates(const Ledger& ledger, Shares& shares, const Slots& slots, const Preemption::HoldersOf& holders_of,
                 const Preemptor& preemptor, std::span<const FlavorResourceId> short_ids, const FairSharing& rules,
                 std::uint64_t& steps);

  // The next victim. During the call the preemptor's usage must be counted as used, and all earlier victims as gone.
  std::optional<Target> next();

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Source {  // the holders of one queue
    QuotaNodeId queue;
    bool own = false;
    const Holders* holders = nullptr;
    std::shared_ptr<const Holders> sorted{};  // by usage: what `holders` points to
    Holders::Set::const_iterator at{};        // the next one, in the first strategy
    std::optional<HolderKey> head{};          // the holder at `at`, or the one to try again
    std::optional<HolderKey> refused{};       // the first one that the first strategy refused
  };
  struct Contender {  // a child of a cohort
    QuotaNodeId node;
    FairShare share;
    bool cohort = false;
    std::size_t place = 0;      // index among its siblings
    std::size_t index = kNone;  // of its source, or of its group once it was created
  };
  struct Group {  // a cohort's children that may have candidates, the next one on top
    QuotaNodeId cohort;
    bool filled = false;
    std::vector<Contender> heap{};
  };
  struct Meeting {  // the two nodes just below the lowest common ancestor
    QuotaNodeId ours, theirs;
  };

  void begin();
  void begin_second_strategy();
  bool begin_again();
  void fill(std::size_t group);
  void add_cohort(std::vector<Contender>& heap, QuotaNodeId cohort, std::size_t place);
  void add_queue(std::vector<Contender>& heap, QuotaNodeId queue, std::size_t place);
  std::size_t source_of(QuotaNodeId queue);
  bool descend();
  void repair();
  bool keep(Contender& contender);
  bool later(const Contender& a, const Contender& b) const;
  bool earlier_head(const Source& a, const Source& b) const;
  void settle(Source& source) const;
  void advance(Source& source) const;
  std::optional<Target> take(Source& source);
  std::optional<Target> take_fairly(Source& source);
  void refuse(Source& source, const HolderKey& candidate);
  std::optional<Target> take_by_final_share(Source& source, const Meeting& meeting, const FairShare& ours);
  Meeting meet(QuotaNodeId queue) const;
  FairShare share_without(const Source& source, QuotaNodeId node, WorkloadId workload);
  bool on_our_path(QuotaNodeId node) const;

  const Ledger& ledger_;
  Shares& shares_;
  const Slots& slots_;
  const Preemption::HoldersOf& holders_of_;
  const Preemptor& preemptor_;
  CandidatePolicy policy_;
  const FairSharing& rules_;
  std::vector<QuotaNodeId> our_path_;  // from the preemptor's queue to the root
  std::vector<Source> sources_;
  std::vector<Group> groups_;      // the first one contains only the root
  std::vector<std::size_t> path_;  // groups, from the first one to that of the current queue
  bool second_ = false;            // the second strategy is in use
  bool stale_ = false;             // a victim was chosen: the shares on the path have changed
  bool took_ = false;              // a victim was chosen since both strategies began
  bool refused_ = false;           // a candidate was refused since then
  Usage changes_;
};

}  // namespace berth::engine
