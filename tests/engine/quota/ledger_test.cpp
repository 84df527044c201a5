#include "engine/quota/ledger.h"

#include <gtest/gtest.h>

namespace berth::engine::ledger_test {
namespace {

Amount n(std::int64_t v) { return Amount::of(v); }
const FlavorResourceId kCpu(0), kMemory(1);

Quota quota(std::int64_t nominal, std::int64_t borrowing = -1, std::int64_t lending = -1) {
  Quota q{n(nominal)};
  if (borrowing >= 0) q.borrowing_limit = n(borrowing);
  if (lending >= 0) q.lending_limit = n(lending);
  return q;
}
std::vector<QuotaEntry> cpu(std::int64_t nominal, std::int64_t borrowing = -1, std::int64_t lending = -1) {
  return {{kCpu, quota(nominal, borrowing, lending)}};
}
Usage uses(std::int64_t amount) { return {{kCpu, n(amount)}}; }

TEST(Ledger, BorrowsAndLendsWithinLimits) {
  Ledger ledger;
  QuotaNodeId a = ledger.set_cluster_queue("a", "root", cpu(10, 3, 4));
  QuotaNodeId b = ledger.set_cluster_queue("b", "root", cpu(10));
  QuotaNodeId root = ledger.find_cohort("root");
  EXPECT_EQ(ledger.subtree_quota(a, kCpu), n(10));
  EXPECT_EQ(ledger.subtree_quota(root, kCpu), n(14));
  EXPECT_EQ(ledger.local_quota(a, kCpu), n(6));
  EXPECT_EQ(ledger.local_quota(b, kCpu), n(0));
  EXPECT_EQ(ledger.potential_available(a, kCpu), n(13));
  EXPECT_EQ(ledger.potential_available(b, kCpu), n(14));
  EXPECT_EQ(ledger.available(root, kCpu), n(14));
  EXPECT_EQ(ledger.available(a, kCpu), n(13));
  EXPECT_EQ(ledger.available(b, kCpu), n(14));

  ledger.take(WorkloadId(0), a, uses(8));
  EXPECT_EQ(ledger.usage(root, kCpu), n(2));
  EXPECT_EQ(ledger.available(root, kCpu), n(12));
  EXPECT_EQ(ledger.available(a, kCpu), n(5));
  EXPECT_EQ(ledger.available(b, kCpu), n(12));

  ledger.take(WorkloadId(1), b, uses(12));
  EXPECT_EQ(ledger.usage(root, kCpu), n(14));
  EXPECT_EQ(ledger.available(a, kCpu), n(0));
  EXPECT_EQ(ledger.available(b, kCpu), n(0));
  EXPECT_EQ(ledger.borrowed(b, kCpu), n(2));

  ledger.take(WorkloadId(0), a, uses(3));
  EXPECT_EQ(ledger.usage(root, kCpu), n(12));
  EXPECT_EQ(ledger.usage(a, kCpu), n(3));
  EXPECT_TRUE(ledger.check().empty());
}

TEST(Ledger, BorrowingLevelIsTheHeightOfTheLowestSubtreeThatFits) {
  Ledger ledger;
  ledger.set_cohort("root", "", {});
  ledger.set_cohort("mid", "root", {});
  QuotaNodeId x = ledger.set_cluster_queue("x", "mid", cpu(4));
  ledger.set_cluster_queue("y", "mid", cpu(4));
  ledger.set_cluster_queue("z", "root", cpu(4));
  auto level = [&](std::int64_t v) { return ledger.lowest_subtree_that_fits(x, kCpu, n(v)); };
  EXPECT_EQ(level(4).height, 0);
  EXPECT_EQ(level(5).height, 1);
  EXPECT_TRUE(level(5).smaller_than_tree);
  EXPECT_EQ(level(9).height, 2);
  EXPECT_FALSE(level(9).smaller_than_tree);
  EXPECT_EQ(level(13).height, 2);
  EXPECT_FALSE(level(13).smaller_than_tree);
  QuotaNodeId lone = ledger.set_cluster_queue("lone", "", cpu(4));
  EXPECT_EQ(ledger.lowest_subtree_that_fits(lone, kCpu, n(9)).height, 0);
  EXPECT_FALSE(ledger.lowest_subtree_that_fits(lone, kCpu, n(2)).smaller_than_tree);
}

TEST(Ledger, KnowsTheTopmostThatBorrowsAsFarUpAsUsageCounts) {
  Ledger ledger;
  ledger.set_cohort("root", "", cpu(20));
  const QuotaNodeId mid = ledger.set_cohort("mid", "root", cpu(2, -1, 4));
  const QuotaNodeId x = ledger.set_cluster_queue("x", "mid", cpu(2)), y = ledger.set_cluster_queue("y", "mid", cpu(4));
  const auto top = [&] { return ledger.topmost_borrower(x, kCpu); };
  ledger.take(WorkloadId(0), x, uses(2));
  EXPECT_FALSE(top().valid());
  ledger.take(WorkloadId(1), x, uses(1));
  EXPECT_EQ(top(), x);
  ledger.take(WorkloadId(2), y, uses(6));
  EXPECT_EQ(top(), mid);
  ledger.give_back(WorkloadId(0));
  EXPECT_FALSE(top().valid());
  EXPECT_EQ(ledger.topmost_borrower(y, kCpu), y);
}

TEST(Ledger, CycleMakesItsWholeTreeInactiveUntilItIsBroken) {
  Ledger ledger;
  QuotaNodeId queue = ledger.set_cluster_queue("q", "leaf", cpu(1));
  ledger.set_cohort("leaf", "one", {});
  ledger.set_cohort("one", "two", cpu(5));
  EXPECT_FALSE(ledger.in_cycle(queue));
  EXPECT_EQ(ledger.available(queue, kCpu), n(6));
  ledger.set_cohort("two", "one", {});
  EXPECT_TRUE(ledger.in_cycle(queue));
  EXPECT_FALSE(ledger.root(queue).valid());
  ledger.take(WorkloadId(0), queue, uses(3));
  EXPECT_TRUE(ledger.check().empty());
  ledger.set_cohort("two", "", cpu(7));
  EXPECT_FALSE(ledger.in_cycle(queue));
  EXPECT_EQ(ledger.path(queue), "/two/one/leaf/q");
  EXPECT_EQ(ledger.available(queue, kCpu), n(10));
  EXPECT_TRUE(ledger.check().empty());
}

TEST(Ledger, CohortIsImplicitWhileNamed) {
  Ledger ledger;
  QuotaNodeId queue = ledger.set_cluster_queue("q", "team", cpu(1));
  EXPECT_TRUE(ledger.find_cohort("team").valid());
  EXPECT_FALSE(ledger.exists(ledger.find_cohort("team")));
  ledger.set_cohort("team", "", cpu(2));
  EXPECT_EQ(ledger.available(queue, kCpu), n(3));
  ledger.remove_cohort("team");
  EXPECT_EQ(ledger.available(queue, kCpu), n(1));
  ledger.set_cluster_queue("q", "", cpu(1));
  EXPECT_FALSE(ledger.find_cohort("team").valid());
}

TEST(Ledger, ClaimsOutliveTheirQueue) {
  Ledger ledger;
  QuotaNodeId queue = ledger.set_cluster_queue("q", "team", cpu(5));
  ledger.set_cluster_queue("r", "team", cpu(5));
  ledger.take(WorkloadId(7), queue, uses(6));
  EXPECT_EQ(ledger.available(ledger.find_cluster_queue("r"), kCpu), n(4));
  ledger.remove_cluster_queue("q");
  EXPECT_EQ(ledger.find_cluster_queue("q"), queue);
  EXPECT_EQ(ledger.available(ledger.find_cluster_queue("r"), kCpu), n(5));
  EXPECT_EQ(ledger.set_cluster_queue("q", "team", cpu(5)), queue);
  EXPECT_EQ(ledger.available(ledger.find_cluster_queue("r"), kCpu), n(4));
  ledger.remove_cluster_queue("q");
  ledger.give_back(WorkloadId(7));
  EXPECT_FALSE(ledger.find_cluster_queue("q").valid());
  EXPECT_EQ(ledger.claims(), 0u);
  EXPECT_TRUE(ledger.check().empty());
}

TEST(Ledger, TrialRollsBackExactly) {
  Ledger ledger;
  QuotaNodeId a = ledger.set_cluster_queue("a", "root", cpu(4));
  QuotaNodeId b = ledger.set_cluster_queue("b", "root", cpu(4));
  ledger.take(WorkloadId(0), a, uses(6));
  {
    Ledger::Trial trial(ledger);
    trial.without(WorkloadId(0));
    trial.without(WorkloadId(0));
    EXPECT_EQ(ledger.available(b, kCpu), n(8));
    trial.with(b, uses(5));
    EXPECT_EQ(ledger.available(a, kCpu), n(3));
    {
      Ledger::Trial inner(ledger);
      inner.again(WorkloadId(0));
      EXPECT_EQ(ledger.available(b, kCpu), n(0));
    }
    EXPECT_EQ(ledger.available(a, kCpu), n(3));
  }
  EXPECT_EQ(ledger.available(b, kCpu), n(2));
  EXPECT_TRUE(ledger.check().empty());
}

TEST(Ledger, HoldsCountUntilDropped) {
  Ledger ledger;
  QuotaNodeId a = ledger.set_cluster_queue("a", "root", cpu(4));
  QuotaNodeId b = ledger.set_cluster_queue("b", "root", cpu(4));
  ledger.hold(a, uses(5));
  EXPECT_EQ(ledger.available(b, kCpu), n(3));
  ledger.take(WorkloadId(0), b, uses(3));
  EXPECT_TRUE(ledger.check().empty());
  ledger.drop_holds();
  EXPECT_EQ(ledger.available(a, kCpu), n(5));
  EXPECT_TRUE(ledger.check().empty());
}

TEST(Ledger, AbsurdAmountsSaturateAndAreForgottenWhenReturned) {
  Ledger ledger;
  QuotaNodeId a = ledger.set_cluster_queue("a", "root", cpu(4));
  QuotaNodeId b = ledger.set_cluster_queue("b", "root", cpu(4));
  ledger.take(WorkloadId(0), a, uses(std::numeric_limits<std::int64_t>::max() - 1));
  ledger.take(WorkloadId(1), a, uses(std::numeric_limits<std::int64_t>::max() - 1));
  ledger.take(WorkloadId(2), b, uses(3));
  EXPECT_EQ(ledger.available(b, kCpu), n(0));
  EXPECT_TRUE(ledger.check().empty());
  ledger.give_back(WorkloadId(0));
  EXPECT_TRUE(ledger.check().empty());
  ledger.give_back(WorkloadId(1));
  EXPECT_EQ(ledger.available(a, kCpu), n(5));
  EXPECT_TRUE(ledger.check().empty());
}

TEST(Ledger, ReportsWhereSomethingGotFreer) {
  Ledger ledger;
  QuotaNodeId a = ledger.set_cluster_queue("a", "root", cpu(10, -1, 4));
  QuotaNodeId root = ledger.find_cohort("root");
  ledger.take(WorkloadId(0), a, uses(5));
  ledger.take(WorkloadId(1), a, uses(4));
  ledger.take_reliefs();
  ledger.give_back(WorkloadId(0));
  EXPECT_EQ(ledger.take_reliefs(), (std::vector<Relief>{{root, kCpu}}));
  ledger.give_back(WorkloadId(1));  // it used only the queue's own quota
  EXPECT_EQ(ledger.take_reliefs(), (std::vector<Relief>{{a, kCpu}}));
}

TEST(Ledger, RepeatedAndZeroAmountsOfAClaimAreTidied) {
  Ledger ledger;
  QuotaNodeId a = ledger.set_cluster_queue("a", "", cpu(10));
  ledger.take(WorkloadId(0), a, {{kCpu, n(2)}, {kMemory, n(0)}, {kCpu, n(3)}});
  EXPECT_EQ(ledger.claim(WorkloadId(0))->usage, uses(5));
  EXPECT_EQ(ledger.usage(a, kCpu), n(5));
}

}  // namespace
}  // namespace berth::engine::ledger_test
