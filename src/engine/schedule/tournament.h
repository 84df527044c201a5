// The order of a cycle's entries under fair sharing (KEP-1714).
//
// In each cohort the best entries of its children compete, and the winner competes in the parent cohort. Order:
// preemptors of other entries (Precedence), preemptors whose victims are leaving, higher priority of the queue, borrows
// nothing of what it requests, smaller share, higher priority, older queue-order timestamp, UID. Nodes are compared as
// if the entry were admitted. An entry changes usage only on the path from its queue to the root, where it was on top
// at each level: so the next entry costs the height of the tree and a logarithm of its width.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "engine/quota/fair_share.h"
#include "engine/schedule/entry.h"

namespace berth::engine {

struct SchedulerState;

class Tournament {
 public:
  explicit Tournament(SchedulerState& state) : state_(state) {}

  // The entries of one cycle, at most one per queue. They must not move until the last one was returned.
  void begin(std::span<Entry> entries);
  // The next entry, by current usage; nullptr after the last. Since the previous call, usage may have changed only in
  // the queue of the entry which that call returned.
  Entry* next();

 private:
  struct Contender {  // a child of a cohort, represented by its best entry
    QuotaNodeId node;
    Entry* entry = nullptr;
    bool preempted_for = false;
    std::int32_t queue_priority = 0;
    bool borrows = false;
    FairShare share;
  };
  using Group = std::vector<Contender>;  // the children of a cohort that have entries, the best one on top

  // By cohort; the first one contains the roots.
  Group& group_of(QuotaNodeId parent) { return groups_[parent.valid() ? parent.index() + 1 : 0]; }
  Contender contender(QuotaNodeId node, Entry& entry);
  void enter(const Contender& contender);
  void repair();
  bool later(const Contender& a, const Contender& b) const;

  SchedulerState& state_;
  std::vector<Group> groups_;
  std::set<std::pair<int, QuotaNodeId>> cohorts_;  // cohorts with entries that are not processed yet, the lowest first
  Entry* last_ = nullptr;
  Usage risen_;
};

}  // namespace berth::engine
