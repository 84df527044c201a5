// Predictions: exact where run times are known, intervals where they are not, and what happens when the world is played
// on with those run times.
#include "engine/explain/predict.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "engine/explain/full_cluster.h"
#include "support/sanitized.h"

namespace berth::engine::predict_test {
namespace {

using api::kueue::Workload;
using std::chrono::seconds;
using test::ClusterQueueBuilder;
using test::Scenario;
using test::WorkloadBuilder;

void four_cpus(Scenario& s) {
  s.give(test::flavor("f"));
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}));
  s.give(test::local_queue("q", "cq"));
}

Prediction one(const Scenario& s, const RunHistory& history, const std::string& name, PredictLimits limits = {}) {
  return predict(s.engine(), history, s.now(), {"ns/" + name}, limits).at(0);
}

// A workload of the shape of WorkloadBuilder(...).pods(count, "1") that ran for so long.
Workload ran(const std::string& name, int time, int count = 4, const std::string& queue = "q") {
  Workload w = WorkloadBuilder(name, queue).pods(count, "1");
  w.status.conditions.push_back({"Admitted", true, false, "Admitted", "", test::at(0), 1});
  w.status.conditions.push_back({"Finished", true, false, "Succeeded", "", test::at(time), 1});
  return w;
}

TEST(Predict, MaximumExecutionTimesGiveTheExactStart) {
  Scenario s;
  four_cpus(s);
  s.give(WorkloadBuilder("runs").pods(4, "1").max_seconds(100));
  s.run();
  s.pass(30);
  s.give(WorkloadBuilder("next").pods(4, "1").max_seconds(50).created(s.now()));
  s.run();
  s.pass(1);
  s.give(WorkloadBuilder("last").pods(4, "1").created(s.now()));
  s.run();
  const auto next = one(s, {}, "next"), last = one(s, {}, "last");
  EXPECT_EQ(next.p10, test::at(100));
  EXPECT_EQ(next.p90, test::at(100));
  EXPECT_EQ(next.draws, 1) << "all futures are the same";
  EXPECT_EQ(last.p50, test::at(150));
  ASSERT_EQ(last.rests_on.size(), 1U);
  EXPECT_EQ(last.rests_on[0].what, "its maximum execution time");
  EXPECT_EQ(last.rests_on[0].workloads, 2U);
  EXPECT_EQ(summary(next), "it starts at " + format_time(test::at(100)));
  EXPECT_EQ(one(s, {}, "runs").admitted, test::at(0));
  EXPECT_EQ(s.state("next"), "Pending") << "the engine itself is unchanged";
}

TEST(Predict, SaysWhatIsMissing) {
  Scenario s;
  four_cpus(s);
  s.give(WorkloadBuilder("runs").pods(4, "1"));
  s.give(WorkloadBuilder("waits").pods(4, "1").created(test::at(1)));
  s.give(WorkloadBuilder("huge").pods(5, "1").created(test::at(2)).max_seconds(5));
  s.run();
  auto waits = one(s, {}, "waits");
  EXPECT_FALSE(waits.p50 || waits.p90);
  EXPECT_EQ(waits.unknown, std::vector<std::string>{"ns/runs"});
  EXPECT_NE(summary(waits).find("nothing is known of how long these run: ns/runs"), std::string::npos);
  waits.ns = "other";
  hide_other_namespaces(waits);
  EXPECT_EQ(summary(waits).find("ns/runs"), std::string::npos);
  EXPECT_FALSE(one(s, {}, "nobody").found);
  // With run times of others, everything ends; what is too large still does not start.
  RunHistory history;
  history.see(ran("a", 10));
  EXPECT_TRUE(one(s, history, "waits").p90);
  const auto huge = one(s, history, "huge");
  EXPECT_FALSE(huge.p50 || huge.p90 || huge.after);
  EXPECT_EQ(summary(huge),
            "it never starts: ClusterQueue cq has at most 4 of cpu in a flavor (f), with all that it may borrow; at "
            "most 4 of 5 pods of pod set main fit");
  EXPECT_EQ(string_at(to_json(huge), {"never"}), huge.never);
}

TEST(Predict, TheHistoryGivesAnInterval) {
  Scenario s;
  four_cpus(s);
  s.give(WorkloadBuilder("runs").pods(4, "1"));
  s.give(WorkloadBuilder("waits").pods(4, "1").created(test::at(1)));
  s.run();
  RunHistory history;
  for (int i = 1; i <= 10; ++i) history.see(ran("done-" + std::to_string(i), 10 * i));
  const auto waits = one(s, history, "waits");
  EXPECT_EQ(waits.draws, 31);
  EXPECT_EQ(waits.started, 31);
  EXPECT_LE(waits.p10, test::at(20));
  EXPECT_GE(waits.p50, test::at(40));
  EXPECT_LE(waits.p50, test::at(60));
  EXPECT_GE(waits.p90, test::at(80));
  EXPECT_LE(waits.p90, test::at(150)) << "half as long again as the longest that was seen";
  EXPECT_EQ(waits.rests_on[0].what, "finished workloads of the same LocalQueue, kind and requests");
  // What has run for a while ends like those that ran at least as long.
  s.pass(85);
  const auto later = one(s, history, "waits");
  EXPECT_EQ(later.p10, test::at(90));
  EXPECT_GE(later.p90, test::at(100));
  s.pass(100);
  EXPECT_EQ(one(s, history, "waits").p50, test::at(2 * 185));
}

TEST(Predict, WorkIsBounded) {
  Scenario s;
  four_cpus(s);
  for (int i = 0; i < 50; ++i)
    s.give(WorkloadBuilder("w" + std::to_string(i)).pods(4, "1").created(test::at(i)).max_seconds(10));
  s.run();
  const auto last = one(s, {}, "w49", {.draws = 31, .steps = 20});
  EXPECT_FALSE(last.p50);
  EXPECT_NE(last.limit.find("the bound of 20 starts, ends and arrivals"), std::string::npos);
  ASSERT_TRUE(last.after) << "what was played ends before it starts";
  EXPECT_GT(*last.after, s.now());
  EXPECT_LT(*last.after, test::at(490));
  EXPECT_EQ(summary(last).find("it starts after " + format_time(*last.after)), 0U) << summary(last);
  EXPECT_EQ(one(s, {}, "w49").p50, test::at(490));
  EXPECT_NE(one(s, {}, "w49", {.horizon = seconds(60)}).limit.find("not played further"), std::string::npos);
  EXPECT_EQ(one(s, {}, "w49", {.horizon = seconds(60)}).after, s.now() + seconds(60));
  EXPECT_EQ(one(s, {}, "w49").after, std::nullopt);
  EXPECT_EQ(one(s, {}, "w5", {.horizon = seconds(60)}).p50, test::at(50));
  EXPECT_EQ(one(s, {}, "w5", {.horizon = seconds(60)}).after, std::nullopt);
}

// The steps are shared by the futures: those near the head get an interval from all of them, however many are asked
// about.
TEST(Predict, ManyAtOnceShareTheSteps) {
  Scenario s;
  four_cpus(s);
  std::vector<std::string> keys;
  for (int i = 0; i < 60; ++i) {
    s.give(WorkloadBuilder("w" + std::to_string(i)).pods(4, "1").created(test::at(i)));
    if (i > 0) keys.push_back("ns/w" + std::to_string(i));
  }
  s.run();
  RunHistory history;
  for (int i = 1; i <= 10; ++i) history.see(ran("done-" + std::to_string(i), 10 * i));
  const auto all = predict(s.engine(), history, s.now(), keys, {.steps = 2'000});
  EXPECT_EQ(all.front().draws, 31);
  EXPECT_EQ(all.front().started, 31);
  EXPECT_EQ(all.front().p50, one(s, history, "w1").p50);
  EXPECT_EQ(all.front().p90, one(s, history, "w1").p90);
  EXPECT_TRUE(predict(s.engine(), history, s.now(), keys).back().p90) << "with enough steps";
  const auto& last = all.back();
  EXPECT_FALSE(last.p50);
  ASSERT_TRUE(last.after);
  EXPECT_GT(*last.after, *all.front().p90);
  std::optional<Time> before;
  for (const auto& each : all) {
    if (each.p50) EXPECT_GE(*each.p50, before.value_or(s.now())) << each.name;
    if (each.p50) before = each.p50;
    if (each.p50 && each.p90) EXPECT_LE(*each.p50, *each.p90) << each.name;
    EXPECT_TRUE(each.p90 || each.after) << each.name;
  }
}

TEST(RunHistory, TakesTheNarrowestGroupThatHasEnough) {
  RunHistory history;
  const Workload w = WorkloadBuilder("w").pods(4, "1");
  EXPECT_TRUE(history.times_of(w).sorted.empty());
  for (int i = 0; i < 3; ++i) history.see(ran("other" + std::to_string(i), 7, 2, "q2"));
  EXPECT_EQ(history.times_of(w).group, RunGroup::kAll);
  for (int i = 0; i < 3; ++i) history.see(ran("two" + std::to_string(i), 100, 2));
  EXPECT_EQ(history.times_of(w).group, RunGroup::kKind);
  for (int i = 0; i < 3; ++i) history.see(ran("four" + std::to_string(i), 50));
  history.see(ran("four0", 50));  // again
  EXPECT_EQ(history.seen(), 9U);
  EXPECT_EQ(history.times_of(w).group, RunGroup::kShape);
  EXPECT_EQ(history.times_of(w).sorted, std::vector<Duration>(3, seconds(50)));
  // It is bounded.
  for (int i = 0; i < 20'000; ++i) history.see(ran("x" + std::to_string(i), i, 4, "q" + std::to_string(i)));
  EXPECT_LE(history.groups(), RunHistory::kMostGroups + kRunGroups);
  EXPECT_LE(history.times_of(ran("y", 1, 4, "new")).sorted.size(), RunHistory::kMostTimes);
  // What never ran tells nothing.
  Workload rejected = ran("rejected", 1);
  rejected.status.conditions.erase(rejected.status.conditions.begin());
  const auto before = history.seen();
  history.see(rejected);
  history.see(w);
  EXPECT_EQ(history.seen(), before);
}

// Random full clusters in which each workload runs for exactly its maximum: what was predicted happens.
TEST(Predict, EqualsWhatThenHappens) {
  constexpr unsigned kSeeds = 24 / testing_support::kFewer;
  int started = 0, never = 0;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::FullCluster cluster(seed, true);
    Scenario& s = cluster.scenario;
    std::vector<std::string> waiting;
    for (const auto& name : cluster.waiting()) waiting.push_back("ns/" + name);
    const auto predicted = predict(s.engine(), {}, s.now(), waiting);
    std::map<std::string, Time> happened;
    const auto note = [&] {
      for (const auto& key : waiting) {
        if (s.state(key.substr(3)) == "Admitted") happened.try_emplace(key, s.now());
      }
    };
    for (int second = 0; second < 600; ++second) {
      s.pass(1);
      note();
    }
    for (const auto& p : predicted) {
      const auto it = happened.find(p.ns + "/" + p.name);
      if (it == happened.end()) {
        EXPECT_TRUE(!p.p90 || *p.p90 > s.now()) << p.name << ": " << summary(p);
        ++never;
      } else {
        EXPECT_EQ(p.p90, it->second) << p.name << ": " << summary(p);
        ++started;
      }
    }
  }
  EXPECT_GT(started, 0);
  RecordProperty("started", started);
  RecordProperty("never", never);
}

}  // namespace
}  // namespace berth::engine::predict_test
