// berth up --workers: a manager and its workers, as docs/multikueue.md describes them.
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "e2e/server.h"
#include "source_dir.h"

namespace berth::e2e::workers_test {
namespace {

// "worker1: kubeconfig PATH, process PID": the PID.
pid_t process_of(const Server& server, const std::string& worker) {
  const std::string& text = server.output();
  const std::size_t line = text.find(worker + ": kubeconfig ");
  const std::size_t at = line == std::string::npos ? line : text.find(", process ", line);
  return at == std::string::npos ? 0 : static_cast<pid_t>(std::stol(text.substr(at + 10)));
}

TEST(Workers, RunTheJobsOfTheManagerAndEndWithIt) {
  Server server({"--workers", "2"});
  const std::string samples = source_path("config/samples/");
  const auto on = [&](const std::string& worker, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--kubeconfig", server.dir() + "/data/" + worker + ".kubeconfig"});
    return server.must(arguments);
  };
  for (const char* worker : {"worker1", "worker2"}) on(worker, {"apply", "-f", samples + "first-queue.yaml"});
  server.must({"apply", "-f", samples + "multikueue/queue.yaml"});
  server.must({"create", "-f", samples + "multikueue/job.yaml"});
  std::string where;
  ASSERT_TRUE(eventually([&] {
    where = server.must({"get", "workloads", "-o", "jsonpath={.items[0].status.clusterName}"});
    return !where.empty();
  }));
  EXPECT_TRUE(
      eventually([&] { return server.must({"get", "job", "train", "-o", "jsonpath={.status.active}"}) == "3"; }));
  EXPECT_EQ(on(where, {"get", "job", "train", "-o", "jsonpath={.status.active}"}), "3");
  EXPECT_EQ(server.must({"get", "pods", "-o", "name"}), "");
  EXPECT_EQ(server.must({"get", "nodes", "-o", "name"}), "") << "the nodes are those of the workers";

  const pid_t first = process_of(server, "worker1"), second = process_of(server, "worker2");
  ASSERT_GT(first, 0) << server.output();
  ASSERT_GT(second, 0);
  ::kill(first, SIGSTOP);
  EXPECT_EQ(server.stop().exit_code, 0);
  EXPECT_NE(::kill(first, 0), 0) << "also one that was stopped";
  EXPECT_NE(::kill(second, 0), 0);
}

TEST(Workers, NeedAController) {
  const Finished refused = run({BERTH_PROGRAM, "up", "--workers", "1", "--controller=false", "--ephemeral"}, {});
  EXPECT_EQ(refused.exit_code, 2) << refused.err;
  EXPECT_NE(refused.err.find("--workers"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace berth::e2e::workers_test
