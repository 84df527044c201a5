// Victims under fair sharing, by a plain implementation of the rules.
#pragma once

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "engine/schedule/house.h"

namespace berth::engine::naive_fair {

using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;
using Rational = boost::multiprecision::cpp_rational;

// The rules implemented again: complete lists, every share from quotas and usage at every step, rational numbers.
class Naive {
 public:
  Naive(House& house, const Preemptor& preemptor, std::vector<FlavorResourceId> ids, Usage usage)
      : house_(house), ledger_(house.ledger), who_(preemptor), ids_(std::move(ids)), usage_(std::move(usage)) {}

  std::vector<Target> targets() {
    Ledger::Trial trial(ledger_);
    trial_ = &trial;
    trial.with(who_.queue, usage_);
    bool enough = false;
    for (bool goes_on = true; goes_on && !enough;) {
      const std::size_t taken = targets_.size();
      refused_.clear();
      start(find_candidates());
      enough = first();
      if (!enough && house_.fair_sharing.final_share && house_.fair_sharing.initial_share) {
        start(refused_);
        enough = again();
      }
      goes_on = targets_.size() > taken && !refused_.empty();
    }
    if (enough) put_back();
    return enough ? targets_ : std::vector<Target>();
  }

 private:
  struct Share {
    bool infinite = false;
    Rational value;
    auto key() const { return std::pair(infinite, value); }
  };
  Share share(QuotaNodeId node) const {
    const QuotaNodeId parent = ledger_.parent(node);
    if (!parent.valid()) return {};
    Rational most = 0;
    for (const FlavorResourceId id : {kCpu, kMemory}) {
      const auto over = ledger_.usage(node, id).count() - ledger_.subtree_quota(node, id).count();
      const auto lendable = ledger_.potential_available(parent, id).count();
      if (over > 0 && lendable > 0) most = std::max(most, Rational(over, lendable));
    }
    const FairWeight w = ledger_.weight(node);
    if (w.numerator == 0) return {borrows(node), most};
    return {false, most * w.denominator / w.numerator};
  }
  bool borrows(QuotaNodeId node) const {
    return ledger_.parent(node).valid() &&
           (ledger_.borrowing_with(node, kCpu, {}) || ledger_.borrowing_with(node, kMemory, {}));
  }
  bool within_nominal(QuotaNodeId node) const {
    return std::ranges::none_of(ids_, [&](FlavorResourceId id) { return ledger_.borrowing_with(node, id, {}); });
  }
  std::vector<QuotaNodeId> ancestors(QuotaNodeId node) const {
    std::vector<QuotaNodeId> out;
    for (; node.valid(); node = ledger_.parent(node)) out.push_back(node);
    return out;
  }
  std::tuple<bool, bool, int, Time::duration, std::string> rank(WorkloadId w) const {
    const Slot& s = house_.slots[w];
    return {!s.evicted, s.queue == who_.queue, s.priority, -s.reserved_at.time_since_epoch(), s.who->uid};
  }
  std::vector<WorkloadId> find_candidates() const {
    std::vector<WorkloadId> out;
    for (const WorkloadId w : house_.workloads) {
      const Slot& s = house_.slots[w];
      const bool uses = std::ranges::any_of(ledger_.claim(w)->usage,
                                            [&](const auto& each) { return std::ranges::count(ids_, each.id) > 0; });
      const bool lower = s.priority < who_.priority;
      bool allowed = false;
      if (s.queue == who_.queue) {
        const auto policy = who_.config->within_cluster_queue;
        const bool newer = s.priority == who_.priority && who_.queued_at < s.queued_at;
        allowed = (policy != WithinClusterQueue::kNever && lower) ||
                  (policy == WithinClusterQueue::kLowerOrNewerEqualPriority && newer);
      } else if (ledger_.root(s.queue) == ledger_.root(who_.queue)) {
        const auto policy = who_.config->reclaim_within_cohort;
        allowed = (policy == ReclaimWithinCohort::kAny || (policy == ReclaimWithinCohort::kLowerPriority && lower)) &&
                  !within_nominal(s.queue);
      }
      if (uses && allowed && std::ranges::find(targets_, w, &Target::workload) == targets_.end()) out.push_back(w);
    }
    std::ranges::sort(out, {}, [this](WorkloadId w) { return rank(w); });
    return out;
  }

  void start(const std::vector<WorkloadId>& candidates) {
    of_queue_.clear();
    pruned_.clear();
    for (const WorkloadId w : candidates) of_queue_[house_.slots[w].queue].push_back(w);
  }
  // The queue to take from; none: all were skipped.
  QuotaNodeId next_queue() {
    const QuotaNodeId root = ledger_.root(who_.queue);
    if (root == who_.queue) return of_queue_[root].empty() ? QuotaNodeId() : root;
    while (!pruned_.contains(root)) {
      if (const QuotaNodeId found = next_below(root); found.valid()) return found;
    }
    return {};
  }
  QuotaNodeId next_below(QuotaNodeId cohort) {
    QuotaNodeId best_queue, best_cohort;
    for (const QuotaNodeId child : ledger_.children(cohort)) {
      if (pruned_.contains(child)) continue;
      if (!ledger_.is_cluster_queue(child)) {
        const auto path = ancestors(who_.queue);
        if (!borrows(child) && std::ranges::find(path, child) == path.end()) {
          pruned_.insert(child);
        } else if (!best_cohort.valid() || share(child).key() > share(best_cohort).key()) {
          best_cohort = child;
        }
      } else if (of_queue_[child].empty() || (child != who_.queue && !borrows(child))) {
        pruned_.insert(child);
      } else if (!best_queue.valid() || share(child).key() > share(best_queue).key() ||
                 (share(child).key() == share(best_queue).key() &&
                  rank(of_queue_[child][0]) < rank(of_queue_[best_queue][0]))) {
        best_queue = child;
      }
    }
    if (best_cohort.valid() && (!best_queue.valid() || share(best_cohort).key() >= share(best_queue).key()))
      return next_below(best_cohort);
    if (!best_queue.valid()) pruned_.insert(cohort);
    return best_queue;
  }
  std::pair<QuotaNodeId, QuotaNodeId> just_below_meeting(QuotaNodeId queue) const {
    auto ours = ancestors(who_.queue), theirs = ancestors(queue);
    while (ours.back() == theirs.back()) {
      ours.pop_back();
      theirs.pop_back();
    }
    return {ours.back(), theirs.back()};
  }

  bool fits() {
    return std::ranges::none_of(usage_, [this](const FlavorResourceAmount& each) { return used_up(each.id); });
  }
  // What the queue can still get with its own request counted: negative means that it does not fit.
  bool used_up(FlavorResourceId id) const {
    std::int64_t free = 0;
    const auto path = ancestors(who_.queue);
    for (auto node = path.rbegin(); node != path.rend(); ++node) {
      const auto quota = ledger_.subtree_quota(*node, id).count(), used = ledger_.usage(*node, id).count();
      const auto local = ledger_.local_quota(*node, id).count();
      if (node == path.rbegin()) {
        free = quota - used;
      } else {
        const Amount limit = ledger_.quota(*node, id).borrowing_limit;
        const auto most = limit.is_unlimited()
                              ? free
                              : std::min(free, quota - local - std::max<std::int64_t>(0, used - local) + limit.count());
        free = std::max<std::int64_t>(0, local - used) + most;
      }
    }
    return free < 0;
  }
  bool take(QuotaNodeId queue, PreemptionReason reason) {
    const WorkloadId w = of_queue_[queue].front();
    of_queue_[queue].erase(of_queue_[queue].begin());
    trial_->without(w);
    targets_.push_back({w, reason});
    return fits();
  }
  bool first() {
    for (QuotaNodeId queue = next_queue(); queue.valid(); queue = next_queue()) {
      if (queue == who_.queue) {
        if (take(queue, PreemptionReason::kInClusterQueue)) return true;
        continue;
      }
      if (house_.fair_sharing.preempt_within_nominal && within_nominal(who_.queue)) {
        if (take(queue, PreemptionReason::kInCohortReclamation)) return true;
        continue;
      }
      const auto [ours, theirs] = just_below_meeting(queue);
      const auto own = share(ours).key(), before = share(theirs).key();
      while (!of_queue_[queue].empty()) {
        auto after = before;
        {
          Ledger::Trial trial(ledger_);
          trial.without(of_queue_[queue].front());
          after = share(theirs).key();
        }
        if (house_.fair_sharing.final_share ? own <= after : own < before) {
          if (take(queue, PreemptionReason::kInCohortFairSharing)) return true;
          break;
        }
        refused_.push_back(of_queue_[queue].front());
        of_queue_[queue].erase(of_queue_[queue].begin());
      }
    }
    return false;
  }
  bool again() {
    for (QuotaNodeId queue = next_queue(); queue.valid(); queue = next_queue()) {
      const auto [ours, theirs] = just_below_meeting(queue);
      if (share(ours).key() < share(theirs).key() && take(queue, PreemptionReason::kInCohortFairSharing)) return true;
      of_queue_[queue].clear();
    }
    return false;
  }
  void put_back() {
    for (int i = static_cast<int>(targets_.size()) - 2; i >= 0; --i) {
      auto& target = targets_[static_cast<std::size_t>(i)];
      trial_->again(target.workload);
      if (fits()) {
        target = targets_.back();
        targets_.pop_back();
      } else {
        trial_->without(target.workload);
      }
    }
  }

  House& house_;
  Ledger& ledger_;
  Preemptor who_;
  std::vector<FlavorResourceId> ids_;
  Usage usage_;
  Ledger::Trial* trial_ = nullptr;
  std::map<QuotaNodeId, std::vector<WorkloadId>> of_queue_;
  std::set<QuotaNodeId> pruned_;
  std::vector<WorkloadId> refused_;
  std::vector<Target> targets_;
};

}  // namespace berth::engine::naive_fair
