// The choice of domains.
#include "engine/topology/choose.h"

#include <algorithm>

namespace berth::engine::topology {

namespace {

// Ascending order of these keys is the order of domains: `units` descending or ascending, then `pods` ascending.
std::uint64_t key_of(std::int32_t units, std::int32_t pods, bool descending) {
  const auto high = static_cast<std::uint32_t>(descending ? ~units : units);
  return static_cast<std::uint64_t>(high) << 32 | static_cast<std::uint32_t>(pods);
}

// Comparator for heaps with the first in order on top.
constexpr auto later = [](const auto& a, const auto& b) { return b < a; };

}  // namespace

// Appends the domains of `level` below `from` that can hold any pod. (It does not read the found domains: with
// 100,000 leaves that would take half of the time.)
void Chooser::collect(std::size_t level, DomainId from, std::vector<DomainId>& out) const {
  const View::Domain& domain = view_[from];
  for (DomainId child : domain.children) {
    if (counts_.pods(child) == 0 && !(with_leader_ && counts_.leader(child))) continue;
    if (domain.level + 1u == level) {
      out.push_back(child);
    } else {
      collect(level, child, out);
    }
  }
}

std::vector<DomainId> Chooser::domains_at(std::size_t level, DomainId scope) const {
  std::vector<DomainId> out;
  if (scope.valid() && view_[scope].level >= level) return {scope};
  if (level == view_.leaf_level()) out.reserve(view_.leaves());
  if (scope.valid()) {
    collect(level, scope, out);
    return out;
  }
  for (DomainId root : view_.roots()) {
    if (level > 0) {
      collect(level, root, out);
    } else if (counts_.pods(root) > 0 || (with_leader_ && counts_.leader(root))) {
      out.push_back(root);
    }
  }
  return out;
}

Chooser::Pool Chooser::pool_of(std::span<const DomainId> domains) const {
  const std::size_t level = view_[domains.front()].level;
  if (level <= wanted_.slice_level) return {domains, false, wanted_.slice_size};
  return {domains, true, wanted_.inner[level]};
}

std::int32_t Chooser::units(const Pool& pool, std::uint32_t index) const {
  const DomainId id = pool.domains[index];
  return pool.below ? counts_.pods(id) / pool.unit : counts_.slices(id);
}

std::int32_t Chooser::units_with(const Pool& pool, std::uint32_t index) const {
  const DomainId id = pool.domains[index];
  return pool.below ? counts_.pods_with(id) / pool.unit : counts_.slices_with(id);
}

// Below the slice level only pods count: the domain with capacity for the fewest pods comes first.
Chooser::Rank Chooser::rank(const Pool& pool, std::uint32_t index) const {
  const DomainId id = pool.domains[index];
  return {key_of(pool.below ? 0 : counts_.slices(id), counts_.pods(id), !least_free_), index};
}

Chooser::Rank Chooser::rank_with(const Pool& pool, std::uint32_t index) const {
  const DomainId id = pool.domains[index];
  return {key_of(pool.below ? 0 : counts_.slices_with(id), counts_.pods_with(id), !least_free_), index};
}

// The domain that holds everything with the least capacity; invalid when none does.
DomainId Chooser::single(std::span<const DomainId> domains, std::int32_t slices) const {
  DomainId best;
  std::uint64_t best_key = 0;
  for (DomainId id : domains) {
    if (with_leader_ && !counts_.leader(id)) continue;
    const std::int32_t capacity = with_leader_ ? counts_.slices_with(id) : counts_.slices(id);
    if (capacity < slices) continue;
    const std::uint64_t key = key_of(capacity, with_leader_ ? counts_.pods_with(id) : counts_.pods(id), false);
    if (best.valid() && key >= best_key) continue;
    best = id;
    best_key = key;
  }
  return best;
}

Shares Chooser::place(std::int32_t pods, DomainId scope) {
  const std::int32_t slices = wanted_.slices(pods);
  std::size_t level = wanted_.level;
  if (scope.valid()) level = std::max<std::size_t>(level, view_[scope].level);
  if (!scope.valid() && counts_.total() < slices) return {};
  for (;; --level) {
    const std::vector<DomainId> domains = domains_at(level, scope);
    if (domains.empty()) return {};
    if (const DomainId one = single(domains, slices); one.valid()) return descend({{one, pods, with_leader_, 0}});
    if (wanted_.required) return {};
    const bool top = level == 0 || (scope.valid() && view_[scope].level == level);
    if (!top && !wanted_.unconstrained) continue;
    Shares shares;
    if (!take(domains, pods, with_leader_, shares)) return {};
    return descend(std::move(shares));
  }
}

std::int32_t Chooser::fits(DomainId scope) const {
  if (!wanted_.required && !scope.valid()) return counts_.total();
  std::int32_t most = 0;
  for (DomainId id : domains_at(wanted_.level, scope)) {
    if (with_leader_ && !counts_.leader(id)) continue;
    most = std::max(most, with_leader_ ? counts_.slices_with(id) : counts_.slices(id));
  }
  return most;
}

// The leader's domain: the best fit that holds everything, else the first in order that leaves capacity for all
// workers. -1: none.
int Chooser::choose_leader(const Pool& pool, std::int32_t wanted) const {
  std::int64_t total = 0;
  int fitting = -1;  // the best fit
  for (std::uint32_t i = 0; i < pool.domains.size(); ++i) {
    total += units(pool, i);
    if (least_free_ || !counts_.leader(pool.domains[i]) || units_with(pool, i) < wanted) continue;
    auto size = [&](std::uint32_t index) {
      return std::pair(units_with(pool, index), counts_.pods_with(pool.domains[index]));
    };
    if (fitting < 0 || size(i) < size(static_cast<std::uint32_t>(fitting))) fitting = static_cast<int>(i);
  }
  if (fitting >= 0) return fitting;
  int first = -1;
  for (std::uint32_t i = 0; i < pool.domains.size(); ++i) {
    if (!counts_.leader(pool.domains[i]) || total - units(pool, i) + units_with(pool, i) < wanted) continue;
    if (first < 0 || rank_with(pool, i) < rank_with(pool, static_cast<std::uint32_t>(first)))
      first = static_cast<int>(i);
  }
  return first;
}

bool Chooser::take(std::span<const DomainId> domains, std::int32_t pods, bool leader, Shares& out) const {
  if (domains.empty()) return false;
  const Pool pool = pool_of(domains);
  std::int32_t wanted = pods / pool.unit;
  int chief = -1;
  const std::size_t first = out.size();
  if (leader) {
    chief = choose_leader(pool, wanted);
    if (chief < 0) return false;
    const std::int32_t given = std::min(wanted, units_with(pool, static_cast<std::uint32_t>(chief)));
    out.push_back(
        {domains[static_cast<std::size_t>(chief)], given * pool.unit, true, static_cast<std::uint32_t>(chief)});
    wanted -= given;
  }
  if (!take_workers(pool, wanted, chief, out)) return false;
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
            [](const Share& a, const Share& b) { return a.order < b.order; });
  return true;
}

// The first domains in order that together have capacity for `wanted`, as a heap with the first on top. A histogram
// of capacities selects them first, so that only these domains must be sorted.
std::vector<Chooser::Rank> Chooser::first_ranks(const Pool& pool, const std::vector<std::int32_t>& capacities,
                                                std::int32_t wanted) const {
  constexpr std::int32_t kBuckets = 1024;  // larger capacities count as this one
  std::vector<std::int64_t> sums(kBuckets);
  for (std::int32_t capacity : capacities) sums[static_cast<std::size_t>(std::min(capacity, kBuckets - 1))] += capacity;
  const bool descending = largest_first(pool);
  std::int32_t last = descending ? kBuckets - 1 : 1;  // the bucket of the last domain that is needed
  const std::int32_t step = descending ? -1 : 1;
  std::int64_t sum = sums[static_cast<std::size_t>(last)];
  while (sum < wanted && last + step > 0 && last + step < kBuckets) sum += sums[static_cast<std::size_t>(last += step)];
  std::vector<Rank> ranks;
  for (std::uint32_t i = 0; i < capacities.size(); ++i) {
    const std::int32_t bucket = std::min(capacities[i], kBuckets - 1);
    if (bucket == 0 || (descending ? bucket < last : bucket > last)) continue;
    ranks.push_back(rank(pool, i));
  }
  std::make_heap(ranks.begin(), ranks.end(), later);
  return ranks;
}

// The domain that holds the rest with the least capacity; the first in order among equals. There must be one.
std::uint32_t Chooser::best_fit(const Pool& pool, const std::vector<std::int32_t>& capacities,
                                std::int32_t wanted) const {
  std::uint32_t best = 0;
  bool found = false;
  for (std::uint32_t i = 0; i < capacities.size(); ++i) {
    if (capacities[i] < wanted) continue;
    if (found && (capacities[i] > capacities[best] ||
                  (capacities[i] == capacities[best] && !(rank(pool, i) < rank(pool, best)))))
      continue;
    best = i;
    found = true;
  }
  return best;
}

// Takes domains in order of rank. As soon as one domain can hold the rest, takes the tightest such domain; but not
// with least_free_, where only the order counts.
bool Chooser::take_workers(const Pool& pool, std::int32_t wanted, int without, Shares& out) const {
  if (wanted == 0) return true;
  std::vector<std::int32_t> capacities(pool.domains.size());
  std::int32_t largest = 0;
  std::int64_t total = 0;
  for (std::uint32_t i = 0; i < pool.domains.size(); ++i) {
    if (static_cast<int>(i) == without) continue;
    capacities[i] = units(pool, i);
    total += capacities[i];
    largest = std::max(largest, capacities[i]);
  }
  if (total < wanted) return false;
  std::vector<Rank> ranks;
  if (least_free_ || largest < wanted) ranks = first_ranks(pool, capacities, wanted);
  while (wanted > 0) {
    if (!least_free_ && largest >= wanted) {
      const std::uint32_t best = best_fit(pool, capacities, wanted);
      out.push_back({pool.domains[best], wanted * pool.unit, false, best});
      return true;
    }
    std::pop_heap(ranks.begin(), ranks.end(), later);
    const std::uint32_t index = ranks.back().index;
    ranks.pop_back();
    const std::int32_t given = std::min(wanted, capacities[index]);
    out.push_back({pool.domains[index], given * pool.unit, false, index});
    wanted -= given;
    capacities[index] = 0;
    // Update the largest remaining capacity: the next one in order, or unchanged when the smallest come first.
    if (largest_first(pool)) largest = ranks.empty() ? 0 : capacities[ranks.front().index];
  }
  return true;
}

Shares Chooser::descend(Shares shares, bool stay_inside) const {
  if (shares.empty()) return shares;
  for (std::size_t level = view_[shares.front().domain].level; level < view_.leaf_level(); ++level) {
    Shares next;
    if (level < wanted_.slice_level && !stay_inside) {  // all children of all domains form one pool
      std::vector<DomainId> pool;
      std::int32_t pods = 0;
      bool leader = false;
      for (const Share& share : shares) {
        const auto& children = view_[share.domain].children;
        pool.insert(pool.end(), children.begin(), children.end());
        pods += share.pods;
        leader = leader || share.leader;
      }
      if (!take(pool, pods, leader, next)) return {};
    } else {  // slices are not split: the pods of each domain stay inside
      for (const Share& share : shares) {
        if (!take(view_[share.domain].children, share.pods, share.leader, next)) return {};
      }
    }
    shares = std::move(next);
  }
  std::erase_if(shares, [](const Share& share) { return share.pods == 0 && !share.leader; });
  return shares;
}

}  // namespace berth::engine::topology
