// Plays each scenario of tests/scenarios and config/samples; its expectations must hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "api/config/volcano.h"
#include "embedded/simulate/play.h"
#include "source_dir.h"

namespace berth::simulation::scenarios_test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> scenario_files() {
  std::vector<std::string> files;
  for (const char* folder : {"tests/scenarios", "config/samples"}) {
    for (const auto& entry : fs::directory_iterator(source_path(folder))) {
      std::ifstream in(entry.path());
      std::string first;
      std::getline(in, first);
      if (first.starts_with("name:")) files.push_back(entry.path());  // config/samples has plain manifests too
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

class Scenarios : public testing::TestWithParam<std::string> {};

TEST_P(Scenarios, GoAsTheyExpect) {
  std::ifstream in(GetParam());
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto scenario = simulate::parse_scenario(text);
  ASSERT_TRUE(scenario) << scenario.error().message;
  const auto played = simulate::play(*scenario, {});
  ASSERT_TRUE(played) << played.error().message;
  for (const auto& failure : played->failures) ADD_FAILURE() << failure;
  // No scenario reduces the quota of a queue, so the usage in the API never exceeds the nominal quota. Volcano's
  // flavor is exempt: there Volcano's queues lend quota too, which is not counted here. So is a flavor that was taken
  // out of all queues: what was admitted to it runs on.
  const std::string volcano = api::config::VolcanoTree().flavor;
  for (const auto& u : played->utilisation)
    EXPECT_TRUE(u.flavor == volcano || u.nominal == Amount() || u.peak <= u.nominal) << u.flavor << " " << u.resource;
}

INSTANTIATE_TEST_SUITE_P(Files, Scenarios, testing::ValuesIn(scenario_files()), [](const auto& file) {
  std::string name = fs::path(file.param).stem();
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

TEST(ScenarioLanguage, UnknownFieldsAndBadTimesAreNamed) {
  const auto unknown = simulate::parse_scenario("{name: x, timelime: []}");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("timelime"), std::string::npos);
  const auto time = simulate::parse_scenario("{name: x, timeline: [{at: soon}]}");
  ASSERT_FALSE(time);
  EXPECT_NE(time.error().message.find("timeline[0].at"), std::string::npos);
}

TEST(ScenarioLanguage, WrongNodesAreNamed) {
  const auto error_of = [](const std::string& nodes) {
    return simulate::parse_scenario("{name: x, cluster: {nodes: " + nodes + "}}").error().message;
  };
  EXPECT_EQ(error_of("x"),
            "scenario.cluster.nodes: node shape \"x\": expected BLOCKSxRACKSxNODES, RACKSxNODES or NODES, for example "
            "2x4x8");
  for (const std::string nodes : {"1x1x99999999", "1x1x99999999999999"})
    EXPECT_EQ(error_of(nodes),
              "scenario.cluster.nodes: node shape \"" + nodes + "\": at most 100000 nodes are possible");
}

// A scenario with one queue of two CPUs; more manifests may follow.
const std::string kTwoCpus = R"(name: x
manifests:
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: ClusterQueue
  metadata: {name: q}
  spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 2}]}]}]}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: main, namespace: default}, spec: {clusterQueue: q}})";

TEST(ScenarioLanguage, FeatureGatesReachTheController) {
  // Two CPUs are free, so with partial admission the job would run with two of its four pods.
  const std::string text = "featureGates: {PartialAdmission: true}\n" + kTwoCpus + R"(
- apiVersion: batch/v1
  kind: Job
  metadata: {name: j, namespace: default, labels: {kueue.x-k8s.io/queue-name: main}, annotations: {kueue.x-k8s.io/job-min-parallelism: "1"}}
  spec:
    parallelism: 4
    completions: 4
    template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}
timeline:
- at: 10s
  expect: [{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {suspend: false, parallelism: 2}}]
end: 20s
)";
  const auto scenario = simulate::parse_scenario(text);
  ASSERT_TRUE(scenario) << scenario.error().message;
  const auto with = simulate::play(*scenario, {});
  ASSERT_TRUE(with) << with.error().message;
  EXPECT_TRUE(with->failures.empty()) << with->failures[0];
  simulate::PlayOptions off;
  off.feature_gates = {{"PartialAdmission", false}};
  const auto without = simulate::play(*scenario, off);
  ASSERT_TRUE(without);
  EXPECT_FALSE(without->failures.empty()) << "the command line goes before the scenario";
  off.feature_gates = {{"NoSuchGate", true}};
  const auto unknown = simulate::play(*scenario, off);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("NoSuchGate"), std::string::npos);
  EXPECT_FALSE(simulate::parse_scenario("{name: x, featureGates: [a]}"));
}

TEST(Lives, WaitAfterAnEvictionToo) {
  const auto scenario = simulate::parse_scenario(kTwoCpus + R"(
- apiVersion: batch/v1
  kind: Job
  metadata: {name: j, namespace: default, labels: {kueue.x-k8s.io/queue-name: main}}
  spec:
    template:
      metadata: {annotations: {berth.dev/run-for: 100s}}
      spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}
timeline:
- at: 60s
  patch: [{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, name: q, patch: {spec: {stopPolicy: HoldAndDrain}}}]
- at: 300s
  patch: [{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, name: q, patch: {spec: {stopPolicy: None}}}]
end: 500s
)");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const auto played = simulate::play(*scenario, {});
  ASSERT_TRUE(played) << played.error().message;
  ASSERT_EQ(played->lives.size(), 1u);
  const auto& life = played->lives[0];
  EXPECT_EQ(life.evictions.size(), 1u);
  EXPECT_FALSE(life.waits_since) << "it was admitted again";
  EXPECT_GE(life.waited, std::chrono::seconds(235)) << "four minutes after its eviction";
  EXPECT_LE(life.waited, std::chrono::seconds(260));
}

TEST(ScenarioLanguage, WorkloadsAreNamedByTheirJobs) {
  const auto scenario = simulate::parse_scenario(R"(
name: x
manifests:
- {apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: default, labels: {kueue.x-k8s.io/queue-name: none}}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}
timeline:
- at: 5s
  expect:
  - {apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, job: j, metadata: {namespace: default}, spec: {queueName: none}}
  - {apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, job: k, metadata: {namespace: default}}
  placed: [{job: j}]
end: 6s
)");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const auto played = simulate::play(*scenario, {});
  ASSERT_TRUE(played) << played.error().message;
  ASSERT_EQ(played->failures.size(), 2u) << "the first holds";
  EXPECT_NE(played->failures[0].find("of-job-k"), std::string::npos) << played->failures[0];
  EXPECT_EQ(played->failures[1], "at 5s: Job default/j: it has no places");
}

TEST(ScenarioLanguage, ShowsRacksWhereItIsAsked) {
  const auto scenario = simulate::parse_scenario(
      "{name: x, cluster: {nodes: 2x3, scaleUp: 1x3, provisioningDelay: 5s}, timeline: [{at: 1s, racks: true}, {at: "
      "2s}], end: 3s}");
  ASSERT_TRUE(scenario) << scenario.error().message;
  std::vector<std::string> pictures;
  simulate::PlayOptions options;
  options.on_racks = [&](const std::string& picture) { pictures.push_back(picture); };
  ASSERT_TRUE(simulate::play(*scenario, options));
  EXPECT_EQ(pictures, std::vector<std::string>{"b1-r1  ...  0/3\nb1-r2  ...  0/3\n"});
  EXPECT_FALSE(simulate::parse_scenario("{name: x, cluster: {provisioningDelay: soon}}"));
}

TEST(ScenarioLanguage, ABrokenExpectationIsReported) {
  const auto scenario = simulate::parse_scenario(
      "{name: x, timeline: [{at: 1s, expect: [{apiVersion: v1, kind: Namespace, metadata: {name: default}, status: "
      "{phase: Gone}}]}], end: 2s}");
  ASSERT_TRUE(scenario);
  const auto played = simulate::play(*scenario, {});
  ASSERT_TRUE(played) << played.error().message;
  ASSERT_EQ(played->failures.size(), 1u);
  EXPECT_NE(played->failures[0].find("phase"), std::string::npos);
}

}  // namespace
}  // namespace berth::simulation::scenarios_test
