#include "engine/schedule/ever.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/schedule/make_plan.h"
#include "engine/schedule/state.h"

namespace berth::engine {
namespace {

// Combinations of flavors that are tried for one question: two pod sets have all that sixteen flavors offer them.
constexpr int kMostTries = 256;
// And the most flavors that are looked at, also where the quota for a later pod set is missing in all of them.
constexpr int kMostLooks = 16 * kMostTries;

// Pods are placed in slices of this size: other numbers of pods are refused.
std::int32_t slice_of(const Shape::PodSet& pod_set) {
  if (!pod_set.topology) return 1;
  std::int32_t size = std::max(1, pod_set.topology->slice_size.value_or(1));
  if (!pod_set.topology->slice_constraints.empty()) size = std::max(size, pod_set.topology->slice_constraints[0].size);
  return size;
}

// The largest number in [low, high] that fits; low if none does.
std::int32_t largest(std::int32_t low, std::int32_t high, const auto& fits) {
  while (low < high) {
    const std::int32_t middle = low + (high - low + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

Amount& amount_of(Usage& usage, FlavorResourceId id) {
  const auto found = std::ranges::find(usage, id, &FlavorResourceAmount::id);
  if (found != usage.end()) return found->amount;
  usage.push_back({id, Amount()});
  return usage.back().amount;
}

}  // namespace

std::string text_of(const NeverFits& never) {
  std::string out(kNeverFits);
  switch (never.cause) {
    case NeverFits::Cause::kNotCovered:
      return out + fmt::format("ClusterQueue {} has no quota for {}", never.cluster_queue, never.resource);
    case NeverFits::Cause::kNoFlavor:
      return out + fmt::format("pod set {} may not use any flavor of ClusterQueue {}: {}", never.pod_set,
                               never.cluster_queue, never.mismatch);
    case NeverFits::Cause::kQuota:
      if (never.flavor.empty()) {
        out += fmt::format("ClusterQueue {} never has quota for all its pods together", never.cluster_queue);
      } else {
        out +=
            fmt::format("ClusterQueue {} has at most {} of {} in a flavor ({}), with all that it may borrow",
                        never.cluster_queue, format_amount(never.resource, never.most), never.resource, never.flavor);
      }
      break;
    case NeverFits::Cause::kPlaces:
      out += never.level.empty()
                 ? "the nodes have no place for its pods, even without other workloads"
                 : fmt::format("no {} has place for its pods, even without other workloads", never.level);
      break;
  }
  if (!never.at_most) return out;
  if (*never.at_most == 0) return out + fmt::format("; not even one pod of pod set {} fits", never.pod_set);
  return out + fmt::format("; at most {} of {} pods of pod set {} fit", *never.at_most, never.wanted, never.pod_set);
}

std::vector<std::int32_t> EverFits::counts_asked() const {
  std::vector<std::int32_t> counts;
  for (const Shape::PodSet& pod_set : entry_.shape->pod_sets) counts.push_back(pod_set.count);
  return counts;
}

std::optional<NeverFits> EverFits::ask(const Entry& entry) {
  if (entry.plan == nullptr) return std::nullopt;
  entry_ = Entry();
  entry_.workload = entry.workload;
  entry_.queue = entry.queue;
  entry_.plan = entry.plan;
  entry_.shape = entry.shape;
  const Answer all = fits(counts_asked());
  if (all != Answer::kNo) return std::nullopt;
  NeverFits out = cause();
  if (entry_.shape->reducible) {
    std::vector<std::int32_t> fewest;
    for (const Shape::PodSet& pod_set : entry_.shape->pod_sets) fewest.push_back(pod_set.min_count);
    if (fits(fewest) != Answer::kNo) return std::nullopt;
  }
  find_largest(out);
  return out;
}

EverFits::Answer EverFits::fits(std::span<const std::int32_t> counts) {
  entry_.assignment.clear();
  entry_.assignment.counts.assign(counts.begin(), counts.end());
  entry_.assignment.choices.assign(entry_.plan->steps, {});
  usage_.clear();
  tries_ = looks_ = 0;
  quota_did_ = false;
  for (const Plan::Unit& unit : entry_.plan->units) {
    for (const Plan::Step& step : unit.steps) {
      if (!has_quota_alone(unit, step)) return Answer::kNo;
    }
  }
  return fits_from(0, 0, 0);
}

Amount EverFits::wanted(const Plan::Unit& unit, const Plan::Want& want) const {
  Amount sum;
  for (std::size_t i = 0; i < want.per_pod.size(); ++i)
    sum += want.per_pod[i] * entry_.assignment.counts[unit.pod_sets[i]];
  return sum;
}

// Adds what the step takes of this flavor. Returns false when the queue never has so much.
bool EverFits::has_quota(const Plan::Unit& unit, const Plan::Step& step, std::size_t flavor, Usage& usage) const {
  if (!step.mismatch[flavor].empty()) return false;
  for (std::size_t i = 0; i < step.wants.size(); ++i) {
    const Amount amount = wanted(unit, step.wants[i]);
    if (amount.is_zero()) continue;
    const FlavorResourceId id = step.ids[flavor][i];
    Amount& total = amount_of(usage, id);
    total += amount;
    if (total > ledger_.potential_available(entry_.queue->node, id)) return false;
  }
  return true;
}

// Whether the queue ever has what the step takes, if the other steps take nothing.
bool EverFits::has_quota_alone(const Plan::Unit& unit, const Plan::Step& step) const {
  if (step.group < 0) return wanted(unit, step.wants.front()).is_zero();
  if (is_idle(*entry_.plan, unit, step)) return true;
  for (std::size_t flavor = 0; flavor < step.ids.size(); ++flavor) {
    Usage alone;
    if (has_quota(unit, step, flavor, alone)) return true;
  }
  return false;
}

// `index`: of the step among all steps.
EverFits::Answer EverFits::fits_from(std::size_t unit, std::size_t step, std::size_t index) {
  const Plan& plan = *entry_.plan;
  while (unit < plan.units.size() && step == plan.units[unit].steps.size()) {
    ++unit;
    step = 0;
  }
  if (unit == plan.units.size()) {
    quota_did_ = true;
    if (++tries_ > kMostTries) return Answer::kUnknown;
    return placer_.places_on_empty(entry_) ? Answer::kYes : Answer::kNo;
  }
  const Plan::Unit& at = plan.units[unit];
  const Plan::Step& asked = at.steps[step];
  auto& choice = entry_.assignment.choices[index];
  choice.flavor = -1;
  if (asked.group < 0)
    return wanted(at, asked.wants.front()).is_zero() ? fits_from(unit, step + 1, index + 1) : Answer::kNo;
  bool any = false;
  for (std::size_t flavor = 0; flavor < asked.ids.size(); ++flavor) {
    if (++looks_ > kMostLooks) return Answer::kUnknown;
    const Usage before = usage_;
    if (has_quota(at, asked, flavor, usage_)) {
      any = true;
      choice.flavor = static_cast<std::int32_t>(flavor);
      const Answer answer = fits_from(unit, step + 1, index + 1);
      if (answer != Answer::kNo) return answer;
    }
    usage_ = before;
  }
  choice.flavor = -1;
  if (!any && is_idle(plan, at, asked)) return fits_from(unit, step + 1, index + 1);
  return Answer::kNo;
}

// Of the flavors that its pods may use, the one with the largest part of what they want.
void EverFits::report_quota(NeverFits& out, const Plan::Unit& unit, const Plan::Step& step) const {
  const auto& flavors = entry_.queue->config.groups[static_cast<std::size_t>(step.group)].flavors;
  Amount least_missing;
  for (std::size_t f = 0; f < step.ids.size(); ++f) {
    if (!step.mismatch[f].empty()) continue;
    for (std::size_t i = 0; i < step.wants.size(); ++i) {
      const Amount most = ledger_.potential_available(entry_.queue->node, step.ids[f][i]);
      const Amount missing = wanted(unit, step.wants[i]) - most;
      if (missing <= Amount()) continue;
      if (out.flavor.empty() || missing < least_missing) {
        least_missing = missing;
        out.flavor = names_.name(flavors[f]);
        out.resource = names_.name(step.wants[i].resource);
        out.most = most;
      }
      break;  // the next flavor
    }
  }
}

// After fits() said no of all pods.
NeverFits EverFits::cause() {
  NeverFits out;
  out.cluster_queue = ledger_.name(entry_.queue->node);
  out.cause = quota_did_ ? NeverFits::Cause::kPlaces : NeverFits::Cause::kQuota;
  if (quota_did_) return out;
  for (const Plan::Unit& unit : entry_.plan->units) {
    for (const Plan::Step& step : unit.steps) {
      if (has_quota_alone(unit, step)) continue;
      if (step.group < 0) {
        out.cause = NeverFits::Cause::kNotCovered;
        out.resource = names_.name(step.wants.front().resource);
      } else {
        const bool may_use = std::ranges::any_of(step.mismatch, &std::string::empty);
        out.cause = may_use ? NeverFits::Cause::kQuota : NeverFits::Cause::kNoFlavor;
        if (may_use) report_quota(out, unit, step);
        if (!may_use && !step.mismatch.empty()) out.mismatch = step.mismatch.front();
      }
      out.pod_set = entry_.shape->pod_sets[unit.pod_sets.front()].name;
      return out;
    }
  }
  return out;
}

// The first pod set of which fewer pods are enough. Not asked where no number of pods would change anything.
void EverFits::find_largest(NeverFits& out) {
  if (out.cause == NeverFits::Cause::kNotCovered || out.cause == NeverFits::Cause::kNoFlavor) return;
  const auto& pod_sets = entry_.shape->pod_sets;
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    const std::int32_t slice = slice_of(pod_sets[i]);
    std::vector<std::int32_t> counts = counts_asked();
    const auto fits_with = [&](std::int32_t pods) {
      counts[i] = pods;
      return fits(counts) == Answer::kYes;
    };
    if (pod_sets[i].count == 0) continue;
    const bool alone = pod_sets.size() == 1;
    if (!alone && !fits_with(0)) continue;
    const std::int32_t most = pod_sets[i].count - 1;
    const std::int32_t slices = largest(0, most / slice, [&](std::int32_t n) { return fits_with(n * slice); });
    // The last slice may be smaller (TASPartialSlices), else these numbers are refused.
    const std::int32_t pods = largest(slices * slice, std::min(most, slices * slice + slice - 1), fits_with);
    out.pod_set = pod_sets[i].name;
    out.wanted = pod_sets[i].count;
    out.at_most = pods;
    if (pod_sets[i].topology && pod_sets[i].topology->required && out.cause == NeverFits::Cause::kPlaces)
      out.level = *pod_sets[i].topology->required;
    return;
  }
}

}  // namespace berth::engine
