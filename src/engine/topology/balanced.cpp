// Balanced placement.
#include "engine/topology/balanced.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

#include "engine/topology/evenness.h"
#include "engine/topology/tightest.h"

namespace berth::engine::topology {

namespace {

using Indices = std::vector<std::uint32_t>;  // of offers

// Domains of one level, by level values, with the capacity of each.
struct Field {
  std::vector<DomainId> domains;
  std::vector<Offer> offers;
  void add(DomainId domain, const Offer& offer) {
    domains.push_back(domain);
    offers.push_back(offer);
  }
};

// Domains of the requested level under one parent. `below` has their children on the balanced level, one entry for
// each domain; it is empty when the requested level is the balanced one.
struct Family {
  Field top;
  std::vector<Field> below;
};

// The result of filling the domains with the largest capacity first.
struct Greedy {
  std::uint32_t domains = 0;
  const Offer* leaders = nullptr;  // the leader's domain
  const Offer* last = nullptr;     // the last of the domains without the leader
};

// A family where each domain gets at least `floor` slices; domains that are too small are removed.
struct Way {
  Family family;
  std::int32_t floor = 0;
  std::uint32_t domains = 0;  // of the requested level
};

template <typename Key>
Indices ordered(std::span<const Offer> offers, Key key) {
  Indices order(offers.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  return order;
}

class Balancer {
 public:
  Balancer(const View& view, const Counts& counts, const Wanted& wanted, bool leader, std::int32_t pods)
      : view_(view),
        counts_(counts),
        wanted_(wanted),
        leader_(leader),
        slices_(wanted.slices(pods)),
        tail_(wanted.tail(pods)) {}

  // The way with the highest floor; among equals the one with the fewest domains of the requested level.
  std::optional<Way> best_way(const Chooser& chooser) const;
  // The domains of the balanced level with the pods of each, by level values; empty when this way does not work.
  Shares spread(const Way& way) const;

 private:
  Offer offer_of(DomainId id) const;
  Offer sum_of(const std::vector<Offer>& parts) const;
  Family family_of(std::vector<DomainId> domains) const;
  Indices leaders_first(std::span<const Offer> offers) const;
  std::optional<Greedy> fill(std::span<const Offer> offers) const;
  bool keep(Offer& offer, std::int32_t floor) const;
  Family trimmed(const Family& family, std::int32_t floor) const;
  std::optional<Way> way_with(const Family& family, std::int32_t floor) const;
  std::optional<Way> way_of(const Family& family, std::int32_t least) const;
  Indices tightest_set(std::span<const Offer> offers, const Indices& order) const;
  Field tightest_below(const Family& family) const;

  const View& view_;
  const Counts& counts_;
  const Wanted& wanted_;
  bool leader_;
  std::int32_t slices_, tail_;
};

Offer Balancer::offer_of(DomainId id) const {
  const std::int32_t pods = counts_.pods(id), slices = counts_.slices(id);
  if (!leader_) return {pods, slices, pods, slices, false};
  return {pods, slices, counts_.pods_with(id), counts_.slices_with(id), counts_.leader(id)};
}

// The capacity of a domain from its remaining children: the leader goes to the child that loses least capacity by it.
Offer Balancer::sum_of(const std::vector<Offer>& parts) const {
  Offer sum;
  std::optional<std::int32_t> fewer_pods, fewer_slices;
  std::int64_t pods = 0, slices = 0;
  for (const Offer& part : parts) {
    pods += part.pods;
    slices += part.slices;
    if (leader_ && !part.leader) continue;
    sum.leader = part.leader;
    const std::int32_t less_pods = part.pods - part.pods_with, less_slices = part.slices - part.slices_with;
    fewer_pods = std::min(fewer_pods.value_or(less_pods), less_pods);
    fewer_slices = std::min(fewer_slices.value_or(less_slices), less_slices);
  }
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  sum.pods = static_cast<std::int32_t>(std::min(pods, kMost));
  sum.slices = static_cast<std::int32_t>(std::min(slices, kMost));
  if (fewer_pods) sum.pods_with = sum.pods - *fewer_pods;
  if (fewer_slices) sum.slices_with = sum.slices - *fewer_slices;
  return sum;
}

Family Balancer::family_of(std::vector<DomainId> domains) const {
  Family family;
  for (DomainId id : domains) {
    family.top.add(id, offer_of(id));
    if (wanted_.level == wanted_.slice_level) continue;
    Field& below = family.below.emplace_back();
    for (DomainId child : view_[id].children) below.add(child, offer_of(child));
  }
  return family;
}

Indices Balancer::leaders_first(std::span<const Offer> offers) const {
  return ordered(offers, [&](std::uint32_t i) {
    return std::tuple(!offers[i].leader, -offers[i].slices_with, offers[i].pods_with, i);
  });
}

// nullopt when the request does not fit.
std::optional<Greedy> Balancer::fill(std::span<const Offer> offers) const {
  Greedy greedy;
  std::int64_t missing = slices_;
  std::uint32_t chief = static_cast<std::uint32_t>(offers.size());
  if (leader_) {
    const Indices order = leaders_first(offers);
    if (order.empty() || !offers[order.front()].leader) return std::nullopt;
    chief = order.front();
    greedy = {1, &offers[chief], nullptr};
    missing -= offers[chief].slices_with;
  }
  const Indices order =
      ordered(offers, [&](std::uint32_t i) { return std::tuple(-offers[i].slices, offers[i].pods, i); });
  for (std::uint32_t i : order) {
    if (missing <= 0 || offers[i].slices == 0) break;
    if (i == chief) continue;
    ++greedy.domains;
    greedy.last = &offers[i];
    missing -= offers[i].slices;
  }
  return missing > 0 ? std::nullopt : std::optional(greedy);
}

// Whether a domain takes part. A domain with too little capacity beside the leader takes part without the leader.
bool Balancer::keep(Offer& offer, std::int32_t floor) const {
  if (offer.slices < floor) return false;
  if (offer.leader && offer.slices_with < floor) {
    offer.leader = false;
    offer.pods_with = offer.slices_with = 0;
  }
  return true;
}

Family Balancer::trimmed(const Family& family, std::int32_t floor) const {
  auto trim = [&](const Field& field) {
    Field kept;
    for (std::size_t i = 0; i < field.domains.size(); ++i) {
      Offer offer = field.offers[i];
      if (keep(offer, floor)) kept.add(field.domains[i], offer);
    }
    return kept;
  };
  Family out;
  if (family.below.empty()) {
    out.top = trim(family.top);
    return out;
  }
  for (std::size_t i = 0; i < family.below.size(); ++i) {
    Field below = trim(family.below[i]);
    if (below.domains.empty()) continue;
    out.top.add(family.top.domains[i], sum_of(below.offers));
    out.below.push_back(std::move(below));
  }
  return out;
}

std::optional<Way> Balancer::way_with(const Family& family, std::int32_t floor) const {
  Way way{trimmed(family, floor), floor, 0};
  const auto greedy = fill(way.family.top.offers);
  if (!greedy) return std::nullopt;
  way.domains = greedy->domains;
  return way;
}

// nullopt when its floor is below `least`.
std::optional<Way> Balancer::way_of(const Family& family, std::int32_t least) const {
  std::vector<Offer> all;
  for (const Field& below : family.below) all.insert(all.end(), below.offers.begin(), below.offers.end());
  const auto greedy = fill(family.below.empty() ? std::span<const Offer>(family.top.offers) : all);
  if (!greedy) return std::nullopt;
  std::int32_t floor = slices_ / static_cast<std::int32_t>(greedy->domains);
  if (greedy->leaders) floor = std::min(floor, greedy->leaders->slices_with);
  if (greedy->last) floor = std::min(floor, greedy->last->slices);
  if (floor < least) return std::nullopt;
  if (auto way = way_with(family, floor)) return way;
  // No domain holds the leader and `floor` slices: lower the floor to what fits beside the leader.
  if (!leader_ || !greedy->last || greedy->last->slices_with >= floor) return std::nullopt;
  floor = greedy->last->slices_with;
  return floor < least ? std::nullopt : way_with(family, floor);
}

std::optional<Way> Balancer::best_way(const Chooser& chooser) const {
  if (slices_ < 1 || tail_ > 0) return std::nullopt;
  if (wanted_.level == wanted_.slice_level && wanted_.level != view_.leaf_level()) return std::nullopt;
  std::optional<Way> best;
  auto consider = [&](std::vector<DomainId> domains) {
    auto way = way_of(family_of(std::move(domains)), best ? best->floor : 1);
    if (!way) return;
    if (!best || way->floor > best->floor || (way->floor == best->floor && way->domains < best->domains))
      best = std::move(way);
  };
  if (wanted_.level == 0) {
    consider(chooser.domains_at(0));
    return best;
  }
  for (DomainId parent : chooser.domains_at(wanted_.level - 1)) {
    const Offer offer = offer_of(parent);
    if ((leader_ ? offer.slices_with : offer.slices) < slices_) continue;
    consider(chooser.domains_at(wanted_.level, parent));
  }
  return best;
}

// As many domains as filling the largest first needs, with the least capacity; among equals the first in `order`.
Indices Balancer::tightest_set(std::span<const Offer> offers, const Indices& order) const {
  const auto greedy = fill(offers);
  if (!greedy) return {};
  std::vector<Offer> sorted;
  for (std::uint32_t i : order) sorted.push_back(offers[i]);
  Indices chosen = tightest(sorted, greedy->domains, std::int64_t{slices_} * wanted_.slice_size, leader_);
  for (std::uint32_t& i : chosen) i = order[i];
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

// The children of the tightest domains of the requested level; among equals, domains with the most even children come
// first.
Field Balancer::tightest_below(const Family& family) const {
  const std::vector<Offer>& offers = family.top.offers;
  std::vector<std::int64_t> evennesses;
  for (const Field& below : family.below) {
    std::vector<std::int32_t> pods;
    for (const Offer& offer : below.offers) pods.push_back(offer.pods);
    evennesses.push_back(evenness(pods));
  }
  Field out;
  for (std::uint32_t i : tightest_set(offers, ordered(offers, [&](std::uint32_t k) {
                                        return std::tuple(!offers[k].leader, -offers[k].slices_with, -evennesses[k], k);
                                      }))) {
    const Field& below = family.below[i];
    for (std::size_t k = 0; k < below.domains.size(); ++k) out.add(below.domains[k], below.offers[k]);
  }
  return out;
}

Shares Balancer::spread(const Way& way) const {
  const Field field = way.family.below.empty() ? way.family.top : tightest_below(way.family);
  const Indices chosen = tightest_set(field.offers, ordered(field.offers, [](std::uint32_t i) { return i; }));
  if (chosen.empty()) return {};
  std::int32_t extra = slices_ - static_cast<std::int32_t>(chosen.size()) * way.floor;
  if (extra < 0) return {};
  std::vector<Offer> offers;
  for (std::uint32_t i : chosen) offers.push_back(field.offers[i]);
  Shares shares(chosen.size());
  bool missing = leader_;  // the leader
  for (std::uint32_t i : leaders_first(offers)) {
    const std::int32_t capacity = missing ? offers[i].slices_with : offers[i].slices;
    const std::int32_t more = std::min(capacity - way.floor, extra);
    shares[i] = {field.domains[chosen[i]], (way.floor + more) * wanted_.slice_size, missing, i};
    extra -= more;
    missing = false;
  }
  return extra > 0 ? Shares() : shares;
}

}  // namespace

Shares place_balanced(const View& view, const Counts& counts, const Wanted& wanted, bool with_leader, std::int32_t pods,
                      const Chooser& chooser) {
  const Balancer balancer(view, counts, wanted, with_leader, pods);
  const auto way = balancer.best_way(chooser);
  if (!way) return {};
  Shares leaves;
  for (const Share& share : balancer.spread(*way)) {
    const Shares part = chooser.descend({share}, true);
    if (part.empty()) return {};
    leaves.insert(leaves.end(), part.begin(), part.end());
  }
  return leaves;
}

}  // namespace berth::engine::topology
