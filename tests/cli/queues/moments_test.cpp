// berth explain and berth predict from a journal: moments that it holds, and what is said about others.
#include <gtest/gtest.h>

#include "cli/queues/run_command.h"
#include "journal/recorded_queue.h"

namespace berth::cli::queues::moments_test {
namespace {

using testing_support::Ran;
using testing_support::run_command;
using Words = std::vector<std::string>;

const Time kStart = parse_time("2026-01-01T00:00:00Z").value();

// Six workloads for a queue of four, one each minute from the start. The last record is of minute five.
class Moments : public testing::Test {
 protected:
  Moments() {
    journal::testing_support::RecordedQueue recorded(kStart, path());
    for (int i = 0; i < 6; ++i) {
      if (i > 0) recorded.wait(std::chrono::minutes(1));
      recorded.submit(i);
    }
  }
  std::string path() const { return directory_.path(); }
  Ran run(Words words) const {
    words.insert(words.end(), {"--journal", path()});
    return run_command(words);
  }
  static std::string at(int seconds) { return format_time(kStart + std::chrono::seconds(seconds)); }

 private:
  const journal::testing_support::Directory directory_;
};

TEST_F(Moments, AreExplained) {
  const Ran then = run({"explain", "workload", "ns/w4", "--at", at(250)});
  EXPECT_EQ(then.code, 0) << then.said;
  EXPECT_NE(then.said.find("first in the queue"), std::string::npos) << then.said;
  EXPECT_EQ(run({"explain", "workload", "ns/w5"}).code, 0) << "at the end";
  EXPECT_EQ(run({"explain", "workload", "ns/w5", "--at", at(300)}).code, 0) << "at the last record";
}

TEST_F(Moments, OutsideOfTheJournalAreRefused) {
  const std::string ends = "berth: --at: the journal " + path() + " ends at 2026-01-01T00:05:00.000000Z, before ";
  const std::string begins = "berth: --at: the journal " + path() + " begins at 2026-01-01T00:00:00Z, after ";
  for (const Words& words : {Words{"explain", "workload", "ns/w0"}, Words{"predict", "workload", "ns/w0"},
                             Words{"predict", "clusterqueue", "cq"}}) {
    for (const auto& [when, expected] :
         {std::pair(at(301), ends + at(301) + "; without --at its end is meant\n"),
          std::pair(std::string("9999-12-31T23:59:59Z"),
                    ends + "9999-12-31T23:59:59Z; without --at its end is meant\n"),
          std::pair(at(-1), begins + at(-1) + "\n"),
          std::pair(std::string("0001-01-01T00:00:00Z"), begins + "0001-01-01T00:00:00Z\n")}) {
      Words asked = words;
      asked.insert(asked.end(), {"--at", when});
      const Ran ran = run(asked);
      EXPECT_EQ(ran.code, 1);
      EXPECT_EQ(ran.said, expected);
    }
  }
}

TEST_F(Moments, ThatAreNoTimesAreMisuse) {
  for (const char* command : {"explain", "predict"}) {
    for (const char* when : {"yesterday", "2026-01-01", "2026-13-01T00:00:00Z", "12:00", "2026-01-01T00:00:00Z "}) {
      const Ran ran = run({command, "workload", "ns/w0", "--at", when});
      EXPECT_EQ(ran.code, 2) << when;
      EXPECT_EQ(ran.said, "berth: --at \"" + std::string(when) + "\": expected a time such as 2026-11-22T18:30:00Z\n");
    }
    const Ran alone = run_command({command, "workload", "ns/w0", "--at", at(1)});
    EXPECT_EQ(alone.code, 2);
    EXPECT_EQ(alone.said, "berth: --at needs --journal: only a journal knows what was\n");
  }
  EXPECT_EQ(run({"predict", "--calibration", "--at", at(1)}).said,
            "berth: --calibration is about the whole journal: leave out TYPE, NAME and --at\n");
  EXPECT_EQ(run({"predict", "--calibration", "clusterqueue", "cq"}).code, 2);
}

TEST_F(Moments, ObjectsThatWereNotThereAreNamed) {
  const std::string then = " did not exist at 2026-01-01T00:01:00Z";
  const struct {
    Words words;
    std::string said;
  } cases[] = {
      {{"explain", "workload", "ns/w4"}, "workload ns/w4" + then + ", or had finished"},
      {{"explain", "workload", "nobody"}, "workload default/nobody" + then + ", or had finished"},
      {{"predict", "workload", "ns/nobody"}, "workload ns/nobody" + then + ", or had finished"},
      {{"predict", "clusterqueue", "none"}, "ClusterQueue none" + then},
      {{"predict", "localqueue", "ns/none"}, "LocalQueue ns/none" + then},
  };
  for (const auto& c : cases) {
    Words words = c.words;
    words.insert(words.end(), {"--at", at(60)});
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 1);
    EXPECT_EQ(ran.said, "berth: " + c.said + "\n");
  }
  EXPECT_EQ(run({"predict", "job", "train"}).code, 2) << "a journal knows no jobs";
  EXPECT_EQ(run({"explain", "clusterqueue", "cq"}).code, 2);
}

// Names become parts of paths: no server is asked for others, so this needs none.
TEST(QuestionsAboutNoName, AreMisuse) {
  for (const char* command : {"explain", "predict"}) {
    for (const char* name :
         {"a b", "../../x", "a?all=true", "a%2fb", "x\r\nHost: y", "ns/a/b", "ns/", "/w", "A_b", "Team/w"}) {
      const Ran ran = run_command({command, "workload", name});
      EXPECT_EQ(ran.code, 2) << command << " " << name;
      std::string shown = name;
      std::ranges::replace_if(shown, [](char c) { return c == '\r' || c == '\n'; }, ' ');
      EXPECT_EQ(ran.said, "berth: NAME \"" + shown + "\": expected NAME or NAMESPACE/NAME\n");
    }
    // An empty variable of a shell is no name: then TYPE must be TYPE/NAME.
    const Ran empty = run_command({command, "workload", ""});
    EXPECT_EQ(empty.code, 2);
    EXPECT_EQ(
        empty.said,
        "berth: TYPE/NAME \"workload\": expected TYPE[.API-GROUP]/NAME, such as job/train or rayjob.ray.io/train\n");
    EXPECT_EQ(run_command({command, "workload", "w", "-n", "a/b"}).said,
              "berth: --namespace \"a/b\": expected the name of a namespace\n");
    EXPECT_EQ(run_command({command, "clusterqueue", "../x"}).code, 2);
  }
}

TEST(MomentsOfNoJournal, AreRefused) {
  for (const Words& words :
       {Words{"explain", "workload", "w"}, Words{"predict", "workload", "w"}, Words{"predict", "--calibration"}}) {
    Words asked = words;
    asked.insert(asked.end(), {"--journal", "/no/such/journal"});
    const Ran ran = run_command(asked);
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.said.find("/no/such/journal"), std::string::npos) << ran.said;
  }
}

}  // namespace
}  // namespace berth::cli::queues::moments_test
