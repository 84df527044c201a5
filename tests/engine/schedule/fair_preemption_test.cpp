// Victims under fair sharing: examples computed by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/schedule/house.h"

namespace berth::engine::fair_preemption_test {
namespace {

using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;

FairSharing rules(bool final_share = true, bool initial_share = true) { return {true, final_share, initial_share}; }

// Three queues with a quota of 2 each; queue a may reclaim from any workload.
struct Team : House {
  explicit Team(FairSharing by = rules()) : House(by) { config.reclaim_within_cohort = ReclaimWithinCohort::kAny; }
  std::vector<Target> wants(std::int64_t cpu, int priority = 0) {
    const FlavorResourceAmount usage{kCpu, n(cpu)};
    return preemption.targets({a, &config, priority, second(99)}, {&kCpu, 1}, {&usage, 1});
  }
  QueueConfig config;
  QuotaNodeId a = queue("a", "team", 2), b = queue("b", "team", 2), c = queue("c", "team", 2);
};

std::vector<Target> all_of(const std::vector<WorkloadId>& workloads, PreemptionReason reason) {
  std::vector<Target> out;
  for (const WorkloadId each : workloads) out.push_back({each, reason});
  return out;
}

TEST(FairPreemption, TakesAsLongAsTheOtherKeepsAtLeastAsMuch) {
  Team team;
  std::vector<WorkloadId> late;
  for (int i = 0; i < 6; ++i) late.insert(late.begin(), team.runs(team.b, 1, 0, i));
  late.resize(3);
  // b borrows 4 of 6. With 3 cpu, a would borrow 1; so does b after three victims.
  EXPECT_EQ(team.wants(3), all_of(late, PreemptionReason::kInCohortFairSharing));
  // With 4 cpu, a would borrow 2, and b only 1 after the third victim; before it, both 2.
  EXPECT_EQ(team.wants(4), std::vector<Target>());
  team.ledger.set_weight(team.a, {2, 1});
  // half the share, 1/6, equals b's after three victims; b's after the fourth is 0
  EXPECT_EQ(team.wants(4), std::vector<Target>());
  team.ledger.set_weight(team.a, {3, 1});
  // 1/9: the fourth is refused at first, then chosen because of b's share of 1/6 before it
  EXPECT_EQ(team.wants(4).size(), 4u);
  EXPECT_EQ(team.wants(5), std::vector<Target>());
  EXPECT_TRUE(team.ledger.check().empty());
}

// While a's own workloads count, its share is not smaller than b's, so b is refused; once they are gone, it is. Of 12
// cpu a runs 4 and b 8; a wants 6.
TEST(FairPreemption, TriesOthersAgainOnceItsOwnAreGone) {
  for (const FairSharing& by : {rules(), rules(true, false), rules(false, true)}) {
    for (const std::int64_t nominal : {0, 6}) {
      House house(by);
      house.ledger.set_cohort("team", "", std::vector<QuotaEntry>{{kCpu, {n(12 - 2 * nominal)}}});
      const QuotaNodeId a = house.queue("a", "team", nominal), b = house.queue("b", "team", nominal);
      std::set<WorkloadId> own;
      for (int i = 0; i < 4; ++i) own.insert(house.runs(a, 1, 0, i));
      for (int i = 0; i < 8; ++i) house.runs(b, 1, 0, i);
      QueueConfig config;
      config.reclaim_within_cohort = ReclaimWithinCohort::kAny;
      config.within_cluster_queue = WithinClusterQueue::kLowerPriority;
      const std::vector<WorkloadId> victims = house.victims({a, &config, 5, second(99)}, 6);
      EXPECT_EQ(victims.size(), 6u);
      EXPECT_EQ(std::ranges::count_if(victims, [&](WorkloadId each) { return own.contains(each); }), 4);
      EXPECT_TRUE(house.ledger.check().empty());
    }
  }
}

TEST(FairPreemption, TakesBackUnconditionallyWithinNominal) {
  Team team;
  const WorkloadId big = team.runs(team.b, 6, 9, 1);
  EXPECT_EQ(team.wants(2), all_of({big}, PreemptionReason::kInCohortReclamation));
  FairSharing by_share_alone = rules(true, false);
  by_share_alone.preempt_within_nominal = false;
  Team other(by_share_alone);
  const WorkloadId borrower = other.runs(other.b, 6, 9, 1);
  EXPECT_EQ(other.wants(2), all_of({borrower}, PreemptionReason::kInCohortFairSharing));  // 0 is not more than 0
}

TEST(FairPreemption, TheSecondStrategyComparesWithWhatWas) {
  for (const bool second_strategy : {false, true}) {
    Team team(rules(true, second_strategy));
    const WorkloadId big = team.runs(team.b, 6, 0, 1);
    // a would borrow 1 and b nothing afterwards: refused. Before, b borrowed 4.
    EXPECT_EQ(team.wants(3),
              second_strategy ? all_of({big}, PreemptionReason::kInCohortFairSharing) : std::vector<Target>());
  }
  Team team(rules(false, true));
  team.runs(team.b, 3, 0, 1);
  const WorkloadId later = team.runs(team.b, 3, 0, 2);
  EXPECT_EQ(team.wants(3), all_of({later}, PreemptionReason::kInCohortFairSharing));
  EXPECT_EQ(team.wants(5), std::vector<Target>());  // would borrow 3 where b, after its first victim, borrows 1
}

TEST(FairPreemption, LooksAtWhoHasTheLargestShare) {
  Team team;
  const WorkloadId of_b = team.runs(team.b, 3, 0, 1);
  const WorkloadId of_c = team.runs(team.c, 1, 5, 2), also_c = team.runs(team.c, 3, 9, 3);
  team.ledger.set_cohort("team", "", std::vector<QuotaEntry>{{kCpu, {n(1)}}});
  // c borrows 2 of 7 and b 1 of 7. After c's first victim both borrow 1, and b's workload comes before c's other one.
  EXPECT_EQ(team.wants(1), all_of({of_c}, PreemptionReason::kInCohortReclamation));
  // b's workload alone is enough: c's is put back
  EXPECT_EQ(team.wants(2), all_of({of_b}, PreemptionReason::kInCohortReclamation));
  team.config.reclaim_within_cohort = ReclaimWithinCohort::kLowerPriority;
  // c's workloads have no lower priority than 5
  EXPECT_EQ(team.wants(1, 5), all_of({of_b}, PreemptionReason::kInCohortReclamation));
  team.ledger.set_weight(team.b, {0, 1});
  team.config.reclaim_within_cohort = ReclaimWithinCohort::kAny;
  EXPECT_EQ(team.wants(1), all_of({of_b}, PreemptionReason::kInCohortReclamation));  // with weight 0, b comes first
  EXPECT_TRUE(team.slots.known(also_c));
}

TEST(FairPreemption, TheOwnQueueIsOneOfThem) {
  Team team;
  team.config.within_cluster_queue = WithinClusterQueue::kLowerPriority;
  const WorkloadId own = team.runs(team.a, 3, 0, 1);
  const WorkloadId of_b = team.runs(team.b, 3, 0, 2);
  // With 3 more, a would borrow 4 and b borrows 1: the victim is a's own workload.
  EXPECT_EQ(team.wants(3, 1), all_of({own}, PreemptionReason::kInClusterQueue));
  // With 1 more it borrows 2, like b with weight 1/2. At equal shares other queues come first, but then b would
  // borrow nothing.
  team.ledger.set_weight(team.b, {1, 2});
  EXPECT_EQ(team.wants(1, 1), all_of({own}, PreemptionReason::kInClusterQueue));
  EXPECT_TRUE(team.slots.known(of_b));
}

TEST(FairPreemption, SharesAreComparedWhereThePathsMeet) {
  House house(rules());
  QueueConfig config;
  config.reclaim_within_cohort = ReclaimWithinCohort::kAny;
  house.ledger.set_cohort("ours", "root", {});
  house.ledger.set_cohort("theirs", "root", {});
  const QuotaNodeId a = house.queue("a", "ours", 0), b = house.queue("b", "ours", 3), c = house.queue("c", "theirs", 0);
  house.queue("lender", "theirs", 3);
  const WorkloadId of_c1 = house.runs(c, 2, 0, 1), of_c2 = house.runs(c, 2, 0, 2), of_b = house.runs(b, 2, 0, 3);
  // 6 cpu in total, all used. c borrows 4, but its cohort only 1. a wants 1: its own cohort would be at 3 of 3, the
  // other has a share of 1/6, which one victim reduces to 0. 0 <= 0.
  const FlavorResourceAmount usage{kCpu, n(1)};
  const Preemptor preemptor{a, &config, 0, second(9)};
  EXPECT_EQ(house.preemption.targets(preemptor, {&kCpu, 1}, {&usage, 1}),
            all_of({of_c2}, PreemptionReason::kInCohortFairSharing));
  // With b's second workload, a's cohort is above 3 with any further usage: 2/6 is more than 0.
  house.runs(b, 2, 0, 4);
  const FlavorResourceAmount more{kCpu, n(2)};
  EXPECT_EQ(house.preemption.targets(preemptor, {&kCpu, 1}, {&more, 1}).size(), 0u);
  EXPECT_TRUE(house.slots.known(of_c1) && house.slots.known(of_b));
}

}  // namespace
}  // namespace berth::engine::fair_preemption_test
