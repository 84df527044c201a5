// Devices of nodes in the engine: what requests of one kind need free there, beside cpu and memory.
#include <gtest/gtest.h>

#include "engine/support/one_queue.h"
#include "engine/support/scenario.h"

namespace berth::engine::test::node_devices_test {
namespace {

using api::kueue::DeviceCharge;

const std::string kGpu = "device:gpu";

api::ResourceList gpus(std::int64_t count) { return {{kGpu, Quantity::of(count)}}; }

JsonPtr pod_template() {
  return std::make_shared<const Json>(*parse_json(
      R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}],"resourceClaims":[{"name":"d","resourceClaimTemplateName":"t"}]}})"));
}

// Two nodes with 8 cpu and 4 GPUs each; a queue with quota for everything.
struct Racks : Scenario {
  Racks() {
    api::kueue::Topology topology;
    topology.meta.name = "t";
    topology.levels = {"rack", "kubernetes.io/hostname"};
    give(topology);
    api::kueue::ResourceFlavor placed = test::flavor("f");
    placed.topology_name = "t";
    give(placed);
    give(ClusterQueueBuilder("cq").cpu({{"f", "100"}}));
    give(test::local_queue("q", "cq"));
    for (const char* name : {"n1", "n2"}) {
      api::Node node;
      node.name = name;
      node.labels = {{"rack", "r"}, {"kubernetes.io/hostname", name}};
      node.ready = true;
      node.allocatable = {{"cpu", Quantity::of(8)}, {"pods", Quantity::of(110)}};
      give(node);
      take(NodeDevicesSeen{name, gpus(4)});
    }
  }
  // A gang whose pods need so many GPUs each.
  void give_gang(const std::string& name, int pods, std::int64_t each) {
    Workload w = WorkloadBuilder(name).pods(pods, "1");
    w.pod_sets[0].template_ = pod_template();
    w.pod_sets[0].topology_request.emplace().required = "rack";
    give(w);
    count(name, each);
  }
  void count(const std::string& name, std::int64_t each) {
    DeviceCharge charge;
    charge.pod_sets.resize(1);
    if (each > 0) charge.pod_sets[0].on_node = gpus(each);
    const auto& meta = workload(name).meta;
    take(DevicesCounted{meta.ns, meta.name, meta.uid, std::make_shared<const DeviceCharge>(std::move(charge))});
  }
  void take_devices(const std::string& claim, const std::string& of, const std::string& node, std::int64_t count) {
    take(DevicesTaken{claim, "default", of, node, count > 0 ? gpus(count) : api::ResourceList()});
  }
  std::string why(const std::string& name) { return condition(name, "QuotaReserved"); }
};

TEST(NodeDevices, AGangGoesWhereItsDevicesAreFree) {
  Racks s;
  s.give_gang("a", 2, 3);
  s.run();
  EXPECT_EQ(s.places_of("a"), "n1:1 n2:1") << "one node has the cpu for both, but not the GPUs";
  s.give_gang("b", 1, 2);
  s.run();
  EXPECT_EQ(s.state("b"), "Pending");
  EXPECT_NE(s.why("b").find(R"(excluded: device class "gpu" (2 per pod, at most 1 free on a node): 2)"),
            std::string::npos)
      << s.why("b");
  s.take(NodeDevicesSeen{"n2", gpus(5)});
  s.run();
  EXPECT_EQ(s.places_of("b"), "n2:1") << "new devices wake it";
}

TEST(NodeDevices, ThoseOfClaimsOfTheWorkloadAreNotCountedTwice) {
  Racks s;
  s.give_gang("a", 2, 2);
  s.run();
  EXPECT_EQ(s.places_of("a"), "n1:2");
  s.take_devices("c1", "a", "n1", 2);
  s.take_devices("c2", "a", "n1", 2);
  s.give_gang("b", 1, 4);
  s.run();
  EXPECT_EQ(s.places_of("b"), "n2:1");
  s.finish("a");
  s.run();
  s.give_gang("c", 1, 1);
  s.run();
  EXPECT_EQ(s.state("c"), "Pending") << "its claims are still allocated";
  s.take_devices("c1", "a", "n1", 0);
  s.run();
  EXPECT_EQ(s.places_of("c"), "n1:1");
}

TEST(NodeDevices, ThoseOfStrangersCount) {
  Racks s;
  s.take_devices("c1", "", "n1", 1);
  s.give_gang("a", 1, 4);
  s.run();
  EXPECT_EQ(s.places_of("a"), "n2:1");
  s.take_devices("c1", "", "n1", 0);
  s.give_gang("b", 1, 4);
  s.run();
  EXPECT_EQ(s.places_of("b"), "n1:1");
}

TEST(NodeDevices, APlacedWorkloadIsChargedAnewWhenItsNeedsChange) {
  Racks s;
  s.give_gang("a", 1, 1);
  s.run();
  EXPECT_EQ(s.places_of("a"), "n1:1");
  s.count("a", 4);
  s.run();
  s.give_gang("b", 1, 1);
  s.run();
  EXPECT_EQ(s.places_of("b"), "n2:1");
}

TEST(NodeDevices, ANodeKeepsThemWhenItComesBack) {
  Racks s;
  s.take(NodeGone{"n1"});
  s.take(NodeGone{"n2"});
  s.give_gang("a", 1, 4);
  s.run();
  EXPECT_EQ(s.state("a"), "Pending");
  api::Node node;
  node.name = "n2";
  node.labels = {{"rack", "r"}, {"kubernetes.io/hostname", "n2"}};
  node.ready = true;
  node.allocatable = {{"cpu", Quantity::of(8)}, {"pods", Quantity::of(110)}};
  s.give(node);
  s.run();
  EXPECT_EQ(s.places_of("a"), "n2:1");
}

TEST(NodeDevices, ExtendedResourcesOfAClassAreFoundByItsDevices) {
  Racks s;
  Workload w = WorkloadBuilder("a").pods(1, "1");
  w.pod_sets[0].template_ = std::make_shared<const Json>(
      *parse_json(R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"1","x.org/gpu":"3"}}}]}})"));
  w.pod_sets[0].topology_request.emplace().required = "rack";
  s.give(w);
  DeviceCharge charge;
  charge.pod_sets.resize(1);
  charge.pod_sets[0].extended = {{"x.org/gpu", "cpu"}};
  charge.pod_sets[0].extended_on_node = {{"x.org/gpu", gpus(1)}};
  const auto& meta = s.workload("a").meta;
  s.take(DevicesCounted{meta.ns, meta.name, meta.uid, std::make_shared<const DeviceCharge>(charge)});
  s.run();
  EXPECT_EQ(s.places_of("a"), "n1:1");
  s.give_gang("b", 1, 2);
  s.run();
  EXPECT_EQ(s.places_of("b"), "n2:1") << "three of four are taken on n1";
}

TEST(NodeDevices, AreTheSameInACopyAfterRenumberingAndInAnEngineMadeAnew) {
  for (const auto turn : {&Racks::copy, &Racks::renumber, &Racks::make_anew}) {
    Racks s;
    s.take_devices("c1", "", "n1", 2);
    s.give_gang("a", 1, 3);
    s.run();
    EXPECT_EQ(s.places_of("a"), "n2:1");
    (s.*turn)();
    s.run();
    s.give_gang("b", 1, 3);
    s.run();
    EXPECT_EQ(s.state("b"), "Pending");
    EXPECT_NE(s.why("b").find("3 per pod, at most 2 free on a node"), std::string::npos) << s.why("b");
    s.take_devices("c1", "", "n1", 0);
    s.run();
    EXPECT_EQ(s.places_of("b"), "n1:1");
  }
}

}  // namespace
}  // namespace berth::engine::test::node_devices_test
