#include "engine/schedule/preemption.h"

#include <algorithm>

#include "engine/schedule/candidates.h"
#include "engine/schedule/trial.h"

namespace berth::engine {
namespace {

bool fits(const Ledger& ledger, NodeId queue, std::span<const FlavorResourceAmount> usage, bool borrowing) {
  return std::all_of(usage.begin(), usage.end(), [&](const FlavorResourceAmount& each) {
    return (borrowing || !ledger.borrowing_with(queue, each.id, each.amount)) &&
           each.amount <= ledger.available(queue, each.id);
  });
}

bool under_nominal(const Ledger& ledger, NodeId queue, std::span<const FlavorResourceId> ids) {
  return std::all_of(ids.begin(), ids.end(), [&](FlavorResourceId id) {
    return ledger.usage(queue, id) < ledger.quota(queue, id).nominal;
  });
}

// Whether the pods have places in a trial, asked again only after something changed that may matter.
class Room {
 public:
  Room(Places& places, const Slots& slots, std::span<const PlaceAsk> asks)
      : places_(places), slots_(slots), asks_(asks), known_(asks.empty()), ok_(known_) {}
  void changed(WorkloadId workload) { known_ = known_ && (asks_.empty() || slots_[workload].places.empty()); }
  bool ok() {
    if (!known_) ok_ = places_.place(asks_).ok;
    known_ = true;
    return ok_;
  }

 private:
  Places& places_;
  const Slots& slots_;
  std::span<const PlaceAsk> asks_;
  bool known_, ok_;
};

// Puts victims back, the latest first, while the workload still fits; the last one is never tried. A victim
// that is not needed is replaced by the last of the list, which is how Kueue orders what remains.
void fill_back(Trial& trial, Room& room, std::vector<Target>& targets, const auto& still_fits) {
  for (std::size_t i = targets.size() - 1; i-- > 0;) {
    trial.again(targets[i].workload);
    room.changed(targets[i].workload);
    if (still_fits()) {
      targets[i] = targets.back();
      targets.pop_back();
    } else {
      trial.without(targets[i].workload);
      room.changed(targets[i].workload);
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
      return "fair sharing within the cohort";
  }
  return "";
}

std::vector<Target> Preemption::targets(const Preemptor& preemptor,
                                        std::span<const FlavorResourceId> short_ids,
                                        std::span<const FlavorResourceAmount> usage,
                                        std::span<const PlaceAsk> asks) {
  if (!preemptor.config->preempts()) return {};
  Candidates candidates(ledger_, slots_, holders_of_, preemptor, short_ids, usage);
  bool borrowing_forbidden = preemptor.config->borrow_within_cohort == api::kueue::BorrowWithinCohort::kNever;
  std::vector<bool> attempts{true, false};  // with borrowing?
  if (!candidates.any_elsewhere() ||
      (borrowing_forbidden && !under_nominal(ledger_, preemptor.queue, short_ids))) {
    attempts = {true};
  } else if (borrowing_forbidden && !candidates.any_hierarchical()) {
    attempts = {false, true};
  }
  for (bool borrowing : attempts) {
    Trial trial(ledger_, places_);
    Room room(places_, slots_, asks);
    std::vector<Target> targets;
    candidates.start(borrowing);
    while (auto target = candidates.next()) {
      trial.without(target->workload);
      room.changed(target->workload);
      targets.push_back(*target);
      auto still_fits = [&] { return fits(ledger_, preemptor.queue, usage, borrowing) && room.ok(); };
      if (!still_fits()) continue;
      fill_back(trial, room, targets, still_fits);
      return targets;
    }
  }
  return {};
}

Possibility Preemption::simulate(const Preemptor& preemptor, FlavorResourceId id, Amount amount) {
  FlavorResourceAmount usage{id, amount};
  std::vector<Target> victims = targets(preemptor, {&id, 1}, {&usage, 1});
  if (victims.empty()) {
    return {Possibility::Kind::kNoCandidates,
            ledger_.lowest_subtree_that_fits(preemptor.queue, id, amount).height};
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
