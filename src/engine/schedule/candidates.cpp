#include "engine/schedule/candidates.h"

#include <algorithm>

namespace berth::engine {

using api::kueue::BorrowWithinCohort;
using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;

namespace {
constexpr int kPhases = 6;
}

Candidates::Candidates(const Ledger& ledger, const Slots& slots, const Preemption::HoldersOf& holders_of,
                       const Preemptor& preemptor, std::span<const FlavorResourceId> short_ids,
                       std::span<const FlavorResourceAmount> needs_quota, std::uint64_t& steps)
    : ledger_(ledger),
      slots_(slots),
      holders_of_(holders_of),
      preemptor_(preemptor),
      policy_(ledger, slots, preemptor, short_ids, steps),
      needs_quota_(needs_quota) {
  if (preemptor_.config->within_cluster_queue != WithinClusterQueue::kNever) {
    add_source(preemptor_.queue, QuotaNodeId(), Advantage::kOwnQueue);
  }
  collect_elsewhere();
}

// Walks from the queue to the root. Once a subtree can hold the request within its own quota, candidates further out
// are hierarchical: they may be reclaimed while borrowing even if their priority is not lower.
void Candidates::collect_elsewhere() {
  if (preemptor_.config->reclaim_within_cohort == ReclaimWithinCohort::kNever) return;
  std::vector<FlavorResourceAmount> remaining(needs_quota_.begin(), needs_quota_.end());
  bool advantage = fit_in_quota(preemptor_.queue, remaining);
  QuotaNodeId below;
  for (QuotaNodeId cohort = ledger_.parent(preemptor_.queue); cohort.valid(); cohort = ledger_.parent(cohort)) {
    collect_below(cohort, cohort, below, advantage ? Advantage::kHierarchical : Advantage::kPriority);
    advantage = fit_in_quota(cohort, remaining) || advantage;
    below = cohort;
  }
}

void Candidates::collect_below(QuotaNodeId cohort, QuotaNodeId subtree, QuotaNodeId skip, Advantage advantage) {
  for (QuotaNodeId child : ledger_.children(cohort)) {
    if (child == skip || child == preemptor_.queue) continue;
    if (ledger_.is_cluster_queue(child)) {
      if (exceeds(child, subtree)) add_source(child, subtree, advantage);
    } else if (preemptor_.config->terms.reclaim_levels || !policy_.within_nominal(child)) {
      collect_below(child, subtree, skip, advantage);
    }
  }
}

void Candidates::add_source(QuotaNodeId queue, QuotaNodeId subtree, Advantage advantage) {
  const Holders* holders = holders_of_(queue);
  if (holders == nullptr || holders->empty()) return;
  if (advantage != Advantage::kOwnQueue && !holders->reclaimable) return;
  Source source{queue, subtree, advantage, holders};
  if (holders->by_usage) {
    source.sorted = holders->in_order_of_usage();
    holders = source.holders = source.sorted.get();
  }
  Cursor evicted{&source, holders->begin_of(true)}, other{&source, holders->begin_of(false)};
  if (!settle(evicted, true) && !settle(other, false)) return;
  any_hierarchical_ = any_hierarchical_ || advantage == Advantage::kHierarchical;
  any_priority_ = any_priority_ || advantage == Advantage::kPriority;
  sources_.push_back(source);
}

bool Candidates::fit_in_quota(QuotaNodeId node, std::vector<FlavorResourceAmount>& remaining) const {
  bool fits = true;
  for (FlavorResourceAmount& each : remaining) {
    fits = fits && !ledger_.borrowing_with(node, each.id, each.amount);
    each.amount = max(Amount(), each.amount - ledger_.local_available(node, each.id));
  }
  return fits;
}

PreemptionReason Candidates::reason(const Source& source, const HolderKey& holder, bool& without_borrowing_only) const {
  without_borrowing_only = false;
  if (source.advantage == Advantage::kOwnQueue) return PreemptionReason::kInClusterQueue;
  if (source.advantage == Advantage::kHierarchical) return PreemptionReason::kInCohortReclamation;
  const QueueConfig& config = *preemptor_.config;
  bool may_borrow = config.borrow_within_cohort != BorrowWithinCohort::kNever &&
                    holder.priority < preemptor_.priority &&
                    (!config.borrow_max_priority_threshold || holder.priority <= *config.borrow_max_priority_threshold);
  without_borrowing_only = !may_borrow;
  return may_borrow ? PreemptionReason::kInCohortReclaimWhileBorrowing : PreemptionReason::kInCohortReclamation;
}

// Whether the queue, and its ancestors below the common one, still use more than their quota. Always true for the own
// queue.
bool Candidates::still_exceeds(const Source& source) const {
  return source.advantage == Advantage::kOwnQueue || exceeds(source.queue, source.subtree);
}

// Whether the queue and its ancestors below `subtree` use more than their quota; at most terms.reclaim_levels
// ancestors count.
bool Candidates::exceeds(QuotaNodeId queue, QuotaNodeId subtree) const {
  const auto& levels = preemptor_.config->terms.reclaim_levels;
  std::int32_t level = 0;
  for (QuotaNodeId node = queue; node.valid() && node != subtree && (!levels || level <= *levels);
       node = ledger_.parent(node), ++level) {
    if (policy_.within_nominal(node)) return false;
  }
  return true;
}

// Workloads of queues with lower priority come first; among equal queues the workloads are compared.
bool Candidates::later(const Cursor& a, const Cursor& b) const {
  const std::int32_t x = a.source->holders->queue_priority, y = b.source->holders->queue_priority;
  return x != y ? x > y : earlier_candidate(*b.at, *a.at, slots_);
}

void Candidates::start(bool borrowing) {
  borrowing_ = borrowing;
  phase_ = 0;
  begin_phase();
}

bool Candidates::settle(Cursor& cursor, bool evicted) const {
  const auto& set = cursor.source->holders->ordered();
  if (!evicted && cursor.source->holders->exempt) return false;
  const bool own = cursor.source->advantage == Advantage::kOwnQueue;
  for (; cursor.at != set.end() && cursor.at->evicted == evicted; ++cursor.at) {
    if (!cursor.source->holders->by_usage && policy_.too_important(own, *cursor.at)) return false;
    if (policy_.allows(own, *cursor.at)) return true;
  }
  return false;
}

void Candidates::begin_phase() {
  heap_.clear();
  bool evicted = phase_ < kPhases / 2;
  auto advantage = static_cast<Advantage>(phase_ % (kPhases / 2));
  for (const Source& source : sources_) {
    if (source.advantage != advantage) continue;
    Cursor cursor{&source, source.holders->begin_of(evicted)};
    if (settle(cursor, evicted)) heap_.push_back(cursor);
  }
  std::make_heap(heap_.begin(), heap_.end(), [this](const Cursor& a, const Cursor& b) { return later(a, b); });
}

std::optional<Target> Candidates::next() {
  const auto comes_later = [this](const Cursor& a, const Cursor& b) { return later(a, b); };
  while (phase_ < kPhases) {
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), comes_later);
      Cursor& cursor = heap_.back();
      const Source& source = *cursor.source;
      if (!still_exceeds(source)) {  // and it cannot exceed again in this run: usage only falls
        heap_.pop_back();
        continue;
      }
      const HolderKey holder = *cursor.at;
      ++cursor.at;
      if (settle(cursor, phase_ < kPhases / 2)) {
        std::push_heap(heap_.begin(), heap_.end(), comes_later);
      } else {
        heap_.pop_back();
      }
      bool without_borrowing_only = false;
      Target target{holder.workload, reason(source, holder, without_borrowing_only)};
      if (!(borrowing_ && without_borrowing_only)) return target;
    }
    if (++phase_ < kPhases) begin_phase();
  }
  return std::nullopt;
}

}  // namespace berth::engine
