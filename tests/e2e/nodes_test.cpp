// Operations on nodes with kubectl: cordon, drain, taint, failure and deletion; and a gang that uses one of the
// nodes.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "e2e/server.h"
#include "source_dir.h"

namespace berth::e2e::nodes_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string pod(const std::string& name, const std::string& node) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         ", annotations: {berth.dev/run-for: 1h}}\nspec:\n  nodeSelector: {kubernetes.io/hostname: " + node +
         "}\n  containers: [{name: c, image: none}]\n";
}

class Nodes : public OnBoth {
 protected:
  void SetUp() override {
    OnBoth::SetUp();
    if (!IsSkipped()) cluster_ = make_cluster(GetParam(), "1x1x2");
  }
  std::string must(const std::vector<std::string>& arguments, const std::string& input = "") {
    return cluster_->must(arguments, input);
  }
  bool running(const std::string& name) {
    return must({"get", "pod", name, "--ignore-not-found", "-o", "jsonpath={.status.phase}"}) == "Running";
  }
  bool gone(const std::string& name) { return must({"get", "pod", name, "--ignore-not-found", "-o", "name"}).empty(); }

  std::unique_ptr<Cluster> cluster_;
};

INSTANTIATE_TEST_SUITE_P(Clusters, Nodes, both(), name_of);

TEST_P(Nodes, AreCordonedDrainedTaintedFailedAndDeleted) {
  const std::string one = "b1-r1-n1", two = "b1-r1-n2";
  must({"apply", "-f", "-"}, pod("a", one));
  ASSERT_TRUE(eventually([&] { return running("a"); }));

  must({"drain", one, "--force", "--ignore-daemonsets", "--timeout=100s"});
  EXPECT_TRUE(gone("a"));
  EXPECT_TRUE(has(must({"get", "node", one}), "Ready,SchedulingDisabled"));
  must({"apply", "-f", "-"}, pod("b", one));
  EXPECT_TRUE(eventually(
      [&] { return has(must({"get", "pod", "b", "-o", "jsonpath={.status.conditions}"}), "Unschedulable"); }));
  must({"uncordon", one});
  ASSERT_TRUE(eventually([&] { return running("b"); }));

  must({"taint", "nodes", one, "maintenance=yes:NoExecute"});
  EXPECT_TRUE(eventually([&] { return gone("b"); }));
  must({"taint", "nodes", one, "maintenance-"});
  must({"apply", "-f", "-"}, pod("c", one));
  ASSERT_TRUE(eventually([&] { return running("c"); }));

  must({"annotate", "node", one, "berth.dev/fail=NotReady"});
  EXPECT_TRUE(has(must({"wait", "--for=condition=Ready=false", "node/" + one, "--timeout=100s"}), "condition met"));
  EXPECT_TRUE(has(must({"wait", "--for=condition=Ready=false", "pod/c", "--timeout=100s"}), "condition met"));
  must({"annotate", "node", one, "berth.dev/fail-"});
  EXPECT_TRUE(has(must({"wait", "--for=condition=Ready", "pod/c", "--timeout=100s"}), "condition met"));

  must({"delete", "node", one});
  EXPECT_TRUE(eventually([&] { return gone("c"); })) << "its pods are collected";
  EXPECT_EQ(must({"get", "nodes", "-o", "name"}), "node/" + two + "\n") << "it stays deleted";
}

std::string sample(const std::string& name) {
  std::ifstream in(source_path("config/samples/") + name);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// uid -> node, for running pods.
std::map<std::string, std::string> running_pods(const Cluster& server) {
  std::istringstream lines(server.must(
      {"get", "pods", "-o",
       R"(jsonpath={range .items[?(@.status.phase=="Running")]}{.metadata.uid} {.spec.nodeName}{"\n"}{end})"}));
  std::map<std::string, std::string> pods;
  for (std::string uid, node; lines >> uid >> node;) pods[uid] = node;
  return pods;
}

std::string rack_of(const std::string& node) { return node.substr(0, node.rfind('-')); }

class Topology : public OnBoth {};

INSTANTIATE_TEST_SUITE_P(Clusters, Topology, both(), name_of);

TEST_P(Topology, AGangIsPlacedOnOneRackAndOnlyThePodOfALostNodeMoves) {
  const auto cluster = make_cluster(GetParam(), "");  // berth's default nodes
  const Cluster& server = *cluster;
  server.must({"apply", "-f", "-"}, sample("topology-queue.yaml"));
  server.must({"apply", "-f", "-"}, sample("topology-job.yaml"));
  ASSERT_TRUE(eventually([&] { return running_pods(server).size() == 3; }))
      << server.must({"get", "workloads", "-o", "yaml"});
  const auto before = running_pods(server);
  const std::string rack = rack_of(before.begin()->second);
  for (const auto& [uid, node] : before) EXPECT_EQ(rack_of(node), rack);
  const std::string written = server.must({"get", "workload", "-o", "yaml"});
  for (const char* part :
       {"apiVersion: kueue.x-k8s.io/v1beta2", "topologyAssignment:", "slices:", "valuesPerLevel:", "podCounts:"})
    EXPECT_TRUE(has(written, part)) << part << " in\n" << written;

  const auto [lost, lost_node] = *before.begin();
  server.must({"delete", "node", lost_node});
  ASSERT_TRUE(eventually([&] {
    const auto now = running_pods(server);
    return now.size() == 3 && !now.contains(lost);
  })) << server.must({"get", "pods,workloads", "-o", "yaml"});
  for (const auto& [uid, node] : running_pods(server)) {
    EXPECT_EQ(rack_of(node), rack);
    EXPECT_NE(node, lost_node);
  }
  std::size_t kept = 0;
  for (const auto& [uid, node] : running_pods(server)) kept += before.contains(uid) && before.at(uid) == node ? 1 : 0;
  EXPECT_EQ(kept, 2u) << "the others run on";
  EXPECT_TRUE(has(server.must({"wait", "--for=condition=complete", "--timeout=110s", "job/gang"}), "condition met"));
  const std::string conditions = server.must({"get", "workloads", "-o", "jsonpath={.items[0].status.conditions}"});
  EXPECT_TRUE(has(conditions, "Finished")) << conditions;
  EXPECT_FALSE(has(conditions, "Evicted")) << conditions;
}

}  // namespace
}  // namespace berth::e2e::nodes_test
