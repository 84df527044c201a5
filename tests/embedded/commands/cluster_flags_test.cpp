// The values of the options of the pretend cluster.
#include "embedded/commands/cluster_flags.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/scratch_dir.h"

namespace berth::cli::cluster_flags_test {
namespace {

std::string wrong(const ClusterFlags& flags) {
  const auto checked = check_cluster_flags(flags);
  return checked ? "" : checked.error().message;
}
std::string wrong_nodes(const std::string& nodes) { return wrong({.nodes = nodes}); }

TEST(ClusterFlags, NodesAreAShapeAFileOrNone) {
  for (const char* good : {"2x4x8", "4x8", "8", "none"}) EXPECT_EQ(wrong_nodes(good), "") << good;
  const std::string dir = berth::testing_support::make_scratch_dir("cluster-flags"), file = dir + "/nodes.yaml";
  EXPECT_EQ(wrong_nodes(file), "--nodes \"" + file +
                                   "\": expected BLOCKSxRACKSxNODES, such as 2x4x8, a file of Node manifests, or none; "
                                   "there is no such file");
  std::ofstream(file) << "{apiVersion: v1, kind: Node, metadata: {name: n}}";
  EXPECT_EQ(wrong_nodes(file), "");
  std::filesystem::remove_all(dir);
  EXPECT_TRUE(wrong_nodes("0x4").starts_with("--nodes: node shape \"0x4\": expected BLOCKSxRACKSxNODES"));
  EXPECT_TRUE(wrong_nodes("99999x99999").ends_with("nodes are possible"));
}

TEST(ClusterFlags, OtherValuesThatAreWrongNameTheOption) {
  EXPECT_EQ(wrong({}), "");
  EXPECT_EQ(wrong({.scale_up = "none"}), "");
  EXPECT_EQ(wrong({.scale_up = "2x2x2"}), "--scale-up \"2x2x2\": expected RACKSxNODES, such as 2x64, or none");
  EXPECT_EQ(wrong({.provisioning_delay = "-1s"}), "--provisioning-delay -1s: expected a duration such as 30s");
  EXPECT_TRUE(wrong({.node_resources = "cpu"}).starts_with("--node-resources: node resources \"cpu\": expected "));
}

}  // namespace
}  // namespace berth::cli::cluster_flags_test
