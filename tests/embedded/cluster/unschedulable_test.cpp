// What the pretend scheduler tells about pods that get no node.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "api/object_condition.h"
#include "api/resources.h"
#include "embedded/cluster/pretend_cluster.h"

namespace berth::cluster::unschedulable_test {
namespace {

using namespace testing_support;

class Unschedulable : public testing::Test {
 protected:
  static ClusterOptions options() {
    ClusterOptions out;
    out.nodes = "2";
    out.node_resources = "cpu=4,pods=2";
    out.node_manifests = {
        yaml("{apiVersion: v1, kind: Node, metadata: {name: gpu}, spec: {taints: [{key: gpu, value: a, effect: "
             "NoSchedule}]}}"),
        yaml("{apiVersion: v1, kind: Node, metadata: {name: closed}, spec: {unschedulable: true}}")};
    return out;
  }
  // The notes of the events about the pod.
  std::vector<std::string> reported(std::string_view pod) {
    std::vector<std::string> out;
    for (const auto& event : cluster_.list(api::kEvents)) {
      if (string_at(event, {"regarding", "name"}) == pod && string_at(event, {"reason"}) == "FailedScheduling" &&
          string_at(event, {"type"}) == "Warning")
        out.emplace_back(string_at(event, {"note"}));
    }
    return out;
  }
  std::string message(std::string_view pod) {
    const Json object = cluster_.get(kPods, pod);
    const Json* condition = api::object_condition(object, "PodScheduled");
    return condition == nullptr ? "" : std::string(string_at(*condition, {"message"}));
  }
  Cluster cluster_{options()};
};

TEST_F(Unschedulable, PodsHaveAnEventAsOfTheRealScheduler) {
  const std::string why =
      "0/4 nodes are available: 1 node(s) had untolerated taint {gpu: a}, 1 node(s) were unschedulable, 2 node(s) "
      "didn't match Pod's node affinity/selector.";
  cluster_.pod("p", "{nodeSelector: {rack: r9}}");
  cluster_.pass(2);
  EXPECT_EQ(reported("p"), std::vector<std::string>{why});
  EXPECT_EQ(message("p"), why);
  cluster_.pass(120);
  EXPECT_EQ(reported("p").size(), 1u) << "the same is not told twice";
}

TEST_F(Unschedulable, TheReasonIsTheOneOfNow) {
  const std::string others =
      "0/4 nodes are available: 1 node(s) had untolerated taint {gpu: a}, 1 node(s) were unschedulable, 2 ";
  cluster_.pod("large", requests("{cpu: '9'}"));
  cluster_.pass(2);
  EXPECT_EQ(message("large"), others + "Insufficient cpu.");
  cluster_.pass(60);
  for (const char* name : {"a", "b", "c", "d"}) cluster_.pod(name, "{}", "{berth.dev/run-for: 1h}");
  cluster_.pass(40);
  cluster_.pod("e", "{}", "{berth.dev/run-for: 1h}");
  cluster_.pass(2);
  EXPECT_EQ(message("e"), others + "Too many pods.");
  EXPECT_EQ(message("large"), others + "Insufficient cpu, 2 Too many pods.");
  EXPECT_EQ(std::ranges::count(reported("large"), message("large")), 1);
  EXPECT_LE(reported("large").size(), 3u);
}

}  // namespace
}  // namespace berth::cluster::unschedulable_test
