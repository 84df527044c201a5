// waitForPodsReady: which workload is evicted when, how it is requeued, and which workload waits for which.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/lifecycle/pods_ready.h"
#include "engine/support/scenario.h"

namespace berth::engine::pods_ready_test {
namespace {

using api::config::WaitForPodsReady;
using test::at;
using test::ClusterQueueBuilder;
using test::Scenario;
using test::WorkloadBuilder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr auto kTimeout = "True PodsReadyTimeout: Exceeded the PodsReady timeout ns/one";
constexpr auto kBlocked = "False WaitingForPodsReady: waiting for all admitted workloads to be in PodsReady condition";

Options waiting(std::chrono::seconds timeout, std::chrono::seconds recovery = std::chrono::seconds(0)) {
  Options o;
  o.wait_for_pods_ready.timeout = timeout;
  o.wait_for_pods_ready.recovery_timeout = recovery;
  return o;
}

// One queue with 4 cpu.
struct Waiting : Scenario {
  explicit Waiting(const Options& options) : Scenario(options) {
    give(test::flavor("f"));
    give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}));
    give(test::local_queue("q", "cq"));
  }
  void pods(const std::string& name, bool ready) {
    api::kueue::JobReport r;
    r.pods_ready = ready;
    report(name, std::move(r));
    run();
  }
  std::optional<Time> requeue_at(const std::string& name) const {
    const auto& state = workload(name).status.requeue_state;
    return state ? state->requeue_at : std::nullopt;
  }
  int requeue_count(const std::string& name) const {
    const auto& state = workload(name).status.requeue_state;
    return state ? state->count.value_or(0) : 0;
  }
};

// The pods may have become ready while no controller ran.
TEST(PodsReady, ARestartedControllerLooksAtThePodsBeforeItEvicts) {
  for (const bool ready : {true, false}) {
    Waiting s(waiting(std::chrono::seconds(60)));
    s.give(WorkloadBuilder("one").pods(3, "1"));
    s.pass(59);
    s.restart_after(100);
    s.run();
    EXPECT_EQ(s.state("one"), "Admitted");
    s.pods("one", ready);
    EXPECT_EQ(s.state("one"), ready ? "Admitted" : "Held");
  }
}

TEST(PodsReady, ARestartedControllerWaitsAMinuteForTheFirstLook) {
  Waiting s(waiting(std::chrono::seconds(60)));
  s.give(WorkloadBuilder("one").pods(3, "1"));
  s.pass(59);
  s.restart_after(100);
  s.pass(59);
  EXPECT_EQ(s.state("one"), "Admitted");
  s.pass(1);
  EXPECT_EQ(s.state("one"), "Held") << "nobody looks at its pods";
}

TEST(PodsReady, TooLateIsEvictedAndComesBackAfterAPauseThatDoubles) {
  Waiting s(waiting(std::chrono::seconds(60)));
  s.give(WorkloadBuilder("one").pods(3, "1"));
  s.pass(59);
  EXPECT_EQ(s.state("one"), "Admitted");
  s.take_events();
  s.pass(1);
  EXPECT_EQ(s.state("one"), "Held") << "its job stopped at once";
  EXPECT_EQ(s.condition("one", "Evicted"), kTimeout);
  EXPECT_EQ(s.condition("one", "Requeued"), "False PodsReadyTimeout: Exceeded the PodsReady timeout ns/one");
  EXPECT_EQ(s.requeue_count("one"), 1);
  EXPECT_EQ(s.requeue_at("one"), at(120));
  const std::vector<api::kueue::EvictionCount> counted{{"PodsReadyTimeout", "WaitForStart", 1}};
  EXPECT_TRUE(s.workload("one").status.evictions == counted);
  EXPECT_THAT(s.take_events(),
              Contains("Workload/one Normal EvictedDueToPodsReadyTimeout: Exceeded the PodsReady timeout ns/one"));
  EXPECT_EQ(s.cluster_queue("cq").reserving, 0);

  s.pass(59);
  EXPECT_EQ(s.state("one"), "Held");
  s.pass(1);
  EXPECT_EQ(s.state("one"), "Admitted");
  EXPECT_EQ(s.condition("one", "Requeued"), "True BackoffFinished: The workload backoff was finished");
  EXPECT_EQ(s.requeue_at("one"), std::nullopt);
  EXPECT_EQ(s.requeue_count("one"), 1) << "so that the next pause is longer";
  s.pass(60);
  EXPECT_EQ(s.requeue_count("one"), 2);
  EXPECT_EQ(s.requeue_at("one"), at(180 + 120));
}

constexpr auto kOwnTimes = "kueue.x-k8s.io/wait-for-pods-ready";

TEST(PodsReady, AWorkloadMayHaveTimesOfItsOwn) {
  Options options = waiting(std::chrono::seconds(60), std::chrono::seconds(60));
  options.wait_for_pods_ready.times_of_workloads = true;
  Waiting s(options);
  s.give(WorkloadBuilder("short").pods(1, "1").annotate(kOwnTimes, R"({"timeoutSeconds": 20})"));
  s.give(WorkloadBuilder("long").pods(1, "1").annotate(kOwnTimes,
                                                       R"({"timeoutSeconds": 100, "recoveryTimeoutSeconds": 10})"));
  s.give(WorkloadBuilder("broken").pods(1, "1").annotate(kOwnTimes, "soon"));
  s.pass(20);
  EXPECT_EQ(s.state("short"), "Held");
  EXPECT_EQ(s.state("broken"), "Admitted");
  s.pass(40);
  EXPECT_EQ(s.state("broken"), "Held") << "it has the times of the Configuration";
  EXPECT_EQ(s.state("long"), "Admitted");
  s.pods("long", true);
  s.pods("long", false);
  s.pass(9);
  EXPECT_EQ(s.state("long"), "Admitted");
  s.pass(1);
  EXPECT_EQ(s.state("long"), "Held");
}

// A v1beta1 file without waitForPodsReady.enable: only workloads with times of their own wait.
TEST(PodsReady, OwnTimesCountWhereTheOthersDoNotWait) {
  for (const bool gate : {true, false}) {
    Options options = waiting(std::chrono::seconds(60));
    options.wait_for_pods_ready.enabled = false;
    options.wait_for_pods_ready.times_of_workloads = gate;
    Waiting s(options);
    s.give(WorkloadBuilder("own").pods(1, "1").annotate(kOwnTimes, R"({"timeoutSeconds": 20})"));
    s.give(WorkloadBuilder("other").pods(1, "1"));
    s.pods("own", false);
    s.pods("other", false);
    EXPECT_EQ(s.condition("other", "PodsReady"), "");
    EXPECT_EQ(s.condition("own", "PodsReady").empty(), !gate);
    s.pass(100);
    EXPECT_EQ(s.state("other"), "Admitted");
    EXPECT_EQ(s.state("own"), gate ? "Held" : "Admitted");
  }
}

TEST(PodsReady, InTimeIsLeftAlone) {
  Waiting s(waiting(std::chrono::seconds(60), std::chrono::seconds(60)));
  s.give(WorkloadBuilder("one"));
  s.pass(30);
  s.pods("one", true);
  s.pass(100'000);
  EXPECT_EQ(s.state("one"), "Admitted");
}

TEST(PodsReady, NobodyWaitsWhenItIsOff) {
  Options o = waiting(std::chrono::seconds(60), std::chrono::seconds(60));
  o.wait_for_pods_ready.enabled = false;
  Waiting s(o);
  s.give(WorkloadBuilder("one"));
  s.give(WorkloadBuilder("large").pods(1, "8"));
  s.pass(100'000);
  EXPECT_EQ(s.state("one"), "Admitted");
  s.pods("one", false);
  s.pods("one", true);
  for (const char* name : {"one", "large"}) EXPECT_EQ(s.condition(name, "PodsReady"), "") << name;
}

TEST(PodsReady, WaitsForHalfAnHourByDefault) {
  Waiting s{Options()};
  s.give(WorkloadBuilder("one"));
  s.pass(30 * 60 - 1);
  EXPECT_EQ(s.state("one"), "Admitted");
  s.pass(1);
  EXPECT_EQ(s.condition("one", "Evicted"), kTimeout);
}

TEST(PodsReady, ALostPodHasTimeToComeBack) {
  Waiting s(waiting(std::chrono::seconds(60), std::chrono::seconds(20)));
  s.give(WorkloadBuilder("one"));
  s.run();
  s.pods("one", true);
  s.pass(1000);
  s.pods("one", false);
  EXPECT_EQ(s.condition("one", "PodsReady"),
            "False WaitForRecovery: At least one pod has failed, waiting for recovery");
  s.pass(19);
  EXPECT_EQ(s.state("one"), "Admitted");
  s.pods("one", true);
  s.pods("one", false);
  s.pass(19);
  EXPECT_EQ(s.state("one"), "Admitted") << "each loss starts anew";
  s.pass(1);
  EXPECT_EQ(s.condition("one", "Evicted"), kTimeout);
  const std::vector<api::kueue::EvictionCount> counted{{"PodsReadyTimeout", "WaitForRecovery", 1}};
  EXPECT_TRUE(s.workload("one").status.evictions == counted);
}

TEST(PodsReady, RecoveryMayTakeAnyTime) {
  Waiting s(waiting(std::chrono::seconds(60)));
  s.give(WorkloadBuilder("one"));
  s.run();
  s.pods("one", true);
  s.pods("one", false);
  s.pass(100'000);
  EXPECT_EQ(s.state("one"), "Admitted");
}

TEST(PodsReady, WhoComesBackTooOftenIsDeactivated) {
  Options o = waiting(std::chrono::seconds(60));
  o.wait_for_pods_ready.backoff_limit_count = 1;
  Waiting s(o);
  s.give(WorkloadBuilder("one"));
  s.pass(60 + 60 + 59);
  EXPECT_EQ(s.state("one"), "Admitted");
  s.pass(1);
  EXPECT_EQ(s.state("one"), "Inactive");
  EXPECT_EQ(
      s.condition("one", "Evicted"),
      "True DeactivatedDueToRequeuingLimitExceeded: The workload is deactivated due to exceeding the maximum number of "
      "re-queuing retries");
  EXPECT_FALSE(s.workload("one").status.requeue_state) << "who activates it again starts from the beginning";
  s.pass(100'000);
  EXPECT_EQ(s.state("one"), "Inactive");
  s.change("one", [](api::kueue::Workload& w) { w.active = true; }, true);
  s.run();
  EXPECT_EQ(s.state("one"), "Admitted");
}

TEST(PodsReady, TheClockGoesOnThroughARestart) {
  Waiting s(waiting(std::chrono::seconds(60)));
  s.give(WorkloadBuilder("one"));
  s.pass(40);
  s.restart();
  s.pods("one", false);
  s.pass(19);
  EXPECT_EQ(s.state("one"), "Admitted");
  s.pass(1);
  EXPECT_EQ(s.condition("one", "Evicted"), kTimeout);
  s.restart();
  s.pass(60);
  EXPECT_EQ(s.state("one"), "Admitted");
}

TEST(PodsReady, WhoWaitedLongerGoesFirstAfterAnEviction) {
  for (const bool by_eviction : {true, false}) {
    Options o = waiting(std::chrono::seconds(60));
    o.wait_for_pods_ready.backoff_base_seconds = 0;
    if (!by_eviction) o.wait_for_pods_ready.timestamp = WaitForPodsReady::Timestamp::kCreation;
    Waiting s(o);
    s.give(WorkloadBuilder("one").pods(4, "1"));
    s.run();
    s.give(WorkloadBuilder("two").pods(4, "1").created(at(1)));
    s.pass(60);
    EXPECT_EQ(s.state("one"), by_eviction ? "Pending" : "Admitted");
    EXPECT_EQ(s.state("two"), by_eviction ? "Admitted" : "Pending");
  }
}

TEST(PodsReady, PausesDoubleUpToTheirLimit) {
  WaitForPodsReady wait;
  std::vector<long> pauses;
  for (const int n : {1, 2, 3, 6, 7, 8, 1'000'000'000}) pauses.push_back(lifecycle::requeue_pause(n, wait).count());
  EXPECT_THAT(pauses, ElementsAre(60, 120, 240, 1920, 3600, 3600, 3600));
  wait.backoff_base_seconds = 5000;
  EXPECT_EQ(lifecycle::requeue_pause(1, wait).count(), 3600);
  wait.backoff_base_seconds = 0;
  EXPECT_EQ(lifecycle::requeue_pause(1'000'000'000, wait).count(), 0);
}

// --- blockAdmission.

Options one_by_one() {
  Options o = waiting(std::chrono::seconds(600));
  o.wait_for_pods_ready.block_admission = true;
  return o;
}

TEST(BlockAdmission, TheNextIsAdmittedWhenThePodsOfAllAreReady) {
  Waiting s(one_by_one());
  s.give(WorkloadBuilder("one"));
  s.give(WorkloadBuilder("two").created(at(1)));
  s.give(WorkloadBuilder("three").created(at(2)));
  s.run();
  EXPECT_EQ(s.state("one"), "Admitted");
  EXPECT_EQ(s.condition("two", "QuotaReserved"), kBlocked);
  EXPECT_TRUE(s.workload("two").status.resource_requests.empty()) << "it lacks nothing";
  EXPECT_THAT(s.take_events(), Not(Contains(HasSubstr("WaitingForPodsReady"))));
  EXPECT_EQ(s.state("three"), "Pending");
  s.pass(100);
  EXPECT_EQ(s.state("two"), "Pending");
  s.pods("one", true);
  EXPECT_EQ(s.state("two"), "Admitted");
  EXPECT_EQ(s.condition("three", "QuotaReserved"), kBlocked);
  s.pods("two", true);
  EXPECT_EQ(s.state("three"), "Admitted");
}

TEST(BlockAdmission, OtherQueuesWaitAsWell) {
  Waiting s(one_by_one());
  s.give(ClusterQueueBuilder("other").cpu({{"f", "4"}}));
  s.give(test::local_queue("p", "other"));
  s.give(WorkloadBuilder("one"));
  s.run();
  s.give(WorkloadBuilder("two", "p"));
  s.run();
  EXPECT_EQ(s.condition("two", "QuotaReserved"), kBlocked);
  s.pods("one", true);
  EXPECT_EQ(s.state("two"), "Admitted");
}

TEST(BlockAdmission, WhoIsGoneBlocksNobody) {
  Waiting s(one_by_one());
  s.give(WorkloadBuilder("one"));
  s.give(WorkloadBuilder("two").created(at(1)));
  s.give(WorkloadBuilder("three").created(at(2)));
  s.run();
  s.finish("one");
  s.run();
  EXPECT_EQ(s.state("two"), "Admitted");
  s.remove("two");
  s.run();
  EXPECT_EQ(s.state("three"), "Admitted");
}

TEST(BlockAdmission, AnEvictedOneMakesWayForTheNext) {
  Waiting s(one_by_one());
  s.give(WorkloadBuilder("one"));
  s.give(WorkloadBuilder("two").created(at(1)));
  s.pass(600);
  EXPECT_EQ(s.condition("one", "Evicted"), kTimeout);
  EXPECT_EQ(s.state("two"), "Admitted");
}

TEST(BlockAdmission, ALostPodBlocksAgainAndARestartForgetsNothing) {
  Waiting s(one_by_one());
  s.give(WorkloadBuilder("one"));
  s.run();
  s.pods("one", true);
  s.pods("one", false);
  s.restart();
  s.give(WorkloadBuilder("two"));
  s.run();
  EXPECT_EQ(s.condition("two", "QuotaReserved"), kBlocked);
  s.pods("one", true);
  EXPECT_EQ(s.state("two"), "Admitted");
}

TEST(BlockAdmission, OffAdmitsAtOnce) {
  Waiting s(waiting(std::chrono::seconds(600)));
  s.give(WorkloadBuilder("one"));
  s.give(WorkloadBuilder("two"));
  s.run();
  EXPECT_EQ(s.state("two"), "Admitted");
}

}  // namespace
}  // namespace berth::engine::pods_ready_test
