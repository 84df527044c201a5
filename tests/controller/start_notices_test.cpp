// Events that say when a waiting workload is expected to start: what they say, and how seldom.
#include "controller/start_notices.h"

#include <gtest/gtest.h>

#include "controller/pods_fixture.h"
#include "engine/support/build.h"

namespace berth::controller::start_notices_test {
namespace {

using engine::test::at;

engine::Prediction between(int p50, int p90, int now = 0) {
  engine::Prediction out;
  out.at = at(now);
  out.p50 = at(p50);
  out.p90 = at(p90);
  return out;
}

TEST(StartNotices, TellWhatChangedByMuch) {
  EXPECT_FALSE(differs_much(between(3600, 7200), between(3600 + 899, 7200)));
  EXPECT_TRUE(differs_much(between(3600, 7200), between(3600 + 900, 7200))) << "a quarter of the hour that was left";
  EXPECT_FALSE(differs_much(between(60, 120), between(300, 400))) << "less than five minutes";
  EXPECT_TRUE(differs_much(between(60, 120), between(60, 420)));
  engine::Prediction later = between(0, 0), never = between(0, 0);
  later.p50 = later.p90 = std::nullopt;
  later.after = at(100);
  EXPECT_TRUE(differs_much(between(60, 120), later));
  EXPECT_FALSE(differs_much(later, later));
  never.never = "too large";
  EXPECT_TRUE(differs_much(later, never));
}

TEST(StartNotices, SayTheTimesAndWhatTheyRestOn) {
  engine::Prediction p = between(60, 120);
  p.rests_on.push_back({"finished workloads", 3});
  EXPECT_EQ(note_of(p), "Expected to start by " + format_time(at(60)) + " in half of the cases (P50), by " +
                            format_time(at(120)) + " in nine of ten (P90), as of " + format_time(at(0)) +
                            ". Rests on finished workloads");
  p.p50 = p.p90 = std::nullopt;
  EXPECT_EQ(note_of(p), "");
  p.after = at(99);
  EXPECT_EQ(note_of(p).find("Expected to start after " + format_time(at(99)) + ", as of "), 0U);
  p.never = "at most 4";
  EXPECT_EQ(note_of(p), "The workload never starts: at most 4");
}

class Notices : public QueueTest {
 protected:
  Notices() : QueueTest({}, with_events(true)) {}
  static ControllerOptions with_events(bool wanted) {
    ControllerOptions out;
    out.expected_start_events = wanted;
    return out;
  }
  void workload(const std::string& name, int pods, int seconds) {
    make(api::kWorkloads, "Workload", "default",
         "{metadata: {name: " + name + "}, spec: {queueName: q, maximumExecutionTimeSeconds: " +
             std::to_string(seconds) + ", podSets: [{name: main, count: " + std::to_string(pods) +
             ", template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]}}");
  }
  // "name: note" of each event ExpectedStart.
  std::vector<std::string> notices() {
    std::vector<std::string> out;
    const auto events = call(request(api::Verb::kList, {"events.k8s.io", "v1", "events"}, "default"));
    for (const Json& event : array_at(events.body, {"items"})) {
      if (string_at(event, {"reason"}) == "ExpectedStart")
        out.push_back(std::string(string_at(event, {"regarding", "name"})) + ": " +
                      std::string(string_at(event, {"note"})));
    }
    std::ranges::sort(out);
    return out;
  }
};

TEST_F(Notices, AreEventsAboutWorkloadsThatWait) {
  workload("runs", 4, 3600);
  lead();
  workload("next", 4, 3600);
  workload("huge", 5, 60);
  pass(50);
  EXPECT_TRUE(notices().empty()) << "none has waited for a minute";
  pass(40);
  ASSERT_EQ(notices().size(), 2U);
  EXPECT_EQ(notices()[0].find("huge: The workload never starts: ClusterQueue cq has at most 4 of cpu"), 0U)
      << notices()[0];
  EXPECT_EQ(notices()[1].find("next: Expected to start by "), 0U) << notices()[1];
  pass(25 * 60);
  EXPECT_EQ(notices().size(), 2U) << "nothing changed";
  pass(15 * 60);
  EXPECT_GT(notices().size(), 2U) << "its pods are not ready, so the one that runs is evicted after half an hour";
}

TEST_F(Notices, AreFew) {
  workload("runs", 4, 36'000);
  lead();
  for (int i = 0; i < 40; ++i) workload("w" + std::to_string(i), 4, 600);
  pass(75);
  const std::size_t first = notices().size();
  EXPECT_GT(first, 0U);
  EXPECT_LE(first, 2 * StartNotices::kAtOnce);
  pass(10 * 60);
  EXPECT_EQ(notices().size(), StartNotices::kOfQueue);
}

TEST_F(Notices, AreOffUnlessTheConfigurationWantsThem) {
  workload("runs", 4, 3600);
  lead(with_events(false));
  workload("next", 4, 3600);
  pass(5 * 60);
  EXPECT_TRUE(notices().empty());
}

}  // namespace
}  // namespace berth::controller::start_notices_test
