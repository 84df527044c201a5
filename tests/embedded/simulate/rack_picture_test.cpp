// The text picture of racks, nodes and the jobs on them.
#include "embedded/simulate/rack_picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "base/yaml.h"

namespace berth::simulate::rack_picture_test {
namespace {

Json yaml(const std::string& text) { return parse_yaml(text).value().front(); }

Json node(const std::string& name, const std::string& rack, const std::string& ready = "True",
          const std::string& spec = "{}") {
  return yaml("{kind: Node, metadata: {name: " + name + ", labels: {cloud.provider.com/topology-rack: " + rack +
              "}}, spec: " + spec +
              ", status: {allocatable: {cpu: '4', memory: 8Gi}, conditions: [{type: Ready, status: '" + ready +
              "'}]}}");
}
Json pod(const std::string& name, const std::string& job, const std::string& on, const std::string& cpu = "2",
         const std::string& created = "2026-01-01T00:00:00Z", const std::string& phase = "Running") {
  return yaml("{kind: Pod, metadata: {namespace: team, name: " + name + ", creationTimestamp: '" + created +
              "', labels: {batch.kubernetes.io/job-name: " + job + "}}, spec: {nodeName: " + on +
              ", containers: [{name: c, resources: {requests: {cpu: '" + cpu + "'}}}]}, status: {phase: " + phase +
              "}}");
}

TEST(RackPicture, ShowsRacksNodesAndWhoHoldsThem) {
  std::vector<Json> nodes;
  for (const int n : {1, 2, 3, 10, 4, 5, 6, 7, 8, 9}) nodes.push_back(node("r1-n" + std::to_string(n), "r1"));
  nodes.push_back(node("r2-n1", "r2", "False"));
  nodes.push_back(node("r2-n2", "r2", "True", "{unschedulable: true}"));
  nodes.push_back(node("r2-n4", "r2", "Unknown"));
  nodes.push_back(node("r2-n5", "r2", "True", "{taints: [{key: k, effect: NoExecute}]}"));
  nodes.push_back(node("r2-n6", "r2", "True", "{taints: [{key: k, effect: PreferNoSchedule}]}"));
  nodes.push_back(node("r10-n1", "r10"));
  const std::vector<Json> pods = {pod("b-1", "late", "r1-n3", "4", "2026-01-01T00:10:00Z"),
                                  pod("a-1", "early", "r1-n1", "2"),
                                  pod("a-2", "early", "r1-n1", "2"),
                                  pod("a-3", "early", "r1-n2", "2"),
                                  pod("a-4", "early", "r2-n1", "4"),  // r2-n1 is not ready: "!" instead of the letter
                                  pod("done", "over", "r1-n9", "4", "2026-01-01T00:00:00Z", "Succeeded")};
  EXPECT_EQ(rack_picture(nodes, pods, {}),
            "r1    AaB.......  3/10\n"
            "r2    !-_!-.      1/5\n"
            "r10   .           0/1\n"
            "A team/early: 4 pods on 3 nodes of r1, r2\n"
            "B team/late: 1 pod on 1 node of r1\n");
}

TEST(RackPicture, LettersStayWithThoseThatHadThem) {
  const std::vector<Json> nodes = {node("n1", "r"), node("n2", "r")};
  PictureOptions options;
  options.holders = {"team/gone", "team/b"};
  const auto text = rack_picture(nodes, {pod("p", "a", "n1", "4"), pod("q", "b", "n2", "4")}, options);
  EXPECT_EQ(text.substr(0, text.find('\n')), "r     CB  2/2");
}

TEST(RackPicture, FitsAHundredColumnsWhateverThereIs) {
  std::vector<Json> nodes, pods;
  for (int r = 1; r <= 60; ++r) {
    const std::string rack = "a-rather-long-name-of-a-rack-" + std::to_string(r);
    for (int n = 1; n <= 70; ++n) {
      const std::string name = rack + "-n" + std::to_string(n);
      nodes.push_back(node(name, rack));
      if (n % 2 == 0) pods.push_back(pod("p-" + name, "job-with-a-long-name-" + std::to_string(n % 40), name, "4"));
    }
  }
  const auto text = rack_picture(nodes, pods, {});
  std::istringstream in(text);
  std::size_t widest = 0, lines = 0;
  for (std::string line; std::getline(in, line); ++lines) widest = std::max(widest, line.size());
  EXPECT_LE(widest, 100u);
  EXPECT_LE(lines, 2 * kMaxRackLines + 30);
  EXPECT_NE(text.find("... and 20 more"), std::string::npos);
}

TEST(RackPicture, IsColouredOnlyWhenAsked) {
  const std::vector<Json> nodes = {node("n1", "r")}, pods = {pod("p", "a", "n1", "1")};
  PictureOptions options;
  EXPECT_EQ(rack_picture(nodes, pods, options).find('\033'), std::string::npos);
  options.colour = true;
  EXPECT_NE(rack_picture(nodes, pods, options).find("\033["), std::string::npos);
}

TEST(RackPicture, FindsTheLabelOfRacksInTheTopology) {
  EXPECT_EQ(rack_label_of({}), "cloud.provider.com/topology-rack");
  const Json hosts = yaml(
      "{metadata: {name: b}, spec: {levels: [{nodeLabel: block}, {nodeLabel: shelf}, {nodeLabel: "
      "kubernetes.io/hostname}]}}");
  const Json racks = yaml("{metadata: {name: c}, spec: {levels: [{nodeLabel: hall}, {nodeLabel: cage}]}}");
  EXPECT_EQ(rack_label_of({racks, hosts}), "shelf");
  EXPECT_EQ(rack_label_of({racks}), "cage");
}

TEST(RackPicture, OrdersNamesAsPeopleDo) {
  EXPECT_TRUE(natural_less("b1-r2", "b1-r10"));
  EXPECT_TRUE(natural_less("b1-r9-n10", "b1-r10-n9"));
  EXPECT_TRUE(natural_less("a", "a1"));
  EXPECT_FALSE(natural_less("n10", "n10"));
  EXPECT_NE(natural_less("n01", "n1"), natural_less("n1", "n01"));
}

}  // namespace
}  // namespace berth::simulate::rack_picture_test
