// What berth up says of options that change nothing for nodes of an earlier run.
#include "embedded/commands/earlier_nodes.h"

#include <gtest/gtest.h>

#include "embedded/cluster/devices/driver.h"
#include "embedded/cluster/nodes.h"

namespace berth::cli::earlier_nodes_test {
namespace {

using Notices = std::vector<std::string>;

EarlierNodes made(const std::string& shape, const std::string& resources, const std::string& devices = "") {
  EarlierNodes out;
  out.nodes = cluster::make_nodes(*cluster::parse_node_shape(shape), *cluster::parse_node_resources(resources));
  const auto shapes = cluster::devices::parse_devices(devices).value();
  for (const auto& device : shapes) {
    for (const Json& node : out.nodes) {
      for (const Json& slice : cluster::devices::slices_of(device, node)) out.slices.push_back(slice);
    }
  }
  return out;
}

TEST(EarlierNodes, KeepTheirResources) {
  const auto earlier = made("1x1x2", "cpu=8");
  EXPECT_EQ(without_effect({.nodes = "1x1x3", .node_resources = "cpu=96"}, earlier),
            Notices{"--node-resources changes nothing for 2 nodes (b1-r1-n1, b1-r1-n2) of an earlier run: b1-r1-n1 "
                    "keeps cpu=8,memory=32Gi,pods=110. Delete such a node and start again: it is made with the new "
                    "resources"});
  EXPECT_EQ(without_effect({.nodes = "1x1x3", .node_resources = "cpu=8000m"}, earlier), Notices{}) << "the same amount";
  EXPECT_EQ(without_effect({.nodes = "1x1x3"}, made("1x1x2", "cpu=96")), Notices{}) << "was not asked for";
  EXPECT_EQ(without_effect({.nodes = "none", .node_resources = "cpu=96"}, earlier), Notices{})
      << "what the autoscaler makes has it";
}

TEST(EarlierNodes, StayAlthoughTheShapeIsSmaller) {
  const auto earlier = made("1x2x3", "");
  EXPECT_EQ(without_effect({.nodes = "1x1x2", .nodes_given = true}, earlier),
            Notices{"--nodes 1x1x2 leaves 4 nodes (b1-r1-n3, b1-r2-n1, b1-r2-n2, ...) of an earlier run in "
                    "place. Delete with kubectl those that shall go"});
  EXPECT_EQ(without_effect({.nodes = "none", .nodes_given = true}, made("1x1x1", "")),
            Notices{"--nodes none leaves 1 node (b1-r1-n1) of an earlier run in place. Delete with kubectl "
                    "those that shall go"});
  EXPECT_EQ(without_effect({.nodes = "1x2x4", .nodes_given = true}, earlier), Notices{}) << "one is added to each rack";
  EXPECT_EQ(without_effect({.nodes = "1x1x2"}, earlier), Notices{}) << "the default";
}

TEST(EarlierNodes, KeepTheirDevices) {
  const std::string kept =
      "--devices changes nothing for 1 node (b1-r1-n1) of an earlier run: their ResourceSlices stay. Delete such a "
      "node "
      "and start again: it is made with the new devices";
  const auto earlier = made("1", "", "gpu.example.com=4");
  EXPECT_EQ(without_effect({.nodes = "1", .devices = "gpu.example.com=4"}, earlier), Notices{});
  for (const char* other : {"gpu.example.com=8", "gpu.example.com=4:parts", "gpu.example.com=4:shared"})
    EXPECT_EQ(without_effect({.nodes = "1", .devices = other}, earlier), Notices{kept}) << other;
  EXPECT_EQ(without_effect({.nodes = "1", .devices = "new.example.com=1"}, earlier),
            Notices{"--devices does not name gpu.example.com, whose devices of an earlier run stay. Delete the "
                    "ResourceSlices of gpu.example.com to take them away"});
  EXPECT_EQ(without_effect({.nodes = "1"}, earlier), Notices{});
}

}  // namespace
}  // namespace berth::cli::earlier_nodes_test
