// waitForPodsReady.unscheduledTimeout: pods of an admitted workload that get no nodes evict it before the timeout for
// ready pods. Facts: KEP-13502 of Kueue 0.20.
#include "engine/lifecycle/scheduling.h"

#include <gtest/gtest.h>

#include "engine/support/scenario.h"

namespace berth::engine::scheduling_test {
namespace {

using test::at;
using test::ClusterQueueBuilder;
using test::PodBuilder;
using test::Scenario;
using test::WorkloadBuilder;

constexpr auto kWaits = "False WaitForScheduling: Not all pods have been scheduled";
constexpr auto kNotReady = "False WaitForStart: Not all pods are ready or succeeded";
constexpr auto kScheduled = "True AllRequiredPodsScheduled: All required pods have been scheduled or succeeded";

Options limited(int unscheduled = 20) {
  Options o;
  o.wait_for_pods_ready.timeout = std::chrono::seconds(60);
  o.wait_for_pods_ready.recovery_timeout = std::chrono::seconds(30);
  o.wait_for_pods_ready.unscheduled_timeout = std::chrono::seconds(unscheduled);
  return o;
}

// One queue with 4 cpu, and the workload "one" with two pods, admitted at 0.
struct Limited : Scenario {
  explicit Limited(const Options& options = limited()) : Scenario(options) {
    give(test::flavor("f"));
    give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}));
    give(test::local_queue("q", "cq"));
    give(WorkloadBuilder("one").pods(2, "1"));
    run();
    ready(false);
  }
  void ready(bool is) {
    api::kueue::JobReport r;
    r.pods_ready = is;
    report("one", std::move(r));
    run();
  }
  void pod(const PodBuilder& pod) {
    give(pod);
    run();
  }
  void gone(const std::string& name) {
    take(PodGone{"uid-" + name});
    run();
  }
  std::string scheduled() const { return condition("one", "PodsScheduled"); }
  std::string is_ready() const { return condition("one", "PodsReady"); }
};

PodBuilder waiting(const std::string& name) { return PodBuilder(name, "one", "").without_node(); }
PodBuilder bound(const std::string& name) { return {name, "one", "n1"}; }

TEST(UnscheduledPods, EvictTheirWorkloadBeforeTheTimeoutForReadyPods) {
  Limited s;
  EXPECT_EQ(s.scheduled(), "");
  EXPECT_EQ(s.is_ready(), kNotReady) << "no pod was seen";
  s.pass(5);
  s.pod(bound("a"));
  EXPECT_EQ(s.scheduled(), kWaits);
  EXPECT_EQ(s.is_ready(), kWaits);
  s.ready(false);
  EXPECT_EQ(s.is_ready(), kWaits) << "the job says the same as before";
  s.pass(14);
  EXPECT_EQ(s.state("one"), "Admitted");
  s.pass(1);
  EXPECT_EQ(s.state("one"), "Held");
  EXPECT_EQ(s.condition("one", "Evicted"), "True PodsReadyTimeout: Exceeded the PodsReady timeout ns/one");
  const std::vector<api::kueue::EvictionCount> counted{{"PodsReadyTimeout", "WaitForScheduling", 1}};
  EXPECT_TRUE(s.workload("one").status.evictions == counted);
  EXPECT_EQ(s.is_ready(), kNotReady);
  EXPECT_EQ(s.scheduled(), kWaits) << "it is of no admission now";
}

TEST(UnscheduledPods, ThatGetNodesInTimeLeaveTheRestOfTheTimeoutForReadyPods) {
  Limited s;
  s.pod(waiting("a"));
  s.pod(bound("b"));
  s.pass(19);
  s.pod(bound("a"));
  EXPECT_EQ(s.scheduled(), kScheduled);
  EXPECT_EQ(s.is_ready(), kNotReady);
  s.gone("a");
  EXPECT_EQ(s.scheduled(), kScheduled) << "once is enough";
  s.pass(40);
  EXPECT_EQ(s.state("one"), "Admitted");
  s.pass(1);
  EXPECT_EQ(s.state("one"), "Held");
  const std::vector<api::kueue::EvictionCount> counted{{"PodsReadyTimeout", "WaitForStart", 1}};
  EXPECT_TRUE(s.workload("one").status.evictions == counted);
  EXPECT_EQ(s.scheduled(), "False WaitForStart: The workload has no reservation");
}

TEST(UnscheduledPods, AWorkloadThatNobodySeesPodsOfHasTheWholeTimeout) {
  Limited s;
  s.pod(bound("a").terminated());
  s.pod(bound("b").terminating());
  EXPECT_EQ(s.scheduled(), "") << "pods that ended badly or terminate begin nothing";
  s.pass(59);
  EXPECT_EQ(s.state("one"), "Admitted");
  s.pass(1);
  EXPECT_EQ(s.state("one"), "Held");
}

TEST(UnscheduledPods, PodsThatSucceededNeedNoNode) {
  {
    Limited s;
    s.pod(bound("a").succeeded());
    EXPECT_EQ(s.scheduled(), "") << "no pod waits, and one is missing";
    s.pod(bound("b").succeeded());
    EXPECT_EQ(s.scheduled(), kScheduled);
  }
  {
    Limited s;
    s.pod(bound("a"));
    EXPECT_EQ(s.scheduled(), kWaits);
    api::kueue::JobReport r;
    r.pods_ready = false;
    r.reclaimable = std::vector<api::kueue::ReclaimablePod>{{"main", 1}};
    s.report("one", std::move(r));
    s.run();
    EXPECT_EQ(s.scheduled(), kScheduled) << "the other one is done and deleted";
  }
}

TEST(UnscheduledPods, PodSetsAreCountedEachForItself) {
  Limited s;
  s.pod(bound("a"));
  s.pod(bound("b").of_set("other"));
  EXPECT_EQ(s.scheduled(), kWaits);
  s.pod(bound("c"));
  EXPECT_EQ(s.scheduled(), kScheduled);
}

TEST(UnscheduledPods, APodThatIsLostLaterHasTheTimeoutForRecovery) {
  Limited s;
  s.pod(bound("a"));
  s.pod(bound("b"));
  s.ready(true);
  s.pass(100);
  s.gone("a");
  s.pod(waiting("c"));
  s.ready(false);
  EXPECT_EQ(s.scheduled(), kScheduled);
  EXPECT_EQ(s.is_ready(), "False WaitForRecovery: At least one pod has failed, waiting for recovery");
  s.pass(29);
  EXPECT_EQ(s.state("one"), "Admitted");
  s.pass(1);
  EXPECT_EQ(s.state("one"), "Held");
}

TEST(UnscheduledPods, EveryAdmissionIsSeenAnew) {
  Limited s;
  s.pod(waiting("a"));
  s.pass(20);
  ASSERT_EQ(s.state("one"), "Held");
  s.gone("a");
  s.pass(60);
  ASSERT_EQ(s.state("one"), "Admitted") << "its back-off has ended";
  s.ready(false);
  EXPECT_EQ(s.is_ready(), kNotReady) << "the last admission's pods say nothing";
  s.pass(25);
  EXPECT_EQ(s.state("one"), "Admitted");
  s.pod(waiting("b"));
  EXPECT_EQ(s.state("one"), "Held") << "a late look gives no time";
}

TEST(UnscheduledPods, WithoutALimitNothingIsSaidAndAnEarlierLimitDoesNotCount) {
  {
    Limited s(limited(0));
    s.pod(waiting("a"));
    EXPECT_EQ(s.scheduled(), "");
    EXPECT_EQ(s.is_ready(), kNotReady);
  }
  Limited s(limited(0));
  s.change("one", [](api::kueue::Workload& w) {
    for (const auto* type : {"PodsScheduled", "PodsReady"}) {
      api::Condition c;
      c.type = type;
      c.reason = "WaitForScheduling";
      c.last_transition = at(1);
      api::set_condition(w.status.conditions, c);
    }
  });
  s.pass(59);
  EXPECT_EQ(s.state("one"), "Admitted");
  s.pass(1);
  EXPECT_EQ(s.state("one"), "Held");
  const std::vector<api::kueue::EvictionCount> counted{{"PodsReadyTimeout", "WaitForStart", 1}};
  EXPECT_TRUE(s.workload("one").status.evictions == counted);
}

TEST(UnscheduledPods, ARestartedEngineSeesThemAgain) {
  Limited s;
  s.pod(waiting("a"));
  s.make_anew();
  s.run();
  s.pod(bound("b"));
  s.pod(bound("a"));
  EXPECT_EQ(s.scheduled(), kScheduled);
}

// The condition must be newer than Admitted, also when the pods are seen in the second of the admission.
TEST(UnscheduledPods, TheConditionIsNewerThanTheAdmission) {
  Limited s;
  s.pod(waiting("a"));
  const auto& conditions = s.workload("one").status.conditions;
  EXPECT_EQ(api::find_condition(conditions, "PodsScheduled")->last_transition, at(1));
  EXPECT_EQ(api::find_condition(conditions, "Admitted")->last_transition, at(0));
}

}  // namespace
}  // namespace berth::engine::scheduling_test
