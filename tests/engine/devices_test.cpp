// Workloads whose pods claim devices, which nobody counts: they are held with Kueue's words for its gate that is off.
#include <gtest/gtest.h>

#include "engine/support/one_queue.h"

namespace berth::engine::test::devices_test {
namespace {

constexpr auto kBestEffort = api::kueue::QueueingStrategy::kBestEffortFifo;
constexpr std::string_view kWhy = "Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled";

JsonPtr pod_template(std::string_view claims) {
  return std::make_shared<const Json>(
      *parse_json(R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}],"resourceClaims":)" +
                  std::string(claims) + "}}"));
}

Workload with_claim(std::string name, std::string_view claims) {
  Workload w = WorkloadBuilder(std::move(name)).pods(1, "1");
  w.pod_sets[0].template_ = pod_template(claims);
  return w;
}

struct Queue : Scenario {
  explicit Queue(api::kueue::QueueingStrategy strategy = kBestEffort, const Options& options = {}) : Scenario(options) {
    give(test::flavor("f"));
    api::kueue::ClusterQueue queue = ClusterQueueBuilder("cq").cpu({{"f", "4"}});
    queue.queueing_strategy = strategy;
    give(queue);
    give(test::local_queue("q", "cq"));
  }
};

TEST(Devices, HoldTheWorkload) {
  for (const auto claims :
       {R"([{"name":"d","resourceClaimTemplateName":"two"}])", R"([{"name":"d","resourceClaimName":"mine"}])"}) {
    Queue s;
    s.give(with_claim("a", claims));
    s.run();
    EXPECT_EQ(s.state("a"), "Held");
    EXPECT_EQ(s.condition("a", "QuotaReserved"), "False Misconfigured: " + std::string(kWhy));
    EXPECT_EQ(s.condition("a", "Requeued"), "False Inadmissible: " + std::string(kWhy));
    EXPECT_EQ(s.condition("a", "Admitted"), "False NoReservation: The workload has no reservation");
    EXPECT_TRUE(s.workload("a").status.resource_requests.empty());
    EXPECT_TRUE(s.take_events().empty());
    EXPECT_EQ(s.cluster_queue("cq").pending, 0);
    const int writes = s.writes();
    s.pass(3600);
    s.restart();
    s.run();
    EXPECT_EQ(s.state("a"), "Held");
    EXPECT_EQ(s.writes(), writes) << "it is said once";
  }
}

TEST(Devices, ARestartedEngineHoldsWhatAnotherOneLetWait) {
  Queue s;
  Workload waits = with_claim("a", R"([{"name":"d","resourceClaimName":"mine"}])");
  waits.status.conditions = {{.type = "Requeued", .status = true, .reason = "Preempted", .message = "again"}};
  s.give(waits);
  s.run();
  EXPECT_EQ(s.condition("a", "Requeued"), "False Inadmissible: " + std::string(kWhy));
  EXPECT_EQ(s.state("a"), "Held");
}

TEST(Devices, BlockNoOtherWorkload) {
  Queue s(api::kueue::QueueingStrategy::kStrictFifo);
  s.give(with_claim("a", R"([{"name":"d","resourceClaimName":"mine"}])"));
  s.give(WorkloadBuilder("b").pods(1, "1").created(at(5)));
  s.run();
  EXPECT_EQ(s.state("a"), "Held");
  EXPECT_EQ(s.state("b"), "Admitted");
}

TEST(Devices, AreToldBeforeTheQueueThatDoesNotExist) {
  Scenario s;
  s.give(with_claim("a", R"([{"name":"d","resourceClaimName":"mine"}])"));
  s.run();
  EXPECT_EQ(s.condition("a", "QuotaReserved"), "False Misconfigured: " + std::string(kWhy));
}

TEST(Devices, HaveTheLegacyReasonWhenObservabilityIsOff) {
  Options options;
  options.unadmitted_observability = false;
  Queue s(kBestEffort, options);
  s.give(with_claim("a", R"([{"name":"d","resourceClaimName":"mine"}])"));
  s.run();
  EXPECT_EQ(s.condition("a", "QuotaReserved"), "False Inadmissible: " + std::string(kWhy));
  const int writes = s.writes();
  s.pass(60);
  EXPECT_EQ(s.writes(), writes);
}

TEST(Devices, AWorkloadThatNeedsThemNoMoreIsQueued) {
  Queue s;
  s.give(with_claim("a", R"([{"name":"d","resourceClaimName":"mine"}])"));
  s.run();
  ASSERT_EQ(s.state("a"), "Held");
  s.change("a", [](Workload& w) { w.pod_sets[0].template_ = pod_template("[]"); }, true);
  s.run();
  EXPECT_EQ(s.condition("a", "Requeued"), "True DRAResourcesResolved: The workload uses no DRA resources any more");
  EXPECT_EQ(s.state("a"), "Admitted");
}

TEST(Devices, DoNotTouchWhatIsAdmitted) {
  Queue s;
  s.give(WorkloadBuilder("a").pods(1, "1"));
  s.run();
  ASSERT_EQ(s.state("a"), "Admitted");
  s.change("a", [](Workload& w) { w.pod_sets[0].template_ = pod_template(R"([{"name":"d"}])"); });
  s.restart();
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
}

TEST(Devices, ExtendedResourcesAreCountedByName) {
  Scenario s;
  s.give(test::flavor("f"));
  s.give(ClusterQueueBuilder("cq").group("example.com/gpu", {{"f", "4"}}));
  s.give(test::local_queue("q", "cq"));
  s.give(WorkloadBuilder("a").asks(2, R"({"example.com/gpu":"2"})"));
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
}

}  // namespace
}  // namespace berth::engine::test::devices_test
