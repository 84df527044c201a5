// What people do to nodes with kubectl: cordon, drain, taint, fail and delete them; and a gang on one of them.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "e2e/server.h"

namespace berth::e2e {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string pod(const std::string& name, const std::string& node) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         ", annotations: {berth.dev/run-for: 1h}}\nspec:\n  nodeSelector: {kubernetes.io/hostname: " + node +
         "}\n  containers: [{name: c, image: none}]\n";
}

class Nodes : public testing::Test {
 protected:
  std::string must(const std::vector<std::string>& arguments, const std::string& input = "") {
    return server_.must(arguments, input);
  }
  bool running(const std::string& name) {
    return must({"get", "pod", name, "--ignore-not-found", "-o", "jsonpath={.status.phase}"}) == "Running";
  }
  bool gone(const std::string& name) { return must({"get", "pod", name, "--ignore-not-found", "-o", "name"}).empty(); }

  Server server_{std::vector<std::string>{"--nodes", "1x1x2"}};
};

TEST_F(Nodes, AreCordonedDrainedTaintedFailedAndDeleted) {
  const std::string one = "b1-r1-n1", two = "b1-r1-n2";
  must({"apply", "-f", "-"}, pod("a", one));
  ASSERT_TRUE(eventually([&] { return running("a"); }));

  must({"drain", one, "--force", "--ignore-daemonsets", "--timeout=100s"});
  EXPECT_TRUE(gone("a"));
  EXPECT_TRUE(has(must({"get", "node", one}), "Ready,SchedulingDisabled"));
  must({"apply", "-f", "-"}, pod("b", one));
  EXPECT_TRUE(eventually([&] { return has(must({"get", "pod", "b", "-o", "jsonpath={.status.conditions}"}), "Unschedulable"); }));
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

}  // namespace
}  // namespace berth::e2e
