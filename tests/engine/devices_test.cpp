// Workloads whose pods use devices. What cannot be counted is held, with Kueue's words.
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

TEST(Devices, AreInformedBeforeTheQueueThatDoesNotExist) {
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
  EXPECT_EQ(s.condition("a", "Requeued"),
            "True DRAResourcesResolved: The devices of the workload's pods can be counted");
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
  s.give(WorkloadBuilder("a").requests(2, R"({"example.com/gpu":"2"})"));
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
}

using Charge = api::kueue::DeviceCharge;

Charge charge_of(std::string_view logical, std::string_view amount) {
  Charge out;
  out.pod_sets.emplace_back().per_pod.emplace(logical, *Quantity::parse(amount));
  return out;
}

Charge refused(std::string why) {
  Charge out;
  out.refused = why;
  out.not_requeued = std::move(why);
  return out;
}

struct GpuQueue : Scenario {
  explicit GpuQueue(std::string_view gpus = "4", const Options& options = {}) : Scenario(options) {
    give(test::flavor("f"));
    give(ClusterQueueBuilder("cq").group("gpus", {{"f", std::string(gpus)}}));
    give(test::local_queue("q", "cq"));
  }
  // A workload whose pods ask for nothing but devices.
  void give_pods(const std::string& name, int pods, std::optional<Charge> charge, std::string_view requests = "{}") {
    Workload w = WorkloadBuilder(name).requests(pods, std::string(requests));
    give(w);
    count(name, std::move(charge));
  }
  void count(const std::string& name, std::optional<Charge> charge) {
    const auto& meta = workload(name).meta;
    take(DevicesCounted{meta.ns, meta.name, meta.uid,
                        charge ? std::make_shared<const Charge>(std::move(*charge)) : nullptr});
  }
  std::string usage(const std::string& name) {
    const auto& admission = workload(name).status.admission;
    if (!admission) return "";
    return berth::to_string(api::encode_resource_list(admission->pod_set_assignments.at(0).resource_usage));
  }
};

TEST(Devices, AreChargedPerPod) {
  GpuQueue s;
  s.give_pods("a", 2, charge_of("gpus", "2"));
  s.give_pods("b", 1, charge_of("gpus", "1"));
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.usage("a"), R"({"gpus":"4"})");
  EXPECT_EQ(s.condition("b", "QuotaReserved"),
            "False WaitingForQuota: couldn't assign flavors to pod set main: insufficient unused quota for gpus in "
            "flavor f, 1 more needed");
}

TEST(Devices, OfAnExtendedResourceReplaceItsRequest) {
  GpuQueue s;
  Charge charge;
  charge.pod_sets.emplace_back().extended.emplace("example.com/gpu", "gpus");
  s.give_pods("a", 2, charge, R"({"example.com/gpu":"2"})");
  s.run();
  EXPECT_EQ(s.usage("a"), R"({"gpus":"4"})");
}

TEST(Devices, ThatAreFreeAreAbsentFromTheUsage) {
  GpuQueue s;
  Charge nothing;
  nothing.pod_sets.emplace_back();
  s.give_pods("a", 2, nothing);
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
}

TEST(Devices, AreNotRemovedByAnExcludedPrefix) {
  Options options;
  options.resources.exclude_prefixes = {"example.com/"};
  GpuQueue s("3", options);
  Charge charge;
  charge.pod_sets.emplace_back().extended.emplace("example.com/gpu", "gpus");
  s.give_pods("a", 2, charge, R"({"example.com/gpu":"2"})");
  s.run();
  EXPECT_EQ(s.condition("a", "QuotaReserved").substr(0, 24), "False ExceedsMaxQuota: c");
}

TEST(Devices, OfAnExtendedResourceAreTransformedAndCounted) {
  Options options;
  options.resources.transformations = {{"example.com/gpu", true, "", {{"credits", Quantity::of(10)}}}};
  GpuQueue s("4", options);
  s.give(test::flavor("g"));
  s.give(ClusterQueueBuilder("cq").group("gpus", {{"f", "4"}}).group("credits", {{"g", "100"}}));
  Charge charge;
  charge.pod_sets.emplace_back().extended.emplace("example.com/gpu", "gpus");
  s.give_pods("a", 2, charge, R"({"example.com/gpu":"2"})");
  s.run();
  EXPECT_EQ(s.usage("a"), R"({"credits":"40","gpus":"4"})");
}

TEST(Devices, ThatTheQueueDoesNotDeclareMayBeIgnored) {
  for (const bool ignored : {true, false}) {
    Options options;
    options.resources.ignore_undeclared = ignored;
    GpuQueue s("4", options);
    Charge charge = charge_of("gpus", "1");
    charge.pod_sets[0].per_pod.emplace("nics", Quantity::of(9));
    s.give_pods("a", 1, charge);
    s.run();
    EXPECT_EQ(s.usage("a"), ignored ? R"({"gpus":"1"})" : "");
  }
}

TEST(Devices, ScaleWithTheNumberOfPods) {
  GpuQueue s;
  Workload w = WorkloadBuilder("a").requests(4, "{}");
  w.pod_sets[0].min_count = 1;
  s.give(w);
  s.count("a", charge_of("gpus", "2"));
  s.run();
  EXPECT_EQ(s.usage("a"), R"({"gpus":"4"})") << "two pods of four";
  s.finish("a");
  s.run();
  s.give_pods("b", 2, charge_of("gpus", "2"));
  s.give_pods("c", 1, charge_of("gpus", "2"));
  s.run();
  EXPECT_EQ(s.state("c"), "Pending");
  api::kueue::JobReport report;
  report.pods_ready = true;
  report.reclaimable = {{"main", 1}};
  s.report("b", report);
  s.run();
  EXPECT_EQ(s.state("c"), "Admitted");
}

TEST(Devices, ThatCannotBeCountedHoldTheWorkloadUntilTheyCan) {
  GpuQueue s;
  s.give_pods("a", 1, refused("no such template"));
  s.run();
  EXPECT_EQ(s.state("a"), "Held");
  EXPECT_EQ(s.condition("a", "QuotaReserved"), "False DRAResourcesUnresolved: no such template");
  EXPECT_EQ(s.condition("a", "Requeued"), "False DRAResourcesUnresolved: no such template");
  s.count("a", refused("another reason"));
  s.run();
  EXPECT_EQ(s.condition("a", "QuotaReserved"), "False DRAResourcesUnresolved: another reason");
  s.count("a", charge_of("gpus", "1"));
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
}

TEST(Devices, WithAnotherChargeAreConsideredAgain) {
  GpuQueue s;
  s.give_pods("a", 1, charge_of("gpus", "5"));
  s.run();
  EXPECT_EQ(s.condition("a", "QuotaReserved").substr(0, 22), "False ExceedsMaxQuota:");
  s.count("a", charge_of("gpus", "3"));
  s.run();
  EXPECT_EQ(s.usage("a"), R"({"gpus":"3"})");
}

TEST(Devices, ThatAreReservedKeepTheirCharge) {
  GpuQueue s;
  s.give_pods("a", 1, charge_of("gpus", "3"));
  s.run();
  s.count("a", refused("the template is gone"));
  s.give_pods("b", 1, charge_of("gpus", "2"));
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.state("b"), "Pending");
  s.restart();
  s.run();
  EXPECT_EQ(s.usage("a"), R"({"gpus":"3"})");
}

TEST(Devices, HaveTheLegacyReasonOfTheirRefusalWhenObservabilityIsOff) {
  Options options;
  options.unadmitted_observability = false;
  GpuQueue s("4", options);
  s.give_pods("a", 1, refused("no such template"));
  s.run();
  EXPECT_EQ(s.condition("a", "QuotaReserved"), "False Inadmissible: no such template");
  EXPECT_EQ(s.condition("a", "Requeued"), "False Inadmissible: no such template");
}

TEST(Devices, OfAnotherWorkloadWithTheNameDoNotCount) {
  GpuQueue s;
  s.give_pods("a", 1, std::nullopt);
  s.take(DevicesCounted{s.workload("a").meta.ns, "a", "another", std::make_shared<const Charge>(refused("old"))});
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
}

}  // namespace
}  // namespace berth::engine::test::devices_test
