#include "embedded/cluster/nodes.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace berth::cluster::nodes_test {
namespace {

TEST(NodeShape, IsBlocksRacksAndNodes) {
  const struct {
    const char* text;
    int blocks, racks, nodes;
  } cases[] = {{"8", 1, 1, 8}, {"10x64", 1, 10, 64}, {"2x4x8", 2, 4, 8}, {"100000", 1, 1, 100000}};
  for (const auto& c : cases) {
    const auto shape = parse_node_shape(c.text);
    ASSERT_TRUE(shape) << shape.error().message;
    EXPECT_EQ(shape->blocks, c.blocks) << c.text;
    EXPECT_EQ(shape->racks, c.racks) << c.text;
    EXPECT_EQ(shape->nodes, c.nodes) << c.text;
  }
  for (const char* text : {"", "0", "x", "2x", "x2", "-1", "2x0x3", "1x2x3x4", "2 x 3", "100001", "1000x1000", "1e3",
                           "99999999999999999999"}) {
    EXPECT_FALSE(parse_node_shape(text)) << text;
  }
}

TEST(NodeResources, AreNamedOrDefaults) {
  const auto resources = parse_node_resources("cpu=96,memory=256Gi,nvidia.com/gpu=8").value();
  EXPECT_EQ(resources.at("cpu").to_string(), "96");
  EXPECT_EQ(resources.at("memory").to_string(), "256Gi");
  EXPECT_EQ(resources.at("nvidia.com/gpu").to_string(), "8");
  EXPECT_EQ(resources.at("pods").to_string(), "110");
  EXPECT_EQ(parse_node_resources("pods=3")->at("pods").to_string(), "3");
  for (const char* text : {"cpu", "=1", "cpu=", "cpu=x", "cpu=-1", "cpu=1,,memory=1", "cpu=1,"}) {
    EXPECT_FALSE(parse_node_resources(text)) << text;
  }
}

TEST(Nodes, CarryTheLabelsOfTheirPlace) {
  const auto nodes = make_nodes(parse_node_shape("2x2x3").value(), parse_node_resources("cpu=4").value());
  ASSERT_EQ(nodes.size(), 12u);
  std::set<std::string> names, racks;
  for (const auto& node : nodes) {
    names.emplace(string_at(node, {"metadata", "name"}));
    racks.emplace(string_at(node, {"metadata", "labels", "cloud.provider.com/topology-rack"}));
    EXPECT_EQ(string_at(node, {"metadata", "labels", "kubernetes.io/hostname"}), string_at(node, {"metadata", "name"}));
    EXPECT_EQ(string_at(node, {"status", "allocatable", "cpu"}), "4");
    EXPECT_FALSE(node_ready(node));
  }
  EXPECT_EQ(names.size(), 12u);
  EXPECT_EQ(racks, (std::set<std::string>{"b1-r1", "b1-r2", "b2-r1", "b2-r2"})) << "racks differ across blocks";
}

Json node(std::string_view text) { return parse_json(text).value(); }
constexpr std::string_view kNow = "2026-11-21T09:30:00Z";

TEST(Nodes, CarryTheTaintsOfTheirState) {
  const auto corrected = [&](std::string_view text) {
    const auto taints = corrected_taints(node(text), kNow);
    return taints ? to_string(Json(*taints)) : "right";
  };
  EXPECT_EQ(corrected(R"({})"), R"([{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}])") << "a new one";
  EXPECT_EQ(corrected(R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})"), "right");
  EXPECT_EQ(corrected(R"({"spec":{"taints":[{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}]}})"),
            "right");
  EXPECT_EQ(corrected(R"({"spec":{"taints":[{"key":"a","effect":"NoExecute"},
                          {"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}]},
                          "status":{"conditions":[{"type":"Ready","status":"True"}]}})"),
            R"([{"key":"a","effect":"NoExecute"}])")
      << "other taints are people's own";
  EXPECT_EQ(corrected(R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})"),
            R"([{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"},)"
            R"({"key":"node.kubernetes.io/not-ready","effect":"NoExecute","timeAdded":"2026-11-21T09:30:00Z"}])");
  EXPECT_EQ(corrected(R"({"spec":{"taints":[{"key":"node.kubernetes.io/not-ready","effect":"NoExecute"}]},
                          "status":{"conditions":[{"type":"Ready","status":"Unknown"}]}})"),
            R"([{"key":"node.kubernetes.io/unreachable","effect":"NoSchedule"},)"
            R"({"key":"node.kubernetes.io/unreachable","effect":"NoExecute","timeAdded":"2026-11-21T09:30:00Z"}])");
  EXPECT_EQ(corrected(R"({"spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"True"}]}})"),
            R"([{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}])");
  EXPECT_EQ(corrected(R"({"spec":{"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]},
                          "status":{"conditions":[{"type":"Ready","status":"True"}]}})"),
            "[]");
}

TEST(Nodes, KeepTheResourcesTheyName) {
  const auto defaults = parse_node_resources("cpu=4").value();
  const Json bare = corrected_status(node("{}"), defaults, kNow).value();
  EXPECT_EQ(string_at(bare, {"allocatable", "cpu"}), "4");
  const Json capacity = corrected_status(node(R"({"status":{"capacity":{"cpu":"7"}}})"), defaults, "").value();
  EXPECT_EQ(string_at(capacity, {"allocatable", "cpu"}), "7");
  const Json own = corrected_status(node(R"({"status":{"allocatable":{"cpu":"2"}}})"), defaults, "").value();
  EXPECT_EQ(find(own, "allocatable"), nullptr);
}

TEST(Nodes, FailAndComeBackByAnnotation) {
  // The new status of Ready with " from now" or " as before" (its transition time), or "as it is" when nothing is
  // written.
  const auto said = [](Json object) {
    const auto status = corrected_status(object, {}, kNow);
    if (!status) return std::string("as it is");
    const Json& ready = array_at(*status, {"conditions"})[0];
    return std::string(string_at(ready, {"status"})) +
           (find(ready, "lastTransitionTime") != nullptr ? " from now" : " as before");
  };
  const std::string annotated = R"("metadata":{"annotations":{"berth.dev/fail":"NotReady"}},)";
  const std::string silent = R"("metadata":{"annotations":{"berth.dev/fail":"Unknown"}},)";
  const auto ready = [](const std::string& status, const std::string& reason) {
    return R"("status":{"allocatable":{"cpu":"1"},"conditions":[{"type":"Ready","status":")" + status +
           R"(","reason":")" + reason + R"("}]})";
  };
  EXPECT_EQ(said(node("{}")), "True from now");
  EXPECT_EQ(said(node("{" + ready("True", "KubeletReady") + "}")), "as it is");
  EXPECT_EQ(said(node("{" + annotated + ready("True", "KubeletReady") + "}")), "False from now");
  EXPECT_EQ(said(node("{" + silent + ready("True", "KubeletReady") + "}")), "Unknown from now");
  EXPECT_EQ(said(node("{" + annotated + ready("False", "FailedByAnnotation") + "}")), "as it is");
  EXPECT_EQ(said(node("{" + silent + ready("False", "FailedByAnnotation") + "}")), "Unknown from now");
  EXPECT_EQ(said(node("{" + annotated + ready("False", "Kernel") + "}")), "False as before");
  EXPECT_EQ(said(node("{" + ready("False", "FailedByAnnotation") + "}")), "True from now");
  EXPECT_EQ(said(node("{" + ready("False", "Kernel") + "}")), "as it is") << "what people patched stays";
}

}  // namespace
}  // namespace berth::cluster::nodes_test
