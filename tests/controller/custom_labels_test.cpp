#include "controller/custom_labels.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "api/config/configuration.h"
#include "controller/configure.h"
#include "controller/metrics_fixture.h"
#include "source_dir.h"

namespace berth::controller::custom_labels_test {
namespace {

using metrics_fixture::lines_of;
using metrics_fixture::object;

constexpr const char* kLabels = R"({apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration,
  metrics: {customLabels: [{name: team}, {name: budget, sourceAnnotationKey: example.com/budget},
    {name: tier, sourceLabelKey: example.com/tier, sourceKind: LocalQueue, trackedValues: [gold]},
    {name: site, sourceKind: Cohort}]}%s})";

std::vector<api::config::CustomLabel> labels(const std::string& gates = ", featureGates: {CustomMetricLabels: true}") {
  std::string text = kLabels;
  text.replace(text.find("%s"), 2, gates);
  const auto configuration = api::config::read_configuration(text, "test");
  EXPECT_TRUE(configuration) << configuration.error().message;
  const auto options = controller_options(*configuration, {});
  EXPECT_TRUE(options) << options.error().message;
  return options->custom_metric_labels;
}

TEST(CustomLabels, NeedTheirGate) {
  EXPECT_EQ(labels().size(), 4u);
  EXPECT_TRUE(labels("").empty());
  EXPECT_TRUE(labels(", featureGates: {CustomMetricLabels: false}").empty());
}

class CustomLabelsTest : public metrics_fixture::FairQueueMetricsTest {
 protected:
  void store(const std::string& key, const std::string& metadata) {
    Json changed = *stored.at(key);
    changed.as_object()["metadata"] = object(metadata);
    stored[key] = std::make_shared<const Json>(std::move(changed));
  }
  void refresh_all() {
    labelled.cluster_queue_changed("cq");
    labelled.local_queue_changed("a", "lq");
    labelled.cohort_changed("team");
    refresh(labelled);
  }
  // A workload that was admitted and preempted by its own queue.
  void live() {
    api::kueue::Workload before;
    before.meta.ns = "a";
    before.meta.uid = "u";
    before.queue_name = "lq";
    api::kueue::Workload after = before;
    after.status.admission = api::kueue::Admission{"cq", {}};
    for (const char* type : {"QuotaReserved", "Admitted", "Preempted"}) {
      api::Condition condition;
      condition.type = type;
      condition.status = true;
      condition.message = "Preempted; preemptor path: /team/cq; preemptee path: /team/cq";
      api::set_condition(after.status.conditions, condition);
    }
    const WorkloadMetrics::Queues queues{[](std::string_view) { return true; },
                                         [](std::string_view, std::string_view) { return true; },
                                         [](std::string_view) { return std::vector<std::string>{"team"}; }};
    labelled.workloads().changed(before, after, queues);
    labelled.workloads().gate_removed("gate", after, false, metrics_fixture::kStart, queues);
  }
  std::string of(std::string_view name) { return lines_of(page, name); }

  Metrics page;
  ControllerMetrics labelled{page, {.cluster_queue_resources = true, .custom_labels = labels()}};
};

TEST_F(CustomLabelsTest, AreOnTheMetricsOfTheirObject) {
  live();
  store("clusterqueues//cq", "{name: cq, labels: {team: red}, annotations: {example.com/budget: '7'}}");
  store("localqueues/a/lq", "{name: lq, namespace: a, labels: {example.com/tier: gold}}");
  stored["cohorts//team"] = std::make_shared<const Json>(object("{metadata: {name: team, labels: {site: north}}}"));
  refresh_all();
  EXPECT_EQ(of("kueue_reserving_active_workloads"),
            "{cluster_queue=\"cq\",custom_budget=\"7\",custom_team=\"red\"} 1\n");
  EXPECT_EQ(of("kueue_admitted_workloads_total"),
            "{cluster_queue=\"cq\",custom_budget=\"7\",custom_team=\"red\",priority_class=\"\"} 1\n");
  EXPECT_EQ(of("kueue_preempted_workloads_total"),
            "{custom_budget=\"7\",custom_team=\"red\",preempting_cluster_queue=\"cq\",reason=\"\"} 1\n");
  EXPECT_EQ(of("kueue_local_queue_reserving_active_workloads"),
            "{custom_tier=\"gold\",name=\"lq\",namespace=\"a\"} 1\n");
  EXPECT_EQ(of("kueue_cohort_subtree_admitted_workloads_total"),
            "{cohort=\"team\",custom_site=\"north\",priority_class=\"\"} 1\n");
  EXPECT_EQ(of("kueue_cohort_subtree_admitted_active_workloads"), "{cohort=\"team\",custom_site=\"north\"} 1\n");
}

TEST_F(CustomLabelsTest, AreEmptyWithoutALabelAndOneValueForThoseThatAreNotTracked) {
  store("localqueues/a/lq", "{name: lq, namespace: a, labels: {example.com/tier: tin}}");
  refresh_all();
  EXPECT_EQ(of("kueue_reserving_active_workloads"), "{cluster_queue=\"cq\",custom_budget=\"\",custom_team=\"\"} 1\n");
  EXPECT_EQ(of("kueue_local_queue_reserving_active_workloads"),
            "{custom_tier=\"kueue.x-k8s.io/_UNTRACKED_VALUE_\",name=\"lq\",namespace=\"a\"} 1\n");
}

TEST_F(CustomLabelsTest, MoveTheSeriesWhenTheyChange) {
  store("clusterqueues//cq", "{name: cq, labels: {team: red}}");
  live();
  refresh_all();
  const std::string before = page.text();
  store("clusterqueues//cq", "{name: cq, labels: {team: blue}}");
  refresh_all();
  const std::string after = page.text();
  EXPECT_NE(before.find("red"), std::string::npos);
  EXPECT_EQ(after.find("red"), std::string::npos);
  EXPECT_EQ(of("kueue_admitted_workloads_total"),
            "{cluster_queue=\"cq\",custom_budget=\"\",custom_team=\"blue\",priority_class=\"\"} 1\n");
  labelled.cluster_queue_gone("cq");
  EXPECT_EQ(page.text().find("blue"), std::string::npos);
}

// Every family has its custom labels on all of its series, or on none: "family label,label".
TEST_F(CustomLabelsTest, AreOnTheFamiliesOfTheGoldenList) {
  live();
  stored["cohorts//team"] = std::make_shared<const Json>(object("{metadata: {name: team}}"));
  refresh_all();
  std::set<std::string> found, expected;
  std::istringstream lines(page.text());
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("kueue_")) continue;
    std::string custom = line.substr(0, line.find('{'));
    for (const char* ending : {"_bucket", "_sum", "_count"}) {
      if (custom.ends_with(ending)) custom.erase(custom.size() - std::string_view(ending).size());
    }
    for (const char* label : {"budget", "site", "team", "tier"}) {
      if (line.find(std::string("custom_") + label + "=") != std::string::npos) custom.append(" ").append(label);
    }
    found.insert(custom);
  }
  std::ifstream file(source_path("tests/controller/custom_labels.txt"));
  for (std::string line; std::getline(file, line);) expected.insert(line);
  for (const auto& line : found) EXPECT_TRUE(expected.contains(line)) << "not in custom_labels.txt: " << line;
  for (const auto& line : expected) EXPECT_TRUE(found.contains(line)) << "missing: " << line;
}

// Beside two workloads without labels, of which one waits: one of the project "blue" that has quota, one that waits,
// and one of a project that is not tracked.
class WorkloadLabelsTest : public metrics_fixture::QueueMetricsTest {
 protected:
  WorkloadLabelsTest() {
    labelled_workload("small", "blue", "500m");
    labelled_workload("large", "blue", "2");
    labelled_workload("other", "green", "2");
    decide();
  }
  void labelled_workload(const std::string& name, const std::string& project, const std::string& cpu) {
    engine.handle(metrics_fixture::kStart,
                  engine::WorkloadSeen{metrics_fixture::ptr(api::kueue::decode_workload(object(
                      "{metadata: {name: " + name + ", namespace: a, uid: " + name + ", labels: {project: " + project +
                      "}, creationTimestamp: '2026-11-21T09:00:00Z'}, spec: {queueName: lq, active: " +
                      "true, podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, "
                      "resources: {requests: {cpu: " +
                      cpu + "}}}]}}}]}}")))});
  }
  void refresh_labelled() {
    labelled.cluster_queue_changed("cq");
    labelled.local_queue_changed("a", "lq");
    refresh(labelled);
  }
  std::string of(std::string_view name) { return lines_of(page, name); }

  Metrics page;
  ControllerMetrics labelled{
      page, {.custom_labels = {{"project", "project", false, CustomLabels::Kind::kWorkload, {"blue"}}}}};
};

// Those of cluster queues that Kueue divides, and those of local queues that are admitted. The others stay whole.
TEST_F(WorkloadLabelsTest, DivideTheCountsOfQueues) {
  refresh_labelled();
  const std::string untracked = "custom_project=\"kueue.x-k8s.io/_UNTRACKED_VALUE_\"";
  EXPECT_EQ(of("kueue_admitted_active_workloads"),
            "{cluster_queue=\"cq\",custom_project=\"blue\"} 1\n{cluster_queue=\"cq\"," + untracked + "} 1\n");
  EXPECT_EQ(
      of("kueue_local_queue_admitted_active_workloads"),
      "{custom_project=\"blue\",name=\"lq\",namespace=\"a\"} 1\n{" + untracked + ",name=\"lq\",namespace=\"a\"} 1\n");
  EXPECT_EQ(of("kueue_pending_workloads"),
            "{cluster_queue=\"cq\",custom_project=\"blue\",status=\"active\"} 0\n"
            "{cluster_queue=\"cq\",custom_project=\"blue\",status=\"inadmissible\"} 1\n"
            "{cluster_queue=\"cq\"," +
                untracked + ",status=\"active\"} 0\n{cluster_queue=\"cq\"," + untracked +
                ",status=\"inadmissible\"} 2\n");
  EXPECT_EQ(of("kueue_reserving_active_workloads"), "{cluster_queue=\"cq\"} 2\n");
  EXPECT_EQ(of("kueue_local_queue_reserving_active_workloads"), "{name=\"lq\",namespace=\"a\"} 2\n");
  EXPECT_EQ(of("kueue_local_queue_pending_workloads"),
            "{name=\"lq\",namespace=\"a\",status=\"active\"} 0\n"
            "{name=\"lq\",namespace=\"a\",status=\"inadmissible\"} 3\n");
}

TEST_F(WorkloadLabelsTest, SeriesGoWithTheLastWorkloadThatHasTheValue) {
  refresh_labelled();
  for (const char* name : {"small", "large"})
    engine.handle(metrics_fixture::kStart, engine::WorkloadGone{"a", name, name});
  decide();
  refresh_labelled();
  EXPECT_EQ(page.text().find("blue"), std::string::npos);
  labelled.cluster_queue_gone("cq");
  EXPECT_EQ(of("kueue_admitted_active_workloads"), "");
}

TEST_F(WorkloadLabelsTest, AreOnWhatLocalQueuesTellAboutAdmissions) {
  api::kueue::Workload before;
  before.meta.ns = "a";
  before.queue_name = "lq";
  before.meta.labels["project"] = "blue";
  api::kueue::Workload after = before;
  after.status.admission = api::kueue::Admission{"cq", {}};
  api::Condition admitted;
  admitted.type = "Admitted";
  admitted.status = true;
  api::set_condition(after.status.conditions, admitted);
  const auto known = [](auto...) { return true; };
  labelled.workloads().changed(before, after, {known, known, {}});
  EXPECT_EQ(of("kueue_admitted_workloads_total"), "{cluster_queue=\"cq\",priority_class=\"\"} 1\n");
  EXPECT_EQ(of("kueue_admission_wait_time_seconds_count"), "{cluster_queue=\"cq\",priority_class=\"\"} 1\n");
  const std::string of_blue = "{custom_project=\"blue\",name=\"lq\",namespace=\"a\",priority_class=\"\"} 1\n";
  EXPECT_EQ(of("kueue_local_queue_admitted_workloads_total"), of_blue);
  EXPECT_EQ(of("kueue_local_queue_admission_wait_time_seconds_count"), of_blue);
}

}  // namespace
}  // namespace berth::controller::custom_labels_test
