#include "api/kueue/types.h"

#include <gtest/gtest.h>

#include "base/yaml.h"

namespace berth::api::kueue::types_test {
namespace {

TEST(ClusterQueue, MissingFieldsTakeTheirDefaults) {
  const auto q = decode_cluster_queue(*parse_json(R"({"metadata":{"name":"q"},"spec":{}})"));
  ASSERT_TRUE(q);
  EXPECT_EQ(q->meta.name, "q");
  EXPECT_EQ(q->queueing_strategy, QueueingStrategy::kBestEffortFifo);
  EXPECT_EQ(q->when_can_preempt, FungibilityPolicy::kTryNextFlavor);
  EXPECT_FALSE(q->namespace_selector);
}

TEST(ClusterQueue, ReadsEveryField) {
  const auto q = decode_cluster_queue(*parse_json(
      R"({"metadata":{"name":"q"},"spec":{"cohortName":"c","queueingStrategy":"StrictFIFO","namespaceSelector":{},"stopPolicy":"HoldAndDrain",)"
      R"("resourceGroups":[{"coveredResources":["cpu","memory"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":4,)"
      R"("borrowingLimit":"2","lendingLimit":"1500m"},{"name":"memory","nominalQuota":"1Gi"}]}]}],"flavorFungibility":{"whenCanBorrow":)"
      R"("TryNextFlavor","whenCanPreempt":"MayStopSearch","preference":"PreemptionOverBorrowing"},"preemption":{"reclaimWithinCohort":"Any",)"
      R"("borrowWithinCohort":{"policy":"LowerPriority","maxPriorityThreshold":-5},"withinClusterQueue":"LowerOrNewerEqualPriority"},)"
      R"("admissionChecksStrategy":{"admissionChecks":[{"name":"k","onFlavors":["f"]}]}}})"));
  ASSERT_TRUE(q) << q.error().message;
  EXPECT_EQ(q->cohort_name, "c");
  EXPECT_TRUE(q->namespace_selector->empty());
  EXPECT_EQ(q->stop_policy, StopPolicy::kHoldAndDrain);
  const auto& flavor = q->resource_groups.at(0).flavors.at(0);
  EXPECT_EQ(flavor.resources.at(0).nominal.to_string(), "4");
  EXPECT_EQ(flavor.resources.at(0).lending_limit->to_string(), "1500m");
  EXPECT_FALSE(flavor.resources.at(1).borrowing_limit);
  EXPECT_EQ(q->preference, FungibilityPreference::kPreemptionOverBorrowing);
  EXPECT_EQ(q->borrow_max_priority_threshold, -5);
  EXPECT_EQ(q->within_cluster_queue, WithinClusterQueue::kLowerOrNewerEqualPriority);
  EXPECT_EQ(q->admission_checks.at(0).on_flavors, std::vector<std::string>{"f"});
}

TEST(ClusterQueue, ErrorsNameObjectAndField) {
  EXPECT_EQ(
      decode_cluster_queue(*parse_json(R"({"metadata":{"name":"q"},"spec":{"stopPolicy":"Maybe"}})")).error().message,
      "ClusterQueue q: spec.stopPolicy: unsupported value \"Maybe\"");
  const auto bad = decode_cluster_queue(*parse_json(
      R"({"metadata":{"name":"q"},"spec":{"resourceGroups":[{"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"z"}]}]}]}})"));
  EXPECT_TRUE(bad.error().message.starts_with(
      "ClusterQueue q: spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: quantities must"));
}

// Webhooks refuse negative amounts. What was stored without them takes nothing from others.
TEST(NegativeAmounts, AreZeroWhenTheyAreRead) {
  const std::string groups =
      R"({"metadata":{"name":"q"},"spec":{"fairSharing":{"weight":"-1"},"resourceGroups":[{"flavors":[{"name":"f","resources":)"
      R"([{"name":"cpu","nominalQuota":"-4","borrowingLimit":-2,"lendingLimit":"-100"}]}]}]}})";
  const auto queue = decode_cluster_queue(*parse_json(groups));
  ASSERT_TRUE(queue) << queue.error().message;
  const auto cohort = decode_cohort(*parse_json(groups));
  ASSERT_TRUE(cohort) << cohort.error().message;
  for (const auto* quota : {&queue->resource_groups.at(0).flavors.at(0).resources.at(0),
                            &cohort->resource_groups.at(0).flavors.at(0).resources.at(0)}) {
    EXPECT_EQ(quota->nominal.to_string(), "0");
    EXPECT_EQ(quota->borrowing_limit->to_string(), "0");
    EXPECT_EQ(quota->lending_limit->to_string(), "0");
  }
  EXPECT_EQ(queue->fair_weight.to_string(), "0");
  const auto w = decode_workload(*parse_json(
      R"({"spec":{"podSets":[{"name":"a","count":-3},{"name":"b","count":4294967299}]},"status":{"reclaimablePods":[{"name":"a","count":-2}],)"
      R"("admission":{"clusterQueue":"q","podSetAssignments":[{"name":"a","count":-1,"resourceUsage":{"cpu":"-8"}}]}}})"));
  ASSERT_TRUE(w) << w.error().message;
  EXPECT_EQ(w->pod_sets[0].count, 0);
  EXPECT_EQ(w->pod_sets[1].count, 2147483647);
  EXPECT_EQ(w->status.reclaimable_pods[0].count, 0);
  EXPECT_EQ(w->status.admission->pod_set_assignments[0].count, 0);
  EXPECT_EQ(w->status.admission->pod_set_assignments[0].resource_usage.at("cpu").to_string(), "0");
}

TEST(OtherKinds, AreRead) {
  EXPECT_EQ(decode_cohort(*parse_json(R"({"metadata":{"name":"c"},"spec":{"parentName":"p"}})"))->parent_name, "p");
  const auto lq = decode_local_queue(
      *parse_json(R"({"metadata":{"name":"l","namespace":"n"},"spec":{"clusterQueue":"q","stopPolicy":"Hold"}})"));
  EXPECT_EQ(lq->cluster_queue, "q");
  EXPECT_EQ(lq->stop_policy, StopPolicy::kHold);
  const auto flavor = decode_resource_flavor(*parse_json(
      R"({"spec":{"nodeLabels":{"a":"b"},"nodeTaints":[{"key":"t","effect":"NoSchedule"}],"tolerations":[{"key":"x","operator":"Exists"}],"topologyName":"racks"}})"));
  EXPECT_EQ(flavor->node_labels.at("a"), "b");
  EXPECT_EQ(flavor->node_taints.at(0).key, "t");
  EXPECT_EQ(flavor->topology_name, "racks");
  EXPECT_EQ(
      decode_admission_check(
          *parse_json(R"({"spec":{"controllerName":"c"},"status":{"conditions":[{"type":"Active","status":"True"}]}})"))
          ->conditions.at(0)
          .type,
      "Active");
  EXPECT_EQ(decode_workload_priority_class(*parse_json(R"({"value":-3})"))->value, -3);
}

constexpr std::string_view kWorkload =
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w","namespace":"n","labels":{"a":"b"}},"spec":{"podSets":[)"
    R"({"name":"main","count":3,"minCount":1,"topologyRequest":{"required":"rack"},"template":{"spec":{"containers":[{"name":"c"}]}}}],)"
    R"("queueName":"l","priorityClassRef":{"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"high"},"priority":7,"active":true,)"
    R"("maximumExecutionTimeSeconds":60,"preemptionGates":[{"name":"example.com/a"},{"name":"example.com/b"}]},"status":{"conditions":[{"type":"QuotaReserved","status":"True","observedGeneration":1,)"
    R"("lastTransitionTime":"2026-11-21T09:30:00Z","reason":"QuotaReserved","message":"m"}],"admission":{"clusterQueue":"q",)"
    R"("podSetAssignments":[{"name":"main","flavors":{"cpu":"f"},"resourceUsage":{"cpu":"3","memory":"1536Mi"},"count":3}]},)"
    R"("requeueState":{"count":2,"requeueAt":"2026-11-21T09:31:00Z"},"reclaimablePods":[{"name":"main","count":1}],"admissionChecks":[)"
    R"({"name":"k","state":"Ready","lastTransitionTime":"2026-11-21T09:30:30Z","message":"","requeueAfterSeconds":5,"retryCount":1,)"
    R"("podSetUpdates":[{"name":"main","labels":{"x":"y"},"annotations":{"o":"p"},"nodeSelector":{"z":"1"},"tolerations":[{"key":"t","operator":"Exists"}]}]}],)"
    R"("resourceRequests":[{"name":"main","resources":{"cpu":"3"}}],"accumulatedPastExecutionTimeSeconds":9,)"
    R"("schedulingStats":{"evictions":[{"reason":"Preempted","underlyingCause":"","count":1}]},"preemptionGates":[)"
    R"({"name":"example.com/a","position":"Open","lastTransitionTime":"2026-11-21T09:30:00Z"},)"
    R"({"name":"example.com/b","position":"Closed","lastTransitionTime":"2026-11-21T09:30:01Z"}]}})";

TEST(Workload, ReadsAndWritesBack) {
  const Json object = *parse_json(kWorkload);
  const auto workload = decode_workload(object);
  ASSERT_TRUE(workload) << workload.error().message;
  EXPECT_EQ(canonical_json(encode_workload(*workload)), canonical_json(object));
}

TEST(Workload, MissingFieldsTakeTheirDefaults) {
  const auto workload = decode_workload(*parse_json(R"({"metadata":{"name":"w"},"spec":{"podSets":[{}]}})"));
  ASSERT_TRUE(workload);
  EXPECT_TRUE(workload->active);
  EXPECT_EQ(workload->priority, 0);
  EXPECT_EQ(workload->pod_sets.at(0).name, "main");
  EXPECT_EQ(workload->pod_sets.at(0).count, 1);
  EXPECT_NE(workload->pod_sets.at(0).template_, nullptr);
  EXPECT_EQ(workload->pod_sets.at(0).topology_request, std::nullopt);
  EXPECT_EQ(find(encode_workload(*workload), "status"), nullptr);
}

TEST(Workload, KnowsWhenItsStatusSaysMoreThanIsRead) {
  const auto has_more = [](const char* status) {
    return decode_workload(parse_yaml(std::string("{metadata: {name: w}, status: ") + status + "}").value().front())
        ->status.has_more;
  };
  EXPECT_FALSE(
      has_more("{conditions: [{type: Admitted, status: 'True'}], admission: {clusterQueue: c, podSetAssignments: []}, "
               "requeueState: {count: 1}, schedulingStats: {evictions: []}, unhealthyNodes: [{name: n}], "
               "preemptionGates: [{name: g}], clusterName: c, nominatedClusterNames: []}"));
  EXPECT_TRUE(has_more("{later: far-away}"));
  EXPECT_TRUE(has_more("{admission: {clusterQueue: c, podSetAssignments: [], later: 1}}"));
  EXPECT_TRUE(has_more("{schedulingStats: {evictions: [], waits: 2}}"));
  // An update that writes these in another way is refused while quota is held.
  const auto assigned = [&](const std::string& assignment) {
    return has_more(("{admission: {clusterQueue: c, podSetAssignments: [" + assignment + "]}}").c_str());
  };
  EXPECT_FALSE(assigned("{name: main, count: 1, flavors: {cpu: f}}"));
  EXPECT_TRUE(assigned("{name: main, flavors: {cpu: f}}"));
  EXPECT_TRUE(assigned("{name: main, count: 1, flavors: {}}"));
  EXPECT_TRUE(assigned("{name: main, count: 1, resourceUsage: {}}"));
}

TEST(Workload, ErrorsNameObjectAndField) {
  EXPECT_EQ(
      decode_workload(
          *parse_json(
              R"({"metadata":{"name":"w","namespace":"n"},"status":{"admissionChecks":[{"name":"k","state":"Odd"}]}})"))
          .error()
          .message,
      "Workload n/w: status.admissionChecks[k].state: unsupported state \"Odd\"");
  EXPECT_TRUE(
      decode_workload(
          *parse_json(
              R"({"metadata":{"name":"w"},"status":{"admission":{"podSetAssignments":[{"resourceUsage":{"cpu":"z"}}]}}})"))
          .error()
          .message.starts_with("Workload w: status.admission.podSetAssignments[0].resourceUsage.cpu: "));
}

}  // namespace
}  // namespace berth::api::kueue::types_test
