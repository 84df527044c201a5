// Admission fair sharing (KEP-4136): which local queue goes first, what its status tells, restarts.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/support/two_tenants.h"

namespace berth::engine::admission_fair_sharing_test {
namespace {

using test::at;
using test::by_usage;
using test::ClusterQueueBuilder;
using test::Scenario;
using test::TwoTenants;

void four_jobs_each(TwoTenants& s) {
  for (const std::string name : {"a1", "a2", "a3", "a4", "b1", "b2", "b3", "b4"}) s.job(name);
  s.run();
}

TEST(AdmissionFairSharing, QueuesOfEqualUsageAlternate) {
  TwoTenants s;
  four_jobs_each(s);
  EXPECT_EQ(s.admitted(), "a1 a2 b1 b2");
}

TEST(AdmissionFairSharing, OnlyWhereTheClusterQueueAsksForIt) {
  TwoTenants s(by_usage(), false);
  four_jobs_each(s);
  EXPECT_EQ(s.admitted(), "a1 a2 a3 a4");
  EXPECT_TRUE(s.local_queue("a").past_usage) << "but its usage is told";
}

TEST(AdmissionFairSharing, OnlyWhenItIsConfiguredAndItsGateIsOn) {
  auto options = by_usage();
  options.admission_by_usage = false;
  for (const Options& off : {Options(), options}) {
    TwoTenants s(off);
    four_jobs_each(s);
    EXPECT_EQ(s.admitted(), "a1 a2 a3 a4");
    EXPECT_FALSE(s.local_queue("a").past_usage);
  }
}

TEST(AdmissionFairSharing, WhoUsedLessGoesFirstEvenWithALowerPriority) {
  TwoTenants s(by_usage(std::chrono::hours(1), std::chrono::minutes(1)));
  s.job("a1", "4");
  s.run();
  s.pass(3'600);
  s.job("a2", "4", 100);
  s.job("b1", "4");
  s.run();
  EXPECT_EQ(s.engine().pending_position("ns", "b1")->in_cluster_queue, 0u);
  EXPECT_EQ(s.engine().pending_position("ns", "a2")->in_cluster_queue, 1u);
  s.finish("a1");
  s.run();
  EXPECT_EQ(s.admitted(), "b1");
  s.pass(2 * 3'600);
  s.job("b2", "4", 100);
  s.run();
  s.finish("b1");
  s.run();
  EXPECT_EQ(s.admitted(), "a2") << "by now b used more";
}

TEST(AdmissionFairSharing, WeightsOfTenants) {
  TwoTenants s(by_usage(std::chrono::hours(1), std::chrono::minutes(1)));
  s.tenant("b", "3");
  for (int i = 1; i <= 4; ++i) s.job("a" + std::to_string(i));
  for (int i = 1; i <= 4; ++i) s.job("b" + std::to_string(i));
  s.run();
  EXPECT_EQ(s.admitted(), "a1 b1 b2 b3");
  s.tenant("b", "0");
  s.finish("b1");
  s.finish("b2");
  s.finish("b3");
  s.run();
  EXPECT_EQ(s.admitted(), "a1 a2 a3 a4") << "weight 0: last";
}

TEST(AdmissionFairSharing, TheStatusTellsWhatWasUsed) {
  TwoTenants s(by_usage(std::chrono::hours(1), std::chrono::minutes(6)));
  EXPECT_EQ(s.consumed("a"), "");
  s.job("a1", "4");
  s.run();
  EXPECT_EQ(s.consumed("b"), "0");
  s.pass(3'600);
  EXPECT_TRUE(s.consumed("a") == "2" || s.consumed("a") == "1999999999n") << s.consumed("a");
  EXPECT_EQ(s.local_queue("a").past_usage->last_update, at(3'600));
  s.pass(100);
  EXPECT_EQ(s.local_queue("a").past_usage->last_update, at(3'600)) << "until the next sample";
  s.pass(50 * 3'600);
  EXPECT_EQ(s.consumed("a"), "3999999999n");
  s.pass(3'600);
  EXPECT_LT(s.local_queue("a").past_usage->last_update, s.now() - std::chrono::hours(1)) << "no news, no sample";
  EXPECT_EQ(s.wake(), std::nullopt) << "an hour in which nothing changes costs nothing";
  s.finish("a1");
  s.run();
  EXPECT_EQ(s.local_queue("a").past_usage->last_update, s.now()) << "the status is written anyway: one claim less";
  s.pass(100 * 3'600);
  EXPECT_EQ(s.consumed("a"), "0");
  EXPECT_EQ(s.wake(), std::nullopt);
}

TEST(AdmissionFairSharing, AVictimComesFromTheQueueThatUsedMore) {
  TwoTenants s(by_usage(std::chrono::milliseconds(100), std::chrono::seconds(1)));
  s.give(TwoTenants::queue().by_usage().cohort("all"));
  s.give(ClusterQueueBuilder("other").cpu({{"f", "2"}}).cohort("all").reclaim_any());
  s.give(test::local_queue("o", "other"));
  s.job("a1", "4", 10);
  s.job("b1", "2");
  s.run();
  s.pass(5);
  ASSERT_EQ(s.admitted(), "a1 b1");
  s.job("o1", "2");
  s.run();
  EXPECT_EQ(s.admitted(), "b1 o1") << "a used more, so its workload goes, although it has the higher priority";
}

// A StrictFIFO queue looks only at its head, and time alone changes which one that is.
TEST(AdmissionFairSharing, AStrictQueueLooksAgainWhenTheOrderChanges) {
  TwoTenants s(by_usage(std::chrono::minutes(10), std::chrono::minutes(1)));
  s.give(TwoTenants::queue().by_usage().strict());
  s.job("b1", "2");
  s.run();
  s.pass(1'200);
  s.finish("b1");
  s.job("a1", "1");
  s.run();
  s.job("a2", "4");
  s.job("b2", "1");
  s.run();
  EXPECT_EQ(s.admitted(), "a1") << "a2 is the head: it does not fit, and blocks";
  s.pass(3'600);
  EXPECT_EQ(s.admitted(), "a1 b2") << "a went on using, b did not";
}

TEST(AdmissionFairSharing, ARestartGoesOnFromTheStatus) {
  TwoTenants s(by_usage(std::chrono::hours(1), std::chrono::minutes(5)));
  s.job("a1", "4");
  s.run();
  s.pass(1'800);
  s.finish("a1");
  s.job("b1", "3");
  s.run();
  s.pass(400);
  s.write_statuses();
  const auto before = std::pair(s.consumed("a"), s.consumed("b"));
  s.restart();
  s.run();
  s.pass(1'100);
  TwoTenants other(by_usage(std::chrono::hours(1), std::chrono::minutes(5)));
  other.job("a1", "4");
  other.run();
  other.pass(1'800);
  other.finish("a1");
  other.job("b1", "3");
  other.run();
  other.pass(1'500);
  EXPECT_NE(before, std::pair(s.consumed("a"), s.consumed("b")));
  // Two statuses cut to billionths.
  EXPECT_NEAR(s.usage("a", std::chrono::hours(1), 0), other.usage("a", std::chrono::hours(1), 0), 2);
  EXPECT_NEAR(s.usage("b", std::chrono::hours(1), 3e9L), other.usage("b", std::chrono::hours(1), 3e9L), 2);
}

TEST(AdmissionFairSharing, RenumberingChangesNothing) {
  TwoTenants s(by_usage(std::chrono::hours(1), std::chrono::minutes(5))),
      other(by_usage(std::chrono::hours(1), std::chrono::minutes(5)));
  for (TwoTenants* each : {&s, &other}) {
    each->job("a1", "3");
    each->run();
    each->pass(1'000);
    each->job("a2", "4");
    each->job("b1", "4");
    each->run();
    if (each == &s) each->renumber();
    each->run();
    each->pass(1'000);
    each->finish("a1");
    each->run();
  }
  EXPECT_EQ(s.admitted(), "b1");
  for (const std::string name : {"a", "b"}) EXPECT_EQ(s.consumed(name), other.consumed(name));
}

// Two engines live the same random life. One of them is made again from its inputs now and then, as when a segment of
// the journal begins: its usage is that of the other one to the last bit, and so are its samples and their times.
TEST(AdmissionFairSharing, AnEngineFromTheInputsOfAnotherHasExactlyItsUsage) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    TwoTenants s(by_usage(std::chrono::minutes(7), std::chrono::minutes(1))),
        other(by_usage(std::chrono::minutes(7), std::chrono::minutes(1)));
    s.tenant("c", "0.3"), other.tenant("c", "0.3");
    std::vector<std::string> jobs;
    const auto both = [&](const auto& act) { act(s), act(other); };
    for (int i = 0; i < 80; ++i) {
      const std::string some = jobs.empty() ? "" : jobs[random() % jobs.size()];
      const std::uint64_t action = random() % 5, size = 1 + random() % 4;
      const int seconds = static_cast<int>(random() % 50);
      if (action < 2) {
        jobs.push_back(std::string(1, static_cast<char>('a' + random() % 3)) + std::to_string(i));
        both([&](TwoTenants& each) { each.job(jobs.back(), std::to_string(size) + "00m"); });
      } else if (action == 2 && !some.empty() && s.state(some) == "Admitted") {
        both([&](TwoTenants& each) { each.finish(some); });
      } else if (action == 3 && !some.empty()) {
        both([&](TwoTenants& each) { each.change(some, [](auto& w) { w.active = !w.active; }, true); });
      }
      both([](TwoTenants& each) { each.run(); });
      if (random() % 3 == 0) s.make_anew();
      both([&](TwoTenants& each) { each.run(), each.pass(seconds); });
      ASSERT_EQ(s.admitted(), other.admitted()) << "seed " << seed << ", step " << i;
      for (const std::string name : {"a", "b", "c"}) {
        const auto ours = *s.local_queue(name).past_usage, theirs = *other.local_queue(name).past_usage;
        ASSERT_EQ(ours.consumed, theirs.consumed) << "seed " << seed << ", step " << i;
        ASSERT_EQ(ours.last_update, theirs.last_update);
        ASSERT_EQ(ours.score, theirs.score);
      }
    }
  }
}

TEST(AdmissionFairSharing, ALocalQueueThatIsMadeAgainBeginsWithoutUsage) {
  TwoTenants s(by_usage(std::chrono::hours(1), std::chrono::minutes(5)));
  s.job("a1", "4");
  s.run();
  s.pass(7'200);
  s.take(LocalQueueGone{"ns", "a"});
  s.run();
  EXPECT_EQ(s.engine().local_queue_status("ns", "a"), std::nullopt);
  s.tenant("a");
  s.run();
  EXPECT_EQ(s.consumed("a"), "0");
  s.pass(3'600);
  EXPECT_TRUE(s.consumed("a") == "2" || s.consumed("a") == "1999999999n") << s.consumed("a");
}

// Admissions, failed writes, evictions, ends and deletions in any order. After each step the scenario checks that the
// book has the claims of the workloads that hold quota, and of no others.
TEST(AdmissionFairSharing, NoClaimIsForgottenOrKept) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    std::mt19937_64 random(seed);
    auto options = by_usage(std::chrono::minutes(10), std::chrono::minutes(1));
    options.scheduling_equivalence_hashing = seed % 2 == 0;
    TwoTenants s(options);
    auto queue = TwoTenants::queue().by_usage().preempt_lower();
    if (seed % 3 == 0) queue.strict();
    s.give(queue);
    s.outcome_of_write = [&](const std::string&) {
      return random() % 8 == 0 ? Scenario::Outcome::kFailed : Scenario::Outcome::kDone;
    };
    std::vector<std::string> jobs;
    for (int i = 0; i < 120; ++i) {
      const std::string victim = jobs.empty() ? "" : jobs[random() % jobs.size()];
      switch (random() % 6) {
        case 0:
        case 1:
          jobs.push_back((random() % 2 == 0 ? "a" : "b") + std::to_string(i));
          s.job(jobs.back(), std::to_string(1 + random() % 4), static_cast<int>(random() % 3));
          break;
        case 2:
          if (!victim.empty()) s.change(victim, [](auto& w) { w.active = !w.active; }, true);
          break;
        case 3:
          if (!victim.empty() && s.state(victim) == "Admitted") s.finish(victim);
          break;
        case 4:
          if (victim.empty()) break;
          s.remove(victim);
          std::erase(jobs, victim);
          break;
        default:
          random() % 4 == 0 ? s.restart() : random() % 2 == 0 && s.engine().settled() ? s.make_anew() : s.renumber();
      }
      s.run();
      s.pass(static_cast<int>(random() % 100));
    }
    for (const auto& job : jobs) s.remove(job);
    s.run();
    s.pass(20 * 3'600);
    EXPECT_EQ(s.local_queue("a").past_usage->score, Quantity()) << "seed " << seed;
    EXPECT_EQ(s.consumed("b") == "" ? "0" : s.consumed("b"), "0");
    EXPECT_EQ(s.wake(), std::nullopt);
  }
}

}  // namespace
}  // namespace berth::engine::admission_fair_sharing_test
