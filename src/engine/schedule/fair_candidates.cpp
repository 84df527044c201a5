#include "engine/schedule/fair_candidates.h"

#include <algorithm>

#include "engine/schedule/heap.h"

namespace berth::engine {

using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;

FairCandidates::FairCandidates(const Ledger& ledger, Shares& shares, const Slots& slots,
                               const Preemption::HoldersOf& holders_of, const Preemptor& preemptor,
                               std::span<const FlavorResourceId> short_ids, const FairSharing& rules,
                               std::uint64_t& steps)
    : ledger_(ledger),
      shares_(shares),
      slots_(slots),
      holders_of_(holders_of),
      preemptor_(preemptor),
      policy_(ledger, slots, preemptor, short_ids, steps),
      rules_(rules) {
  for (QuotaNodeId node = preemptor.queue; node.valid(); node = ledger_.parent(node)) our_path_.push_back(node);
}

bool FairCandidates::on_our_path(QuotaNodeId node) const {
  return std::find(our_path_.begin(), our_path_.end(), node) != our_path_.end();
}

// --- The tree of possible victims.

void FairCandidates::begin() {
  groups_.assign(1, {QuotaNodeId(), true});
  const QuotaNodeId root = our_path_.back();
  if (ledger_.is_cluster_queue(root)) {
    add_queue(groups_[0].heap, root, 0);
  } else {
    add_cohort(groups_[0].heap, root, 0);
  }
}

void FairCandidates::fill(std::size_t group) {
  Group& g = groups_[group];
  g.filled = true;
  std::size_t place = 0;
  for (const QuotaNodeId child : ledger_.children(g.cohort)) {
    if (ledger_.is_cluster_queue(child)) {
      add_queue(g.heap, child, place++);
    } else {
      add_cohort(g.heap, child, place++);
    }
  }
  std::make_heap(g.heap.begin(), g.heap.end(), [this](const Contender& a, const Contender& b) { return later(a, b); });
}

void FairCandidates::add_cohort(std::vector<Contender>& heap, QuotaNodeId cohort, std::size_t place) {
  Contender contender{cohort, {}, true, place};
  if (keep(contender)) heap.push_back(contender);
}

void FairCandidates::add_queue(std::vector<Contender>& heap, QuotaNodeId queue, std::size_t place) {
  const std::size_t source = source_of(queue);
  if (source == kNone) return;
  Contender contender{queue, {}, false, place, source};
  if (keep(contender)) heap.push_back(contender);
}

// In the second strategy all sources are known and sorted by queue.
std::size_t FairCandidates::source_of(QuotaNodeId queue) {
  if (second_) {
    const auto found = std::ranges::lower_bound(sources_, queue, {}, &Source::queue);
    return found != sources_.end() && found->queue == queue ? static_cast<std::size_t>(found - sources_.begin())
                                                            : kNone;
  }
  const bool own = queue == preemptor_.queue;
  const Holders* holders = holders_of_(queue);
  if (holders == nullptr || holders->empty()) return kNone;
  if (own && preemptor_.config->within_cluster_queue == WithinClusterQueue::kNever) return kNone;
  if (!own && (preemptor_.config->reclaim_within_cohort == ReclaimWithinCohort::kNever || !holders->reclaimable ||
               policy_.within_nominal(queue)))
    return kNone;
  std::shared_ptr<const Holders> sorted;
  if (holders->by_usage) {
    sorted = holders->in_order_of_usage();
    holders = sorted.get();
  }
  sources_.push_back({queue, own, holders, std::move(sorted), holders->ordered().begin()});
  settle(sources_.back());
  return sources_.size() - 1;
}

// Updates the node's share; returns whether the node is still worth visiting.
bool FairCandidates::keep(Contender& contender) {
  contender.share = shares_.of(contender.node);
  if (contender.cohort) return contender.share.borrows() || on_our_path(contender.node);
  const Source& source = sources_[contender.index];
  return source.head && (source.own || contender.share.borrows());
}

// Among equal shares cohorts come before queues, and queues are ordered by their first workload.
bool FairCandidates::later(const Contender& a, const Contender& b) const {
  if (const auto order = a.share <=> b.share; order != std::strong_ordering::equal)
    return order == std::strong_ordering::less;
  if (a.cohort != b.cohort) return b.cohort;
  if (a.cohort) return a.place > b.place;
  return earlier_head(sources_[b.index], sources_[a.index]);
}

bool FairCandidates::earlier_head(const Source& a, const Source& b) const {
  if (a.head->evicted != b.head->evicted) return a.head->evicted;
  if (a.own != b.own) return b.own;
  if (a.holders->queue_priority != b.holders->queue_priority)
    return a.holders->queue_priority < b.holders->queue_priority;
  return earlier_candidate(*a.head, *b.head, slots_);
}

// Descends to the next queue. Returns false when no candidate is left.
bool FairCandidates::descend() {
  const auto comes_later = [this](const Contender& a, const Contender& b) { return later(a, b); };
  path_.assign(1, 0);
  while (true) {
    const std::size_t group = path_.back();
    if (!groups_[group].filled) fill(group);
    if (groups_[group].heap.empty()) {
      path_.pop_back();
      if (path_.empty()) return false;
      drop_top(groups_[path_.back()].heap, comes_later);
      continue;
    }
    const Contender top = groups_[group].heap.front();
    if (!top.cohort) return true;
    if (top.index == kNone) {
      groups_[group].heap.front().index = groups_.size();
      path_.push_back(groups_.size());
      groups_.push_back({top.node});
    } else {
      path_.push_back(top.index);
    }
  }
}

// Every node on the descended path is the top of its heap; no other share has changed.
void FairCandidates::repair() {
  const auto comes_later = [this](const Contender& a, const Contender& b) { return later(a, b); };
  stale_ = false;
  for (auto group = path_.rbegin(); group != path_.rend(); ++group) {
    auto& heap = groups_[*group].heap;
    if (keep(heap.front())) {
      sift_down(heap, comes_later);
    } else {
      drop_top(heap, comes_later);
    }
  }
}

// --- The workloads of one queue.

void FairCandidates::settle(Source& source) const {
  const auto& set = source.holders->ordered();
  while (source.at != set.end() && !policy_.allows(source.own, *source.at)) {
    if (source.holders->by_usage || !policy_.too_important(source.own, *source.at)) {
      ++source.at;
    } else {
      source.at = source.at->evicted ? source.holders->begin_of(false) : set.end();
    }
  }
  source.head.reset();
  if (source.at == set.end() || (source.holders->exempt && !source.at->evicted)) return;
  source.head = *source.at;
}

void FairCandidates::advance(Source& source) const {
  ++source.at;
  settle(source);
}

// The two nodes just below the lowest common ancestor of the preemptor's queue and `queue`.
FairCandidates::Meeting FairCandidates::meet(QuotaNodeId queue) const {
  QuotaNodeId theirs = queue;
  while (!on_our_path(ledger_.parent(theirs))) theirs = ledger_.parent(theirs);
  const auto common = std::find(our_path_.begin(), our_path_.end(), ledger_.parent(theirs));
  return {*(common - 1), theirs};
}

FairShare FairCandidates::share_without(const Source& source, QuotaNodeId node, WorkloadId workload) {
  changes_.clear();
  for (const FlavorResourceAmount& each : ledger_.claim(workload)->usage)
    changes_.push_back({each.id, Amount() - ledger_.fall(source.queue, node, each.id, each.amount)});
  return shares_.with(node, changes_);
}

std::optional<Target> FairCandidates::take(Source& source) {
  if (!source.own && (second_ || !rules_.preempt_within_nominal || !policy_.within_nominal(preemptor_.queue)))
    return take_fairly(source);
  const Target target{source.head->workload,
                      source.own ? PreemptionReason::kInClusterQueue : PreemptionReason::kInCohortReclamation};
  advance(source);
  return target;
}

std::optional<Target> FairCandidates::take_fairly(Source& source) {
  const Meeting meeting = meet(source.queue);
  const FairShare ours = shares_.of(meeting.ours);
  if (rules_.final_share && !second_) return take_by_final_share(source, meeting, ours);
  // By the initial share, all workloads of the queue compare alike.
  std::optional<Target> target;
  if (ours < shares_.of(meeting.theirs)) target = Target{source.head->workload, PreemptionReason::kInCohortFairSharing};
  if (!target) refuse(source, *source.head);
  if (target && !second_) {
    advance(source);
  } else {
    source.head.reset();  // the second strategy takes one workload per queue
  }
  return target;
}

void FairCandidates::refuse(Source& source, const HolderKey& candidate) {
  refused_ = true;
  if (!source.refused) source.refused = candidate;
}

std::optional<Target> FairCandidates::take_by_final_share(Source& source, const Meeting& meeting,
                                                          const FairShare& ours) {
  if (ours > shares_.of(meeting.theirs)) {  // removing a workload makes no share larger: all would be refused
    refuse(source, *source.head);
    source.head.reset();
    return std::nullopt;
  }
  while (source.head) {
    const HolderKey candidate = *source.head;
    advance(source);
    if (ours <= share_without(source, meeting.theirs, candidate.workload))
      return Target{candidate.workload, PreemptionReason::kInCohortFairSharing};
    refuse(source, candidate);
  }
  return std::nullopt;
}

// Tries again the workloads that the first strategy refused.
void FairCandidates::begin_second_strategy() {
  second_ = true;
  std::erase_if(sources_, [](const Source& source) { return !source.refused; });
  for (Source& source : sources_) source.head = source.refused;
  std::ranges::sort(sources_, {}, &Source::queue);
  begin();
}

// Victims of the preemptor's own queue, or of queues near it, have lowered our share: a candidate that was refused
// before may be taken now, by the same rules. Each round takes at least one victim, so there are not more rounds than
// victims.
bool FairCandidates::begin_again() {
  if (!took_ || !refused_) return false;
  took_ = refused_ = second_ = false;
  sources_.clear();
  begin();
  return true;
}

std::optional<Target> FairCandidates::next() {
  if (groups_.empty()) begin();
  if (stale_) repair();
  while (true) {
    if (!descend()) {
      if (!second_ && rules_.final_share && rules_.initial_share) {
        begin_second_strategy();
      } else if (!begin_again()) {
        return std::nullopt;
      }
      continue;
    }
    const Contender& at = groups_[path_.back()].heap.front();
    if (const auto target = take(sources_[at.index])) {
      stale_ = took_ = true;
      return target;
    }
    repair();
  }
}

}  // namespace berth::engine
