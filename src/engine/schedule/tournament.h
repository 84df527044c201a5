// Whose turn it is among the heads of one cycle under fair sharing (KEP-1714, kueue.md 3.3).
//
// In each cohort the best of its children's best goes on: who made others give way, whose queue has the higher priority, who borrows nothing of
// what it asks for, who would have the smaller share, who has the higher priority, who is older, the UID. Nodes are compared as they
// would be with the entry admitted. What an entry changes lies on the path from its queue to the root, where it stood on top everywhere: the
// next one costs the height of the tree and a logarithm of its width.
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

  // The entries of one cycle, at most one of each queue. They stay where they are until the last was asked for.
  void begin(std::span<Entry> entries);
  // The next one, by usage as it is now; nullptr after the last. Since the call before, usage changed in no queue but that of the
  // entry it returned.
  Entry* next();

 private:
  struct Contender {  // a child of a cohort, by its best entry
    NodeId node;
    Entry* entry = nullptr;
    bool made_way = false;
    std::int32_t queue_priority = 0;
    bool borrows = false;
    FairShare share;
  };
  using Group = std::vector<Contender>;  // the children of a cohort that have entries, the best on top

  // By cohort; the first one holds the roots.
  Group& group_of(NodeId parent) { return groups_[parent.valid() ? parent.index() + 1 : 0]; }
  Contender contender(NodeId node, Entry& entry);
  void enter(const Contender& contender);
  void repair();
  bool later(const Contender& a, const Contender& b) const;

  SchedulerState& state_;
  std::vector<Group> groups_;
  std::set<std::pair<int, NodeId>> cohorts_;  // that have entries and are not filled yet, the lowest first
  Entry* last_ = nullptr;
  Usage risen_;
};

}  // namespace berth::engine
