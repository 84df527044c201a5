// Kueue's dominant resource share (KEP-1714): how much a cluster queue or cohort borrows of what can be lent to it,
// divided by its weight. Computed exactly.
//
// For each resource, summed over all flavors: usage above the subtree quota, divided by the most that the parent
// could have. The largest of these ratios divided by the weight is the share; without a parent the share is zero.
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
  FairShare() = default;  // borrows nothing
  // Borrows `borrowed` of at most `lendable` of the dominant resource, both positive. 0 of 1: borrows only resources
  // that are unlimited or that the parent can never have.
  FairShare(std::int64_t borrowed, std::int64_t lendable, FairWeight weight);

  bool borrows() const { return borrows_; }
  // weight 0; two infinite shares compare by borrowed / lendable
  bool infinite() const { return borrows_ && weight_.numerator == 0; }
  // In thousandths, rounded up (status.fairSharing.weightedShare). INT64_MAX when infinite or too large.
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

// The shares of cluster queues and cohorts in a ledger. Caches what each cohort can lend, which only configuration
// changes.
class Shares {
 public:
  Shares(const Ledger& ledger, const Names& names) : ledger_(ledger), names_(names) {}

  FairShare of(QuotaNodeId node) { return with(node, {}); }
  // As if the usage were changed by these amounts; negative amounts reduce it.
  FairShare with(QuotaNodeId node, std::span<const FlavorResourceAmount> changes);

 private:
  struct Lendable {
    std::uint64_t configuration = 0;
    std::size_t pairs = 0;
    std::vector<Amount> amounts;  // by resource
  };
  const std::vector<Amount>& lendable(QuotaNodeId cohort);
  void sort_pairs();

  const Ledger& ledger_;
  const Names& names_;
  std::vector<Lendable> lendable_;             // by cohort
  std::vector<FlavorResourceId> by_resource_;  // all pairs, grouped by resource
  std::vector<Amount> changes_;                // by flavor-resource; zero between calls
};

}  // namespace berth::engine
