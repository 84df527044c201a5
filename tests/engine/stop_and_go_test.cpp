// Queues that hold or drain, and workloads that are deactivated manually: which go on, which wait, and how they come
// back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/support/one_queue.h"

namespace berth::engine::stop_and_go_test {
namespace {

using api::kueue::StopPolicy;
using api::kueue::Workload;
using test::OneQueue;
using test::totals;
using test::WorkloadBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto kNoReservation = "False NoReservation: The workload has no reservation";

TEST(StopAndGo, HoldLetsRunAndKeepsOthersWaiting) {
  OneQueue s;
  s.give(WorkloadBuilder("a").pods(2, "1"));
  s.run();
  s.give(OneQueue::queue().stop(StopPolicy::kHold));
  s.give(WorkloadBuilder("b"));
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.condition("b", "QuotaReserved"), "False Suspended: ClusterQueue cq is inactive");
  const auto cq = s.cluster_queue("cq");
  EXPECT_EQ(cq.reason + ": " + cq.message, "Stopped: Can't admit new workloads: is stopped.");
  EXPECT_EQ(cq.pending, 1);
  EXPECT_EQ(s.local_queue("q").reason, "ClusterQueueIsInactive");
}

TEST(StopAndGo, DrainEvictsAndNoneLetsComeBack) {
  OneQueue s;
  s.give(WorkloadBuilder("a").pods(2, "1"));
  s.run();
  s.pass(6);
  s.take_events();
  s.jobs_stop_at_once = false;
  s.give(OneQueue::queue().stop(StopPolicy::kHoldAndDrain));
  s.run();
  EXPECT_EQ(s.state("a"), "Evicting");
  EXPECT_EQ(totals(s.cluster_queue("cq").reservation), "f/cpu=2") << "held until the job has stopped";
  s.report_stopped("a");
  s.run();
  EXPECT_EQ(s.condition("a", "Evicted"), "True ClusterQueueStopped: The ClusterQueue is stopped");
  EXPECT_EQ(s.condition("a", "QuotaReserved"), "False Suspended: ClusterQueue cq is inactive");
  EXPECT_EQ(s.condition("a", "Requeued"), "False ClusterQueueStopped: The ClusterQueue is stopped");
  EXPECT_EQ(s.condition("a", "Admitted"), kNoReservation);
  EXPECT_EQ(s.workload("a").status.accumulated_past_execution_time_seconds, 6);
  EXPECT_THAT(s.take_events(),
              ElementsAre("Workload/a Normal EvictedDueToClusterQueueStopped: The ClusterQueue is stopped"));
  EXPECT_EQ(s.cluster_queue("cq").pending, 1);
  s.give(OneQueue::queue());
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.condition("a", "Evicted"), "False QuotaReserved: Previously: The ClusterQueue is stopped");
  EXPECT_EQ(s.condition("a", "Requeued"),
            "True ClusterQueueRestarted: The ClusterQueue was restarted after being stopped");
}

TEST(StopAndGo, DeactivationByHandAndBack) {
  OneQueue s;
  s.give(WorkloadBuilder("a").pods(2, "1"));
  s.run();
  s.change("a", [](Workload& w) { w.active = false; }, true);
  s.run();
  EXPECT_EQ(s.state("a"), "Inactive");
  EXPECT_EQ(s.condition("a", "QuotaReserved"), "False Deactivated: The workload is deactivated");
  EXPECT_EQ(s.condition("a", "Requeued"), "False Deactivated: The workload is deactivated");
  EXPECT_EQ(s.cluster_queue("cq").pending, 0);
  EXPECT_EQ(api::find_condition(s.workload("a").status.conditions, "Evicted")->observed_generation, 2);
  s.change("a", [](Workload& w) { w.active = true; }, true);
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.condition("a", "Requeued"), "True Reactivated: The workload was reactivated");
}

TEST(StopAndGo, ALocalQueueDrainsOnlyItsOwn) {
  OneQueue s;
  s.give(test::local_queue("q2", "cq"));
  s.give(WorkloadBuilder("a"));
  s.give(WorkloadBuilder("other", "q2"));
  s.run();
  s.give(test::local_queue("q", "cq", StopPolicy::kHoldAndDrain));
  s.run();
  EXPECT_EQ(s.condition("a", "QuotaReserved"), "False Suspended: LocalQueue q is inactive");
  EXPECT_EQ(s.condition("a", "Evicted"), "True LocalQueueStopped: The LocalQueue is stopped");
  EXPECT_EQ(s.state("other"), "Admitted");
  const auto lq = s.local_queue("q");
  EXPECT_EQ(lq.reason + ": " + lq.message, "Stopped: LocalQueue is stopped");
  EXPECT_EQ(lq.pending, 0);
  EXPECT_EQ(s.cluster_queue("cq").pending, 0);
  s.give(test::local_queue("q", "cq"));
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.condition("a", "Requeued"), "True LocalQueueRestarted: The LocalQueue was restarted after being stopped");
}

TEST(StopAndGo, ATerminatingQueueWaitsForItsWorkloads) {
  OneQueue s;
  s.give(WorkloadBuilder("a"));
  s.run();
  s.take_finalizers();
  s.give(OneQueue::queue().deleting(s.now()).version("2"));
  s.run();
  const auto cq = s.cluster_queue("cq");
  EXPECT_EQ(cq.reason + ": " + cq.message, "Terminating: Can't admit new workloads; clusterQueue is terminating");
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_THAT(s.take_finalizers(), IsEmpty());
  s.finish("a");
  s.run();
  EXPECT_THAT(s.take_finalizers(), ElementsAre("-ClusterQueue/cq"));
}

TEST(StopAndGo, WhatWaitedBeforeAStopSaysWhyItWaitsAfterIt) {
  OneQueue s;
  s.give(WorkloadBuilder("a").pods(4, "1"));
  s.give(WorkloadBuilder("b").created(test::at(1)));
  s.run();
  EXPECT_THAT(s.condition("b", "QuotaReserved"), HasSubstr("False WaitingForQuota"));
  s.give(OneQueue::queue().stop(StopPolicy::kHold));
  s.run();
  EXPECT_THAT(s.condition("b", "QuotaReserved"), HasSubstr("False Suspended"));
  s.give(OneQueue::queue());
  s.run();
  EXPECT_THAT(s.condition("b", "QuotaReserved"), HasSubstr("False WaitingForQuota"));
}

}  // namespace
}  // namespace berth::engine::stop_and_go_test
