// A controller whose caches lag behind its own writes does not repeat these writes.
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "controller/controller.h"
#include "embedded/simulate/lab_names.h"
#include "embedded/simulate/world.h"

namespace berth::simulate::late_caches_test {
namespace {

constexpr int kJobs = 30;

TEST(LateCaches, CauseNoSecondCreateOfAWorkload) {
  WorldOptions options;
  options.controller = false;
  const auto world = World::make(options).value();
  FaultRates rates;
  rates.late = 1000;
  FaultyClient slow(world->client(), world->executor(), 7, rates);
  controller::Controller controller(slow, world->executor(), {});
  controller.lead();
  controller.start();
  for (const char* text :
       {"{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}",
        R"({apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: q}, spec: {namespaceSelector: {},
               resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 100}]}]}]}})",
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: l, namespace: default}, "
        "spec: {clusterQueue: q}}"}) {
    const auto created = world->create(parse_yaml(text).value().at(0));
    ASSERT_TRUE(created) << created.error().message;
  }
  for (int i = 0; i < kJobs; ++i) {
    Json job =
        parse_yaml(
            R"({apiVersion: batch/v1, kind: Job, metadata: {namespace: default, labels: {kueue.x-k8s.io/queue-name: l}},
        spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}})")
            .value()
            .at(0);
    ensure_path(job, {"metadata", "name"}) = "j" + std::to_string(i);
    ASSERT_TRUE(world->create(std::move(job)));
    world->run_for(std::chrono::seconds(20));  // otherwise all late events would queue up and arrive together
  }
  EXPECT_EQ(controller.request_counts().at("create workloads"), static_cast<std::uint64_t>(kJobs));
  for (int i = 0; i < kJobs; ++i) {
    const auto job = world->get("batch/v1", "Job", "default", "j" + std::to_string(i));
    ASSERT_TRUE(job);
    EXPECT_FALSE(bool_at(*job, {"spec", "suspend"})) << i;
  }
}

}  // namespace
}  // namespace berth::simulate::late_caches_test
