// Balanced placement.
#include "engine/topology/balanced.h"

#include <algorithm>

namespace berth::engine::topology {

namespace {

constexpr std::size_t kMaxTable =
    20'000'000;  // bits of the search for the tightest set: larger ones are left to best fit

// One way to spread: `parts` of these domains with at least `floor` slices each.
struct Way {
  std::vector<DomainId> domains;  // by level values, each good for `floor` slices
  std::size_t parts = 0;
  std::int32_t floor = 0;
};

// The fewest domains that hold `slices`, and the largest number that each of so many can have at least.
Way way_of(const Counts& counts, std::vector<DomainId> domains, std::int32_t slices) {
  std::vector<std::int32_t> rooms;
  for (DomainId id : domains) rooms.push_back(counts.slices(id));
  std::sort(rooms.rbegin(), rooms.rend());
  Way way;
  std::int64_t sum = 0;
  while (sum < slices && way.parts < rooms.size()) sum += rooms[way.parts++];
  if (sum < slices) return {};
  way.floor = std::min(slices / static_cast<std::int32_t>(way.parts), rooms[way.parts - 1]);
  std::erase_if(domains, [&](DomainId id) { return counts.slices(id) < way.floor; });
  way.domains = std::move(domains);
  return way;
}

// The set of `parts` domains that holds `slices` with the least room to spare, the first by level values
// among equals; empty when the search would be too large.
std::vector<DomainId> tightest(const Counts& counts, const Way& way, std::int32_t slices) {
  const std::size_t n = way.domains.size(), k = way.parts;
  std::int32_t largest = 0;
  for (DomainId id : way.domains) largest = std::max(largest, counts.slices(id));
  const std::size_t sums = static_cast<std::size_t>(slices) + static_cast<std::size_t>(largest) + 1;
  if ((n + 1) * (k + 1) * sums > kMaxTable) return {};
  // reach[i][j][s]: j of the domains from the i-th on have s slices together
  std::vector<bool> reach((n + 1) * (k + 1) * sums);
  auto at = [&](std::size_t i, std::size_t j, std::size_t s) { return (i * (k + 1) + j) * sums + s; };
  reach[at(n, 0, 0)] = true;
  for (std::size_t i = n; i-- > 0;) {
    const auto room = static_cast<std::size_t>(counts.slices(way.domains[i]));
    for (std::size_t j = 0; j <= k; ++j) {
      for (std::size_t s = 0; s < sums; ++s) {
        reach[at(i, j, s)] =
            reach[at(i + 1, j, s)] || (j > 0 && s >= room && reach[at(i + 1, j - 1, s - room)]);
      }
    }
  }
  auto s = static_cast<std::size_t>(slices);
  while (s < sums && !reach[at(0, k, s)]) ++s;
  if (s == sums) return {};
  std::vector<DomainId> chosen;
  for (std::size_t i = 0, j = k; j > 0; ++i) {
    const auto room = static_cast<std::size_t>(counts.slices(way.domains[i]));
    if (s < room || !reach[at(i + 1, j - 1, s - room)]) continue;
    chosen.push_back(way.domains[i]);
    s -= room;
    --j;
  }
  return chosen;
}

// The domain that gives up the least for the leader; -1: it fits nowhere.
int leaders_place(const Counts& counts, const std::vector<DomainId>& domains) {
  int best = -1;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    if (!counts.leader(domains[i])) continue;
    auto loss = [&](std::size_t index) {
      return counts.slices(domains[index]) - counts.slices_with(domains[index]);
    };
    if (best < 0 || loss(i) < loss(static_cast<std::size_t>(best))) best = static_cast<int>(i);
  }
  return best;
}

}  // namespace

Shares place_balanced(const Counts& counts, const Wanted& wanted, bool with_leader, std::int32_t pods,
                      const Chooser& chooser) {
  const std::int32_t slices = wanted.slices(pods);
  Way best;
  std::vector<std::vector<DomainId>> families;
  if (wanted.level == 0) {
    families.push_back(chooser.domains_at(0));
  } else {
    for (DomainId parent : chooser.domains_at(wanted.level - 1))
      families.push_back(chooser.domains_at(wanted.level, parent));
  }
  for (std::vector<DomainId>& family : families) {
    Way way = way_of(counts, std::move(family), slices);
    if (way.floor == 0) continue;
    if (best.floor == 0 || way.floor > best.floor || (way.floor == best.floor && way.parts < best.parts))
      best = std::move(way);
  }
  if (best.floor == 0) return {};
  const std::vector<DomainId> chosen = tightest(counts, best, slices);
  if (chosen.empty()) return {};
  const int chief = with_leader ? leaders_place(counts, chosen) : -1;
  if (with_leader && chief < 0) return {};

  std::int32_t rest = slices;
  std::vector<std::int32_t> given(chosen.size()), room(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    room[i] = static_cast<int>(i) == chief ? counts.slices_with(chosen[i]) : counts.slices(chosen[i]);
    given[i] = std::min(best.floor, room[i]);
    rest -= given[i];
  }
  for (std::size_t i = 0; i < chosen.size() && rest > 0; ++i) {
    const std::int32_t more = std::min(rest, room[i] - given[i]);
    given[i] += more;
    rest -= more;
  }
  if (rest > 0) return {};
  Shares leaves;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const bool leads = static_cast<int>(i) == chief;
    if (given[i] == 0 && !leads) continue;
    const Shares part = chooser.descend({{chosen[i], given[i] * wanted.slice_size, leads, 0}});
    if (part.empty()) return {};
    leaves.insert(leaves.end(), part.begin(), part.end());
  }
  return leaves;
}

}  // namespace berth::engine::topology
