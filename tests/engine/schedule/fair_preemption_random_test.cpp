// Victims under fair sharing in small random trees, against a plain implementation.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/schedule/house.h"
#include "engine/schedule/naive_fair.h"
#include "support/sanitized.h"

namespace berth::engine::fair_preemption_random_test {
namespace {

using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;
using naive_fair::Naive;

struct RandomHouse : House {
  explicit RandomHouse(unsigned seed)
      : House(FairSharing{true, seed % 5 != 0, seed % 5 == 0 || seed % 3 != 0, seed % 7 != 0}), random(seed) {
    const std::vector<std::string> cohorts{"", "root", "left", "right", "deep"};
    const auto limits = [&](int most) {
      return Quota{n(pick(0, most)), pick(0, 2) ? Amount::unlimited() : n(pick(0, 6)),
                   pick(0, 2) ? Amount::unlimited() : n(pick(0, 6))};
    };
    ledger.set_cohort("left", "root", std::vector<QuotaEntry>{{kCpu, limits(3)}});
    ledger.set_cohort("right", "root", std::vector<QuotaEntry>{{kMemory, limits(3)}});
    if (pick(0, 1)) ledger.set_cohort("deep", "left", std::vector<QuotaEntry>{{kCpu, limits(2)}});
    for (const char* cohort : {"left", "right", "deep"}) {
      if (const QuotaNodeId node = ledger.find_cohort(cohort); node.valid()) weigh(node);
    }
    for (int i = 0; i < 6; ++i) {
      const std::string name = "q" + std::to_string(i);
      const std::string& cohort = cohorts[static_cast<std::size_t>(pick(i == 0 && pick(0, 9) == 0 ? 0 : 1, 4))];
      queues.push_back(queue(name, cohort, 0));
      ledger.set_cluster_queue(name, cohort, std::vector<QuotaEntry>{{kCpu, limits(5)}, {kMemory, limits(5)}});
      weigh(queues.back());
    }
    for (int i = pick(4, 16); i-- > 0;)
      runs(queues[static_cast<std::size_t>(pick(0, 5))], pick(0, 4), pick(0, 3), pick(0, 5), pick(0, 5) == 0,
           pick(0, 3));
    config.within_cluster_queue = static_cast<WithinClusterQueue>(pick(0, 2));
    config.reclaim_within_cohort = static_cast<ReclaimWithinCohort>(pick(0, 4) ? 2 : pick(0, 1));
    preemptor = {queues[0], &config, pick(0, 4), second(pick(0, 6))};
    usage = {{kCpu, n(pick(1, 8))}};
    if (pick(0, 1)) usage.push_back({kMemory, n(pick(1, 6))});
    for (const auto& each : usage) {
      if (each.amount > ledger.available(queues[0], each.id)) ids.push_back(each.id);
    }
  }
  void weigh(QuotaNodeId node) {
    if (pick(0, 1))
      ledger.set_weight(node, {static_cast<std::uint64_t>(pick(0, 3)), static_cast<std::uint64_t>(pick(1, 2))});
  }
  int pick(int low, int high) { return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1)); }
  std::mt19937 random;
  std::vector<QuotaNodeId> queues;
  QueueConfig config;
  Preemptor preemptor;
  Usage usage;
  std::vector<FlavorResourceId> ids;
};

TEST(FairPreemptionProperty, EqualsTheRulesWrittenPlainly) {
  int found = 0;
  std::set<PreemptionReason> reasons;
  for (unsigned seed = 0; seed < 20000 / testing_support::kFewer; ++seed) {
    RandomHouse house(seed);
    if (house.ids.empty() || !house.config.preempts()) continue;
    const auto targets = house.preemption.targets(house.preemptor, house.ids, house.usage);
    ASSERT_EQ(targets, Naive(house, house.preemptor, house.ids, house.usage).targets()) << "seed " << seed;
    ASSERT_TRUE(house.ledger.check().empty()) << "seed " << seed;
    found += targets.empty() ? 0 : 1;
    for (const Target& each : targets) reasons.insert(each.reason);
    // The victims are enough, and each is needed.
    if (targets.empty()) continue;
    Ledger::Trial trial(house.ledger);
    for (const Target& each : targets) trial.without(each.workload);
    ASSERT_TRUE(house.ledger.fits(house.preemptor.queue, house.usage)) << "seed " << seed;
    for (const Target& each : targets) {
      trial.again(each.workload);
      ASSERT_FALSE(house.ledger.fits(house.preemptor.queue, house.usage)) << "seed " << seed;
      trial.without(each.workload);
    }
  }
  EXPECT_GT(found, 1000 / testing_support::kFewer);
  EXPECT_EQ(reasons.size(), 3u);
}

}  // namespace
}  // namespace berth::engine::fair_preemption_random_test
