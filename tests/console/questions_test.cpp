#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "console/console_world.h"

namespace berth::console::questions_test {
namespace {

TEST(Questions, AUserIsShownWhetherAChangeIsAllowed) {
  ConsoleWorld world{true};
  world.cluster.tokens = {{"ann-token", "ann"}};
  const std::string cookie = world.login("ann-token");
  const auto may = [&](const std::string& query) { return world.get("/api/may?" + query, cookie); };
  const std::string workload = "resource=workloads&namespace=team-a&name=w";
  EXPECT_NE(may(workload)->response->body.find(R"("allowed":false,"message":")"), std::string::npos);
  world.cluster.grants.insert({"ann", "patch", "workloads", "team-a"});
  world.run(std::chrono::seconds(120));  // answers are kept for a while
  EXPECT_EQ(may(workload)->response->body, R"({"allowed":true})");
  EXPECT_NE(may("resource=clusterqueues&name=q")->response->body.find(R"("allowed":false)"), std::string::npos);
  EXPECT_EQ(may("resource=nodes&name=n")->status(), 400);
  EXPECT_EQ(may("resource=workloads&name=w")->status(), 400);
}

}  // namespace
}  // namespace berth::console::questions_test
