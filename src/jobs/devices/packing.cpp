#include "jobs/devices/packing.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace berth::jobs::devices {
namespace {

bool fits(const CounterUses& uses, const std::vector<Quantity>& left) {
  return std::ranges::all_of(uses, [&](const CounterUse& use) { return use.amount <= left[use.counter]; });
}
void take(const CounterUses& uses, std::vector<Quantity>& left) {
  for (const CounterUse& use : uses) left[use.counter] = left[use.counter] - use.amount;
}
void give_back(const CounterUses& uses, std::vector<Quantity>& left) {
  for (const CounterUse& use : uses) left[use.counter] = left[use.counter] + use.amount;
}

// For each counter by itself: those that take least of it.
std::int64_t bound(const std::vector<const CounterUses*>& candidates, std::size_t from,
                   const std::vector<Quantity>& left) {
  std::map<std::size_t, std::vector<Quantity>> amounts;
  for (std::size_t i = from; i < candidates.size(); ++i) {
    for (const CounterUse& use : *candidates[i]) amounts[use.counter].push_back(use.amount);
  }
  const auto all = static_cast<std::int64_t>(candidates.size() - from);
  std::int64_t out = all;
  for (auto& [counter, each] : amounts) {
    std::ranges::sort(each);
    std::int64_t fit = all - static_cast<std::int64_t>(each.size());
    Quantity sum;
    for (const Quantity& amount : each) {
      sum = sum + amount;
      if (sum > left[counter]) break;
      ++fit;
    }
    out = std::min(out, fit);
  }
  return out;
}

struct Search {
  const std::vector<const CounterUses*>& candidates;
  std::vector<Quantity>& left;
  std::int64_t best = 0;
  int steps = 0;

  void go(std::size_t at, std::int64_t taken) {
    best = std::max(best, taken);
    if (at == candidates.size() || ++steps > kMostPackingSteps || taken + bound(candidates, at, left) <= best) return;
    if (fits(*candidates[at], left)) {
      take(*candidates[at], left);
      go(at + 1, taken + 1);
      give_back(*candidates[at], left);
    }
    go(at + 1, taken);
  }
};

}  // namespace

std::int64_t most_together(const std::vector<CounterUses>& candidates, std::vector<Quantity> left) {
  // Candidates that share no counter, directly or through others, do not concern each other.
  std::vector<std::size_t> part(left.size());
  std::iota(part.begin(), part.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    while (part[i] != i) i = part[i] = part[part[i]];
    return i;
  };
  std::int64_t out = 0;
  for (const CounterUses& uses : candidates) {
    for (const CounterUse& use : uses) part[root(use.counter)] = root(uses.front().counter);
  }
  std::map<std::size_t, std::vector<const CounterUses*>> groups;
  for (const CounterUses& uses : candidates) {
    if (uses.empty())
      ++out;
    else if (fits(uses, left))
      groups[root(uses.front().counter)].push_back(&uses);
  }
  for (const auto& [of, group] : groups) {
    Search search{group, left};
    const std::int64_t most = bound(group, 0, left);
    search.go(0, 0);
    out += search.steps > kMostPackingSteps ? most : search.best;
  }
  return out;
}

}  // namespace berth::jobs::devices
