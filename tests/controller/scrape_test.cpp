// What a scrape holds: every metric with its type and labels (scrape.txt), in a form that Prometheus accepts.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "base/yaml.h"
#include "controller/build_info.h"
#include "controller/metrics_fixture.h"
#include "source_dir.h"
#include "support/process.h"
#include "support/scratch_dir.h"

namespace berth::controller::scrape_test {
namespace {

using testing_support::Finished;

struct LivedWorkload : metrics_fixture::LivedMetricsTest {
  void TestBody() override {}
  std::string scrape() {
    live();
    return registry.text();
  }
};

struct FairQueues : metrics_fixture::FairQueueMetricsTest {
  void TestBody() override {}
  std::string scrape() {
    report_build(registry, {"1.0.0", "abc", "2026-11-23"});
    stored["cohorts//team"] =
        std::make_shared<const Json>(metrics_fixture::object("{metadata: {name: team}, spec: {fairSharing: {weight: "
                                                             "'2'}}}"));
    engine.handle(metrics_fixture::kStart,
                  engine::CohortSeen{metrics_fixture::ptr(api::kueue::decode_cohort(*stored["cohorts//team"]))});
    metrics.cohort_changed("team");
    metrics.workload_created("Job", std::chrono::milliseconds(20));
    metrics.multikueue().dispatched("cq", "east");
    metrics.multikueue().admitted("cq", "east");
    metrics.multikueue().evicted("cq", "east", "Preempted");
    metrics.multikueue().state("cq", "east", MultiKueueMetrics::Active::kTrue);
    overlapping_preemptions();
    decide();
    refresh();
    return registry.text();
  }
};

// The names of the labels of a line, without those of histograms' parts.
std::set<std::string> labels_of(const std::string& line) {
  std::set<std::string> names;
  const std::size_t open = line.find('{');
  if (open == std::string::npos) return names;
  for (std::size_t at = open + 1; at < line.size() && line[at] != '}';) {
    const std::size_t equals = line.find("=\"", at);
    const std::string name = line.substr(at, equals - at);
    if (name != "le") names.insert(name);
    at = line.find('"', equals + 2) + 1;
    if (at < line.size() && line[at] == ',') ++at;
  }
  return names;
}

// "name type label,label": families that have a series.
std::map<std::string, std::string> families_of(const std::string& text) {
  std::map<std::string, std::string> out;
  std::istringstream lines(text);
  std::string name, type;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      std::istringstream words(line.substr(7));
      words >> name >> type;
    }
    if (line.starts_with("#") || !line.starts_with(name)) continue;
    std::string labels;
    for (const std::string& label : labels_of(line)) labels += (labels.empty() ? "" : ",") + label;
    out[name] = name + " " + type + (labels.empty() ? "" : " " + labels);
  }
  return out;
}

TEST(Scrape, HoldsEveryMetricWithItsTypeAndLabels) {
  std::map<std::string, std::string> found = families_of(LivedWorkload().scrape());
  for (const auto& [name, family] : families_of(FairQueues().scrape())) found.emplace(name, family);
  std::set<std::string> actual, expected;
  for (const auto& [name, family] : found) actual.insert(family);
  std::ifstream file(source_path("tests/controller/scrape.txt"));
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && !line.starts_with('#')) expected.insert(line);
  }
  for (const auto& family : expected) EXPECT_TRUE(actual.contains(family)) << "missing: " << family;
  for (const auto& family : actual) EXPECT_TRUE(expected.contains(family)) << "not in scrape.txt: " << family;
}

bool has_promtool() { return testing_support::run({"sh", "-c", "command -v promtool"}, {}).exit_code == 0; }
constexpr const char* kNoPromtool = "promtool is not there: install the package prometheus (scripts/test does)";

TEST(Scrape, IsAcceptedByPrometheus) {
  if (!has_promtool()) GTEST_SKIP() << kNoPromtool;
  for (const std::string& text : {LivedWorkload().scrape(), FairQueues().scrape()}) {
    const Finished checked = testing_support::run({"promtool", "check", "metrics"}, {}, text);
    EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  }
}

TEST(Alerts, AreAcceptedByPrometheusAndSayWhatTheyShould) {
  if (!has_promtool()) GTEST_SKIP() << kNoPromtool;
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"promtool", "check", "rules", source_path("config/monitoring/alerts.yaml")},
        std::vector<std::string>{"promtool", "test", "rules", source_path("tests/controller/alerts.yaml")}}) {
    const Finished checked = testing_support::run(command, {});
    EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  }
}

// The names of Berth's and Kueue's metrics in a text, without the endings of histograms' series.
std::set<std::string> names_in(const std::string& text) {
  std::set<std::string> names;
  constexpr const char* kPartOfAName = "abcdefghijklmnopqrstuvwxyz_";
  for (std::size_t at = 0; (at = text.find_first_of(kPartOfAName, at)) != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_not_of(kPartOfAName, at), text.size());
    std::string name = text.substr(at, end - at);
    at = end;
    if (!name.starts_with("kueue_") && !name.starts_with("berth_")) continue;
    if (name.ends_with("_bucket")) name.erase(name.size() - 7);
    names.insert(std::move(name));
  }
  return names;
}

std::string content(const std::string& path) {
  std::ifstream in(source_path(path));
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Metrics of the process, which do not come from the controller: see the tests of berth controller.
const std::set<std::string> kOfTheProcess = {"berth_leading", "berth_broken_invariants", "berth_api_requests_total",
                                             "berth_metric_series_dropped_total"};

TEST(Monitoring, AsksForMetricsThatAreThere) {
  std::map<std::string, std::string> found = families_of(LivedWorkload().scrape());
  for (const auto& [name, family] : families_of(FairQueues().scrape())) found.emplace(name, family);
  const auto dashboard = parse_json(content("config/monitoring/grafana-berth.json"));
  ASSERT_TRUE(dashboard) << dashboard.error().message;
  std::string asked;
  std::size_t panels = 0;
  for (const Json& panel : array_at(*dashboard, {"panels"})) {
    for (const Json& target : array_at(panel, {"targets"})) {
      asked.append(string_at(target, {"expr"})).append("\n");
      ++panels;
    }
  }
  EXPECT_GE(panels, 10u);
  const auto alerts = parse_yaml(content("config/monitoring/alerts.yaml"));
  ASSERT_TRUE(alerts) << alerts.error().message;
  for (const Json& group : array_at(alerts->front(), {"groups"})) {
    for (const Json& rule : array_at(group, {"rules"})) asked.append(string_at(rule, {"expr"})).append("\n");
  }
  for (const std::string& name : names_in(asked))
    EXPECT_TRUE(found.contains(name) || kOfTheProcess.contains(name)) << name << " is asked for, but nobody tells it";
}

}  // namespace
}  // namespace berth::controller::scrape_test
