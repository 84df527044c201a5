// Jobs whose pods are placed by topology, on a whole cluster: pods are gated, ungated for their assigned nodes and
// bound there; a stopped job gets its pod template back.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/yaml.h"
#include "embedded/simulate/placed_world.h"
#include "embedded/simulate/world.h"

namespace berth::simulation::placed_pods_test {
namespace {

using std::chrono::seconds;

constexpr std::string_view kJob = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: gang, namespace: default, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  completionMode: Indexed
  parallelism: 4
  completions: 4
  template:
    metadata: {annotations: {berth.dev/run-for: 600s}}
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, resources: {requests: {cpu: 2}}}]
)";

class PlacedPods : public testing::Test {
 protected:
  PlacedPods() {
    simulate::WorldOptions options;
    options.start = Time(seconds(1'763'715'600));
    options.nodes = "2x2";
    options.node_resources = "cpu=4";
    auto made = simulate::World::make(options);
    if (!made) throw std::runtime_error(made.error().message);
    world = std::move(*made);
    std::vector<Json> documents = parse_yaml(kPlacedQueue).value();
    for (auto& document : documents) create(std::move(document));
  }

  void create(Json object) {
    const auto created = world->create(std::move(object));
    ASSERT_TRUE(created) << created.error().message;
  }
  void submit(std::string_view topology_annotations = "{}") {
    Json job = parse_yaml(kJob).value().front();
    Json& annotations = ensure_path(job, {"spec", "template", "metadata", "annotations"});
    const Json asked = parse_yaml(topology_annotations).value().front();
    for (const auto& [key, value] : asked.as_object()) annotations.as_object()[key] = value;
    create(std::move(job));
  }
  Json job() { return world->get("batch/v1", "Job", "default", "gang").value(); }
  std::vector<Json> list(std::string_view api_version, std::string_view kind) {
    api::RestRequest request = world->request_for(api_version, kind, "default", "").value();
    request.verb = api::Verb::kList;
    const auto response = world->call(std::move(request));
    const auto& items = array_at(response.body, {"items"});
    return {items.begin(), items.end()};
  }
  // Completion index of each pod -> its node.
  std::map<std::string, std::string> nodes_of_pods() {
    std::map<std::string, std::string> out;
    for (const Json& pod : list("v1", "Pod"))
      out[std::string(string_at(pod, {"metadata", "labels", "batch.kubernetes.io/job-completion-index"}))] =
          string_at(pod, {"spec", "nodeName"});
    return out;
  }

  std::unique_ptr<simulate::World> world;
};

TEST_F(PlacedPods, RunOnTheNodeOfTheirRank) {
  submit("{kueue.x-k8s.io/podset-required-topology: cloud.provider.com/topology-rack}");
  world->run_for(seconds(10));
  const std::map<std::string, std::string> expected = {
      {"0", "b1-r1-n1"}, {"1", "b1-r1-n1"}, {"2", "b1-r1-n2"}, {"3", "b1-r1-n2"}};
  EXPECT_EQ(nodes_of_pods(), expected);
  for (const Json& pod : list("v1", "Pod")) {
    EXPECT_TRUE(array_at(pod, {"spec", "schedulingGates"}).empty());
    EXPECT_EQ(string_at(pod, {"spec", "nodeSelector", "kubernetes.io/hostname"}), string_at(pod, {"spec", "nodeName"}));
  }
}

TEST_F(PlacedPods, OfAStoppedJobAreMadeFromTheTemplateThatTheUserWrote) {
  submit();  // its topology request is implied
  const std::string written = canonical_json(*find_path(job(), {"spec", "template"}));
  world->run_for(seconds(10));
  const Json running = job();
  EXPECT_EQ(string_at(running,
                      {"spec", "template", "metadata", "annotations", "kueue.x-k8s.io/podset-unconstrained-topology"}),
            "true");
  EXPECT_EQ(string_at(array_at(running, {"spec", "template", "spec", "schedulingGates"}).at(0), {"name"}),
            "kueue.x-k8s.io/topology");

  const auto workloads = list("kueue.x-k8s.io/v1beta2", "Workload");
  ASSERT_EQ(workloads.size(), 1u);
  auto request =
      world->request_for("kueue.x-k8s.io/v1beta2", "Workload", "default", string_at(workloads[0], {"metadata", "name"}))
          .value();
  request.verb = api::Verb::kPatch;
  request.body = JsonObject{{"spec", JsonObject{{"active", false}}}};
  ASSERT_TRUE(world->call(std::move(request)).ok());
  world->run_for(seconds(60));
  EXPECT_TRUE(bool_at(job(), {"spec", "suspend"}));
  EXPECT_EQ(canonical_json(*find_path(job(), {"spec", "template"})), written);
}

}  // namespace
}  // namespace berth::simulation::placed_pods_test
