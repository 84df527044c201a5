#include "engine/quota/fair_share.h"
#include "support/sanitized.h"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <limits>
#include <random>

namespace berth::engine::fair_share_test {
namespace {

using Rational = boost::multiprecision::cpp_rational;

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
Amount n(std::int64_t v) { return Amount::of(v); }
FairWeight weight(std::string_view text) { return Quantity::parse(text).value().fraction(); }

// Two flavors of cpu and one of memory.
struct Tree {
  Names names;
  Ledger ledger;
  Shares shares{ledger, names};
  FlavorResourceId spot_cpu = names.pair(names.flavor("spot"), names.resource("cpu"));
  FlavorResourceId memory = names.pair(names.flavor("spot"), names.resource("memory"));
  FlavorResourceId fixed_cpu = names.pair(names.flavor("fixed"), names.resource("cpu"));
  std::size_t workloads = 0;

  void uses(QuotaNodeId queue, Usage usage) { ledger.take(WorkloadId(workloads++), queue, std::move(usage)); }
  QuotaNodeId queue(const std::string& name, const std::string& cohort, std::vector<QuotaEntry> quotas) {
    return ledger.set_cluster_queue(name, cohort, quotas);
  }
};

// The lendable amount excludes what a lending limit keeps back (KEP-1714).
TEST(FairShare, IsBorrowedByLendableInThousandthsRoundedUp) {
  Tree tree;
  const QuotaNodeId a = tree.queue("a", "root", {{tree.spot_cpu, {n(10), n(3), n(4)}}});
  const QuotaNodeId b = tree.queue("b", "root", {{tree.spot_cpu, {n(10)}}});
  tree.uses(a, {{tree.spot_cpu, n(8)}});
  tree.uses(b, {{tree.spot_cpu, n(12)}});
  EXPECT_FALSE(tree.shares.of(a).borrows());
  EXPECT_EQ(tree.shares.of(a).weighted_share(), 0);
  EXPECT_EQ(tree.shares.of(b).weighted_share(), 143);  // 2 * 1000 / 14
  EXPECT_EQ(tree.shares.of(b).borrowed() * 7, tree.shares.of(b).lendable());
  EXPECT_EQ(tree.shares.of(b), FairShare(1, 7, weight("1")));
  tree.ledger.set_weight(b, weight("0.5"));
  EXPECT_EQ(tree.shares.of(b).weighted_share(), 286);
  tree.ledger.set_weight(b, weight("3"));
  EXPECT_EQ(tree.shares.of(b).weighted_share(), 48);
}

TEST(FairShare, SumsFlavorsAndTakesTheLargestResource) {
  Tree tree;
  const QuotaNodeId a =
      tree.queue("a", "root", {{tree.spot_cpu, {n(1)}}, {tree.fixed_cpu, {n(5)}}, {tree.memory, {n(2)}}});
  tree.queue("lender", "root", {{tree.spot_cpu, {n(9)}}, {tree.fixed_cpu, {n(5)}}, {tree.memory, {n(8)}}});
  // Unused quota of one flavor does not compensate for borrowing of another.
  tree.uses(a, {{tree.spot_cpu, n(3)}, {tree.fixed_cpu, n(2)}, {tree.memory, n(3)}});
  EXPECT_EQ(tree.shares.of(a).weighted_share(), 100);  // cpu 2 of 20, memory 1 of 10
  tree.uses(a, {{tree.fixed_cpu, n(5)}});
  EXPECT_EQ(tree.shares.of(a).weighted_share(), 200);  // cpu (2 + 2) of 20
  tree.uses(a, {{tree.memory, n(2)}});
  EXPECT_EQ(tree.shares.of(a).weighted_share(), 300);  // memory 3 of 10
}

TEST(FairShare, OfACohortIsWhatItsSubtreeBorrows) {
  Tree tree;
  tree.ledger.set_cohort("mid", "root", {});
  const QuotaNodeId x = tree.queue("x", "mid", {{tree.spot_cpu, {n(2)}}});
  tree.queue("y", "mid", {{tree.spot_cpu, {n(3)}}});
  tree.queue("z", "root", {{tree.spot_cpu, {n(15)}}});
  tree.uses(x, {{tree.spot_cpu, n(7)}});
  EXPECT_EQ(tree.shares.of(x).weighted_share(), 250);                               // 5 of the 20 that mid can have
  EXPECT_EQ(tree.shares.of(tree.ledger.find_cohort("mid")).weighted_share(), 100);  // 2 of 20
  EXPECT_EQ(tree.shares.of(tree.ledger.find_cohort("root")).weighted_share(), 0);   // no parent lends to it
  const FlavorResourceAmount less{tree.spot_cpu, n(-2)};
  EXPECT_FALSE(tree.shares.with(tree.ledger.find_cohort("mid"), {&less, 1}).borrows());
  EXPECT_EQ(tree.shares.of(tree.ledger.find_cohort("mid")).weighted_share(), 100);  // with() left no trace
}

TEST(FairShare, FollowsConfiguration) {
  Tree tree;
  const QuotaNodeId a = tree.queue("a", "root", {{tree.spot_cpu, {n(0)}}});
  tree.queue("b", "root", {{tree.spot_cpu, {n(4)}}});
  tree.uses(a, {{tree.spot_cpu, n(1)}});
  EXPECT_EQ(tree.shares.of(a).weighted_share(), 250);
  tree.queue("b", "root", {{tree.spot_cpu, {n(8)}}});
  EXPECT_EQ(tree.shares.of(a).weighted_share(), 125);
  tree.queue("c", "root", {{tree.spot_cpu, {n(2)}}});
  EXPECT_EQ(tree.shares.of(a).weighted_share(), 100);
  tree.ledger.remove_cluster_queue("b");
  EXPECT_EQ(tree.shares.of(a).weighted_share(), 500);
  tree.ledger.set_weight(a, weight("2"));
  EXPECT_EQ(tree.shares.of(a).weighted_share(), 250);
  tree.ledger.remove_cluster_queue("a");
  EXPECT_EQ(tree.ledger.weight(a), weight("1"));
  EXPECT_EQ(tree.shares.of(a).weighted_share(), 0);
}

TEST(FairShare, WithoutWeightIsInfiniteOnceItBorrows) {
  const FairShare small(1, 1000, weight("0")), large(2, 1000, weight("0")), huge(kLargest, 1, weight("2n"));
  EXPECT_EQ(small.weighted_share(), kLargest);
  EXPECT_GT(small, huge);
  EXPECT_LT(small, large);  // infinite shares compare by borrowed / lendable
  EXPECT_EQ(small, FairShare(2, 2000, weight("0")));
  EXPECT_EQ(FairShare(), FairShare(0, 1, weight("0.3")));
  EXPECT_LT(FairShare(), small);
  EXPECT_EQ(huge.weighted_share(), kLargest);
  EXPECT_LT(FairShare(0, 1, weight("1")), FairShare(1, kLargest, weight("9e12")));
}

TEST(FairShare, WhatIsUnlimitedIsNotScarce) {
  Tree tree;
  tree.ledger.set_cohort("root", "", {}, true);
  const QuotaNodeId a = tree.queue("a", "root", {{tree.spot_cpu, {n(0)}}});
  tree.uses(a, {{tree.spot_cpu, n(1'000'000)}});
  EXPECT_TRUE(tree.shares.of(a).borrows());
  EXPECT_EQ(tree.shares.of(a).weighted_share(), 0);
}

TEST(FairShareProperty, ComparesAsRationalsDo) {
  std::mt19937_64 random(1);
  const auto number = [&](int bits) {
    return static_cast<std::int64_t>(random() >> (64 - 1 - random() % static_cast<unsigned>(bits)));
  };
  const auto exact = [](std::int64_t borrowed, std::int64_t lendable, FairWeight w) {
    return Rational(borrowed, lendable) / (w.numerator == 0 ? Rational(1) : Rational(w.numerator, w.denominator));
  };
  for (int i = 0; i < 200'000 / testing_support::kFewer; ++i) {
    const int bits = i % 2 == 0 ? 63 : 4;
    std::int64_t borrowed[2], lendable[2];
    FairWeight weights[2];
    for (int k = 0; k < 2; ++k) {
      borrowed[k] = number(bits) | 1;
      lendable[k] = number(bits) | 1;
      weights[k] = i % 3 == 0 ? FairWeight{static_cast<std::uint64_t>(number(bits)) | 1, 1 + random() % 1'000'000'000}
                              : weight("1");
    }
    if (i % 5 == 0) {  // nearly equal shares
      borrowed[1] = borrowed[0];
      lendable[1] = std::max<std::int64_t>(1, lendable[0] - static_cast<std::int64_t>(random() % 2));
      weights[1] = weights[0];
    }
    const FairShare a(borrowed[0], lendable[0], weights[0]), b(borrowed[1], lendable[1], weights[1]);
    const Rational x = exact(borrowed[0], lendable[0], weights[0]), y = exact(borrowed[1], lendable[1], weights[1]);
    ASSERT_EQ(a < b, x < y) << i;
    ASSERT_EQ(a == b, x == y) << i;
    const Rational thousandths = x * 1000;
    const boost::multiprecision::cpp_int up =
        (numerator(thousandths) + denominator(thousandths) - 1) / denominator(thousandths);
    ASSERT_EQ(a.weighted_share(), up > kLargest ? kLargest : static_cast<std::int64_t>(up)) << i;
  }
}

// The rules implemented again, for a whole tree, from claims and quotas only.
class NaiveShares {
 public:
  explicit NaiveShares(const Tree& tree) : tree_(tree) {}
  Rational of(QuotaNodeId node) const {
    const QuotaNodeId parent = tree_.ledger.parent(node);
    if (!parent.valid()) return 0;
    Rational most = 0;
    for (const char* resource : {"cpu", "memory"}) {
      std::int64_t borrowed = 0, lendable = 0;
      for (std::size_t i = 0; i < tree_.names.pairs(); ++i) {
        const FlavorResourceId id(i);
        if (tree_.names.name(tree_.names.resource_of(id)) != resource) continue;
        borrowed += std::max<std::int64_t>(
            0, tree_.ledger.usage(node, id).count() - tree_.ledger.subtree_quota(node, id).count());
        lendable += tree_.ledger.potential_available(parent, id).count();
      }
      if (lendable > 0) most = std::max(most, Rational(borrowed, lendable));
    }
    const FairWeight w = tree_.ledger.weight(node);
    return most * w.denominator / w.numerator;
  }

 private:
  const Tree& tree_;
};

TEST(FairShareProperty, EqualsTheFormulaInTreesThatChange) {
  for (unsigned seed = 0; seed < 2000 / testing_support::kFewer; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    Tree tree;
    const std::vector<std::string> cohorts{"root", "left", "right", "deep"}, parents{"", "root", "root", "left"};
    const auto quota = [&] {
      return Quota{n(pick(0, 9)), pick(0, 1) ? Amount::unlimited() : n(pick(0, 5)),
                   pick(0, 1) ? Amount::unlimited() : n(pick(0, 5))};
    };
    const auto quotas = [&] {
      return std::vector<QuotaEntry>{{tree.spot_cpu, quota()}, {tree.fixed_cpu, quota()}, {tree.memory, quota()}};
    };
    for (int step = 0; step < 12; ++step) {
      const auto at = static_cast<std::size_t>(pick(0, 3));
      if (pick(0, 3) == 0)
        tree.ledger.set_cohort(cohorts[at], parents[at], at == 0 ? std::vector<QuotaEntry>{} : quotas());
      const QuotaNodeId queue =
          tree.queue("q" + std::to_string(pick(0, 4)), cohorts[static_cast<std::size_t>(pick(0, 3))], quotas());
      if (pick(0, 1))
        tree.ledger.set_weight(queue, {static_cast<std::uint64_t>(pick(1, 4)), static_cast<std::uint64_t>(pick(1, 4))});
      tree.uses(queue, {{tree.spot_cpu, n(pick(0, 9))}, {tree.fixed_cpu, n(pick(0, 9))}, {tree.memory, n(pick(0, 9))}});
      std::vector<std::pair<FairShare, Rational>> all;
      const NaiveShares naive(tree);
      for (QuotaNodeId node : tree.ledger.cluster_queues()) all.emplace_back(tree.shares.of(node), naive.of(node));
      for (const std::string& cohort : cohorts) {
        if (const QuotaNodeId node = tree.ledger.find_cohort(cohort); node.valid())
          all.emplace_back(tree.shares.of(node), naive.of(node));
      }
      for (const auto& a : all) {
        for (const auto& b : all)
          ASSERT_EQ(a.first < b.first, a.second < b.second) << "seed " << seed << " step " << step;
      }
    }
  }
}

}  // namespace
}  // namespace berth::engine::fair_share_test
