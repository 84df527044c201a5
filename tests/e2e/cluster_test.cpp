// `berth cluster`: pretend nodes for an API server in another process.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "e2e/server.h"

namespace berth::e2e::cluster_test {
namespace {

TEST(PretendNodes, ComeFromAProcessOfTheirOwn) {
  Server server({"--controller=false", "--nodes", "none"});
  Process nodes({BERTH_PROGRAM, "cluster", "--kubeconfig", server.kubeconfig(), "--nodes", "1x1x2", "--scale-up",
                 "none", "--job-controller=false"},
                server.environment());
  ASSERT_TRUE(nodes.wait_for_output("ready\n")) << nodes.err();
  EXPECT_TRUE(eventually([&] {
    return server.must({"get", "nodes", "-o",
                        "jsonpath={range .items[*]}{.status.conditions[?(@.type==\"Ready\")].status} {end}"}) ==
           "True True ";
  })) << server.must({"get", "nodes", "-o", "yaml"});
  nodes.signal(SIGTERM);
  EXPECT_EQ(nodes.wait().exit_code, 0) << nodes.err();
}

TEST(PretendNodes, WhatCannotBeIsSaid) {
  const auto line = [](std::vector<std::string> more, int exit_code) {
    more.insert(more.begin(), {BERTH_PROGRAM, "cluster"});
    const Finished finished = run(more, {{"KUBECONFIG", "/no-such-kubeconfig"}});
    EXPECT_EQ(finished.exit_code, exit_code);
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
    return finished.err;
  };
  EXPECT_NE(line({"--provisioning-delay", "soon"}, 2).find("--provisioning-delay soon"), std::string::npos);
  EXPECT_NE(line({}, 1).find("/no-such-kubeconfig"), std::string::npos);
}

}  // namespace
}  // namespace berth::e2e::cluster_test
