// Writes that fail, conflict or vanish, and engines that restart: quota is never given twice and nothing is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/support/scenario.h"

namespace berth::engine::engine_writes_test {
namespace {

using api::kueue::Workload;
using test::ClusterQueueBuilder;
using test::Scenario;
using test::WorkloadBuilder;
using testing::HasSubstr;
using Outcome = Scenario::Outcome;

struct OneQueue : Scenario {
  explicit OneQueue(std::string_view quota = "4") {
    give(test::flavor("f"));
    give(ClusterQueueBuilder("cq").cpu({{"f", std::string(quota)}}));
    give(test::local_queue("q", "cq"));
  }
};

TEST(Writes, AConflictWaitsForTheNewVersion) {
  OneQueue s;
  bool first = true;
  s.outcome_of_write = [&](const std::string&) {
    return std::exchange(first, false) ? Outcome::kConflict : Outcome::kDone;
  };
  s.give(WorkloadBuilder("a").pods(4, "1"));
  s.run();
  s.pass(5);
  EXPECT_EQ(s.state("a"), "Pending");
  EXPECT_EQ(s.writes(), 1);
  s.change("a", [](Workload& w) { w.meta.labels["new"] = "label"; });
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
}

TEST(Writes, AConflictWithNothingIsTriedAgain) {
  OneQueue s;
  int conflicts = 3;
  s.outcome_of_write = [&](const std::string&) { return conflicts-- > 0 ? Outcome::kConflict : Outcome::kDone; };
  s.give(WorkloadBuilder("a").pods(4, "1"));
  s.run();
  s.pass(60);
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.writes(), 4);
}

TEST(Writes, WhatAJobReportedIsWrittenHoweverOftenThatFails) {
  for (const Outcome failure : {Outcome::kFailed, Outcome::kConflict}) {
    OneQueue s;
    s.give(WorkloadBuilder("a").pods(4, "1"));
    s.run();
    int failures = 20;
    s.outcome_of_write = [&](const std::string&) { return failures-- > 0 ? failure : Outcome::kDone; };
    s.finish("a");
    s.run();
    EXPECT_EQ(s.state("a"), "Admitted");
    s.pass(3600);
    EXPECT_EQ(s.state("a"), "Finished");
  }
}

TEST(Writes, AConflictingChangeIsRespected) {
  OneQueue s;
  bool first = true;
  s.outcome_of_write = [&](const std::string&) {
    return std::exchange(first, false) ? Outcome::kConflict : Outcome::kDone;
  };
  s.give(WorkloadBuilder("a").pods(4, "1"));
  s.run();
  s.change("a", [](Workload& w) { w.active = false; }, true);
  s.give(WorkloadBuilder("b").pods(4, "1").created(test::at(1)));
  s.run();
  EXPECT_EQ(s.state("a"), "Inactive");
  EXPECT_EQ(s.state("b"), "Admitted");
}

TEST(Writes, AFailedWriteIsTriedAgainAndKeepsItsQuotaMeanwhile) {
  OneQueue s;
  int failures = 3;
  s.outcome_of_write = [&](const std::string& name) {
    return name == "a" && failures-- > 0 ? Outcome::kFailed : Outcome::kDone;
  };
  s.give(WorkloadBuilder("a").pods(4, "1"));
  s.give(WorkloadBuilder("b").pods(1, "1").created(test::at(1)));
  s.run();
  EXPECT_EQ(s.state("a"), "Pending");
  EXPECT_EQ(s.state("b"), "Pending") << "whether a was written is not known";
  s.pass(1 + 2 + 4);
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_THAT(s.take_events(), testing::Contains(HasSubstr("Workload/a Normal Admitted")));
}

TEST(Writes, WhatTheServerRefusesForGoodGivesWay) {
  OneQueue s;
  s.outcome_of_write = [&](const std::string& name) { return name == "a" ? Outcome::kFailed : Outcome::kDone; };
  s.give(WorkloadBuilder("a").pods(4, "1"));
  s.give(WorkloadBuilder("b").pods(1, "1").created(test::at(1)));
  s.run();
  s.pass(60);
  EXPECT_EQ(s.state("b"), "Admitted");
  const int writes = s.writes();
  s.pass(3600);
  EXPECT_LT(s.writes() - writes, 500) << "retries are bounded";
}

TEST(Writes, AWriteThatHappenedAlthoughItFailedCounts) {
  OneQueue s;
  bool first = true;
  s.outcome_of_write = [&](const std::string&) {
    return std::exchange(first, false) ? Outcome::kFailed : Outcome::kDone;
  };
  s.failed_writes_happen = true;
  s.give(WorkloadBuilder("a").pods(4, "1"));
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.cluster_queue("cq").admitted, 1);
}

TEST(Writes, AWorkloadThatIsGoneFreesItsQuota) {
  OneQueue s;
  s.give(WorkloadBuilder("b").pods(4, "1").created(test::at(1)));
  s.outcome_of_write = [&](const std::string& name) { return name == "a" ? Outcome::kGone : Outcome::kDone; };
  s.give(WorkloadBuilder("a").pods(4, "1"));
  s.run();
  EXPECT_EQ(s.state("b"), "Admitted");
}

TEST(Writes, AnOldVersionOfWhatFinishedComesTooLate) {
  OneQueue s;
  s.give(WorkloadBuilder("a").pods(4, "1"));
  s.run();
  const auto before = std::make_shared<const Workload>(s.workload("a"));
  s.watch_lags = true;
  s.finish("a");
  s.run();
  s.take(WorkloadSeen{before});  // the watch lags behind the answer to our write
  s.watch_lags = false;
  s.give(WorkloadBuilder("b").pods(4, "1"));
  s.run();
  EXPECT_EQ(s.state("b"), "Admitted");
  s.take(WorkloadSeen{std::make_shared<const Workload>(s.workload("a"))});
  s.run();
  EXPECT_EQ(s.state("b"), "Admitted");
}

TEST(Writes, AnOldVersionOfWhatIsGoneComesTooLate) {
  OneQueue s;
  s.give(WorkloadBuilder("a").pods(4, "1"));
  s.run();
  const auto before = std::make_shared<const Workload>(s.workload("a"));
  s.outcome_of_write = [](const std::string& name) { return name == "a" ? Outcome::kGone : Outcome::kDone; };
  s.finish("a");
  s.run();  // it is gone, says the answer
  s.take(WorkloadSeen{before});
  s.give(WorkloadBuilder("b").pods(4, "1"));
  s.run();
  EXPECT_EQ(s.state("b"), "Admitted");
  s.take(WorkloadGone{before->meta.ns, "a", before->meta.uid});
  s.run();
  EXPECT_EQ(s.state("b"), "Admitted");
}

TEST(Writes, ANewObjectOfTheSameNameStartsAnew) {
  OneQueue s;
  s.give(WorkloadBuilder("a").pods(4, "1"));
  s.run();
  Workload again = WorkloadBuilder("a").pods(2, "1");
  again.meta.uid = "another";
  s.give(again);
  s.run();
  EXPECT_EQ(s.cluster_queue("cq").reservation.at(0).resources.at(0).total.count(), 2000);
}

TEST(Restart, ClaimsAreRebuiltBeforeTheFirstDecision) {
  OneQueue s;
  s.give(WorkloadBuilder("a").pods(3, "1"));
  s.run();
  s.give(WorkloadBuilder("b").pods(2, "1"));
  s.run();
  const int writes = s.writes();
  s.restart();
  s.run();
  EXPECT_EQ(s.writes(), writes) << "everything is as it was";
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.state("b"), "Pending");
  EXPECT_EQ(s.cluster_queue("cq").admitted, 1);
  s.finish("a");
  s.run();
  EXPECT_EQ(s.state("b"), "Admitted");
}

TEST(Restart, AnEvictionGoesOnWhereItWas) {
  OneQueue s;
  s.jobs_stop_at_once = false;
  s.give(WorkloadBuilder("a").pods(3, "1"));
  s.run();
  s.change("a", [](Workload& w) { w.active = false; }, true);
  s.run();
  EXPECT_EQ(s.state("a"), "Evicting");
  s.restart();
  s.run();
  EXPECT_EQ(s.state("a"), "Evicting");
  s.report_stopped("a");
  s.run();
  EXPECT_EQ(s.state("a"), "Inactive");
}

TEST(Restart, NothingIsDecidedBeforeTheCachesAreComplete) {
  Engine engine({});
  engine.handle(test::at(0), ResourceFlavorSeen{std::make_shared<const api::kueue::ResourceFlavor>(test::flavor("f"))});
  engine.handle(test::at(0), ClusterQueueSeen{std::make_shared<const api::kueue::ClusterQueue>(
                                 ClusterQueueBuilder("cq").cpu({{"f", "4"}}).build())});
  engine.handle(test::at(0),
                LocalQueueSeen{std::make_shared<const api::kueue::LocalQueue>(test::local_queue("q", "cq"))});
  engine.handle(test::at(0), NamespaceSeen{"ns", {}});
  engine.handle(test::at(0), WorkloadSeen{std::make_shared<const Workload>(WorkloadBuilder("a").build())});
  EXPECT_TRUE(engine.schedule(test::at(0)).empty());
  engine.handle(test::at(0), Synced{});
  EXPECT_FALSE(engine.schedule(test::at(0)).empty());
}

// How long a workload of this age (in seconds) waits after its n-th preemption although quota is free, in seconds.
int rest(int preemptions, int age) {
  OneQueue s;
  s.pass(age);
  Workload w = WorkloadBuilder("a").pods(1, "1");
  api::Condition evicted;
  evicted.type = api::kueue::kEvicted;
  evicted.status = true;
  evicted.reason = api::kueue::kPreempted;
  evicted.last_transition = s.now();
  api::set_condition(w.status.conditions, evicted);
  w.status.evictions.push_back({std::string(api::kueue::kPreempted), "", preemptions});
  s.give(w);
  s.run();
  for (int waited = 0; waited < 1000; ++waited) {
    if (s.state("a") == "Admitted") return waited;
    s.pass(1);
  }
  return -1;
}

TEST(RepeatedPreemption, WaitsDoubleButForAPartOfTheAge) {
  EXPECT_EQ(rest(3, 3600), 0) << "the first times cost nothing";
  EXPECT_EQ(rest(4, 3600), 2);
  EXPECT_EQ(rest(7, 3600), 16);
  EXPECT_EQ(rest(7, 80), 10) << "an eighth of its age";
  EXPECT_EQ(rest(7, 1), 2) << "but not less than this";
  EXPECT_EQ(rest(30, 36'000), 512);
}

// A queue's status is written whenever something happens in it, and every write is seen again.
TEST(Queues, SeenAgainWithNothingButAnotherStatusAreNoNews) {
  auto queue = ClusterQueueBuilder("cq").cpu({{"f", "4"}}).build();
  queue.meta.generation = 1;
  auto local = test::local_queue("q", "cq");
  local.meta.generation = 1;
  Engine engine({});
  const auto see = [&] {
    engine.handle(test::at(0), ClusterQueueSeen{std::make_shared<const api::kueue::ClusterQueue>(queue)});
    engine.handle(test::at(0), LocalQueueSeen{std::make_shared<const api::kueue::LocalQueue>(local)});
    return engine.schedule(test::at(0)).size();
  };
  engine.handle(test::at(0), ResourceFlavorSeen{std::make_shared<const api::kueue::ResourceFlavor>(test::flavor("f"))});
  engine.handle(test::at(0), NamespaceSeen{"ns", {}});
  engine.handle(test::at(0), Synced{});
  EXPECT_GT(see(), 0u);
  queue.meta.resource_version = local.meta.resource_version = "7";
  EXPECT_EQ(see(), 0u);
  queue.meta.generation = 2;
  queue.stop_policy = api::kueue::StopPolicy::kHold;
  EXPECT_GT(see(), 0u) << "its spec changed";
  queue.meta.finalizers.clear();
  EXPECT_GT(see(), 0u) << "it may vanish now";
}

TEST(Writes, WhoGivesItsQuotaBackIsNotPreemptedMeanwhile) {
  Scenario s;
  s.give(test::flavor("f"));
  s.give(test::check("c"));
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}).preempt_lower().check("c"));
  s.give(test::local_queue("q", "cq"));
  s.give(test::local_queue("other", "cq"));
  s.give(WorkloadBuilder("low").pods(4, "1"));
  s.run();
  ASSERT_EQ(s.state("low"), "Reserved");
  s.answers_that_arrive = [](std::size_t) { return std::size_t{0}; };  // the write of the withdrawal is in flight
  s.give(test::local_queue("q", "cq", api::kueue::StopPolicy::kHold));
  s.run_once();
  s.give(WorkloadBuilder("high", "other").pods(4, "1").priority(5));
  s.run_once();
  s.answers_that_arrive = {};
  s.run();
  EXPECT_EQ(s.state("high"), "Reserved");
  for (const auto& event : s.take_events()) EXPECT_THAT(event, testing::Not(HasSubstr("EvictedDueToPreempted")));
}

TEST(Reports, AStopThatWasReportedBeforeTheEvictionReleasesNothing) {
  OneQueue s;
  s.jobs_stop_at_once = false;
  s.give(WorkloadBuilder("a").pods(3, "1"));
  s.run();
  s.report_stopped("a");  // the job has not started yet
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
  s.change("a", [](Workload& w) { w.active = false; }, true);
  s.run();
  EXPECT_EQ(s.state("a"), "Evicting") << "it may have started since";
  s.report_stopped("a");
  s.run();
  EXPECT_EQ(s.state("a"), "Inactive");
}

// Forty workloads wait while one runs; once a second it finishes and the next one starts. Messages to the waiting
// ones are rate-limited, but each gets its message in the end.
TEST(Writes, WhoWaitsIsInformedWithinTheWriteBudget) {
  OneQueue s("1");
  for (int i = 0; i < 400; ++i) s.give(WorkloadBuilder("w" + std::to_string(1000 + i)).pods(1, "1"));
  s.run();
  EXPECT_EQ(s.state("w1000"), "Admitted");
  EXPECT_EQ(s.writes(), 1 + 20 + 50) << "those who came last, and those who have waited longest";
  s.take_events();
  for (int i = 0; i < 10; ++i) {
    s.finish("w" + std::to_string(1000 + i));
    s.pass(1);
  }
  EXPECT_EQ(s.state("w1010"), "Admitted");
  EXPECT_LE(s.writes(), 71 + 10 + 10 + 101 + 41);
  EXPECT_GE(s.writes(), 71 + 10 + 10 + 90 + 30);
  s.pass(60);
  for (int i = 1011; i < 1400; ++i)
    EXPECT_THAT(s.condition("w" + std::to_string(i), "QuotaReserved"), HasSubstr("False WaitingForQuota")) << i;
  const int quiet = s.writes();
  s.pass(60);
  EXPECT_EQ(s.writes(), quiet) << "nothing is said twice";
}

// A pending message about a workload that is admitted meanwhile is dropped.
TEST(Writes, WhoIsAdmittedBeforeItsTurnNeverWaited) {
  OneQueue s("1");
  for (int i = 0; i < 100; ++i) s.give(WorkloadBuilder("w" + std::to_string(1000 + i)).pods(1, "1"));
  s.run();
  ASSERT_EQ(s.writes(), 1 + 20 + 50);
  EXPECT_EQ(s.condition("w1099", "QuotaReserved"), "");
  s.change("w1099", [](Workload& w) { w.priority = 10; }, true);
  s.finish("w1000");
  s.take_events();
  s.run();
  EXPECT_EQ(s.state("w1099"), "Admitted");
  EXPECT_THAT(s.take_events(), testing::Not(testing::Contains(HasSubstr("w1099 Warning"))));
}

// Workloads that are admitted, run and finish while decisions are made: most of them finish before their turn, and cost
// no write for the condition PodsReady alone.
TEST(Writes, ThatPodsAreReadyIsReportedWithinTheWriteBudget) {
  OneQueue s("400");
  const auto name = [](int i) { return "w" + std::to_string(1000 + i); };
  for (int i = 0; i < 400; ++i) s.give(WorkloadBuilder(name(i)).pods(1, "1"));
  s.run();
  ASSERT_EQ(s.state(name(399)), "Admitted");
  ASSERT_EQ(s.writes(), 400);
  api::kueue::JobReport ready;
  ready.pods_ready = true;
  for (int i = 0; i < 400; ++i) s.report(name(i), ready);
  s.run();
  EXPECT_EQ(s.writes(), 400 + 50);
  for (int i = 0; i < 300; ++i) s.finish(name(i));
  s.run();
  EXPECT_EQ(s.writes(), 400 + 50 + 300);
  EXPECT_THAT(s.condition(name(299), "PodsReady"), HasSubstr("True")) << "written together with the end";
  s.pass(60);
  EXPECT_EQ(s.writes(), 400 + 50 + 300 + 100) << "those that run are told in the end, once";
  for (int i = 300; i < 400; ++i) EXPECT_THAT(s.condition(name(i), "PodsReady"), HasSubstr("True")) << i;
}

}  // namespace
}  // namespace berth::engine::engine_writes_test
