// The choice of domains.
#include "engine/topology/choose.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

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
    if (counts_.pods(root) == 0 && !(with_leader_ && counts_.leader(root))) continue;
    if (level > 0) {
      collect(level, root, out);
    } else {
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

std::int32_t Chooser::units(const Pool& pool, std::uint32_t index, std::int32_t tail) const {
  const DomainId id = pool.domains[index];
  return pool.below ? counts_.pods(id) / pool.unit : counts_.slices(id, tail);
}

std::int32_t Chooser::units_with(const Pool& pool, std::uint32_t index, std::int32_t tail) const {
  const DomainId id = pool.domains[index];
  return pool.below ? counts_.pods_with(id) / pool.unit : counts_.slices_with(id, tail);
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

// Whole slices that fit beside the smaller one, and beside the leader if there is one; -1: these do not fit.
std::int32_t Chooser::slices(DomainId id, std::int32_t tail) const {
  if (!with_leader_) return counts_.slices(id, tail);
  return counts_.leader(id) ? counts_.slices_with(id, tail) : -1;
}

// The domain that holds everything with the least capacity; invalid when none does. With a preference: the first such
// domain, but if the pods may be split, only one that no other domain comes before.
DomainId Chooser::single(std::span<const DomainId> domains, std::int32_t pods) const {
  const std::int32_t wanted = wanted_.slices(pods), tail = wanted_.tail(pods);
  DomainId best;
  std::uint64_t best_key = 0;
  std::int64_t best_tier = 0, first = preference_ == nullptr ? 0 : std::numeric_limits<std::int64_t>::max();
  for (DomainId id : domains) {
    const std::int32_t capacity = slices(id, tail);
    std::int64_t at = 0;
    if (preference_ != nullptr) {
      at = preference_->tier(id);
      if (!with_leader_ || counts_.leader(id)) first = std::min(first, at);
    }
    if (capacity < wanted) continue;
    const std::uint64_t key = key_of(capacity, with_leader_ ? counts_.pods_with(id) : counts_.pods(id), false);
    if (best.valid() && (at > best_tier || (at == best_tier && key >= best_key))) continue;
    best = id;
    best_key = key;
    best_tier = at;
  }
  const bool may_split = !wanted_.required && !least_free_;
  return best.valid() && may_split && best_tier != first ? DomainId() : best;
}

Shares Chooser::place(std::int32_t pods, DomainId scope) {
  std::size_t level = wanted_.level;
  if (scope.valid()) level = std::max<std::size_t>(level, view_[scope].level);
  if (!scope.valid() && counts_.total(wanted_.tail(pods)) < wanted_.slices(pods)) return {};
  for (;; --level) {
    const std::vector<DomainId> domains = domains_at(level, scope);
    if (domains.empty()) return {};
    if (const DomainId one = single(domains, pods); one.valid()) return descend({{one, pods, with_leader_, 0}});
    if (wanted_.required) return {};
    const bool top = level == 0 || (scope.valid() && view_[scope].level == level);
    if (!top && !wanted_.unconstrained) continue;
    Shares shares;
    if (!take(domains, pods, with_leader_, shares)) return {};
    return descend(std::move(shares));
  }
}

std::int32_t Chooser::fits(std::int32_t pods, DomainId scope) const {
  const std::int32_t tail = wanted_.tail(pods);
  std::int32_t most = -1;
  if (!wanted_.required && !scope.valid()) {
    most = counts_.total(tail);
  } else {
    for (DomainId id : domains_at(wanted_.level, scope)) most = std::max(most, slices(id, tail));
  }
  return tail > 0 ? most + 1 : std::max(most, 0);
}

// The leader's domain: the best fit that holds everything, else the first in order that leaves capacity for all
// workers. -1: none.
int Chooser::choose_leader(const Pool& pool, const Load& wanted) const {
  int fitting = -1;  // the best fit
  auto size = [&](int index) {
    const auto i = static_cast<std::uint32_t>(index);
    return std::pair(units_with(pool, i, wanted.tail), counts_.pods_with(pool.domains[i]));
  };
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (DomainId id : preference_ == nullptr ? std::span<const DomainId>() : pool.domains) {
    if (counts_.leader(id)) first = std::min(first, tier(id));
  }
  for (std::uint32_t i = 0; i < pool.domains.size() && !least_free_; ++i) {
    if (!counts_.leader(pool.domains[i]) || units_with(pool, i, wanted.tail) < wanted.units) continue;
    if (tier(pool.domains[i]) > first) continue;
    if (fitting < 0 || size(static_cast<int>(i)) < size(fitting)) fitting = static_cast<int>(i);
  }
  return fitting >= 0 ? fitting : first_leader(pool, wanted);
}

int Chooser::first_leader(const Pool& pool, const Load& wanted) const {
  std::int64_t total = 0;
  std::size_t rests = 0;  // domains where the smaller slice costs no unit
  auto has_rest = [&](std::uint32_t i) { return units(pool, i, wanted.tail) == units(pool, i); };
  for (std::uint32_t i = 0; i < pool.domains.size(); ++i) {
    total += units(pool, i);
    rests += has_rest(i) ? 1 : 0;
  }
  int first = -1;
  for (std::uint32_t i = 0; i < pool.domains.size(); ++i) {
    if (!counts_.leader(pool.domains[i])) continue;
    const std::int64_t left = total - units(pool, i) + units_with(pool, i);
    const bool free = rests > (has_rest(i) ? 1 : 0) || units_with(pool, i, wanted.tail) == units_with(pool, i);
    if (left - (free ? 0 : 1) < wanted.units) continue;
    const auto order = [&](std::uint32_t at) { return TierRank{tier(pool.domains[at]), rank_with(pool, at)}; };
    if (first < 0 || order(i) < order(static_cast<std::uint32_t>(first))) first = static_cast<int>(i);
  }
  return first;
}

bool Chooser::take(std::span<const DomainId> domains, std::int32_t pods, bool leader, Shares& out) const {
  if (domains.empty()) return false;
  const Pool pool = pool_of(domains);
  Load wanted{pods / pool.unit, pods % pool.unit};
  int chief = -1;
  const std::size_t first = out.size();
  if (leader) {
    chief = choose_leader(pool, wanted);
    if (chief < 0) return false;
    const auto index = static_cast<std::uint32_t>(chief);
    const std::int32_t given = std::min(wanted.units, units_with(pool, index));
    out.push_back({domains[index], given * pool.unit, true, index});
    wanted.units -= given;
  }
  const bool taken = preference_ == nullptr ? take_workers(pool, wanted, chief, first, out)
                                            : take_workers_by_tier(pool, wanted, chief, first, out);
  if (!taken) return false;
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

// The domain that holds the rest with the least capacity; the first in order among equals. -1: none.
int Chooser::best_fit(const Pool& pool, const std::vector<std::int32_t>& capacities, const Load& wanted) const {
  int best = -1;
  std::int32_t least = 0;
  for (std::uint32_t i = 0; i < capacities.size(); ++i) {
    if (capacities[i] < wanted.units) continue;
    const std::int32_t capacity = wanted.tail == 0 ? capacities[i] : units(pool, i, wanted.tail);
    if (capacity < wanted.units || (best >= 0 && capacity > least)) continue;
    if (best >= 0 && capacity == least && !(rank(pool, i) < rank(pool, static_cast<std::uint32_t>(best)))) continue;
    best = static_cast<int>(i);
    least = capacity;
  }
  return best;
}

// Gives the rest to one more domain, the smaller slice to a domain that is taken already if it fits nowhere else.
bool Chooser::close(const Pool& pool, const std::vector<std::int32_t>& capacities, const Load& wanted,
                    std::size_t first, Shares& out) const {
  int best = best_fit(pool, capacities, wanted);
  const bool together = best >= 0;
  if (!together && join(pool, wanted.tail, first, out)) best = best_fit(pool, capacities, {wanted.units, 0});
  if (best < 0) return false;
  const auto index = static_cast<std::uint32_t>(best);
  const std::int32_t pods = wanted.units * pool.unit + (together ? wanted.tail : 0);
  out.push_back({pool.domains[index], pods, false, index});
  return true;
}

// Adds the smaller slice to the first domain that has capacity for it.
bool Chooser::join(const Pool& pool, std::int32_t tail, std::size_t first, Shares& out) const {
  for (std::size_t i = first; i < out.size(); ++i) {
    const std::int32_t capacity =
        out[i].leader ? units_with(pool, out[i].order, tail) : units(pool, out[i].order, tail);
    if (out[i].pods / pool.unit > capacity) continue;
    out[i].pods += tail;
    return true;
  }
  return false;
}

// Gives the smaller slice to the domain with the least capacity among those that are not taken yet.
bool Chooser::open(const Pool& pool, std::int32_t tail, std::size_t first, Shares& out) const {
  std::vector<std::int32_t> capacities(pool.domains.size());
  for (std::size_t i = first; i < out.size(); ++i) capacities[out[i].order] = -1;
  const int best = best_fit(pool, capacities, {0, tail});
  if (best < 0) return false;
  out.push_back({pool.domains[static_cast<std::size_t>(best)], tail, false, static_cast<std::uint32_t>(best)});
  return true;
}

// Takes domains in order of rank. As soon as one domain can hold the rest, takes the tightest such domain; but not
// with least_free_, where only the order counts.
bool Chooser::take_workers(const Pool& pool, Load wanted, int without, std::size_t first, Shares& out) const {
  std::vector<std::int32_t> capacities(wanted.units > 0 ? pool.domains.size() : 0);
  for (std::uint32_t i = 0; i < capacities.size(); ++i) {
    if (static_cast<int>(i) != without) capacities[i] = units(pool, i);
  }
  return take_from(pool, std::move(capacities), wanted, first, out);
}

// `capacities` are in units; 0: not to be taken.
bool Chooser::take_from(const Pool& pool, std::vector<std::int32_t> capacities, Load wanted, std::size_t first,
                        Shares& out) const {
  std::int32_t largest = 0;
  std::int64_t total = 0;
  for (const std::int32_t capacity : capacities) {
    total += capacity;
    largest = std::max(largest, capacity);
  }
  if (total < wanted.units) return false;
  std::vector<Rank> ranks;
  if (wanted.units > 0 && (least_free_ || largest < wanted.units || wanted.tail > 0))
    ranks = first_ranks(pool, capacities, wanted.units);
  while (wanted.units > 0) {
    if (!least_free_ && largest >= wanted.units && close(pool, capacities, wanted, first, out)) return true;
    std::pop_heap(ranks.begin(), ranks.end(), later);
    const std::uint32_t index = ranks.back().index;
    ranks.pop_back();
    const std::int32_t given = std::min(wanted.units, capacities[index]);
    out.push_back({pool.domains[index], given * pool.unit, false, index});
    wanted.units -= given;
    capacities[index] = 0;
    // Update the largest remaining capacity: the next one in order, or unchanged when the smallest come first.
    if (largest_first(pool)) largest = ranks.empty() ? 0 : capacities[ranks.front().index];
  }
  return wanted.tail == 0 || join(pool, wanted.tail, first, out) || open(pool, wanted.tail, first, out);
}

// As take_workers(), but tier by tier. The tiers before the last one that is needed are taken as a whole.
bool Chooser::take_workers_by_tier(const Pool& pool, Load wanted, int without, std::size_t first, Shares& out) const {
  if (wanted.units == 0) return take_from(pool, {}, wanted, first, out);
  std::vector<std::int32_t> capacities(pool.domains.size());
  std::vector<std::int64_t> tiers(pool.domains.size());
  std::map<std::int64_t, std::int64_t> totals;  // of capacity, by tier
  auto at = totals.end();
  for (std::uint32_t i = 0; i < capacities.size(); ++i) {
    if (static_cast<int>(i) == without) continue;
    capacities[i] = units(pool, i);
    tiers[i] = tier(pool.domains[i]);
    if (at == totals.end() || at->first != tiers[i]) at = totals.try_emplace(tiers[i]).first;  // neighbours are alike
    at->second += capacities[i];
  }
  std::int64_t left = wanted.units;
  const auto last = std::ranges::find_if(totals, [&](const auto& each) { return (left -= each.second) <= 0; });
  if (last == totals.end()) return false;
  for (std::uint32_t i = 0; i < capacities.size(); ++i) {
    if (capacities[i] > 0 && tiers[i] < last->first) {
      out.push_back({pool.domains[i], capacities[i] * pool.unit, false, i});
      wanted.units -= capacities[i];
    }
    if (tiers[i] != last->first) capacities[i] = 0;
  }
  return take_from(pool, std::move(capacities), wanted, first, out);
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

void put_tail_last(const View& view, const Wanted& wanted, Shares& leaves) {
  if (wanted.slice_size == 1) return;
  auto slice_domain = [&](const Share& leaf) { return view.ancestor(leaf.domain, wanted.slice_level); };
  for (auto from = leaves.begin(); from != leaves.end();) {
    const DomainId domain = slice_domain(*from);
    const auto to = std::find_if(from, leaves.end(), [&](const Share& leaf) { return slice_domain(leaf) != domain; });
    std::int64_t pods = 0;
    for (auto leaf = from; leaf != to; ++leaf) pods += leaf->pods;
    if (pods % wanted.slice_size != 0) {
      std::rotate(from, to, leaves.end());
      return;
    }
    from = to;
  }
}

}  // namespace berth::engine::topology
