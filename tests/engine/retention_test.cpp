// Finished and deactivated workloads are deleted after some time (objectRetentionPolicies).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/support/scenario.h"

namespace berth::engine::retention_test {
namespace {

using test::ClusterQueueBuilder;
using test::Scenario;
using test::WorkloadBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

struct Kept : Scenario {
  explicit Kept(std::optional<Duration> finished, std::optional<Duration> deactivated = {})
      : Scenario(options(finished, deactivated)) {
    give(test::flavor("f"));
    give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}));
    give(test::local_queue("q", "cq"));
  }
  static Options options(std::optional<Duration> finished, std::optional<Duration> deactivated) {
    Options o;
    o.retention = {finished, deactivated};
    return o;
  }
};

TEST(Retention, WhatFinishedGoesAfterItsTime) {
  Kept s(std::chrono::seconds(100));
  s.give(WorkloadBuilder("one"));
  s.give(WorkloadBuilder("runs"));
  s.run();
  s.finish("one");
  s.pass(99);
  EXPECT_THAT(s.take_expired(), IsEmpty());
  s.pass(1);
  EXPECT_THAT(s.take_expired(), ElementsAre("one"));
  s.pass(100'000);
  EXPECT_THAT(s.take_expired(), IsEmpty());
  EXPECT_THAT(s.names(), ElementsAre("runs"));
}

TEST(Retention, ZeroIsAtOnce) {
  Kept s(Duration(0));
  s.give(WorkloadBuilder("one"));
  s.run();
  s.finish("one");
  s.run();
  EXPECT_THAT(s.take_expired(), ElementsAre("one"));
}

TEST(Retention, WithoutAPolicyAllStays) {
  Kept s({}, std::chrono::seconds(1));
  s.give(WorkloadBuilder("one"));
  s.run();
  s.finish("one");
  s.pass(100'000);
  EXPECT_THAT(s.take_expired(), IsEmpty());
}

TEST(Retention, IsKnownAfterARestart) {
  Kept s(std::chrono::seconds(100));
  s.give(WorkloadBuilder("one"));
  s.run();
  s.finish("one");
  s.pass(60);
  s.restart();
  s.pass(39);
  EXPECT_THAT(s.take_expired(), IsEmpty());
  s.pass(1);
  EXPECT_THAT(s.take_expired(), ElementsAre("one"));
}

TEST(Retention, AFailedDeletionIsAskedForAgain) {
  Kept s(std::chrono::seconds(100));
  s.deletions_happen = false;
  s.give(WorkloadBuilder("one"));
  s.run();
  s.finish("one");
  s.pass(100);
  EXPECT_THAT(s.take_expired(), ElementsAre("one"));
  s.change("one", [](api::kueue::Workload& w) { w.meta.labels["touched"] = "yes"; });
  s.pass(59);
  EXPECT_THAT(s.take_expired(), IsEmpty());
  s.pass(1);
  EXPECT_THAT(s.take_expired(), ElementsAre("one"));
  s.change("one", [](api::kueue::Workload& w) { w.meta.deletion = test::at(161); });
  s.pass(1000);
  EXPECT_THAT(s.take_expired(), IsEmpty()) << "it is on its way";
}

TEST(Retention, ThoseThatWereGivenUpGoWithTheirJob) {
  Kept s({}, std::chrono::seconds(100));
  s.give(WorkloadBuilder("long").max_seconds(10));
  s.give(WorkloadBuilder("parked").inactive());
  s.pass(10);
  EXPECT_EQ(s.state("long"), "Inactive");
  s.pass(99);
  EXPECT_THAT(s.take_expired(), IsEmpty());
  s.pass(1);
  EXPECT_THAT(s.take_expired(), ElementsAre("the job of long"));
  s.pass(100'000);
  EXPECT_THAT(s.take_expired(), IsEmpty()) << "a user's own pause is not Berth's to end";
}

TEST(Retention, WhoIsActivatedAgainStays) {
  Kept s({}, std::chrono::seconds(100));
  s.give(WorkloadBuilder("long").max_seconds(10));
  s.pass(50);
  EXPECT_EQ(s.state("long"), "Inactive");
  s.change(
      "long",
      [](api::kueue::Workload& w) {
        w.active = true;
        w.maximum_execution_time_seconds.reset();
      },
      true);
  s.pass(1000);
  EXPECT_THAT(s.take_expired(), IsEmpty());
}

TEST(Retention, AnotherOfTheSameNameStartsAnew) {
  Kept s(std::chrono::seconds(100));
  s.give(WorkloadBuilder("one"));
  s.run();
  s.finish("one");
  s.pass(50);
  s.remove("one");
  auto again = WorkloadBuilder("one").build();
  again.meta.uid = "another";
  s.give(again);
  s.pass(1000);
  EXPECT_THAT(s.take_expired(), IsEmpty());
}

}  // namespace
}  // namespace berth::engine::retention_test
