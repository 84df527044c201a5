#include "controller/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "controller/build_info.h"
#include "controller/metrics_fixture.h"

namespace berth::controller::metrics_test {
namespace {

using namespace metrics_fixture;

TEST_F(WorkloadMetricsTest, CountsAWorkloadOnItsWayOnce) {
  at(7, [&](auto& status) {
    status.admission = api::kueue::Admission{"cq", {}};
    status.admission_checks.emplace_back().name = "check";
    set("QuotaReserved", true);
  });
  at(30, [&](auto&) { set("Admitted", true); });
  at(31, [&](auto&) { set("Admitted", true, "R", "told again"); });
  at(60, [&](auto&) { set("PodsReady", true); });
  at(600, [&](auto&) { set("Finished", true); });
  const std::string cq = R"({cluster_queue="cq",priority_class="high"} )";
  const std::string lq = R"({name="lq",namespace="a",priority_class="high"} )";
  EXPECT_EQ(lines_of(registry, "kueue_quota_reserved_workloads_total"), cq + "1\n");
  EXPECT_EQ(lines_of(registry, "kueue_admitted_workloads_total"), cq + "1\n");
  EXPECT_EQ(lines_of(registry, "kueue_finished_workloads_total"), cq + "1\n");
  EXPECT_EQ(lines_of(registry, "kueue_local_queue_admitted_workloads_total"), lq + "1\n");
  EXPECT_EQ(lines_of(registry, "kueue_quota_reserved_wait_time_seconds_sum"), cq + "7\n");
  EXPECT_EQ(lines_of(registry, "kueue_admission_wait_time_seconds_sum"), cq + "30\n");
  EXPECT_EQ(lines_of(registry, "kueue_admission_checks_wait_time_seconds_sum"), cq + "23\n");
  EXPECT_EQ(lines_of(registry, "kueue_ready_wait_time_seconds_sum"), cq + "60\n");
  EXPECT_EQ(lines_of(registry, "kueue_admitted_until_ready_wait_time_seconds_sum"), cq + "30\n");
  EXPECT_EQ(lines_of(registry, "kueue_execution_time_seconds_sum"), cq + "570\n");
  EXPECT_EQ(lines_of(registry, "kueue_local_queue_execution_time_seconds_count"), lq + "1\n");
  EXPECT_EQ(lines_of(registry, "kueue_cohort_subtree_admitted_workloads_total"),
            "{cohort=\"all\",priority_class=\"high\"} 1\n{cohort=\"team\",priority_class=\"high\"} 1\n");
  metrics.forget_cohort("team");
  EXPECT_EQ(lines_of(registry, "kueue_cohort_subtree_admitted_workloads_total"),
            "{cohort=\"all\",priority_class=\"high\"} 1\n");
}

TEST_F(WorkloadMetricsTest, CountsEvictionsByTheirCause) {
  at(1, [&](auto&) { admit(); });
  at(5, [&](auto&) { set("PodsReady", true); });
  at(10, [&](auto& status) {
    status.evictions = {{"Preempted", "", 1}};
    set("Evicted", true, "Preempted");
    set("Preempted", true, "InCohortReclamation",
        "Preempted to accommodate a workload (UID: x, JobUID: y) due to reclamation; preemptor path: /root/team-b; "
        "preemptee path: /root/cq");
  });
  at(13, [&](auto& status) {
    status.admission.reset();
    set("QuotaReserved", false);
    set("Admitted", false);
    set("Requeued", true);
  });
  EXPECT_EQ(lines_of(registry, "kueue_evicted_workloads_total"),
            R"({cluster_queue="cq",priority_class="high",reason="Preempted",underlying_cause=""} 1)"
            "\n");
  EXPECT_EQ(lines_of(registry, "kueue_evicted_workloads_once_total"),
            R"({cluster_queue="cq",priority_class="high",reason="Preempted",underlying_cause=""} 1)"
            "\n");
  EXPECT_EQ(lines_of(registry, "kueue_preempted_workloads_total"),
            R"({preempting_cluster_queue="team-b",reason="InCohortReclamation"} 1)"
            "\n");
  EXPECT_EQ(lines_of(registry, "kueue_pods_ready_to_evicted_time_seconds_sum"),
            R"({cluster_queue="cq",reason="Preempted",underlying_cause=""} 5)"
            "\n");
  EXPECT_EQ(lines_of(registry, "kueue_workload_eviction_latency_seconds_sum"),
            R"({cluster_queue="cq",reason="Preempted"} 3)"
            "\n");
  // The wait counts from the last requeue. Then the workload is evicted again for the same cause.
  at(33, [&](auto&) { admit(); });
  EXPECT_NE(lines_of(registry, "kueue_admission_wait_time_seconds_sum").find("} 21\n"), std::string::npos);
  at(40, [&](auto& status) { status.evictions = {{"Preempted", "", 2}}; });
  EXPECT_NE(lines_of(registry, "kueue_evicted_workloads_total").find("} 2\n"), std::string::npos);
  EXPECT_NE(lines_of(registry, "kueue_evicted_workloads_once_total").find("} 1\n"), std::string::npos);
}

TEST_F(WorkloadMetricsTest, WhatHappensWithoutQuotaIsOfNoQueue) {
  at(1, [&](auto& status) { status.evictions = {{"Deactivated", "", 1}}; });
  EXPECT_EQ(lines_of(registry, "kueue_evicted_workloads_total"), "");
  EXPECT_EQ(lines_of(registry, "kueue_local_queue_evicted_workloads_total"), "");
  at(2, [&](auto&) { set("Finished", true); });
  EXPECT_EQ(lines_of(registry, "kueue_finished_workloads_total"), "{cluster_queue=\"\",priority_class=\"high\"} 1\n");
  EXPECT_EQ(lines_of(registry, "kueue_local_queue_finished_workloads_total"), "");
}

TEST_F(WorkloadMetricsTest, PodsThatAreReadyAgainCountFromTheLossOfOne) {
  at(1, [&](auto&) { admit(); });
  at(3, [&](auto&) { set("PodsReady", true, "Started"); });
  at(4, [&](auto&) { set("PodsReady", false, "WaitForRecovery"); });
  at(9, [&](auto&) { set("PodsReady", true, "Recovered"); });
  EXPECT_NE(lines_of(registry, "kueue_ready_wait_time_seconds_sum").find("} 3\n"), std::string::npos);
  EXPECT_NE(lines_of(registry, "kueue_ready_wait_time_seconds_count").find("} 1\n"), std::string::npos);
  EXPECT_NE(lines_of(registry, "kueue_workload_recovery_wait_time_seconds_sum").find("} 5\n"), std::string::npos);
  EXPECT_NE(lines_of(registry, "kueue_local_queue_workload_recovery_wait_time_seconds_sum").find("} 5\n"),
            std::string::npos);
}

TEST_F(WorkloadMetricsTest, AnExecutionCountsFormerRunsToo) {
  at(10, [&](auto& status) {
    admit();
    status.accumulated_past_execution_time_seconds = 25;
  });
  at(15, [&](auto&) { set("Finished", true); });
  EXPECT_NE(lines_of(registry, "kueue_execution_time_seconds_sum").find("} 30\n"), std::string::npos);
}

// Without checks, an admission that comes after the reservation waited for something else.
TEST_F(WorkloadMetricsTest, ALateAdmissionCountsAsAWaitForChecks) {
  at(1, [&](auto& status) {
    status.admission = api::kueue::Admission{"cq", {}};
    set("QuotaReserved", true);
  });
  at(8, [&](auto&) { set("Admitted", true); });
  EXPECT_NE(lines_of(registry, "kueue_admission_checks_wait_time_seconds_sum").find("} 7\n"), std::string::npos);
}

TEST_F(WorkloadMetricsTest, AnotherWorkloadOfTheNameIsAnotherOne) {
  const Workload before = workload;
  workload.meta.uid = "another";
  admit();
  metrics.changed(before, workload, queues);
  EXPECT_EQ(lines_of(registry, "kueue_admitted_workloads_total"), "");
}

int families_of(const std::string& text, const std::string& label) {
  std::set<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(label) != std::string::npos) names.insert(line.substr(0, line.find('{')));
  }
  return static_cast<int>(names.size());
}

TEST_F(LivedMetricsTest, AQueueThatGoesTakesAllItsSeriesAlong) {
  live();
  // Four counters and the counter of first evictions, ten histograms of three families each, and the counter of
  // preemptions.
  EXPECT_EQ(families_of(registry.text(), "cluster_queue=\"cq\""), 5 + 10 * 3 + 1);
  EXPECT_EQ(families_of(registry.text(), "name=\"lq\""), 4 + 7 * 3);
  metrics.forget_local_queue("a", "lq");
  EXPECT_EQ(registry.text().find("name=\"lq\""), std::string::npos) << registry.text();
  metrics.forget_cluster_queue("cq");
  EXPECT_EQ(registry.text().find("\"cq\""), std::string::npos) << registry.text();
}

TEST_F(LivedMetricsTest, WhatHappensInQueuesThatAreGoneIsNotReported) {
  cluster_queues_are_there = local_queues_are_there = false;
  live();
  EXPECT_EQ(registry.text().find("\"cq\""), std::string::npos) << registry.text();
  EXPECT_EQ(registry.text().find("\"lq\""), std::string::npos) << registry.text();
}

TEST_F(LivedMetricsTest, AQueueThatIsMadeAnewStartsAtZero) {
  live();
  metrics.forget_cluster_queue("cq");
  const Workload done = std::exchange(workload, Workload());
  workload.meta = done.meta;
  workload.queue_name = done.queue_name;
  workload.priority_class_ref = done.priority_class_ref;
  at(100, [&](auto&) { admit(); });
  EXPECT_NE(lines_of(registry, "kueue_admitted_workloads_total").find("} 1\n"), std::string::npos)
      << lines_of(registry, "kueue_admitted_workloads_total");
}

TEST_F(WorkloadMetricsTest, TheRemovalOfAGateIsTimedFromTheAdmission) {
  const auto removed = [&](int milliseconds, bool grouped) {
    metrics.gate_removed("gate", workload, grouped, kStart + std::chrono::milliseconds(milliseconds), queues);
  };
  removed(100, false);  // not admitted: nothing to count from
  EXPECT_EQ(lines_of(registry, "kueue_pod_scheduling_gate_removal_seconds_count"), "");
  at(10, [&](auto&) { admit(); });
  removed(10030, false);
  removed(10060, false);
  removed(9000, true);  // by a clock that is behind that of the admission
  const std::string alone = R"({cluster_queue="cq",is_group="false",name="gate")";
  const std::string grouped = R"({cluster_queue="cq",is_group="true",name="gate")";
  EXPECT_EQ(lines_of(registry, "kueue_pod_scheduling_gate_removal_seconds_count"), alone + "} 2\n" + grouped + "} 1\n");
  EXPECT_EQ(lines_of(registry, "kueue_pod_scheduling_gate_removal_seconds_sum"),
            alone + "} 0.09\n" + grouped + "} 0\n");
  const std::string buckets = lines_of(registry, "kueue_pod_scheduling_gate_removal_seconds_bucket");
  EXPECT_EQ(std::ranges::count(buckets, '\n'), 2 * 12) << buckets;
  EXPECT_NE(buckets.find(alone + R"(,le="0.025"} 0)"), std::string::npos) << buckets;
  EXPECT_NE(buckets.find(alone + R"(,le="0.05"} 1)"), std::string::npos) << buckets;
  EXPECT_NE(buckets.find(grouped + R"(,le="0.005"} 1)"), std::string::npos) << buckets;
  cluster_queues_are_there = false;
  removed(10090, false);
  EXPECT_EQ(lines_of(registry, "kueue_pod_scheduling_gate_removal_seconds_count"), alone + "} 2\n" + grouped + "} 1\n");
  metrics.forget_cluster_queue("cq");
  EXPECT_EQ(registry.text().find("\"cq\""), std::string::npos) << registry.text();
}

TEST_F(WorkloadMetricsTest, LocalQueuesCanBeLeftOut) {
  Metrics other;
  WorkloadMetrics quiet(other, "leader", false);
  const Workload before = workload;
  admit();
  quiet.changed(before, workload, queues);
  EXPECT_NE(lines_of(other, "kueue_admitted_workloads_total"), "");
  EXPECT_EQ(lines_of(other, "kueue_local_queue_admitted_workloads_total"), "");
}

TEST(WaitBuckets, AreKueues) {
  EXPECT_EQ(wait_buckets(4), (std::vector<double>{1, 2.5, 5, 10}));
  EXPECT_EQ(wait_buckets(14).back(), 10'240);
  EXPECT_EQ(wait_buckets(16).back(), 40'960);
}

TEST(BuildInfo, IsOne) {
  Metrics registry;
  report_build(registry, {"1.2.3", "abc", "2026-11-23"});
  EXPECT_NE(registry.text().find("git_version=\"1.2.3\""), std::string::npos);
}

}  // namespace
}  // namespace berth::controller::metrics_test
