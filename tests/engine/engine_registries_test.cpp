// What the engine derives from the objects it knows: activity of queues, required checks, requests of workloads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/registries.h"
#include "engine/requested_pods.h"
#include "engine/support/build.h"
#include "engine/version.h"

namespace berth::engine::engine_registries_test {
namespace {

using api::kueue::StopPolicy;
using api::kueue::Workload;
using test::ClusterQueueBuilder;
using test::WorkloadBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

template <typename T>
std::shared_ptr<const T> share(T value) {
  return std::make_shared<const T>(std::move(value));
}

struct Known : testing::Test {
  void add(const api::kueue::ClusterQueue& q) {
    r.cluster_queues[q.meta.name] = share(q);
    r.refresh_all();
  }
  std::string activity(const std::string& name) {
    const auto& a = r.activity(*r.cluster_queue(name));
    return a.reason + ": " + a.message;
  }
  Registries r;
};

TEST_F(Known, TheFirstProblemInAFixedOrderNamesTheReasonAndTheMessageNamesAll) {
  r.checks["sleeping"] = share(test::check("sleeping", false));
  add(ClusterQueueBuilder("cq").cpu({{"a", "1"}, {"b", "1"}}).check("sleeping").check("gone").stop(StopPolicy::kHold));
  EXPECT_EQ(activity("cq"),
            "Stopped: Can't admit new workloads: is stopped, references missing ResourceFlavor(s): a,b, "
            "references missing "
            "AdmissionCheck(s): gone, references inactive AdmissionCheck(s): sleeping.");
  add(ClusterQueueBuilder("cq").cpu({{"a", "1"}}).check("sleeping"));
  EXPECT_EQ(activity("cq").substr(0, 15), "FlavorNotFound:");
  r.flavors["a"] = share(test::flavor("a"));
  EXPECT_THAT(r.refresh_all(), ElementsAre("cq"));
  EXPECT_THAT(r.refresh_all(), IsEmpty());
  EXPECT_EQ(activity("cq").substr(0, 23), "AdmissionCheckInactive:");
}

TEST_F(Known, AloneTheQueuesThatAreNamedAreLookedAtAgain) {
  add(ClusterQueueBuilder("a").cpu({{"f", "1"}}));
  add(ClusterQueueBuilder("b").cpu({{"f", "1"}}));
  r.flavors["f"] = share(test::flavor("f"));
  EXPECT_THAT(r.refresh({"a", "gone"}), ElementsAre("a"));
  EXPECT_EQ(activity("b").substr(0, 15), "FlavorNotFound:");
  EXPECT_THAT(r.refresh_all(), ElementsAre("b"));
  r.cluster_queues.erase("a");
  EXPECT_THAT(r.refresh({"a"}), IsEmpty());
  r.cluster_queues["a"] = share(ClusterQueueBuilder("a").cpu({{"f", "1"}}).build());
  EXPECT_THAT(r.refresh({"a", "b"}), ElementsAre("a")) << "what was known of the former one is forgotten";
}

TEST_F(Known, LocalQueuesAreFoundByTheirClusterQueue) {
  r.set_local_queue(share(test::local_queue("x", "cq")));
  r.set_local_queue(share(test::local_queue("y", "cq")));
  EXPECT_THAT(r.local_queues_of("cq"), ElementsAre("ns/x", "ns/y"));
  r.set_local_queue(share(test::local_queue("x", "other")));
  EXPECT_THAT(r.local_queues_of("cq"), ElementsAre("ns/y"));
  EXPECT_THAT(r.local_queues_of("other"), ElementsAre("ns/x"));
  r.remove_local_queue("ns/x");
  r.remove_local_queue("ns/x");
  EXPECT_THAT(r.local_queues_of("other"), IsEmpty());
  EXPECT_EQ(r.local_queue("ns/x"), nullptr);
}

TEST_F(Known, OnlyChecksOfAssignedFlavorsAreRequired) {
  add(ClusterQueueBuilder("cq")
          .cpu({{"a", "1"}, {"b", "1"}})
          .check("z")
          .check("only-a", {"a"})
          .check("only-b", {"b", "c"}));
  EXPECT_THAT(r.required_checks(test::admission("cq", "a", 1, "1")), ElementsAre("only-a", "z"));
  EXPECT_THAT(r.required_checks(test::admission("cq", "b", 1, "1")), ElementsAre("only-b", "z"));
  EXPECT_THAT(r.required_checks(test::admission("gone", "b", 1, "1")), IsEmpty());
}

TEST_F(Known, FlavorsAndChecksThatQueuesNameAreInUse) {
  api::kueue::Cohort cohort;
  cohort.meta.name = "c";
  cohort.resource_groups = ClusterQueueBuilder("x").cpu({{"lent", "1"}}).build().resource_groups;
  r.cohorts["c"] = share(cohort);
  add(ClusterQueueBuilder("cq").cpu({{"own", "1"}}).check("ck"));
  EXPECT_FALSE(r.flavor_in_use("lent")) << "a cohort does not keep a flavor";
  EXPECT_TRUE(r.flavor_in_use("own"));
  EXPECT_FALSE(r.flavor_in_use("none"));
  EXPECT_TRUE(r.check_in_use("ck"));
  EXPECT_FALSE(r.check_in_use("none"));
}

TEST_F(Known, AsksCountOverheadDefaultsAndWhatEnded) {
  r.runtime_classes["kata"] = std::make_shared<const Json>(parse_json(R"({"cpu":"250m"})").value());
  api::LimitRangeItem item;
  item.type = "Container";
  item.default_requests["memory"] = test::quantity("1Gi");
  r.limit_ranges["ns"]["l"] = {item};
  const Workload w = WorkloadBuilder("w").requests(3, R"({"cpu":"1"})", R"("runtimeClassName":"kata")");
  const RequestedPods requests = requested_pods(w, r, {});
  EXPECT_EQ(requests.invalid, "");
  ASSERT_EQ(requests.pod_sets.size(), 1u);
  EXPECT_EQ(requests.pod_sets[0].per_pod.at("cpu").to_string(), "1250m");
  EXPECT_EQ(requests.pod_sets[0].per_pod.at("memory").to_string(), "1Gi");
  EXPECT_EQ(without_reclaimed(requests.pod_sets, {{"main", 1}})[0].count, 2);
  EXPECT_EQ(without_reclaimed(requests.pod_sets, {{"main", 9}})[0].count, 0);
  EXPECT_EQ(without_reclaimed(requests.pod_sets, {{"other", 1}})[0].count, 3);
  // Two pods had ended before the admission, and one ends under it.
  api::kueue::Workload workload;
  workload.pod_sets.emplace_back().count = 5;
  workload.status.reclaimable_pods = {{"main", 3}};
  api::kueue::Admission admission;
  admission.pod_set_assignments.emplace_back().name = "main";
  admission.pod_set_assignments[0].count = 3;
  EXPECT_EQ(ended_since(admission, workload, true)[0].count, 1);
  admission.pod_set_assignments[0].count = 5;
  EXPECT_EQ(ended_since(admission, workload, true)[0].count, 3);
  // Pods that had ended or a partial admission: the smaller count does not tell. No quota is given twice.
  workload.pod_sets[0].min_count = 1;
  admission.pod_set_assignments[0].count = 3;
  EXPECT_EQ(ended_since(admission, workload, true)[0].count, 1);
}

TEST_F(Known, RequestsAboveLimitsAreABarrier) {
  const Workload w = WorkloadBuilder("w").requests(1, R"({"cpu":"2"},"limits":{"cpu":"1"})");
  const RequestedPods requests = requested_pods(w, r, {});
  const auto queue = ClusterQueueBuilder("cq").build();
  const auto barrier = barrier_of(requests, "ns", &queue, r);
  ASSERT_TRUE(barrier);
  EXPECT_EQ(barrier->reason, "Misconfigured");
  EXPECT_TRUE(barrier->blocks_strict_queue);
  EXPECT_THAT(barrier->message, testing::HasSubstr("spec.podSets[0].template.spec.containers[0]: Invalid value"));
}

TEST_F(Known, ANamespaceMustMatchAndNoSelectorMatchesNothing) {
  const RequestedPods requests = requested_pods(WorkloadBuilder("w").build(), r, {});
  auto queue = ClusterQueueBuilder("cq").select(R"({"matchLabels":{"team":"a"}})").build();
  EXPECT_TRUE(barrier_of(requests, "ns", &queue, r));
  r.namespaces["ns"] = parse_json(R"({"team":"a"})").value().as_object();
  EXPECT_FALSE(barrier_of(requests, "ns", &queue, r));
  queue.namespace_selector.reset();
  const auto barrier = barrier_of(requests, "ns", &queue, r);
  ASSERT_TRUE(barrier);
  EXPECT_FALSE(barrier->blocks_strict_queue);
  EXPECT_FALSE(barrier_of(requests, "ns", nullptr, r)) << "a queue that does not exist forbids nothing";
}

struct OrderCase {
  const char* reason;
  bool status;
  Time expected;
};

TEST(QueueOrder, StartsOverOnlyAfterARetry) {
  for (const auto& c :
       {OrderCase{"AdmissionCheck", true, test::at(9)}, OrderCase{"PodsReadyTimeout", true, test::at(9)},
        OrderCase{"Preempted", true, test::at(0)}, OrderCase{"AdmissionCheck", false, test::at(0)}}) {
    Workload w = WorkloadBuilder("w");
    api::Condition evicted;
    evicted.type = "Evicted";
    evicted.status = c.status;
    evicted.reason = c.reason;
    evicted.last_transition = test::at(9);
    w.status.conditions = {evicted};
    EXPECT_EQ(queue_order_time(w, {}), c.expected) << c.reason;
  }
}

TEST(QueueOrder, APodsReadyTimeoutMayLeaveItsPlace) {
  Workload w = WorkloadBuilder("w");
  api::config::WaitForPodsReady by_creation;
  by_creation.timestamp = api::config::WaitForPodsReady::Timestamp::kCreation;
  for (const auto& [reason, expected] :
       {std::pair("PodsReadyTimeout", test::at(0)), std::pair("AdmissionCheck", test::at(9))}) {
    api::Condition evicted;
    evicted.type = "Evicted";
    evicted.status = true;
    evicted.reason = reason;
    evicted.last_transition = test::at(9);
    w.status.conditions = {evicted};
    EXPECT_EQ(queue_order_time(w, by_creation), expected) << reason;
  }
}

TEST(Versions, GrowAsNumbers) {
  EXPECT_TRUE(older("9", "10"));
  EXPECT_FALSE(older("10", "9"));
  EXPECT_FALSE(older("10", "10"));
  EXPECT_TRUE(older("", "1"));
}

}  // namespace
}  // namespace berth::engine::engine_registries_test
