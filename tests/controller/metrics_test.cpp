#include "controller/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "controller/metrics_fixture.h"

namespace berth::controller::metrics_test {
namespace {

using namespace metrics_fixture;

// --- Workloads.

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
  // Four counters and the counter of first evictions, nine histograms of three families each, and the counter of
  // preemptions.
  EXPECT_EQ(families_of(registry.text(), "cluster_queue=\"cq\""), 5 + 9 * 3 + 1);
  EXPECT_EQ(families_of(registry.text(), "name=\"lq\""), 4 + 6 * 3);
  metrics.forget_local_queue("a", "lq");
  EXPECT_EQ(registry.text().find("name=\"lq\""), std::string::npos) << registry.text();
  metrics.forget_cluster_queue("cq");
  EXPECT_EQ(registry.text().find("\"cq\""), std::string::npos) << registry.text();
}

TEST_F(LivedMetricsTest, WhatHappensInQueuesThatAreGoneIsNotTold) {
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

// --- Queues.

TEST_F(QueueMetricsTest, TellWhoWaitsAndWhatIsUsed) {
  refresh();
  EXPECT_EQ(lines_of(registry, "kueue_pending_workloads"),
            "{cluster_queue=\"cq\",status=\"active\"} 0\n{cluster_queue=\"cq\",status=\"inadmissible\"} 1\n");
  EXPECT_EQ(lines_of(registry, "kueue_admitted_active_workloads"), "{cluster_queue=\"cq\"} 1\n");
  EXPECT_EQ(lines_of(registry, "kueue_local_queue_reserving_active_workloads"), "{name=\"lq\",namespace=\"a\"} 1\n");
  const auto cpu = [&](const char* name) { return lines_of(registry, name); };
  EXPECT_EQ(cpu("kueue_cluster_queue_nominal_quota"),
            "{cluster_queue=\"cq\",cohort=\"team\",flavor=\"f\",resource=\"cpu\"} 3\n");
  EXPECT_NE(cpu("kueue_cluster_queue_borrowing_limit").find("} 0.5\n"), std::string::npos);
  EXPECT_NE(cpu("kueue_cluster_queue_lending_limit").find("} +Inf\n"), std::string::npos)
      << cpu("kueue_cluster_queue_lending_limit");
  EXPECT_NE(cpu("kueue_cluster_queue_resource_usage").find("} 2\n"), std::string::npos);
  EXPECT_NE(lines_of(registry, "kueue_local_queue_resource_usage").find("} 2\n"), std::string::npos);
  EXPECT_NE(lines_of(registry, "kueue_cluster_queue_status").find("{cluster_queue=\"cq\",status=\"active\"} 1\n"),
            std::string::npos);
  EXPECT_NE(lines_of(registry, "kueue_local_queue_status").find("{active=\"True\",name=\"lq\",namespace=\"a\"} 1\n"),
            std::string::npos)
      << lines_of(registry, "kueue_local_queue_status");
}

class PastUsageMetricsTest : public QueueMetricsTest {
 protected:
  PastUsageMetricsTest()
      : QueueMetricsTest([] {
          engine::Options options;
          options.admission_fair_sharing = {true, std::chrono::hours(1), std::chrono::minutes(5), {}};
          return options;
        }()) {}
};

// 2 cpu for the first five minutes of a half-life of one hour.
TEST_F(PastUsageMetricsTest, TellsByWhatLocalQueuesAreCompared) {
  refresh();
  const std::string lines = lines_of(registry, "kueue_local_queue_admission_fair_sharing_usage");
  EXPECT_TRUE(lines.starts_with("{cluster_queue=\"cq\",name=\"lq\",namespace=\"a\"} 0.1122")) << lines;
}

TEST_F(QueueMetricsTest, WhoIsAdmittedWaitsNoMore) {
  refresh();
  queue("{name: cpu, nominalQuota: 4}");
  decide();
  refresh();
  EXPECT_EQ(lines_of(registry, "kueue_pending_workloads"),
            "{cluster_queue=\"cq\",status=\"active\"} 0\n{cluster_queue=\"cq\",status=\"inadmissible\"} 0\n");
  EXPECT_EQ(lines_of(registry, "kueue_admitted_active_workloads"), "{cluster_queue=\"cq\"} 2\n");
}

TEST_F(QueueMetricsTest, TellWhyWorkloadsAreNotAdmitted) {
  refresh();
  EXPECT_EQ(
      lines_of(registry, "kueue_local_queue_pending_workloads"),
      "{name=\"lq\",namespace=\"a\",status=\"active\"} 0\n{name=\"lq\",namespace=\"a\",status=\"inadmissible\"} 1\n");
  const std::string why = "reason=\"NoReservation\",underlying_cause=\"WaitingForQuota\"} ";
  EXPECT_EQ(lines_of(registry, "kueue_unadmitted_workloads"), "{cluster_queue=\"cq\"," + why + "1\n");
  EXPECT_EQ(lines_of(registry, "kueue_local_queue_unadmitted_workloads"),
            "{cluster_queue=\"cq\",name=\"lq\",namespace=\"a\"," + why + "1\n");
  queue("{name: cpu, nominalQuota: 4}");
  decide();
  refresh();
  EXPECT_EQ(lines_of(registry, "kueue_unadmitted_workloads"), "") << "it is a reason no more";
  EXPECT_EQ(lines_of(registry, "kueue_local_queue_unadmitted_workloads"), "");
}

TEST_F(QueueMetricsTest, TellTheTreeOfCohorts) {
  refresh();
  EXPECT_EQ(lines_of(registry, "kueue_cluster_queue_info"),
            "{cluster_queue=\"cq\",parent_cohort=\"team\",root_cohort=\"team\"} 1\n");
  engine.handle(kStart, engine::CohortSeen{ptr(api::kueue::decode_cohort(
                            object("{metadata: {name: team}, spec: {parentName: all, resourceGroups: "
                                   "[{coveredResources: [cpu], flavors: [{name: f, "
                                   "resources: [{name: cpu, nominalQuota: 1}]}]}]}}")))});
  decide();
  refresh();
  EXPECT_EQ(lines_of(registry, "kueue_cluster_queue_info"),
            "{cluster_queue=\"cq\",parent_cohort=\"team\",root_cohort=\"all\"} 1\n");
  EXPECT_EQ(lines_of(registry, "kueue_cohort_info"),
            "{cohort=\"all\",parent_cohort=\"\",root_cohort=\"all\"} 1\n"
            "{cohort=\"team\",parent_cohort=\"all\",root_cohort=\"all\"} 1\n");
  const auto both = [](const std::string& what, const std::string& count) {
    return "{cohort=\"all\"" + what + "} " + count + "\n{cohort=\"team\"" + what + "} " + count + "\n";
  };
  EXPECT_EQ(lines_of(registry, "kueue_cohort_subtree_quota"), both(R"(,flavor="f",resource="cpu")", "4"));
  EXPECT_EQ(lines_of(registry, "kueue_cohort_subtree_resource_reservations"),
            both(R"(,flavor="f",resource="cpu")", "2"));
  EXPECT_EQ(lines_of(registry, "kueue_cohort_subtree_admitted_active_workloads"), both("", "1"));
}

TEST_F(QueueMetricsTest, SharesAreNotToldWhereTheyDecideNothing) {
  metrics.cohort_changed("team");
  refresh();
  EXPECT_EQ(lines_of(registry, "kueue_cluster_queue_weighted_share"), "");
}

TEST_F(FairQueueMetricsTest, TellShares) {
  const auto cohort = [this](const std::string& quota) {
    stored["cohorts//team"] =
        std::make_shared<const Json>(object("{metadata: {name: team}, spec: {parentName: all, fairSharing: {weight: "
                                            "'0.5'}, resourceGroups: [{coveredResources: [cpu], flavors: "
                                            "[{name: f, resources: [{name: cpu, nominalQuota: " +
                                            quota + "}]}]}]}}"));
    engine.handle(kStart, engine::CohortSeen{ptr(api::kueue::decode_cohort(*stored["cohorts//team"]))});
    metrics.cohort_changed("team");
  };
  cohort("4");
  queue("{name: cpu, nominalQuota: 1}");
  decide();
  refresh();
  EXPECT_EQ(lines_of(registry, "kueue_cluster_queue_weighted_share"),
            "{cluster_queue=\"cq\",cohort=\"team\"} 600\n");  // 3 of 5
  EXPECT_EQ(lines_of(registry, "kueue_cohort_weighted_share"), "{cohort=\"team\"} 0\n");
  queue("{name: cpu, nominalQuota: 1}", "1");
  cohort("6");
  decide();
  refresh();
  EXPECT_EQ(lines_of(registry, "kueue_cluster_queue_weighted_share"),
            "{cluster_queue=\"cq\",cohort=\"team\"} 428.57142857142856\n");  // 3 of 7
  queue("{name: cpu, nominalQuota: 1}", "0.7");
  decide();
  refresh();
  EXPECT_EQ(lines_of(registry, "kueue_cluster_queue_weighted_share"),
            "{cluster_queue=\"cq\",cohort=\"team\"} 612.2448979591837\n");
  queue("{name: cpu, nominalQuota: 1}", "0");
  decide();
  refresh();
  EXPECT_EQ(lines_of(registry, "kueue_cluster_queue_weighted_share"), "{cluster_queue=\"cq\",cohort=\"team\"} NaN\n");
  queue("{name: cpu, nominalQuota: 4}", "0");
  decide();
  refresh();
  EXPECT_EQ(lines_of(registry, "kueue_cluster_queue_weighted_share"), "{cluster_queue=\"cq\",cohort=\"team\"} 0\n")
      << "who borrows nothing has no share, whatever its weight";
  stored.erase("cohorts//team");
  engine.handle(kStart, engine::CohortGone{"team"});
  metrics.cohort_changed("team");
  refresh();
  EXPECT_EQ(lines_of(registry, "kueue_cohort_weighted_share"), "");
}

TEST_F(QueueMetricsTest, SeriesOfWhatIsGoneAreGone) {
  refresh();
  stored.erase("clusterqueues//cq");
  stored.erase("localqueues/a/lq");
  engine.handle(kStart, engine::ClusterQueueGone{"cq"});
  metrics.cluster_queue_changed("cq");
  metrics.local_queue_changed("a", "lq");
  refresh();
  const std::string text = registry.text();
  EXPECT_EQ(text.find("cluster_queue=\"cq\""), std::string::npos) << text;
  EXPECT_EQ(text.find("cohort=\"team\""), std::string::npos) << text;
  EXPECT_EQ(text.find("name=\"lq\""), std::string::npos) << text;
}

// Also when no client reads the metrics.
TEST_F(QueueMetricsTest, SeriesGoWithTheQueueAtOnce) {
  refresh();
  metrics.cluster_queue_changed("cq");
  metrics.local_queue_changed("a", "lq");
  metrics.cluster_queue_gone("cq");
  metrics.local_queue_gone("a", "lq");
  const std::string text = registry.text();
  EXPECT_EQ(text.find("{cluster_queue=\"cq\",replica_role"), std::string::npos) << text;
  EXPECT_EQ(text.find("name=\"lq\""), std::string::npos) << text;
}

TEST_F(QueueMetricsTest, FlavorsThatLeaveTakeTheirSeriesAlong) {
  refresh();
  stored["clusterqueues//cq"] =
      std::make_shared<const Json>(object("{metadata: {name: cq}, spec: {cohortName: team}}"));
  engine.handle(kStart, engine::ClusterQueueSeen{ptr(api::kueue::decode_cluster_queue(*stored["clusterqueues//cq"]))});
  metrics.cluster_queue_changed("cq");
  refresh();
  EXPECT_EQ(lines_of(registry, "kueue_cluster_queue_nominal_quota"), "");
  EXPECT_NE(lines_of(registry, "kueue_admitted_active_workloads"), "");
}

TEST_F(QueueMetricsTest, RoundsAreCountedWhenSomebodyWaited) {
  EXPECT_EQ(lines_of(registry, "kueue_admission_attempts_total"), "{replica_role=\"leader\",result=\"success\"} 1\n");
  decide();  // nothing changed
  EXPECT_EQ(lines_of(registry, "kueue_admission_attempts_total"), "{replica_role=\"leader\",result=\"success\"} 1\n");
  EXPECT_EQ(lines_of(registry, "kueue_admission_attempt_duration_seconds_sum"),
            "{replica_role=\"leader\",result=\"success\"} 0.003\n");
}

TEST_F(QueueMetricsTest, WhatWaitingWorkloadsRequestIsTold) {
  refresh();
  EXPECT_EQ(lines_of(registry, "kueue_cluster_queue_resource_pending"), "{cluster_queue=\"cq\",resource=\"cpu\"} 2\n")
      << "one of the two has got quota, the other one is too much";
  engine.handle(kStart, engine::WorkloadGone{"a", "w2", "w2"});
  decide();
  refresh();
  EXPECT_EQ(lines_of(registry, "kueue_cluster_queue_resource_pending"), "");
}

TEST_F(QueueMetricsTest, FinishedWorkloadsAreCountedWhileTheyExist) {
  Workload w;
  w.meta.ns = "a";
  w.queue_name = "lq";
  w.status.admission = api::kueue::Admission{"cq", {}};
  auto told = [&] {
    refresh();
    return lines_of(registry, "kueue_finished_workloads") + lines_of(registry, "kueue_local_queue_finished_workloads");
  };
  metrics.finished_workloads().seen("a/w", &w);
  EXPECT_THAT(told(), testing::HasSubstr("} 0\n"));
  api::Condition finished;
  finished.type = "Finished";
  finished.status = true;
  w.status.conditions.push_back(finished);
  for (int i = 0; i < 2; ++i) metrics.finished_workloads().seen("a/w", &w);
  EXPECT_EQ(told(), "{cluster_queue=\"cq\"} 1\n{name=\"lq\",namespace=\"a\"} 1\n");
  metrics.finished_workloads().seen("a/w", nullptr);
  EXPECT_EQ(told(), "{cluster_queue=\"cq\"} 0\n{name=\"lq\",namespace=\"a\"} 0\n");
}

TEST_F(QueueMetricsTest, OverlappingPreemptionsAreCounted) {
  overlapping_preemptions();
  refresh();
  const std::string told = lines_of(registry, "kueue_preemption_target_recomputations_total");
  EXPECT_THAT(told, testing::StartsWith("{cluster_queue=\"right\",result=\"deferred_fit\"} "));
  refresh();
  EXPECT_EQ(lines_of(registry, "kueue_preemption_target_recomputations_total"), told);
}

TEST(BuildInfo, IsOne) {
  Metrics registry;
  tell_build(registry, {"1.2.3", "abc", "2026-11-23"});
  EXPECT_NE(registry.text().find("git_version=\"1.2.3\""), std::string::npos);
}

}  // namespace
}  // namespace berth::controller::metrics_test
