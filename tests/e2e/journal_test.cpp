// The journal of `berth up`, and `berth replay`: also after a kill, and when a byte of a file was changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "e2e/server.h"
#include "source_dir.h"

namespace berth::e2e::journal_test {
namespace {

namespace fs = std::filesystem;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<std::string> segments_in(const std::string& directory) {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() == ".journal") out.push_back(entry.path().string());
  }
  std::ranges::sort(out);
  return out;
}

TEST(Journal, EveryDecisionIsReplayed) {
  Server server(std::vector<std::string>{});
  server.must({"create", "-f", source_path("config/samples/first-queue.yaml")});
  for (int i = 0; i < 2; ++i) server.must({"create", "-f", source_path("config/samples/job.yaml")});
  ASSERT_TRUE(eventually([&] {
    return server.must({"get", "clusterqueue", "team-a", "-o",
                        "jsonpath={.status.admittedWorkloads}{.status.pendingWorkloads}"}) == "11";
  }));
  const std::string journal = server.dir() + "/data/journal";
  // Records are written within about a second.
  ASSERT_TRUE(eventually([&] { return has(run({BERTH_PROGRAM, "replay", journal}, {}).out, " 1 decisions"); }));
  server.kill();
  server.start();
  EXPECT_EQ(server.stop().exit_code, 0);
  const Finished replayed = run({BERTH_PROGRAM, "replay", journal}, {});
  EXPECT_EQ(replayed.exit_code, 0) << replayed.out << replayed.err;
  EXPECT_TRUE(has(replayed.out, "2 of 2 segments reproduced")) << replayed.out;
  EXPECT_TRUE(has(replayed.out, "was killed")) << replayed.out;
  const Finished state = run({BERTH_PROGRAM, "replay", journal, "--until", "2100-01-01T00:00:00Z", "-o", "json"}, {});
  EXPECT_EQ(state.exit_code, 0) << state.err;
  EXPECT_TRUE(has(state.out, "\"clusterQueue\": \"team-a\"")) << state.out;
  const Finished before = run({BERTH_PROGRAM, "replay", journal, "--until", "2000-01-01T00:00:00Z"}, {});
  EXPECT_EQ(before.exit_code, 1);
  EXPECT_TRUE(has(before.err, "berth: the journal " + journal + " begins at ")) << before.err;
  EXPECT_TRUE(has(before.err, ", after 2000-01-01T00:00:00Z")) << before.err;
  EXPECT_TRUE(has(run({BERTH_PROGRAM, "replay", journal, "--until", "noon"}, {}).err, "berth: --until: "));

  const std::string first = segments_in(journal).at(0);
  std::fstream file(first, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(200);
  const char flipped = static_cast<char>(file.get() ^ 16);
  file.seekp(200);
  file.put(flipped);
  file.close();
  const Finished damaged = run({BERTH_PROGRAM, "replay", journal}, {});
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_TRUE(has(damaged.out, first + ": the chunk of ")) << damaged.out;
  EXPECT_TRUE(has(damaged.out, " at byte ")) << damaged.out;
  EXPECT_TRUE(has(damaged.out, "1 of 2 segments reproduced")) << damaged.out;
}

TEST(Journal, IsNotRecordedWhenNobodyWantsIt) {
  Server server(std::vector<std::string>{"--no-journal"});
  EXPECT_FALSE(fs::exists(server.dir() + "/data/journal"));
  EXPECT_TRUE(has(server.must({"get", "--raw", "/metrics"}), "berth_journal_recording 0"));
}

TEST(Replay, SaysWhatIsWrong) {
  const Finished none = run({BERTH_PROGRAM, "replay", "/no/such/journal"}, {});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(none.err, "berth: /no/such/journal does not exist\n");
  const Finished size =
      run({BERTH_PROGRAM, "up", "--ephemeral", "--journal", "/tmp/j", "--journal-max-size", "lots"}, {});
  EXPECT_EQ(size.exit_code, 2);
  EXPECT_TRUE(has(size.err, "--journal-max-size")) << size.err;
}

}  // namespace
}  // namespace berth::e2e::journal_test
