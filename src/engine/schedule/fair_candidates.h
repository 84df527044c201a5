// The candidates for one preemption under fair sharing, in order, made as they are asked for (KEP-1714).
//
// From the root down, the child with the largest share is looked at; what borrows nothing is passed over, but for what lies on the way to the
// preemptor. In the queue that is reached, workloads come in the order in which they would have to give way; a strategy compares the shares
// of the two nodes that lie just below the point where both paths meet. Taking somebody changes the shares on one path only, so that the
// next step costs the height of the tree and a logarithm of its width.
#pragma once

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
                 const Preemptor& preemptor, std::span<const FlavorResourceId> short_ids, const FairSharing& rules);

  // The next who has to go. While it is asked, what the preemptor wants counts as used, and all who were named are out.
  std::optional<Target> next();

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Source {  // the holders of one queue
    NodeId queue;
    bool own = false;
    const Holders* holders = nullptr;
    Holders::Set::const_iterator at{};  // the next one, while the first strategy is tried
    std::optional<HolderKey> head{};     // the same, or the one to try again
    std::optional<HolderKey> refused{};  // the first one that the first strategy refused
  };
  struct Contender {  // a child of a cohort
    NodeId node;
    FairShare share;
    bool cohort = false;
    std::size_t place = 0;       // among its siblings
    std::size_t index = kNone;  // of its source, or of its group once somebody looked into it
  };
  struct Group {  // a cohort's children that may have candidates, the one to look at on top
    NodeId cohort;
    bool filled = false;
    std::vector<Contender> heap{};
  };
  struct Meeting {  // the nodes just below the lowest common ancestor
    NodeId ours, theirs;
  };

  void begin();
  void begin_second_strategy();
  void fill(std::size_t group);
  void add_cohort(std::vector<Contender>& heap, NodeId cohort, std::size_t place);
  void add_queue(std::vector<Contender>& heap, NodeId queue, std::size_t place);
  std::size_t source_of(NodeId queue);
  bool descend();
  void repair();
  bool keep(Contender& contender);
  bool later(const Contender& a, const Contender& b) const;
  bool earlier_head(const Source& a, const Source& b) const;
  void settle(Source& source) const;
  void advance(Source& source) const;
  std::optional<Target> take(Source& source);
  std::optional<Target> take_fairly(Source& source);
  std::optional<Target> take_by_final_share(Source& source, const Meeting& meeting, const FairShare& ours);
  Meeting meet(NodeId queue) const;
  FairShare share_without(const Source& source, NodeId node, WorkloadId workload);
  bool on_our_path(NodeId node) const;

  const Ledger& ledger_;
  Shares& shares_;
  const Slots& slots_;
  const Preemption::HoldersOf& holders_of_;
  const Preemptor& preemptor_;
  CandidatePolicy policy_;
  const FairSharing& rules_;
  std::vector<NodeId> our_path_;  // from the preemptor's queue to the root
  std::vector<Source> sources_;
  std::vector<Group> groups_;          // the first one holds the root alone
  std::vector<std::size_t> path_;      // groups, from the first one to that of the queue at hand
  bool second_ = false;                // the second strategy is tried
  bool stale_ = false;                 // somebody was named: the shares on the path are others
  Usage changes_;
};

}  // namespace berth::engine
