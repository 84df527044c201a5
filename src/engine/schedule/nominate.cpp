#include "engine/schedule/nominate.h"

#include <algorithm>
#include <numeric>

#include "engine/schedule/combinations.h"
#include "engine/schedule/make_plan.h"
#include "engine/schedule/trial.h"

namespace berth::engine {
namespace {

// With 64 combinations of flavors tried, two pod sets have all that eight flavors offer them.
constexpr int kMostCombinations = 64;

Entry same_request(const Entry& entry) {
  Entry out;
  out.workload = entry.workload;
  out.queue = entry.queue;
  out.plan = entry.plan;
  out.shape = entry.shape;
  out.replaces = entry.replaces;
  return out;
}

void drop_not_nominated(Assignment& assignment) {
  std::erase_if(assignment.shortages, [](const Shortage& each) { return each.kind == Shortage::Kind::kNotNominated; });
}

}  // namespace

void Nominator::nominate(Entry& entry, bool resume) {
  Slot& slot = state_.slots[entry.workload];
  entry.targets.clear();
  entry.preemption_gated = false;
  entry.protected_victims = 0;
  entry.outranks = 0;
  entry.wait_ends.reset();
  entry.assignment.clear();
  entry.plan = nullptr;
  entry.partial_view = false;
  entry.is_slice = slot.replaces.has_value();
  entry.replaces = entry.is_slice && state_.predecessor(entry.workload).valid() ? &slot.replaces->what : nullptr;
  entry.borrowings = state_.borrowings_ever;
  if (slot.barrier) return;
  Queue& queue = *entry.queue;
  entry.shape = &state_.shapes[slot.shape];
  entry.plan = &queue.pending.plan(entry.workload, queue.generation, [&] {
    return make_plan(*entry.shape, queue.config, state_.flavors, state_.places, state_.names,
                     state_.options.ignore_undeclared);
  });
  std::span<const std::int32_t> tried;
  if (resume && slot.scan) {
    const FlavorScan& scan = *slot.scan;
    const Tree& tree = state_.tree(state_.ledger.root(queue.node));
    bool fresh = scan.cycle + 1 >= tree.cycle || scan.releases == tree.releases;
    if (fresh && scan.generation == queue.generation) {
      tried = scan.tried;
      entry.partial_view = true;
    } else {
      slot.scan.reset();
    }
  }
  counts_.clear();
  for (const Shape::PodSet& pod_set : entry.shape->pod_sets) counts_.push_back(pod_set.count);
  // The walks over the flavors have come to their end, although for several pod sets they have not tried everything. A
  // preemptor must find at once what it chose then, or others take it meanwhile.
  const Tree& tree = state_.tree(state_.ledger.root(queue.node));
  const bool last_walk =
      resume &&
      (state_.has_preempted(queue, entry.workload) ||
       (slot.scan_moves > entry.plan->flavors_tried && slot.scan_stamp == std::max(tree.progress, tree.releases)));
  evaluate(entry, tried, last_walk);
  if (!tried.empty() && entry.assignment.mode == Mode::kPreempt) take_what_fits(entry);
  keep_choice(entry);
  if (!entry.promising()) wait_for_victims(entry);
  if (!entry.promising()) count_protected(entry);
}

// A walk that goes on behind some flavors finds victims, though an earlier flavor may fit by now, or one that no walk
// has reached: then nobody needs to go.
void Nominator::take_what_fits(Entry& entry) {
  Entry fresh = same_request(entry);
  evaluate(fresh, {}, true);
  if (fresh.assignment.mode == Mode::kFit) take_over(entry, fresh);
}

void Nominator::nominate_in_all_walks(Entry& entry) {
  nominate(entry, false);
  if (entry.plan == nullptr || entry.promising() || !entry.assignment.scan_pending()) return;
  Entry other = same_request(entry);
  if (walk(other)) take_over(entry, other);
}

// What the slice holds that this one replaces counts as free for it.
void Nominator::evaluate(Entry& entry, std::span<const std::int32_t> tried, bool last_walk) {
  const TakeOver taking(state_.ledger, state_.predecessor(entry));
  const Preemption::Look look(state_.preemption);
  walk_and_reduce(entry, tried, last_walk);
  if (entry.replaces == nullptr) return;
  // Any amount that gets free may be enough for the difference.
  for (Lack& lack : entry.assignment.lacks) {
    if (!lack.was_free) lack.wanted = Amount();
  }
}

void Nominator::walk_and_reduce(Entry& entry, std::span<const std::int32_t> tried, bool last_walk) {
  walk_and_more(entry, counts_, tried, last_walk);
  if (!entry.promising() && state_.options.partial_admission && entry.shape->reducible) reduce(entry, tried, last_walk);
}

void Nominator::renominate(Entry& entry) {
  const TakeOver taking(state_.ledger, state_.predecessor(entry));
  std::vector<std::int32_t> counts = entry.assignment.counts, nominated;
  for (const auto& choice : entry.assignment.choices) nominated.push_back(choice.flavor);
  // The workload waits for what it lacks in the present state, not in the trial.
  std::vector<Lack> lacks = std::move(entry.assignment.lacks);
  assign(entry, counts, {}, nominated);
  entry.assignment.lacks = std::move(lacks);
}

// One walk over the flavors. If no other walk follows, flavors are tried that were passed over for others, in case
// those do not do: their nodes have no place, or no victims suffice for all that is short together.
void Nominator::walk_and_more(Entry& entry, std::span<const std::int32_t> counts, std::span<const std::int32_t> tried,
                              bool last_walk) {
  assign(entry, counts, tried, {});
  if (entry.promising()) return;
  if (last_walk || !entry.assignment.scan_pending()) try_other_flavors(entry, counts);
  if (!entry.promising()) Placer::note_others(entry);
}

// The first combination that fits, else the first one that preempts. If there is none, the verdict stands. Last come
// combinations with flavors for which nobody can be preempted, but perhaps for all together.
void Nominator::try_other_flavors(Entry& entry, std::span<const std::int32_t> counts) {
  try_combinations(entry, counts, false);
  const auto any_together = [](const Assignment::Choice& each) { return each.together != 0; };
  if (!entry.promising() && std::ranges::any_of(entry.assignment.choices, any_together))
    try_combinations(entry, counts, true);
}

void Nominator::try_combinations(Entry& entry, std::span<const std::int32_t> counts, bool together) {
  Combinations others(*entry.plan, entry.assignment.choices, together);
  Entry attempt = same_request(entry), best;
  for (int i = 0; i < kMostCombinations && others.next(); ++i) {
    if (together && others.each_alone) continue;  // tried before
    assign(attempt, counts, {}, others.flavors);
    if (!attempt.promising()) {
      const auto& lacks = attempt.assignment.lacks;
      entry.assignment.lacks.insert(entry.assignment.lacks.end(), lacks.begin(), lacks.end());
      continue;
    }
    drop_not_nominated(attempt.assignment);
    const bool fits = attempt.assignment.mode != Mode::kPreempt;
    if (fits || !best.workload.valid()) best = attempt;
    if (fits) break;
  }
  if (best.workload.valid()) take_over(entry, best);
}

void Nominator::take_over(Entry& entry, Entry& from) {
  entry.assignment = std::move(from.assignment);
  entry.targets = std::move(from.targets);
  entry.wait_ends = from.wait_ends;
  entry.preemption_gated = false;
}

void Nominator::assign(Entry& entry, std::span<const std::int32_t> counts, std::span<const std::int32_t> tried,
                       std::span<const std::int32_t> nominated) {
  Assigner::Request request;
  request.preemptor = preemptor_of(entry);
  request.plan = entry.plan;
  request.shape = entry.shape;
  request.counts = counts;
  request.tried = tried;
  request.nominated = nominated;
  if (entry.replaces != nullptr) request.kept = kept_ = kept_flavors(entry);
  state_.assigner.assign(request, entry.assignment);
  // No combination of flavors needs places when its quota cannot get free, unless it waits for all that are evicted.
  const bool needs_places = nominated.empty() || state_.options.prioritize_preemptors ||
                            !state_.preemption.in_vain(request.preemptor, entry.assignment.usage);
  if (needs_places) placer_.place(entry);
  entry.targets.clear();
  entry.preemption_gated = false;
  entry.wait_ends.reset();
  if (entry.assignment.mode == Mode::kPreempt) find_targets(entry);
}

void Nominator::find_targets(Entry& entry) {
  const Slot& slot = state_.slots[entry.workload];
  short_ids_.clear();
  for (const auto& part : entry.assignment.parts) {
    if (part.mode == Mode::kPreempt) short_ids_.push_back(part.id);
  }
  const Preemptor preemptor = preemptor_of(entry);
  entry.targets = state_.preemption.targets(preemptor, short_ids_, entry.assignment.usage, placer_.requests());
  if (entry.targets.empty()) {
    if (!waits_for_the_evicted(entry)) return note_debts(entry, preemptor);
    entry.assignment.mode = Mode::kDeferredFit;
    return;
  }
  if (comes_free(entry) || needs_no_more_victims(entry)) {
    entry.targets.clear();
    entry.assignment.mode = Mode::kDeferredFit;
  } else if (slot.preemption_gated && spares_) {
    entry.targets.clear();
    entry.preemption_gated = true;
  }
}

Preemptor Nominator::preemptor_of(const Entry& entry) const {
  Preemptor out = state_.preemptor(entry.workload);
  if (!spares_) out.spares.clear();
  return out;
}

// Whether it would find targets if it spared nobody, with any flavors and also reduced: its message says so, and after
// a restart it spares the same ones.
void Nominator::count_protected(Entry& entry) {
  if (state_.preemptor(entry.workload).spares.empty()) return;
  Entry other = same_request(entry);
  spares_ = false;
  if (walk(other)) entry.protected_victims = other.targets.size();
  spares_ = true;
}

// Evaluates the entry as several cycles would: each goes on where the walk over flavors stopped, and the last one
// begins at the first flavor and tries all others. Returns whether one of them finds something.
bool Nominator::walk(Entry& entry) {
  std::vector<std::int32_t> tried;
  for (std::size_t i = 0; i < entry.plan->flavors_tried; ++i) {
    evaluate(entry, tried, false);
    if (entry.promising()) return true;
    if (!entry.assignment.scan_pending()) break;
    tried.clear();
    for (const auto& choice : entry.assignment.choices) tried.push_back(choice.tried);
  }
  if (tried.empty()) return false;
  evaluate(entry, {}, true);
  return entry.promising();
}

// Once its victims are being evicted or gone, other flavors may look better than those for which they went: these
// borrow now, or are the first that fit. But then the victims went for nothing. So a preemptor stays with its flavors
// while they fit without its victims, unless it gets more pods otherwise.
void Nominator::keep_choice(Entry& entry) {
  const Rare<PreemptorsChoice>& chosen = state_.slots[entry.workload].chosen;
  if (!chosen || chosen->generation != entry.queue->generation) return;
  const auto victims = state_.precedence.victims(state_.ledger.root(entry.queue->node), entry.workload);
  if (victims.empty()) return;
  if (entry.promising()) {
    const auto pods = [](const auto& counts) { return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}); };
    const bool more = entry.assignment.mode == Mode::kFit && pods(entry.assignment.counts) > pods(chosen->counts);
    if (more || std::ranges::equal(entry.assignment.choices, chosen->flavors, {}, &Assignment::Choice::flavor)) return;
  }
  Entry same = same_request(entry);
  const TakeOver taking(state_.ledger, state_.predecessor(entry));
  assign(same, chosen->counts, {}, chosen->flavors);
  const auto is_new = [&](const Target& target) { return !state_.slots[target.workload].evicted; };
  if (!same.promising() || std::ranges::any_of(same.targets, is_new)) {
    Trial trial(state_.ledger, state_.places);
    if (!take_out_evicted(trial, victims)) return;
    assign(same, chosen->counts, {}, chosen->flavors);
    if (same.assignment.mode != Mode::kFit) return;
    same.assignment.mode = Mode::kDeferredFit;
  }
  drop_not_nominated(same.assignment);
  take_over(entry, same);
  entry.partial_view = false;
}

bool Nominator::take_out_evicted(Trial& trial, std::span<const WorkloadId> victims) const {
  bool any = false;
  for (const WorkloadId victim : victims) {
    const Slot& slot = state_.slots[victim];
    if (slot.place != Slot::Place::kHolder || !slot.evicted) continue;
    trial.without(victim);
    any = true;
  }
  return any;
}

// Quota that others took since may make its request one that could not preempt any more. It still fits when its victims
// are gone.
void Nominator::wait_for_victims(Entry& entry) {
  const auto victims = state_.precedence.victims(state_.ledger.root(entry.queue->node), entry.workload);
  if (victims.empty()) return;
  Trial trial(state_.ledger, state_.places);
  if (!take_out_evicted(trial, victims)) return;
  Entry later = same_request(entry);
  evaluate(later, {}, true);
  if (later.assignment.mode != Mode::kFit) return;
  take_over(entry, later);
  entry.assignment.mode = Mode::kDeferredFit;
}

// A preemptor with precedence waits for all evicted workloads of its tree, even those that it could not choose now:
// through the quota that others have given back, it or they may be within quota again.
bool Nominator::waits_for_the_evicted(Entry& entry) {
  return state_.options.prioritize_preemptors && entry.queue->pending.preempted_for(entry.workload) &&
         fits_without_the_evicted(entry);
}

// Others may look like better victims once the first ones are evicted: by shares, or because what others took since
// makes the preemptor borrow. If those that are being evicted are enough, nobody else goes.
bool Nominator::needs_no_more_victims(Entry& entry) {
  const auto is_new = [&](const Target& target) { return !state_.slots[target.workload].evicted; };
  return std::ranges::any_of(entry.targets, is_new) && fits_without_the_evicted(entry);
}

bool Nominator::fits_without_the_evicted(Entry& entry) {
  Trial trial(state_.ledger, state_.places);
  const QuotaNodeId root = state_.ledger.root(entry.queue->node);
  bool any = false;
  for (const auto& queue : state_.queues) {
    if (queue == nullptr || state_.ledger.root(queue->node) != root) continue;
    for (const HolderKey& holder : queue->holders.ordered()) {
      if (!holder.evicted) break;  // evicted ones come first
      trial.without(holder.workload);
      any = true;
    }
  }
  return any && state_.ledger.fits(entry.queue->node, entry.assignment.usage) &&
         (placer_.requests().empty() || placer_.place_again(entry));
}

// A queue that would borrow may reclaim less, or nothing: so it also waits for the resources that it would borrow. And
// for those that are free: once they are short, those who borrow them may be victims.
void Nominator::note_debts(Entry& entry, const Preemptor& who) const {
  if (!who.config->reclaims()) return;
  const auto needs = who.needs_quota(state_.ledger, short_ids_, entry.assignment.usage);
  const bool borrows = std::any_of(needs.begin(), needs.end(), [&](const FlavorResourceAmount& each) {
    return state_.ledger.borrowing_with(who.queue, each.id, each.amount);
  });
  const auto among = [](FlavorResourceId id, const auto& all) {
    return std::ranges::find(all, id, &FlavorResourceAmount::id) != all.end();
  };
  for (const FlavorResourceAmount& each : entry.assignment.usage) {
    // Where only places are short, the quota is no lack yet.
    if (!entry.assignment.only_place_short &&
        std::find(short_ids_.begin(), short_ids_.end(), each.id) != short_ids_.end())
      continue;
    // Also when no quota is needed for it: a queue that gets above what it deserves of it may have victims.
    entry.assignment.lacks.push_back({.id = each.id, .wanted = each.amount, .was_free = true});
    if (borrows && among(each.id, needs)) entry.assignment.lacks.push_back({.id = each.id, .wanted = each.amount});
  }
}

// Pods of earlier victims may stay on their nodes for some time after their quota is free. If they leave enough
// capacity, wait for them (for a limited time) instead of preempting other workloads.
bool Nominator::comes_free(Entry& entry) {
  if (placer_.requests().empty() || !state_.ledger.fits(entry.queue->node, entry.assignment.usage)) return false;
  Places::Trial trial(state_.places);
  const bool only_looks = state_.only_looks || !spares_;
  const auto until = trial.without_leaving_pods(state_.now, only_looks);
  if (!placer_.place_again(entry)) return false;
  entry.wait_ends = until;
  if (until && !only_looks) state_.waits_for_leaving_pods.emplace(*until, entry.queue->node);
  return true;
}

// Partial admission (KEP-420): the smallest reduction that can be admitted, by binary search over proportional
// reductions of all reducible pod sets. If none can be admitted, the verdict for the full request stands.
void Nominator::reduce(Entry& entry, std::span<const std::int32_t> tried, bool last_walk) {
  const auto& pod_sets = entry.shape->pod_sets;
  std::int64_t total = 0;
  for (const auto& pod_set : pod_sets) total += pod_set.count - pod_set.min_count;
  std::int64_t low = 0, high = total + 1;  // the answer is in [low, high]; total + 1: none
  Entry attempt = same_request(entry), best;
  last_walk =
      last_walk || !entry.assignment.scan_pending();  // the full request decides how often flavors are walked over
  while (low < high) {
    std::int64_t middle = low + (high - low) / 2;
    std::vector<std::int32_t> counts;
    for (const auto& pod_set : pod_sets) {
      std::int64_t delta = pod_set.count - pod_set.min_count;
      counts.push_back(static_cast<std::int32_t>(pod_set.count - delta * middle / total));
    }
    walk_and_more(attempt, counts, tried, last_walk);
    if (attempt.promising()) {
      best = attempt;
      high = middle;
    } else {
      low = middle + 1;
      // A reduced request may be short of other resources than the full one; the workload waits for those as well.
      const auto& lacks = attempt.assignment.lacks;
      entry.assignment.lacks.insert(entry.assignment.lacks.end(), lacks.begin(), lacks.end());
    }
  }
  if (best.workload.valid()) take_over(entry, best);
}

}  // namespace berth::engine
