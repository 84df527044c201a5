// Pods that are done give their quota back, and pods that run again after that do not run without quota.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/support/one_queue.h"

namespace berth::engine::reclaimable_pods_test {
namespace {

using api::kueue::ReclaimablePod;
using test::OneQueue;
using test::totals;
using test::WorkloadBuilder;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

api::kueue::JobReport done(std::vector<ReclaimablePod> pods) {
  api::kueue::JobReport report;
  report.pods_ready = true;
  report.reclaimable = std::move(pods);
  return report;
}

// Three pods on 4 CPUs; two of them are done, and another workload has their quota.
struct TwoOfThreeDone : OneQueue {
  TwoOfThreeDone() {
    give(WorkloadBuilder("set").pods(3, "1"));
    give(WorkloadBuilder("other").pods(3, "1").created(test::at(1)));
    run();
    report("set", done({{"main", 2}}));
    run();
    EXPECT_EQ(state("other"), "Admitted");
    take_events();
  }
};

TEST(ReclaimablePods, PodsThatRunAgainWithoutQuotaAreEvictedAndQueuedAgain) {
  TwoOfThreeDone s;
  s.jobs_stop_at_once = false;
  s.report("set", done({}));
  s.run();
  EXPECT_EQ(s.state("set"), "Evicting");
  const std::string why =
      "Pods run again whose quota was given back: of pod set main 3 pods are not done, and it holds quota for 1";
  EXPECT_EQ(s.condition("set", "Evicted"), "True PodsRestarted: " + why);
  EXPECT_THAT(s.take_events(), ElementsAre("Workload/set Normal EvictedDueToPodsRestarted: " + why));
  EXPECT_THAT(s.workload("set").status.reclaimable_pods, ElementsAre(ReclaimablePod{"main", 2}))
      << "the count does not fall while quota is held";
  api::kueue::JobReport stopped = done({});
  stopped.stopped = true;
  stopped.workload_version = s.workload("set").meta.resource_version;
  s.report("set", stopped);
  s.run();
  EXPECT_EQ(s.state("set"), "Pending");
  EXPECT_THAT(s.workload("set").status.reclaimable_pods, IsEmpty());
  EXPECT_EQ(s.condition("set", "Requeued"), "True PodsRestarted: " + why);
  s.finish("other");
  s.run();
  EXPECT_EQ(s.state("set"), "Admitted");
  EXPECT_EQ(totals(s.cluster_queue("cq").usage), "f/cpu=3");
}

TEST(ReclaimablePods, AReportThatTellsNothingOrMoreEvictsNothing) {
  TwoOfThreeDone s;
  api::kueue::JobReport silent;
  silent.pods_ready = true;
  s.report("set", silent);
  s.run();
  s.report("set", done({{"main", 3}}));
  s.run();
  EXPECT_EQ(s.state("set"), "Admitted");
  EXPECT_EQ(totals(s.cluster_queue("cq").usage), "f/cpu=3");
}

TEST(ReclaimablePods, AlsoWhenOnlySomeRunAgain) {
  TwoOfThreeDone s;
  s.finish("other");
  s.report("set", done({{"main", 1}}));
  s.run();
  EXPECT_EQ(s.state("set"), "Admitted");
  EXPECT_EQ(s.condition("set", "Evicted"),
            "False QuotaReserved: Previously: Pods run again whose quota was given back: of pod set main 2 pods are "
            "not done, and it holds quota for 1")
      << "it was admitted anew";
  EXPECT_EQ(s.workload("set").status.evictions.at(0).reason, "PodsRestarted");
}

// Gate ReclaimablePods off: what Kueue or Berth wrote before is not counted, and nothing is written.
TEST(ReclaimablePods, WithoutTheGateAllPodsOfAWorkloadHoldTheirQuota) {
  Options off;
  off.reclaimable_pods = false;
  test::Scenario s(off);
  s.give(test::flavor("f"));
  s.give(OneQueue::queue());
  s.give(test::local_queue("q", "cq"));
  s.give(WorkloadBuilder("one").pods(3, "1"));
  s.run();
  s.change("one", [](api::kueue::Workload& w) { w.status.reclaimable_pods = {{"main", 1}}; });
  s.give(WorkloadBuilder("two").pods(2, "1").created(test::at(1)));
  s.run();
  EXPECT_EQ(s.state("two"), "Pending");
  EXPECT_EQ(totals(s.cluster_queue("cq").usage), "f/cpu=3");
  s.report("one", done({{"main", 2}}));
  s.run();
  EXPECT_EQ(s.state("two"), "Pending");
  EXPECT_THAT(s.workload("one").status.reclaimable_pods, ElementsAre(ReclaimablePod{"main", 1}));
  s.report("one", done({}));
  s.run();
  EXPECT_EQ(s.state("one"), "Admitted");
}

}  // namespace
}  // namespace berth::engine::reclaimable_pods_test
