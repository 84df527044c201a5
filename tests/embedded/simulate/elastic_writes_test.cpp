// What the controller writes when elastic jobs (KEP-77) change their size every ten seconds.
#include <gmock/gmock.h>

#include <string>

#include "base/yaml.h"
#include "controller/controller.h"
#include "embedded/simulate/world.h"

namespace berth::simulation::elastic_writes_test {
namespace {

constexpr int kJobs = 30, kRounds = 10, kSmall = 2, kLarge = 4;
constexpr Duration kPeriod = std::chrono::seconds(10);

Json yaml(const std::string& text) { return parse_yaml(text).value().front(); }

void set_up(simulate::World& world) {
  ASSERT_TRUE(world.create(yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}")));
  ASSERT_TRUE(world.create(yaml(
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {}, "
      "resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: "
      "1000}]}]}]}}")));
  ASSERT_TRUE(
      world.create(yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: "
                        "default}, spec: {clusterQueue: cq}}")));
  for (int i = 0; i < kJobs; ++i)
    ASSERT_TRUE(world.create(
        yaml("{apiVersion: batch/v1, kind: Job, metadata: {name: j" + std::to_string(i) +
             ", namespace: default, labels: {kueue.x-k8s.io/queue-name: q}, annotations: {kueue.x-k8s.io/elastic-job: "
             "'true'}}, spec: {suspend: true, parallelism: 2, completions: 1000, template: {metadata: {annotations: "
             "{berth.dev/run-for: 9h}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: "
             "{requests: {cpu: 1}}}]}}}}")));
}

TEST(ElasticWrites, AreThreeForAChangeAtMost) {
  simulate::WorldOptions options;
  options.nodes = "1x1x4";
  options.node_resources = "cpu=96,memory=256Gi";
  auto made = simulate::World::make(options);
  ASSERT_TRUE(made) << made.error().message;
  simulate::World& world = **made;
  set_up(world);
  world.run_for(std::chrono::minutes(1));
  const auto before = world.controller().request_counts();
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kJobs; ++i)
      ASSERT_TRUE(world.apply(yaml(
          "{apiVersion: batch/v1, kind: Job, metadata: {name: j" + std::to_string(i) +
          ", namespace: default}, spec: {parallelism: " + std::to_string(round % 2 == 0 ? kLarge : kSmall) + "}}")));
    world.run_for(kPeriod);
  }
  std::uint64_t workloads = 0;
  std::string all;
  for (const auto& [what, count] : world.controller().request_counts()) {
    const auto had = before.find(what);
    const std::uint64_t more = count - (had == before.end() ? 0 : had->second);
    if (more == 0) continue;
    all += "\n  " + std::to_string(more) + " " + what;
    if (what.find(" workloads") != std::string::npos && !what.starts_with("list") && !what.starts_with("watch"))
      workloads += more;
  }
  EXPECT_LE(workloads, std::uint64_t{3} * kJobs * kRounds) << all;
  EXPECT_GE(workloads, std::uint64_t{2} * kJobs * kRounds) << "fewer than the changes need" << all;
  for (int i = 0; i < kJobs; ++i) {
    const auto job = world.get("batch/v1", "Job", "default", "j" + std::to_string(i));
    ASSERT_TRUE(job);
    EXPECT_EQ(int_at(*job, {"status", "ready"}), kSmall);
    EXPECT_EQ(int_at(*job, {"status", "failed"}), 0);
  }
}

}  // namespace
}  // namespace berth::simulation::elastic_writes_test
