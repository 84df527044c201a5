#include "engine/schedule/tournament.h"

#include <algorithm>

#include "engine/schedule/heap.h"
#include "engine/schedule/state.h"

namespace berth::engine {

Tournament::Contender Tournament::contender(QuotaNodeId node, Entry& entry) {
  Contender out{node,  &entry, entry.queue->pending.preempted_for(entry.workload), entry.queue->config.terms.priority,
                false, {}};
  const Ledger& ledger = state_.ledger;
  risen_.clear();
  for (const FlavorResourceAmount& each : entry.assignment.usage) {
    if (each.amount.is_zero()) continue;
    risen_.push_back({each.id, ledger.rise(entry.queue->node, node, each.id, each.amount)});
    out.borrows = out.borrows || ledger.borrowing_with(node, each.id, risen_.back().amount);
  }
  out.borrows = out.borrows && state_.options.fair_sharing.prioritize_non_borrowing && ledger.parent(node).valid();
  out.share = state_.shares.with(node, risen_);
  return out;
}

void Tournament::enter(const Contender& contender) {
  const QuotaNodeId parent = state_.ledger.parent(contender.node);
  Group& group = group_of(parent);
  if (group.empty() && parent.valid()) cohorts_.emplace(state_.ledger.height(parent), parent);
  group.push_back(contender);
}

void Tournament::begin(std::span<Entry> entries) {
  const auto comes_later = [this](const Contender& a, const Contender& b) { return later(a, b); };
  last_ = nullptr;
  std::size_t nodes = 0;
  for (const Entry& entry : entries) {
    for (QuotaNodeId node = entry.queue->node; node.valid(); node = state_.ledger.parent(node))
      nodes = std::max(nodes, node.index() + 1);
  }
  if (groups_.size() <= nodes) groups_.resize(nodes + 1);
  for (Entry& entry : entries) enter(contender(entry.queue->node, entry));
  while (!cohorts_.empty()) {  // lowest first: children are processed before their parents
    const QuotaNodeId cohort = cohorts_.extract(cohorts_.begin()).value().second;
    Group& group = group_of(cohort);
    std::make_heap(group.begin(), group.end(), comes_later);
    enter(contender(cohort, *group.front().entry));
  }
  std::make_heap(groups_[0].begin(), groups_[0].end(), comes_later);
}

Entry* Tournament::next() {
  if (last_ != nullptr) repair();
  last_ = groups_[0].empty() ? nullptr : groups_[0].front().entry;
  return last_;
}

// On the path of the last entry every node is the top of its heap, and its share may have changed.
void Tournament::repair() {
  const auto comes_later = [this](const Contender& a, const Contender& b) { return later(a, b); };
  QuotaNodeId node = last_->queue->node;
  Entry* best = nullptr;  // the best remaining entry below the node
  while (true) {
    const QuotaNodeId parent = state_.ledger.parent(node);
    Group& group = group_of(parent);
    if (best == nullptr) {
      drop_top(group, comes_later);
    } else {
      group.front() = contender(node, *best);
      sift_down(group, comes_later);
    }
    if (!parent.valid()) return;
    best = group.empty() ? nullptr : group.front().entry;
    node = parent;
  }
}

bool Tournament::later(const Contender& a, const Contender& b) const {
  if (a.entry->outranks != b.entry->outranks) return a.entry->outranks < b.entry->outranks;
  if (a.preempted_for != b.preempted_for) return b.preempted_for;
  if (a.queue_priority != b.queue_priority) return a.queue_priority < b.queue_priority;
  if (a.borrows != b.borrows) return a.borrows;
  if (const auto order = a.share <=> b.share; order != std::strong_ordering::equal)
    return order == std::strong_ordering::greater;
  const Slot &x = state_.slots[a.entry->workload], &y = state_.slots[b.entry->workload];
  if (state_.options.priority_sorting_within_cohort && x.priority != y.priority) return x.priority < y.priority;
  if (x.queued_at != y.queued_at) return x.queued_at > y.queued_at;
  return state_.slots.uid_less(b.entry->workload, a.entry->workload);
}

}  // namespace berth::engine
