// berth usage: its formats and refusals.
#include <gtest/gtest.h>

#include "cli/queues/run_command.h"
#include "journal/recorded_queue.h"

namespace berth::cli::queues::usage_test {
namespace {

using testing_support::Ran;
using testing_support::run_command;
using Words = std::vector<std::string>;

// A workload of one cpu that runs for an hour.
class UsageCommand : public testing::Test {
 protected:
  UsageCommand() {
    journal::testing_support::RecordedQueue recorded(parse_time("2026-01-01T00:00:00Z").value(), path());
    recorded.submit(1);
    recorded.wait(std::chrono::hours(1));
    recorded.round();
    recorded.checkpoint();
  }
  std::string path() const { return directory_.path(); }
  Ran run(Words words) const {
    words.insert(words.begin(), {"usage", "--journal", path()});
    return run_command(words);
  }

 private:
  const journal::testing_support::Directory directory_;
};

TEST_F(UsageCommand, PrintsATableCsvOrJson) {
  const Ran table = run({});
  EXPECT_EQ(table.code, 0) << table.said;
  EXPECT_EQ(table.said,
            "1 workload from 2026-01-01T00:00:00Z to 2026-01-01T01:00:00Z\n"
            "CLUSTERQUEUE   NAMESPACE   RESOURCE   UNIT         USED   WAITED   LOST\n"
            "cq             ns          cpu        core-hours   1.00   0.00     0.00\n");
  EXPECT_EQ(run({"-o", "csv", "--since", "30m"}).said,
            "clusterQueue,namespace,resource,unit,used,waited,lost\n"
            "cq,ns,cpu,core-hours,0.500000,0.000000,0.000000\n");
  const Ran json = run({"-o", "json", "--since", "1d", "--until", "2026-01-01T00:30:00Z"});
  const auto parsed = parse_json(json.said);
  ASSERT_TRUE(parsed) << json.said;
  EXPECT_EQ(string_at(*parsed, {"from"}), "2026-01-01T00:00:00Z");
  EXPECT_EQ(string_at(*parsed, {"to"}), "2026-01-01T00:30:00Z");
  const auto& lines = array_at(*parsed, {"usage"});
  ASSERT_EQ(lines.size(), 1u) << json.said;
  EXPECT_EQ(string_at(lines[0], {"unit"}), "core-hours");
  EXPECT_DOUBLE_EQ(find_path(lines[0], {"used"})->to_number<double>(), 0.5) << json.said;
}

TEST_F(UsageCommand, WrongValuesAreRefused) {
  for (const char* since : {"0d", "-1h", "soon", "d", "1.5d", "99999999d", "0s"}) {
    const Ran ran = run({"--since", since});
    EXPECT_EQ(ran.code, 2) << since;
    EXPECT_NE(ran.said.find("expected a duration such as 30d"), std::string::npos) << ran.said;
  }
  EXPECT_EQ(run({"--until", "yesterday"}).code, 2);
  EXPECT_EQ(run({"-o", "xml"}).code, 2);
  const Ran early = run({"--until", "2025-01-01T00:00:00Z"});
  EXPECT_EQ(early.code, 1);
  EXPECT_NE(early.said.find("begins at 2026-01-01T00:00:00Z"), std::string::npos) << early.said;
}

}  // namespace
}  // namespace berth::cli::queues::usage_test
