// berth import and berth migrate check as users type them: pods that run without a queue come under quota.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "e2e/server.h"
#include "support/scratch_dir.h"

namespace berth::e2e::import_test {
namespace {

using testing::HasSubstr;

constexpr int kPods = 30;

class ImportCommand : public testing::Test {
 protected:
  ImportCommand() {
    std::ofstream(dir + "/config.yaml") << "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
                                           "integrations: {frameworks: [batch/job]}\n";
    std::ofstream(dir + "/mapping.yaml") << "- {match: {labels: {team: a}}, toLocalQueue: q}\n- {skip: true}\n";
  }
  ~ImportCommand() override { std::filesystem::remove_all(dir); }

  static Finished berth(const Server& server, std::vector<std::string> words) {
    words.insert(words.begin(), BERTH_PROGRAM);
    return run(words, server.environment(), "");
  }
  static std::string pods(const Server& server) {
    return server.must({"get", "pods", "-l", "team=a", "--sort-by=.metadata.name", "-o",
                        "jsonpath={range .items[*]}{.metadata.uid} {.status.phase} "
                        "{.status.containerStatuses[0].restartCount}{\"\\n\"}{end}"});
  }

  const std::string dir = testing_support::make_scratch_dir("berth-import");
};

TEST_F(ImportCommand, BringsRunningPodsUnderQuota) {
  Server server({"--nodes", "1x1x2", "--config", dir + "/config.yaml"});
  ASSERT_EQ(berth(server, {"create", "rf", "default"}).exit_code, 0);
  ASSERT_EQ(berth(server, {"create", "cq", "team", "--nominal-quota", "default:cpu=100"}).exit_code, 0);
  ASSERT_EQ(berth(server, {"create", "lq", "q", "-c", "team"}).exit_code, 0);
  std::string manifest;
  for (int i = 0; i < kPods; ++i)
    manifest += "---\n{apiVersion: v1, kind: Pod, metadata: {name: p" + std::to_string(i) +
                ", labels: {team: a}, annotations: {berth.dev/run-for: 1h}}, spec: {restartPolicy: Never, containers: "
                "[{name: c, image: i, resources: {requests: {cpu: 100m}}}]}}\n";
  server.must({"create", "-f", "-"}, manifest);
  const auto running = [&] {
    const std::string words =
        server.must({"get", "pods", "-l", "team=a", "--field-selector=status.phase=Running", "-o", "name"});
    return std::count(words.begin(), words.end(), '\n') == kPods;
  };
  ASSERT_TRUE(eventually(running));
  const std::string before = pods(server);

  const std::vector<std::string> where = {"-n", "default", "--queuemapping-file", dir + "/mapping.yaml"};
  const auto import = [&](const std::string& verb) {
    std::vector<std::string> words = {"import", verb};
    words.insert(words.end(), where.begin(), where.end());
    return berth(server, words);
  };
  const Finished checked = import("check");
  ASSERT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("30 ready, 0 imported before"));
  const Finished imported = import("run");
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("30 pods are imported"));
  EXPECT_EQ(pods(server), before);
  EXPECT_TRUE(eventually([&] {
    return server.must({"get", "clusterqueue", "team", "-o", "jsonpath={.status.admittedWorkloads}"}) == "30";
  }));
  EXPECT_THAT(import("run").out, HasSubstr("0 pods are imported, 30 were before"));
  const Finished migration = berth(server, {"migrate", "check"});
  EXPECT_EQ(migration.exit_code, 0) << migration.out;
  EXPECT_THAT(migration.out, HasSubstr("30 admitted, 0 waiting and 0 finished workloads, 2 queues"));
}

}  // namespace
}  // namespace berth::e2e::import_test
