// Devices of nodes where racks are the lowest level of a topology, and on nodes that change.
#include <gtest/gtest.h>

#include "engine/topology/cluster.h"

namespace berth::engine::devices_of_nodes_test {
namespace {

const std::string kGpu = "device:gpu";

Gang with_gpus(std::int32_t pods, const std::string& each) {
  return Gang{.count = pods, .requests = {{"cpu", "1"}, {kGpu, each}}}.required("rack");
}

// Two nodes with two GPUs each on one rack.
void add_rack(Cluster& c) {
  c.topology("t", {"rack"});
  c.flavor("f", "t");
  for (const char* name : {"n1", "n2"}) {
    c.node(name, {{"rack", "r1"}}, {{"cpu", "8"}});
    c.places.set_devices(name, resource_list({{kGpu, "2"}}));
  }
}

void set_claim(Cluster& c, const std::string& uid, const std::string& node, const std::string& workload,
               const Amounts& devices) {
  c.places.set_taken_devices(Cluster::a_pod(uid, node, devices, workload));
}

TEST(DevicesOfNodes, CountOnEachNodeOfARack) {
  Cluster c;
  add_rack(c);
  EXPECT_EQ(c.where({with_gpus(2, "2")}), "r1:2");
  EXPECT_FALSE(c.place({with_gpus(1, "3")}).ok) << "four on the rack, but two on each node";
  EXPECT_EQ(c.broken(), "");
}

TEST(DevicesOfNodes, OfAPlacedWorkloadCountOnceOnARack) {
  Cluster c;
  add_rack(c);
  EXPECT_EQ(c.admit(1, {with_gpus(2, "1")}), "r1:2");
  set_claim(c, "a", "n1", "w1", {{kGpu, "1"}});
  set_claim(c, "b", "n1", "w1", {{kGpu, "1"}});
  EXPECT_EQ(c.broken(), "");
  EXPECT_EQ(c.where({with_gpus(1, "2")}), "r1:1") << "n2 has two";
  EXPECT_FALSE(c.place({with_gpus(3, "1")}).ok);
  set_claim(c, "s", "n2", "", {{kGpu, "1"}});
  EXPECT_FALSE(c.place({with_gpus(1, "2")}).ok) << "a stranger has one of them";
  EXPECT_EQ(c.where({with_gpus(1, "1")}), "r1:1");
  EXPECT_EQ(c.broken(), "");
  c.places.give_back(WorkloadId(1));
  EXPECT_FALSE(c.place({with_gpus(2, "1")}).ok) << "its claims still have theirs";
  set_claim(c, "a", "n1", "w1", {});
  EXPECT_EQ(c.where({with_gpus(2, "1")}), "r1:2");
  EXPECT_EQ(c.broken(), "");
}

TEST(DevicesOfNodes, StayWhenTheNodeChanges) {
  Cluster c;
  add_rack(c);
  c.node("n1", {{"rack", "r1"}}, {{"cpu", "16"}});
  EXPECT_EQ(c.where({with_gpus(2, "2")}), "r1:2");
  c.places.set_devices("n1", {});
  EXPECT_FALSE(c.place({with_gpus(2, "2")}).ok);
  c.places.set_devices("n1", resource_list({{kGpu, "4"}, {"device:nic", "1"}}));
  EXPECT_EQ(c.where({with_gpus(3, "2")}), "r1:3");
  c.places.set_devices("n1", resource_list({{kGpu, "1"}}));
  EXPECT_EQ(
      c.where({with_gpus(2, "2")}),
      "topology \"t\" allows to fit only 1 out of 2 pod(s). Total nodes: 2; excluded: device class \"gpu\" (2 per "
      "pod, at most 1 free on a node): 1");
  EXPECT_EQ(c.broken(), "");
}

}  // namespace
}  // namespace berth::engine::devices_of_nodes_test
