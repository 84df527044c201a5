// A running `berth up` whose disk fails, and starts on damaged files.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include <filesystem>
#include <fstream>
#include <string>

#include "e2e/server.h"

namespace berth::e2e::storage_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// No file of the process may grow past this: its writes fail as on a full disk.
void limit_files(const Server& server, rlim_t bytes) {
  struct rlimit limit{};
  ASSERT_EQ(::prlimit(server.pid(), RLIMIT_FSIZE, nullptr, &limit), 0);
  limit.rlim_cur = bytes;
  ASSERT_EQ(::prlimit(server.pid(), RLIMIT_FSIZE, &limit, nullptr), 0);
}

TEST(Storage, AFailingDiskIsReportedAndWhenItWorksSoDoesTheServer) {
  Server server;
  server.must({"create", "configmap", "before", "--from-literal=a=1"});
  const auto raw = [&](const std::string& path) {
    const Finished finished = server.kubectl({"get", "--raw", path});
    return finished.out + finished.err;
  };
  EXPECT_TRUE(has(raw("/metrics"), "berth_store_failing 0"));
  limit_files(server, 4'096);
  Process writer({"kubectl", "create", "configmap", "during", "--from-literal=a=1"}, server.environment());
  for (const std::string endpoint : {"/readyz", "/livez"}) {
    EXPECT_TRUE(eventually([&] { return has(raw(endpoint), "[-]storage failed: "); })) << raw(endpoint);
    EXPECT_TRUE(eventually([&] { return has(raw(endpoint), "cannot be written: disk I/O error"); })) << raw(endpoint);
  }
  const std::string metrics = raw("/metrics");
  EXPECT_TRUE(has(metrics, "berth_store_failing 1")) << metrics;
  EXPECT_FALSE(has(metrics, "berth_store_failures 0")) << metrics;
  EXPECT_EQ(server.must({"get", "cm", "before", "-o", "jsonpath={.data.a}"}), "1") << "what is stored can be read";

  limit_files(server, RLIM_INFINITY);
  EXPECT_TRUE(eventually([&] { return raw("/readyz") == "ok"; })) << raw("/readyz");
  writer.wait();  // it repeated the request, or it was told that the write may still come
  EXPECT_TRUE(eventually([&] { return server.kubectl({"get", "cm", "during"}).exit_code == 0; }));
  server.must({"create", "configmap", "after", "--from-literal=a=1"});
  server.kill();
  server.start();
  for (const std::string name : {"before", "during", "after"})
    EXPECT_EQ(server.must({"get", "cm", name, "-o", "jsonpath={.data.a}"}), "1") << name;
}

TEST(Storage, ADamagedWalIsReportedAtTheStartAndCanBeAccepted) {
  Server server;
  for (int i = 0; i < 5; ++i) server.must({"create", "configmap", "c" + std::to_string(i)});
  const int newest = std::stoi(server.must({"get", "cm", "c4", "-o", "jsonpath={.metadata.resourceVersion}"}));
  server.kill();
  const std::string wal = server.dir() + "/data/state.db-wal";
  std::fstream file(wal, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(100);
  file << "damage";
  file.close();
  const std::vector<std::string> up = {BERTH_PROGRAM,          "up",       "--data-dir",
                                       server.dir() + "/data", "--listen", "127.0.0.1:0"};
  const Finished refused = run(up, {});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(has(refused.err, "was acknowledged: the newest writes are missing, because '" + wal + "' is damaged"))
      << refused.err;
  EXPECT_TRUE(has(refused.err, "start once with --accept-lost-writes")) << refused.err;

  auto accepting = up;
  accepting.insert(accepting.end(), {"--accept-lost-writes", "--nodes", "1x1x2"});
  Process accepted(accepting, server.environment());
  ASSERT_TRUE(accepted.wait_for_output("ready\n")) << accepted.err();
  EXPECT_TRUE(has(accepted.err(), "acknowledged writes are missing in the state file")) << accepted.err();
  EXPECT_GT(std::stoi(server.must({"create", "configmap", "new", "-o", "jsonpath={.metadata.resourceVersion}"})),
            newest);
  accepted.signal(SIGTERM);
  EXPECT_EQ(accepted.wait().exit_code, 0);
  server.start();
  server.must({"get", "cm", "new"});
}

}  // namespace
}  // namespace berth::e2e::storage_test
