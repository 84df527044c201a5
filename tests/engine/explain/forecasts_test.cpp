// Predictions that are shared: how often they are made, and what they say when their time is used up.
#include "engine/explain/forecasts.h"

#include <gtest/gtest.h>

#include <set>

#include "engine/explain/waiting_with.h"
#include "engine/support/scenario.h"

namespace berth::engine::forecasts_test {
namespace {

using std::chrono::seconds;
using test::ClusterQueueBuilder;
using test::Scenario;
using test::WorkloadBuilder;

// Two trees with a queue each, and `waiting` workloads behind the one that runs in each. Looking at the clock takes
// `look`, so that each prediction takes twice that.
struct House {
  explicit House(int waiting) {
    s.give(test::flavor("f"));
    for (const std::string tree : {"a", "b"}) {
      s.give(ClusterQueueBuilder("cq-" + tree).cpu({{"f", "4"}}));
      s.give(test::local_queue("q-" + tree, "cq-" + tree));
      for (int i = 0; i <= waiting; ++i)
        s.give(
            WorkloadBuilder(tree + std::to_string(i), "q-" + tree).pods(4, "1").created(test::at(i)).max_seconds(60));
    }
    s.run();
  }
  Prediction about(const std::string& name) {
    auto out = forecasts.about("ns", name);
    EXPECT_TRUE(out) << name;
    return out.value_or(Prediction());
  }
  Scenario s;
  Duration slow{}, look{};
  RunHistory history;
  Forecasts forecasts{s.engine(), history, [this] {
                        slow += look;
                        return s.now() + slow;
                      }};
};

TEST(Forecasts, OnePredictionAnswersForAllOfATree) {
  House house(10);
  for (int i = 1; i <= 10; ++i) EXPECT_EQ(house.about("a" + std::to_string(i)).p90, test::at(60 * i)) << i;
  EXPECT_EQ(house.forecasts.played(), 1U);
  EXPECT_EQ(house.about("b1").p90, test::at(60));
  EXPECT_EQ(house.forecasts.played(), 2U) << "another tree";
  house.s.pass(4);
  EXPECT_EQ(house.about("a1").at, test::at(0));
  house.s.pass(2);
  EXPECT_EQ(house.about("a1").at, house.s.now()) << "it was five seconds old";
  EXPECT_EQ(house.forecasts.played(), 3U);
}

TEST(Forecasts, WhatChangesIsNotHidden) {
  House house(2);
  EXPECT_FALSE(house.about("a2").admitted);
  house.s.finish("a0");
  house.s.finish("b0");
  house.s.run();
  EXPECT_TRUE(house.about("a1").admitted) << "though the prediction for the queue is fresh";
  house.s.give(WorkloadBuilder("new", "q-a").pods(4, "1").created(test::at(9)).max_seconds(60));
  house.s.run();
  EXPECT_EQ(house.about("new").p90, test::at(120)) << "it was not there when the others were predicted";
  EXPECT_FALSE(house.forecasts.about("ns", "nobody"));
  house.s.remove("a2");
  house.s.run();
  EXPECT_FALSE(house.forecasts.about("ns", "a2"));
}

TEST(Forecasts, TheirTimeIsBounded) {
  House house(300);
  house.look = std::chrono::milliseconds(250);
  int asked = 0, reported = 0;
  std::set<Time> made;
  const Time begin = house.s.now();
  for (int round = 0; round < 100; ++round) {
    house.s.pass(1);
    // Some are further behind than those that are predicted together.
    for (const char* name : {"a1", "b1", "a290", "b290"}) {
      const auto answer = house.about(name);
      ++asked;
      if (answer.draws > 0) {
        ++reported;
        made.insert(answer.at);
      } else if (!answer.admitted) {
        EXPECT_EQ(summary(answer).find("it was not predicted: predictions have used up their time; ask again at "), 0U)
            << summary(answer);
      }
    }
  }
  const Duration lived = house.s.now() + house.slow - begin;
  EXPECT_GE(reported, asked / 3);
  // Each took at least a look at the clock; a twentieth of the time, and what may be owed.
  const auto most = (lived + Allowance::kBurst) / Allowance::kPrice / house.look + 2;
  EXPECT_LE(static_cast<std::int64_t>(house.forecasts.played()), most) << made.size();
  EXPECT_GE(house.forecasts.played(), 4U);
}

TEST(Forecasts, AskTogetherWhatCompetes) {
  House house(10);
  EXPECT_EQ(waiting_with(house.s.engine(), "ns", "a7", 5),
            (std::vector<std::string>{"ns/a7", "ns/a1", "ns/a2", "ns/a3", "ns/a4"}));
  EXPECT_EQ(waiting_with(house.s.engine(), "ns", "a0", 5), std::vector<std::string>{"ns/a0"});
  EXPECT_NE(competition_of(house.s.engine(), "cq-a"), competition_of(house.s.engine(), "cq-b"));
}

}  // namespace
}  // namespace berth::engine::forecasts_test
