// Restarts of the controller while pods run on their assigned nodes, and the same scenario played twice.
#include <gmock/gmock.h>

#include "controller/controller.h"
#include "embedded/simulate/placed_world.h"
#include "jobs/pod_set_info.h"

namespace berth::simulation::topology_restart_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TopologyRestart : public PlacedWorld {
 protected:
  void start() {
    controller =
        std::make_unique<controller::Controller>(world->client(), world->executor(), controller::ControllerOptions{});
    controller->lead();
    controller->start();
  }
  void stop() { controller.reset(); }

  std::unique_ptr<controller::Controller> controller;
};

const std::string kLong = std::string(kRequiredRack) + ", berth.dev/run-for: 1h, berth.dev/stop-after: 60s";

// kueue#5276, kueue#10076.
TEST_F(TopologyRestart, WhoeverHoldsANodeHoldsItAfterwards) {
  make("1x1x3", false);
  start();
  apply(placed_job("stays", 1, "3", kLong));
  pass(2);
  apply(placed_job("leaves", 1, "3", kLong));
  pass(10);
  ASSERT_THAT(nodes_of("stays"), ElementsAre("b1-r1-n1"));
  ASSERT_THAT(nodes_of("leaves"), ElementsAre("b1-r1-n2"));
  remove("Job", "leaves");
  pass(2);
  stop();
  ASSERT_THAT(nodes_of("leaves"), ElementsAre("b1-r1-n2-")) << "its workload is gone, its pod is not";
  start();
  apply(placed_job("two", 2, "3", kLong));
  pass(30);
  EXPECT_FALSE(admitted("two")) << "one node is free";
  EXPECT_THAT(nodes_of("stays"), ElementsAre("b1-r1-n1"));
  pass(60);
  EXPECT_THAT(nodes_of("leaves"), IsEmpty());
  EXPECT_THAT(nodes_of("two"), ElementsAre("b1-r1-n2", "b1-r1-n3"));
}

TEST_F(TopologyRestart, ANodeThatDiedMeanwhileIsReplaced) {
  make("1x1x3", false);
  start();
  apply(placed_job("gang", 2, "3", kLong));
  pass(10);
  ASSERT_THAT(nodes_of("gang"), ElementsAre("b1-r1-n1", "b1-r1-n2"));
  stop();
  remove("Node", "b1-r1-n2");
  pass(30);
  start();
  pass(30);
  EXPECT_THAT(nodes_of("gang"), ElementsAre("b1-r1-n1", "b1-r1-n3"));
  EXPECT_TRUE(condition(workload("gang"), "Evicted").is_null());
  stop();
  start();
  pass(30);
  EXPECT_THAT(nodes_of("gang"), ElementsAre("b1-r1-n1", "b1-r1-n3")) << "and stays so";
}

// kueue#15148: the workload is deleted while the job runs with Kueue's scheduling gates in its template, its pods end
// slowly, and the controller is new.
TEST_F(TopologyRestart, NoWorkloadIsMadeOfATemplateWithAnAdmissionInIt) {
  make("1x1x2", false);
  start();
  apply(placed_job("gang", 2, "3", kLong));
  pass(10);
  ASSERT_EQ(nodes_of("gang").size(), 2u);
  stop();
  const std::string lost = workload_name("gang");
  patch("Workload", lost, "{metadata: {finalizers: null}}");
  remove("Workload", lost);
  pass(5);
  ASSERT_TRUE(workload("gang").is_null());
  start();
  pass(20);
  EXPECT_THAT(nodes_of("gang"), ElementsAre("b1-r1-n1-", "b1-r1-n2-")) << "it was stopped, its pods take their time";
  for (int i = 0; i < 20; ++i, pass(10)) {
    const Json now = workload("gang");
    if (now.is_null()) continue;
    const Json& pod_set = array_at(now, {"spec", "podSets"}).at(0);
    EXPECT_FALSE(jobs::carries_admission(*find(pod_set, "template"))) << to_string(pod_set);
    EXPECT_EQ(find_path(pod_set, {"template", "spec", "schedulingGates"}), nullptr);
    // Node labels that a flavor added to the node selector cannot be told from the user's and may stay. They pin no
    // pod to a node.
    EXPECT_EQ(find_path(pod_set, {"template", "spec", "nodeSelector", "kubernetes.io/hostname"}), nullptr);
    EXPECT_EQ(string_at(pod_set, {"topologyRequest", "required"}), "cloud.provider.com/topology-rack");
  }
  EXPECT_THAT(nodes_of("gang"), ElementsAre("b1-r1-n1", "b1-r1-n2")) << "it runs again";
}

// kueue#11910.
using TopologyStory = PlacedWorld;

TEST_F(TopologyStory, TheSameStoryEndsInTheSameBytes) {
  std::string first;
  for (int i = 0; i < 2; ++i) {
    make("2x3x4");
    apply(placed_job("a", 7, "2", std::string(kRequiredRack) + ", berth.dev/run-for: 5m"));
    apply(placed_job("b", 4, "1", "kueue.x-k8s.io/podset-unconstrained-topology: \"true\", berth.dev/run-for: 5m"));
    apply(placed_job(
        "c", 12, "2",
        "kueue.x-k8s.io/podset-preferred-topology: cloud.provider.com/topology-rack, berth.dev/run-for: 5m"));
    pass(20);
    remove("Node", nodes_of("a").front());
    pass(120);
    std::string all;
    for (const auto& [version, kind] :
         {std::pair{"kueue.x-k8s.io/v1beta2", "Workload"}, {"batch/v1", "Job"}, {"v1", "Pod"}}) {
      for (const auto& object : list(version, kind)) all += canonical_json(object) + "\n";
    }
    EXPECT_TRUE(admitted("a") && admitted("b") && admitted("c"));
    if (i == 0) {
      first = all;
    } else {
      EXPECT_EQ(all, first);
    }
  }
}

}  // namespace
}  // namespace berth::simulation::topology_restart_test
