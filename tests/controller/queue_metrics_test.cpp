// The gauges of queues and cohorts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/metrics.h"
#include "controller/metrics_fixture.h"

namespace berth::controller::queue_metrics_test {
namespace {

using namespace metrics_fixture;

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
TEST_F(PastUsageMetricsTest, ReportsByWhatLocalQueuesAreCompared) {
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

TEST_F(QueueMetricsTest, SharesAreNotReportedWhereTheyDecideNothing) {
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

TEST_F(QueueMetricsTest, WhatWaitingWorkloadsRequestIsReported) {
  refresh();
  EXPECT_EQ(lines_of(registry, "kueue_cluster_queue_resource_pending"), "{cluster_queue=\"cq\",resource=\"cpu\"} 2\n")
      << "one of the two has got quota, the other one is too much";
  engine.handle(kStart, engine::WorkloadGone{"a", "w2", "w2"});
  decide();
  refresh();
  EXPECT_EQ(lines_of(registry, "kueue_cluster_queue_resource_pending"), "{cluster_queue=\"cq\",resource=\"cpu\"} 0\n");
}

TEST_F(QueueMetricsTest, FinishedWorkloadsAreCountedWhileTheyExist) {
  Workload w;
  w.meta.ns = "a";
  w.queue_name = "lq";
  w.status.admission = api::kueue::Admission{"cq", {}};
  auto reported = [&] {
    refresh();
    return lines_of(registry, "kueue_finished_workloads") + lines_of(registry, "kueue_local_queue_finished_workloads");
  };
  metrics.finished_workloads().seen("a/w", &w);
  EXPECT_THAT(reported(), testing::HasSubstr("} 0\n"));
  api::Condition finished;
  finished.type = "Finished";
  finished.status = true;
  w.status.conditions.push_back(finished);
  for (int i = 0; i < 2; ++i) metrics.finished_workloads().seen("a/w", &w);
  EXPECT_EQ(reported(), "{cluster_queue=\"cq\"} 1\n{name=\"lq\",namespace=\"a\"} 1\n");
  metrics.finished_workloads().seen("a/w", nullptr);
  EXPECT_EQ(reported(), "{cluster_queue=\"cq\"} 0\n{name=\"lq\",namespace=\"a\"} 0\n");
}

TEST_F(QueueMetricsTest, OverlappingPreemptionsAreCounted) {
  overlapping_preemptions();
  refresh();
  const std::string reported = lines_of(registry, "kueue_preemption_target_recomputations_total");
  EXPECT_THAT(reported, testing::StartsWith("{cluster_queue=\"right\",result=\"deferred_fit\"} "));
  refresh();
  EXPECT_EQ(lines_of(registry, "kueue_preemption_target_recomputations_total"), reported);
}

}  // namespace
}  // namespace berth::controller::queue_metrics_test
