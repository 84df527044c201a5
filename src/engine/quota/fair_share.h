// How much a cluster queue or cohort borrows of what can be lent to it, by weight: Kueue's dominant resource share (KEP-1714). Exact.
//
// For each resource, over all flavors: what the node uses above its subtree quota, divided by what its parent could have at most. The largest
// of these ratios, divided by the node's weight, is its share; a node without a parent has none.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/quota/ledger.h"
#include "engine/quota/names.h"

namespace berth::engine {

class FairShare {
 public:
  FairShare() = default;  // of who borrows nothing
  // Of who borrows `borrowed` of at most `lendable` of the dominant resource, both positive; 0 of 1: of nothing that is scarce.
  FairShare(std::int64_t borrowed, std::int64_t lendable, FairWeight weight);

  bool borrows() const { return borrows_; }
  bool infinite() const { return borrows_ && weight_.numerator == 0; }  // two of these compare without their weights
  // In thousandths, rounded up: status.fairSharing.weightedShare. The largest number when infinite.
  std::int64_t weighted_share() const;
  // The exact share is borrowed() / lendable() / weight().
  std::int64_t borrowed() const { return static_cast<std::int64_t>(borrowed_); }
  std::int64_t lendable() const { return static_cast<std::int64_t>(lendable_); }
  const FairWeight& weight() const { return weight_; }

  friend std::strong_ordering operator<=>(const FairShare& a, const FairShare& b);
  friend bool operator==(const FairShare& a, const FairShare& b) { return (a <=> b) == std::strong_ordering::equal; }

 private:
  __extension__ typedef unsigned __int128 Wide;
  Wide numerator() const;    // below 2^93
  Wide denominator() const;  // below 2^126, not 0

  bool borrows_ = false;
  std::uint64_t borrowed_ = 0, lendable_ = 1;
  FairWeight weight_{1, 1};
};

// The shares of a ledger's nodes. Remembers what each cohort can lend, which only configuration changes.
class Shares {
 public:
  Shares(const Ledger& ledger, const Names& names) : ledger_(ledger), names_(names) {}

  FairShare of(NodeId node) { return with(node, {}); }
  // As if the node's usage were changed by these amounts, negative ones for less.
  FairShare with(NodeId node, std::span<const FlavorResourceAmount> changes);

 private:
  struct Lendable {
    std::uint64_t configuration = 0;
    std::size_t pairs = 0;
    std::vector<Amount> amounts;  // by resource
  };
  const std::vector<Amount>& lendable(NodeId cohort);
  void sort_pairs();

  const Ledger& ledger_;
  const Names& names_;
  std::vector<Lendable> lendable_;                // by cohort
  std::vector<FlavorResourceId> by_resource_;     // all pairs, those of one resource side by side
  std::vector<Amount> changes_;                   // by flavor-resource; zero between calls
};

}  // namespace berth::engine
