// Ports of nodes (gate SchedulerLibraryIntegration): what kube-scheduler's NodePorts refuses gets no place.
#include <gtest/gtest.h>

#include "engine/topology/cluster.h"

namespace berth::engine::host_ports_test {
namespace {

TopologyOptions with_ports() {
  TopologyOptions options;
  options.host_ports = true;
  return options;
}

Gang on_port(std::int32_t count, const std::string& port) {
  return Gang{.count = count, .requests = {{"cpu", "1"}, {"hostPort/TCP/" + port, "1"}}};
}

api::kueue::PodPlacement pod_on_port(const std::string& name, const std::string& node, const std::string& port) {
  auto pod = Cluster::a_pod(name, node, {{"cpu", "1"}});
  pod.host_ports = resource_list({{"hostPort/TCP/" + port, "1"}});
  return pod;
}

TEST(HostPorts, PodsWithOnePortNeedANodeEach) {
  Cluster c(with_ports());
  add_racks(c, 1, 2);
  EXPECT_EQ(c.where({on_port(2, "80").required("rack")}), "r1-n1:1 r1-n2:1");
  EXPECT_NE(c.where({on_port(3, "80").required("rack")}).find("allows to fit only 2 out of 3"), std::string::npos);
  EXPECT_EQ(c.admit(1, {on_port(1, "80").required("rack")}), "r1-n1:1");
  EXPECT_EQ(c.where({on_port(1, "80").required("rack")}), "r1-n2:1");
  EXPECT_EQ(c.where({on_port(1, "81").required("rack")}), "r1-n1:1") << "another port";
  EXPECT_EQ(c.broken(), "");
  c.places.give_back(WorkloadId(1));
  EXPECT_EQ(c.where({on_port(2, "80").required("rack")}), "r1-n1:1 r1-n2:1");
  EXPECT_EQ(c.broken(), "");
}

TEST(HostPorts, PodsOfOthersCountToo) {
  Cluster c(with_ports());
  add_racks(c, 1, 2);
  c.places.set_pod(pod_on_port("p", "r1-n1", "80"));
  EXPECT_EQ(c.where({on_port(1, "80").required("rack")}), "r1-n2:1");
  EXPECT_NE(c.where({on_port(2, "80").required("rack")}).find("hostPort/TCP/80"), std::string::npos) << "it says why";
  EXPECT_EQ(c.broken(), "");
  c.places.remove_pod("uid-p");
  EXPECT_EQ(c.where({on_port(2, "80").required("rack")}), "r1-n1:1 r1-n2:1");
  EXPECT_EQ(c.broken(), "");
}

TEST(HostPorts, CountWhereRacksAreTheLowestLevel) {
  Cluster c(with_ports());
  c.topology("t", {"rack"});
  c.flavor("f", "t");
  for (const char* name : {"n1", "n2"}) c.node(name, {{"rack", "r1"}}, {{"cpu", "4"}});
  c.places.set_pod(pod_on_port("p", "n1", "80"));
  EXPECT_EQ(c.where({on_port(1, "80").required("rack")}), "r1:1");
  EXPECT_FALSE(c.place({on_port(2, "80").required("rack")}).ok);
  EXPECT_EQ(c.admit(1, {on_port(1, "80").required("rack")}), "r1:1");
  EXPECT_FALSE(c.place({on_port(1, "80").required("rack")}).ok);
  c.node("n3", {{"rack", "r1"}}, {{"cpu", "4"}});
  EXPECT_EQ(c.where({on_port(1, "80").required("rack")}), "r1:1");
  EXPECT_EQ(c.broken(), "");
  c.places.remove_node("n2");
  EXPECT_EQ(c.broken(), "");
}

TEST(HostPorts, WithoutTheGatePodsAreNotAsked) {
  Cluster c;
  add_racks(c, 1, 1);
  c.places.set_pod(pod_on_port("p", "r1-n1", "80"));
  EXPECT_EQ(c.where({Gang{.count = 3}.required("rack")}), "r1-n1:3");
  EXPECT_EQ(c.broken(), "");
}

}  // namespace
}  // namespace berth::engine::host_ports_test
