#include "engine/schedule/assignment.h"

#include <algorithm>

#include "engine/schedule/make_plan.h"

namespace berth::engine {

using api::kueue::FungibilityPolicy;
using api::kueue::FungibilityPreference;

namespace {

// How severe a reason is. Of alternative flavors the mildest counts; of things needed together the worst. That only
// places are missing is the mildest reason; it is known only after the flavors are chosen (Placer).
enum Severity : int { kNone, kWaiting, kExceeding, kNoMatch };

std::string_view reason_of(int severity) {
  switch (severity) {
    case kNoMatch:
      return kNoMatchingFlavor;
    case kExceeding:
      return kExceedsMaxQuota;
    default:
      return kWaitingForQuota;
  }
}

std::uint64_t bit(std::int32_t flavor) { return flavor < 64 ? std::uint64_t{1} << flavor : 0; }

// The flavors from `begin` to `end` on which the pods may run.
std::uint64_t suitable(const Plan::Step& step, std::int32_t begin, std::int32_t end) {
  std::uint64_t out = 0;
  for (std::int32_t index = begin; index < end; ++index) {
    if (step.mismatch[static_cast<std::size_t>(index)].empty()) out |= bit(index);
  }
  return out;
}

void add_usage(Usage& usage, FlavorResourceId id, Amount amount) {
  for (FlavorResourceAmount& each : usage) {
    if (each.id != id) continue;
    each.amount += amount;
    return;
  }
  usage.push_back({id, amount});
}

}  // namespace

bool Assignment::scan_pending() const {
  return std::any_of(choices.begin(), choices.end(), [](const Choice& c) { return c.tried >= 0; });
}

void Assignment::clear() {
  mode = Mode::kNoFit;
  borrowing = 0;
  counts.clear();
  choices.clear();
  parts.clear();
  usage.clear();
  shortages.clear();
  lacks.clear();
  attempts.clear();
  attempt_shortages.clear();
  no_fit_reason = {};
  places.clear();
  no_place.reset();
  only_place_short = false;
}

void Assigner::assign(const Request& request, Assignment& out) {
  request_ = &request;
  out_ = &out;
  out.clear();
  out.counts.assign(request.counts.begin(), request.counts.end());
  out.choices.resize(request.plan->steps);
  std::size_t first_step = 0;
  for (std::size_t unit = 0; unit < request.plan->units.size(); ++unit) {
    if (!assign_unit(unit, first_step)) {
      out.no_fit_reason = reason_of(unit_severity_);
      leave_open(step_index_ + 1);
      return;
    }
    first_step += request.plan->units[unit].steps.size();
  }
  out.mode = Mode::kFit;
  for (const auto& part : out.parts) out.mode = std::min(out.mode, part.mode);
}

// These steps and all later ones were not looked at.
void Assigner::leave_open(std::size_t first_step) {
  std::size_t index = 0;
  for (const Plan::Unit& unit : request_->plan->units) {
    for (const Plan::Step& step : unit.steps) {
      if (index++ >= first_step) out_->choices[index - 1].possible = suitable(step, 0, std::ssize(step.mismatch));
    }
  }
}

// Earlier units take some of this flavor, and without that the request would be within what the queue may ever have.
bool Assigner::depends_on_others(std::size_t flavor, const Plan::Step& step) const {
  bool assumes = false;
  for (std::size_t i = 0; i < step.wants.size(); ++i) {
    const FlavorResourceId id = step.ids[flavor][i];
    assumes = assumes || !assumed(id).is_zero();
    if (wanted(step.wants[i]) > ledger_.potential_available(request_->preemptor.queue, id)) return false;
  }
  return assumes;
}

bool Assigner::assign_unit(std::size_t unit, std::size_t first_step) {
  unit_ = &request_->plan->units[unit];
  unit_index_ = unit;
  unit_severity_ = kNone;
  std::int64_t pods = 0;
  for (std::size_t pod_set : unit_->pod_sets) pods += request_->counts[pod_set];
  std::size_t first_part = out_->parts.size();
  for (std::size_t step = 0; step < unit_->steps.size(); ++step) {
    // A unit without pods prefers flavors that could hold one pod of each set, but accepts others.
    std::size_t shortages = out_->shortages.size(), attempts = out_->attempts.size();
    int severity = unit_severity_;
    if (pods == 0 && assign_step(step, first_step + step, true)) continue;
    out_->shortages.resize(shortages);
    out_->attempts.resize(attempts);
    unit_severity_ = severity;
    if (!assign_step(step, first_step + step, false)) return false;
  }
  // Later units take the usage of this one into account.
  for (std::size_t i = first_part; i < out_->parts.size(); ++i) {
    add_usage(out_->usage, out_->parts[i].id, out_->parts[i].amount);
  }
  return true;
}

Amount Assigner::wanted(const Plan::Want& want) const {
  Amount sum;
  for (std::size_t i = 0; i < want.per_pod.size(); ++i) {
    sum += want.per_pod[i] * request_->counts[unit_->pod_sets[i]];
  }
  return sum;
}

Amount Assigner::assumed(FlavorResourceId id) const {
  for (const FlavorResourceAmount& each : out_->usage) {
    if (each.id == id) return each.amount;
  }
  return {};
}

void Assigner::report(Shortage shortage) {
  shortage.unit = unit_index_;
  out_->shortages.push_back(shortage);
}

void Assigner::remember(FlavorId flavor, const Grade& grade, std::size_t first_shortage) {
  constexpr std::string_view kNames[] = {"NoFit", "NoCandidates", "Preempt", "Reclaim", "Fit"};
  auto& kept = out_->attempt_shortages;
  std::size_t first = kept.size();
  kept.insert(kept.end(), out_->shortages.begin() + static_cast<std::ptrdiff_t>(first_shortage), out_->shortages.end());
  out_->attempts.push_back({unit_index_, flavor, kNames[grade.level], grade.borrow, first, kept.size()});
}

// Whether this flavor must not be tried: the reason is reported, and `mildest` follows.
bool Assigner::passed_over(const ResourceGroup& group, std::size_t flavor, const Plan::Step& step, int& mildest) {
  const auto index = static_cast<std::int32_t>(flavor);
  if (!request_->nominated.empty() && request_->nominated[step_index_] != index) {
    report({.kind = Shortage::Kind::kNotNominated, .flavor = group.flavors[flavor]});
    return true;
  }
  if (!request_->kept.empty() && request_->kept[step_index_].name != nullptr &&
      request_->kept[step_index_].flavor != index) {
    report({.kind = Shortage::Kind::kKept, .flavor = group.flavors[flavor], .text = request_->kept[step_index_].name});
    mildest = std::min<int>(mildest, kNoMatch);
    return true;
  }
  if (!step.mismatch[flavor].empty()) {
    report({.kind = Shortage::Kind::kMismatch, .text = &step.mismatch[flavor]});
    mildest = std::min<int>(mildest, kNoMatch);
    return true;
  }
  return false;
}

// Keeps only the shortages of this step, which begin at `first_shortage`, for the unit.
bool Assigner::fail_unit(std::size_t first_shortage) {
  auto& all = out_->shortages;
  auto end = all.begin() + static_cast<std::ptrdiff_t>(first_shortage);
  all.erase(std::remove_if(all.begin(), end, [&](const Shortage& s) { return s.unit == unit_index_; }), end);
  return false;
}

bool Assigner::assign_step(std::size_t step_in_unit, std::size_t step_index, bool probe) {
  const Plan::Step& step = unit_->steps[step_in_unit];
  step_index_ = step_index;
  std::size_t first_shortage = out_->shortages.size();
  if (step.group < 0) {
    if (wanted(step.wants.front()).is_zero()) return true;
    report({.kind = Shortage::Kind::kUncovered, .resource = step.wants.front().resource});
    unit_severity_ = kNoMatch;
    return fail_unit(first_shortage);
  }
  const ResourceGroup& group = request_->preemptor.config->groups[static_cast<std::size_t>(step.group)];
  Best best;
  std::int32_t last = static_cast<std::int32_t>(group.flavors.size()) - 1, attempted = -1;
  std::int32_t first = request_->tried.empty() ? 0 : request_->tried[step_index] + 1;
  // the skipped flavors before `first` could have been used, or the walk would not have stopped there
  int mildest = first > 0 ? kWaiting : kNoMatch + 1;
  Assignment::Choice& choice = out_->choices[step_index];
  choice.possible = suitable(step, 0, first);
  for (std::int32_t index = first; index <= last; ++index) {
    attempted = index;
    auto flavor = static_cast<std::size_t>(index);
    if (passed_over(group, flavor, step, mildest)) continue;
    if (probe && !passes_probe(flavor, step)) {
      mildest = std::min<int>(mildest, kExceeding);
      continue;
    }
    int severity = kNone;
    std::size_t before = out_->shortages.size();
    Grade grade = grade_flavor(flavor, step, severity);
    if (grade.level > Grade::kNoCandidates || depends_on_others(flavor, step)) choice.possible |= bit(index);
    if (grade.level == Grade::kNoCandidates) consider_together(index, choice);
    if (grade.level != Grade::kFit || grade.borrow > 0) remember(group.flavors[flavor], grade, before);
    mildest = std::min<int>(mildest, grade.level == Grade::kNoFit ? severity
                                     : grade.level == Grade::kFit ? kNone
                                                                  : kWaiting);
    bool stop = fungibility_ ? !try_next(grade) : grade.level == Grade::kFit;
    bool better = fungibility_ ? preferred(grade, best.grade) : grade.level > best.grade.level;
    if (stop || better) {
      best = {grade, index};
      std::swap(parts_, best_parts_);
    }
    if (stop) break;
  }
  choice.possible |= suitable(step, attempted + 1, last + 1);
  const bool idle = is_idle(*request_->plan, *unit_, step);
  if (best.flavor < 0 && idle) {  // so it needs no flavor
    out_->shortages.resize(first_shortage);
    return true;
  }
  if (mildest <= kNoMatch) unit_severity_ = std::max(unit_severity_, mildest);
  if (best.flavor < 0) {
    if (mildest > kNoMatch) unit_severity_ = kNoMatch;  // no flavor was tried at all
    return fail_unit(first_shortage);
  }
  choice.flavor = best.flavor;
  choice.last = attempted;
  choice.tried = !fungibility_ || attempted == last || idle ? -1 : attempted;
  if (best.grade.level == Grade::kFit) {
    out_->shortages.resize(first_shortage);  // what other flavors lacked does not matter then
  }
  for (const Assignment::Part& part : best_parts_) {
    out_->parts.push_back(part);
    out_->borrowing = std::max(out_->borrowing, part.borrow);
  }
  return true;
}

// Nobody can be preempted for one resource of the flavor in `parts_`. If more is short, of this step or of others, some
// may be preempted for all together. If not, what is free is a lack: it may become short.
void Assigner::consider_together(std::int32_t flavor, Assignment::Choice& choice) {
  if (!request_->preemptor.config->reclaims()) return;  // nobody is a victim for what others of its queue borrow
  std::size_t short_ones = request_->plan->steps > 1 ? 1 : 0;
  for (const Assignment::Part& part : parts_) {
    short_ones += part.mode == Mode::kPreempt ? 1 : 0;
    if (part.mode == Mode::kFit) out_->lacks.push_back({.id = part.id, .wanted = part.amount, .was_free = true});
  }
  if (short_ones > 1) choice.together |= bit(flavor);
}

bool Assigner::passes_probe(std::size_t flavor, const Plan::Step& step) {
  bool passes = true;
  for (std::size_t i = 0; i < step.wants.size(); ++i) {
    Amount one_each;
    for (Amount amount : step.wants[i].per_pod) one_each += amount;
    Amount most = ledger_.potential_available(request_->preemptor.queue, step.ids[flavor][i]);
    if (one_each <= most) continue;
    passes = false;
    const ResourceGroup& group = request_->preemptor.config->groups[static_cast<std::size_t>(step.group)];
    report({.kind = Shortage::Kind::kProbe,
            .resource = step.wants[i].resource,
            .flavor = group.flavors[flavor],
            .b = one_each,
            .c = most});
  }
  return passes;
}

// The grade of a flavor is the worst grade of its resources.
Assigner::Grade Assigner::grade_flavor(std::size_t flavor, const Plan::Step& step, int& severity) {
  const ResourceGroup& group = request_->preemptor.config->groups[static_cast<std::size_t>(step.group)];
  parts_.clear();
  Grade worst;
  for (std::size_t i = 0; i < step.wants.size(); ++i) {
    FlavorResourceId id = step.ids[flavor][i];
    Amount amount = wanted(step.wants[i]);
    if (amount.is_zero()) continue;  // as if it were not requested
    bool hopeless = worst.level == Grade::kNoFit;
    Grade grade = grade_resource(id, step.wants[i].resource, group.flavors[flavor], amount, hopeless, severity);
    if (preferred(worst, grade)) worst = grade;
    if (worst.level == Grade::kNoFit) continue;
    parts_.push_back({id, grade.level == Grade::kFit ? Mode::kFit : Mode::kPreempt, amount, grade.borrow, unit_index_});
  }
  return worst;
}

// `hopeless`: the flavor is already rejected; this resource is examined only to report what it lacks.
Assigner::Grade Assigner::grade_resource(FlavorResourceId id, ResourceId resource, FlavorId flavor, Amount amount,
                                         bool hopeless, int& severity) {
  const Preemptor& who = request_->preemptor;
  Amount before = assumed(id);
  Amount value = before + amount;
  Amount most = ledger_.potential_available(who.queue, id);
  if (value > most) {
    report({Shortage::Kind::kExceeds, 0, resource, flavor, before, amount, most, nullptr});
    severity = std::max<int>(severity, kExceeding);
    return {Grade::kNoFit, 0};
  }
  BorrowLevel level = ledger_.lowest_subtree_that_fits(who.queue, id, value);
  Amount available = ledger_.available(who.queue, id);
  if (value <= available) {
    // An unlimited resource of the queue's terms is not borrowed.
    const bool free = !who.config->terms.flavor_of_the_rest.empty() && most.is_unlimited();
    return {Grade::kFit, free ? 0 : level.height};
  }
  report({Shortage::Kind::kUnused, 0, resource, flavor, Amount(), value - available, Amount(), nullptr});
  out_->lacks.push_back({.id = id, .wanted = value});
  bool may_preempt =
      value <= ledger_.quota(who.queue, id).nominal || level.smaller_than_tree || may_preempt_while_borrowing();
  if (!may_preempt) {
    severity = std::max<int>(severity, kWaiting);
    return {Grade::kNoFit, level.height};
  }
  if (hopeless) return {Grade::kNoCandidates, 0};
  Possibility possible = preemption_.simulate(who, id, value);
  switch (possible.kind) {
    case Possibility::Kind::kPreempt:
      return {Grade::kPreempt, possible.borrow};
    case Possibility::Kind::kReclaim:
      return {Grade::kReclaim, possible.borrow};
    case Possibility::Kind::kNoCandidates:
      break;
  }
  return {Grade::kNoCandidates, possible.borrow};
}

bool Assigner::may_preempt_while_borrowing() const {
  const QueueConfig& config = *request_->preemptor.config;
  return fair_sharing_ ? config.reclaim_within_cohort != api::kueue::ReclaimWithinCohort::kNever
                       : config.borrow_within_cohort != api::kueue::BorrowWithinCohort::kNever;
}

// Whether `a` is strictly better than `b` under the queue's flavorFungibility preference.
bool Assigner::preferred(const Grade& a, const Grade& b) const {
  if (a.level == Grade::kNoFit) return false;
  if (b.level == Grade::kNoFit) return true;
  if ((a.level == Grade::kNoCandidates) != (b.level == Grade::kNoCandidates)) return a.level != Grade::kNoCandidates;
  bool less_borrowing_first = request_->preemptor.config->preference == FungibilityPreference::kPreemptionOverBorrowing;
  if (less_borrowing_first && a.borrow != b.borrow) return a.borrow < b.borrow;
  if (a.level != b.level) return a.level > b.level;
  return a.borrow < b.borrow;
}

bool Assigner::try_next(const Grade& grade) const {
  const QueueConfig& config = *request_->preemptor.config;
  if (grade.level == Grade::kNoFit || grade.level == Grade::kNoCandidates) return true;
  bool preempts = grade.level == Grade::kPreempt || grade.level == Grade::kReclaim;
  if (preempts && config.when_can_preempt == FungibilityPolicy::kTryNextFlavor) return true;
  return grade.borrow > 0 && config.when_can_borrow == FungibilityPolicy::kTryNextFlavor;
}

}  // namespace berth::engine
