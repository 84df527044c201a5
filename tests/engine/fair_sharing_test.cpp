// Fair sharing through the engine: messages, statuses, and no endless turns of preemption.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "engine/support/scenario.h"
#include "support/sanitized.h"

namespace berth::engine::fair_sharing_test {
namespace {

using test::ClusterQueueBuilder;
using test::Scenario;
using test::WorkloadBuilder;
using testing::HasSubstr;

Options fair() {
  Options options;
  options.fair_sharing.enabled = true;
  return options;
}

api::kueue::Cohort cohort(const std::string& name, const std::string& parent, const std::string& cpu,
                          const std::string& weight = "1") {
  api::kueue::Cohort out;
  out.meta.name = name;
  out.parent_name = parent;
  out.resource_groups = ClusterQueueBuilder("any").cpu({{"f", cpu}}).build().resource_groups;
  out.fair_weight = test::quantity(weight);
  return out;
}

ClusterQueueBuilder queue(const std::string& name, const std::string& in, const std::string& cpu = "0") {
  return ClusterQueueBuilder(name).cpu({{"f", cpu}}).cohort(in).reclaim_any().preempt_lower();
}

// Two queues, one of them in a cohort of its own, share the 6 cpu of their common cohort.
struct Company : Scenario {
  explicit Company(Options options = fair()) : Scenario(std::move(options)) {
    give(test::flavor("f"));
    give(cohort("company", "", "6"));
    give(cohort("research", "company", "0"));
    give(queue("a", "research"));
    give(queue("b", "company"));
    give(test::local_queue("qa", "a"));
    give(test::local_queue("qb", "b"));
  }
  std::int64_t share_of_queue(const std::string& name) const { return cluster_queue(name).fair_share->weighted_share; }
  std::int64_t share_of_cohort(const std::string& name) const {
    return engine().cohort_status(name)->fair_share->weighted_share;
  }
};

TEST(FairSharing, IsInformedInStatuses) {
  Company s;
  for (int i = 0; i < 5; ++i) s.give(WorkloadBuilder("a" + std::to_string(i), "qa").pods(1, "1"));
  s.run();
  EXPECT_EQ(s.share_of_queue("a"), 834);  // 5 of 6
  EXPECT_EQ(s.cluster_queue("a").fair_share->borrowed * 6, s.cluster_queue("a").fair_share->lendable * 5);
  EXPECT_EQ(s.share_of_queue("b"), 0);
  EXPECT_EQ(s.share_of_cohort("research"), 834);
  EXPECT_EQ(s.share_of_cohort("company"), 0);
  EXPECT_FALSE(s.engine().cohort_status("nobody"));
  s.give(cohort("research", "company", "0", "0"));
  s.run();
  EXPECT_EQ(s.share_of_cohort("research"), std::numeric_limits<std::int64_t>::max());
  EXPECT_TRUE(s.engine().cohort_status("research")->fair_share->infinite);
  EXPECT_EQ(s.share_of_queue("a"), 834);
}

TEST(FairSharing, OffHasNoShares) {
  Company s{Options{}};
  s.give(WorkloadBuilder("a", "qa").pods(1, "1"));
  s.run();
  EXPECT_FALSE(s.cluster_queue("a").fair_share);
  EXPECT_FALSE(s.engine().cohort_status("research")->fair_share);
  EXPECT_TRUE(s.touched_cohorts().empty());
}

TEST(FairSharing, CohortsAreInformedWhenTheirSharesMayBeOthers) {
  Company s;
  s.run();
  EXPECT_EQ(s.touched_cohorts(), (std::set<std::string>{"company", "research"}));
  s.forget_touched();
  s.give(WorkloadBuilder("b", "qb").pods(1, "1"));
  s.run();
  EXPECT_EQ(s.touched_cohorts(), (std::set<std::string>{"company"}));
  EXPECT_FALSE(s.touched_queues().contains("a"));
  s.forget_touched();
  s.give(cohort("company", "", "8"));  // a can be lent more now
  s.run();
  EXPECT_TRUE(s.touched_queues().contains("a"));
  EXPECT_EQ(s.share_of_queue("b"), 125);
}

TEST(FairSharing, SaysWhyItPreempts) {
  Company s;
  for (int i = 0; i < 3; ++i) s.give(WorkloadBuilder("a" + std::to_string(i), "qa").pods(2, "1"));
  s.run();
  s.pass(5);
  s.take_events();
  s.give(WorkloadBuilder("b", "qb").pods(2, "1").created(s.now()));
  s.run();
  EXPECT_EQ(s.state("b"), "Admitted");
  const auto events = s.take_events();
  const std::string why =
      "Preempted to accommodate a workload (UID: uid-b, JobUID: job-b) due to Fair Sharing within the cohort; "
      "preemptor path: "
      "/company/b; preemptee path: /company/research/a";
  EXPECT_THAT(events, testing::Contains(HasSubstr("Normal Preempted: " + why)));
  int preempted = 0;
  for (const auto& name : s.names()) {
    if (s.condition(name, "Preempted") != "True InCohortFairSharing: " + why) continue;
    EXPECT_EQ(s.condition(name, "Evicted"), "True Preempted: " + why);
    ++preempted;
  }
  EXPECT_EQ(preempted, 1);
  EXPECT_EQ(s.share_of_cohort("research"), 667);
  EXPECT_EQ(s.share_of_queue("b"), 334);
}

// Sizes that never divide evenly: a queue below its share always wants to preempt, and the initial share lets
// workloads preempt each other. They do not take turns (ADR 0023): nothing moves in the second hour.
TEST(FairSharing, TurnsEnd) {
  for (unsigned seed = 0; seed < 60 / testing_support::kFewer; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    Options options = fair();
    options.fair_sharing.final_share = seed % 3 != 0;
    options.fair_sharing.initial_share = seed % 3 != 1;
    options.fair_preempt_within_nominal = seed % 2 == 0;
    options.wait_for_pods_ready.enabled = false;
    Scenario s(options);
    s.give(test::flavor("f"));
    s.give(cohort("company", "", std::to_string(pick(6, 12))));
    s.give(cohort("research", "company", std::to_string(pick(0, 2)), pick(0, 1) ? "2" : "0.5"));
    for (int q = 0; q < 4; ++q) {
      auto object =
          queue("cq" + std::to_string(q), q % 2 == 0 ? "company" : "research", std::to_string(pick(0, 3))).build();
      object.fair_weight = Quantity::of_milli(pick(0, 3) * 500);
      s.give(object);
      s.give(test::local_queue("q" + std::to_string(q), object.meta.name));
    }
    for (int i = 0; i < 14; ++i) {
      s.give(WorkloadBuilder("w" + std::to_string(i), "q" + std::to_string(pick(0, 3)))
                 .pods(pick(1, 5), "1")
                 .priority(pick(0, 2))
                 .created(s.now()));
      if (pick(0, 1)) s.pass(pick(1, 20));
    }
    for (int i = 0; i < 60; ++i) s.pass(60);
    s.take_events();
    for (int i = 0; i < 60; ++i) s.pass(60);
    for (const std::string& event : s.take_events()) EXPECT_EQ(event.find(" Preempted: "), std::string::npos) << event;
  }
}

}  // namespace
}  // namespace berth::engine::fair_sharing_test
