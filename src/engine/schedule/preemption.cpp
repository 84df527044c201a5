#include "engine/schedule/preemption.h"

#include <algorithm>

#include "engine/schedule/candidates.h"
#include "engine/schedule/fair_candidates.h"
#include "engine/schedule/trial.h"

namespace berth::engine {
namespace {

bool within_quota(const Ledger& ledger, QuotaNodeId queue, std::span<const FlavorResourceAmount> usage) {
  return std::none_of(usage.begin(), usage.end(), [&](const FlavorResourceAmount& each) {
    return ledger.borrowing_with(queue, each.id, each.amount);
  });
}

bool under_nominal(const Ledger& ledger, QuotaNodeId queue, std::span<const FlavorResourceId> ids) {
  return std::all_of(ids.begin(), ids.end(),
                     [&](FlavorResourceId id) { return ledger.usage(queue, id) < ledger.quota(queue, id).nominal; });
}

// Removes candidates in a trial until the workload fits, then puts back those that are not needed.
class Removal {
 public:
  struct Want {
    QuotaNodeId queue;
    std::span<const FlavorResourceAmount> usage;
    std::span<const FlavorResourceAmount> needs_quota;  // must be within quota unless it may borrow
    std::span<const PlaceRequest> requests;
    bool borrowing = false;
    bool counted = false;  // its usage counts as used while victims are chosen: shares are compared with it
  };
  Removal(Ledger& ledger, Places& places, const Slots& slots, const Want& want, std::uint64_t& steps)
      : ledger_(ledger),
        places_(places),
        slots_(slots),
        steps_(steps),
        want_(want),
        trial_(ledger, places),
        placed_(want.requests.empty()),
        placed_known_(placed_) {
    if (want.counted) trial_.with(want.queue, want.usage);
  }

  template <typename Source>
  bool remove_enough(Source& candidates);
  void put_back();
  std::vector<Target> take_targets() { return std::move(targets_); }

 private:
  void without(std::size_t i) {
    trial_.without(targets_[i].workload);
    changed(i);
  }
  void again(std::size_t i) {
    trial_.again(targets_[i].workload);
    changed(i);
  }
  // Search places again only after a workload with places was removed or put back.
  void changed(std::size_t i) {
    ++steps_;
    if (!want_.requests.empty() && !slots_[targets_[i].workload].places.empty()) placed_known_ = false;
  }
  bool quota_fits() const {
    if (want_.counted) return ledger_.fits_counted(want_.queue, want_.usage);
    return (want_.borrowing || within_quota(ledger_, want_.queue, want_.needs_quota)) &&
           ledger_.fits(want_.queue, want_.usage);
  }
  bool has_places() {
    if (!placed_known_) placed_ = places_.place(want_.requests).ok;
    placed_known_ = true;
    return placed_;
  }
  bool fits_now() { return quota_fits() && has_places(); }
  void shrink(std::size_t too_few);

  Ledger& ledger_;
  Places& places_;
  const Slots& slots_;
  std::uint64_t& steps_;
  Want want_;
  Trial trial_;
  std::vector<Target> targets_;
  bool placed_, placed_known_;
};

// Searching places costs more than removing a candidate, so it is done after 1, 2, 4, ... candidates, and after the
// last.
template <typename Source>
bool Removal::remove_enough(Source& candidates) {
  std::size_t too_few = 0, next_look = 1;
  for (bool more = true; more;) {
    if (const auto target = candidates.next()) {
      targets_.push_back(*target);
      without(targets_.size() - 1);
    } else if (targets_.size() == too_few) {
      return false;
    } else {
      more = false;
    }
    if (quota_fits()) {
      if (more && targets_.size() < next_look) continue;
      next_look = 2 * targets_.size();
      if (has_places()) {
        shrink(too_few);
        return true;
      }
    }
    too_few = targets_.size();
  }
  return false;
}

// Reduces to the smallest sufficient number, by binary search between `too_few` and all.
void Removal::shrink(std::size_t too_few) {
  std::size_t enough = targets_.size(), out = enough;
  const auto take_out = [&](std::size_t count) {
    while (out > count) again(--out);
    while (out < count) without(out++);
  };
  while (enough - too_few > 1) {
    const std::size_t middle = too_few + (enough - too_few) / 2;
    take_out(middle);
    (fits_now() ? enough : too_few) = middle;
  }
  take_out(enough);
  targets_.resize(enough);
}

// Puts back from the latest to the earliest while the workload still fits; not the last one, which made it fit. A
// victim that is put back is replaced by the last of the list, which gives the same order as Kueue.
void Removal::put_back() {
  for (std::size_t i = targets_.size() - 1; i-- > 0;) {
    again(i);
    if (fits_now()) {
      targets_[i] = targets_.back();
      targets_.pop_back();
    } else {
      without(i);
    }
  }
}

}  // namespace

std::string_view to_string(PreemptionReason reason) {
  switch (reason) {
    case PreemptionReason::kInClusterQueue:
      return "InClusterQueue";
    case PreemptionReason::kInCohortReclamation:
      return "InCohortReclamation";
    case PreemptionReason::kInCohortReclaimWhileBorrowing:
      return "InCohortReclaimWhileBorrowing";
    case PreemptionReason::kInCohortFairSharing:
      return "InCohortFairSharing";
  }
  return "";
}

std::string_view human_readable(PreemptionReason reason) {
  switch (reason) {
    case PreemptionReason::kInClusterQueue:
      return "prioritization in the ClusterQueue";
    case PreemptionReason::kInCohortReclamation:
      return "reclamation within the cohort";
    case PreemptionReason::kInCohortReclaimWhileBorrowing:
      return "reclamation within the cohort while borrowing";
    case PreemptionReason::kInCohortFairSharing:
      return "Fair Sharing within the cohort";
  }
  return "";
}

std::vector<FlavorResourceAmount> Preemptor::needs_quota(const Ledger& ledger,
                                                         std::span<const FlavorResourceId> short_ids,
                                                         std::span<const FlavorResourceAmount> usage) const {
  std::vector<FlavorResourceAmount> out(usage.begin(), usage.end());
  if (config->terms.flavor_of_the_rest.empty()) return out;
  std::erase_if(out, [&](const FlavorResourceAmount& each) {
    return ledger.quota(queue, each.id).nominal.is_zero() &&
           std::find(short_ids.begin(), short_ids.end(), each.id) == short_ids.end();
  });
  return out;
}

std::vector<Target> Preemption::targets(const Preemptor& preemptor, std::span<const FlavorResourceId> short_ids,
                                        std::span<const FlavorResourceAmount> usage,
                                        std::span<const PlaceRequest> requests) {
  if (!preemptor.config->preempts() || in_vain(preemptor, usage)) return {};
  const std::uint64_t before = steps_;
  std::vector<Target> found = search(preemptor, short_ids, usage, requests);
  if (looks_ && found.empty()) in_vain_ += steps_ - before;
  return found;
}

std::vector<Target> Preemption::search(const Preemptor& preemptor, std::span<const FlavorResourceId> short_ids,
                                       std::span<const FlavorResourceAmount> usage,
                                       std::span<const PlaceRequest> requests) {
  if (fair_sharing_.enabled) return fair_targets(preemptor, short_ids, usage, requests);
  const std::vector<FlavorResourceAmount> needs_quota = preemptor.needs_quota(ledger_, short_ids, usage);
  Candidates candidates(ledger_, slots_, holders_of_, preemptor, short_ids, needs_quota, steps_);
  bool borrowing_forbidden = preemptor.config->borrow_within_cohort == api::kueue::BorrowWithinCohort::kNever;
  std::vector<bool> attempts{true, false};  // try with borrowing?
  if (!candidates.any_elsewhere() || (borrowing_forbidden && !under_nominal(ledger_, preemptor.queue, short_ids))) {
    attempts = {true};
  } else if (borrowing_forbidden && !candidates.any_hierarchical()) {
    attempts = {false, true};
  }
  for (bool borrowing : attempts) {
    Removal removal(ledger_, places_, slots_, {preemptor.queue, usage, needs_quota, requests, borrowing}, steps_);
    candidates.start(borrowing);
    if (!removal.remove_enough(candidates)) continue;
    removal.put_back();
    return removal.take_targets();
  }
  return {};
}

std::vector<Target> Preemption::fair_targets(const Preemptor& preemptor, std::span<const FlavorResourceId> short_ids,
                                             std::span<const FlavorResourceAmount> usage,
                                             std::span<const PlaceRequest> requests) {
  FairCandidates candidates(ledger_, shares_, slots_, holders_of_, preemptor, short_ids, fair_sharing_, steps_);
  Removal removal(ledger_, places_, slots_, {preemptor.queue, usage, {}, requests, true, true}, steps_);
  if (!removal.remove_enough(candidates)) return {};
  removal.put_back();
  return removal.take_targets();
}

// Asking once what all leave together costs as much as one search among all of them.
bool Preemption::in_vain(const Preemptor& preemptor, std::span<const FlavorResourceAmount> usage) {
  constexpr std::uint64_t kFirstSteps = 64;
  if (!looks_) return false;
  if (most_.empty() && in_vain_ > kFirstSteps + ledger_.claims() / 4) find_most(preemptor);
  return std::ranges::any_of(usage, [&](const FlavorResourceAmount& each) {
    return each.id.index() < most_.size() && each.amount > most_[each.id.index()];
  });
}

// Quota only: places may still be missing.
void Preemption::find_most(const Preemptor& preemptor) {
  Ledger::Trial trial(ledger_);
  const QuotaNodeId root = ledger_.root(preemptor.queue);
  take_out_all(preemptor, root.valid() ? root : preemptor.queue, trial);
  for (std::size_t i = 0; i < ledger_.end_of_ids(preemptor.queue); ++i)
    most_.push_back(ledger_.available(preemptor.queue, FlavorResourceId(i)));
}

void Preemption::take_out_all(const Preemptor& preemptor, QuotaNodeId node, Ledger::Trial& trial) {
  for (const QuotaNodeId child : ledger_.children(node)) take_out_all(preemptor, child, trial);
  const Holders* holders = holders_of_(node);
  const bool own = node == preemptor.queue;
  if (holders == nullptr || !(own || holders->reclaimable)) return;
  if (own ? preemptor.config->within_cluster_queue == api::kueue::WithinClusterQueue::kNever
          : !preemptor.config->reclaims())
    return;
  const CandidatePolicy policy(ledger_, slots_, preemptor, {}, steps_);
  for (const HolderKey& holder : holders->ordered()) {
    if (holders->exempt && !holder.evicted) break;  // evicted ones come first
    if (policy.ever_allows(own, holder)) trial.without(holder.workload);
  }
}

Possibility Preemption::simulate(const Preemptor& preemptor, FlavorResourceId id, Amount amount) {
  if (!looks_) return simulate_anew(preemptor, id, amount);
  const auto [known, is_new] = simulated_.try_emplace({id, amount});
  if (is_new) known->second = simulate_anew(preemptor, id, amount);
  return known->second;
}

Possibility Preemption::simulate_anew(const Preemptor& preemptor, FlavorResourceId id, Amount amount) {
  FlavorResourceAmount usage{id, amount};
  std::vector<Target> victims = targets(preemptor, {&id, 1}, {&usage, 1});
  if (victims.empty()) {
    return {Possibility::Kind::kNoCandidates, ledger_.lowest_subtree_that_fits(preemptor.queue, id, amount).height};
  }
  Ledger::Trial trial(ledger_);
  bool own = false;
  for (const Target& victim : victims) {
    own = own || ledger_.claim(victim.workload)->cluster_queue == preemptor.queue;
    trial.without(victim.workload);
  }
  return {own ? Possibility::Kind::kPreempt : Possibility::Kind::kReclaim,
          ledger_.lowest_subtree_that_fits(preemptor.queue, id, amount).height};
}

}  // namespace berth::engine
