// Predictions from a journal, and their calibration.
#include "journal/predictions.h"

#include <gtest/gtest.h>

#include <map>

#include "engine/explain/predict.h"
#include "journal/recorded_queue.h"
#include "journal/replay.h"

namespace berth::journal::predictions_test {
namespace {

namespace test = engine::test;
using api::kueue::Workload;
using std::chrono::seconds;

// One queue for one workload at a time, and an API that stores what the engine writes.
class World {
 public:
  explicit World(const std::string& directory) : queue_(test::kEpoch, directory) {}

  // `runs`: for how long, once admitted.
  void submit(const std::string& name, int runs, std::optional<int> maximum) {
    test::WorkloadBuilder builder(name, "q");
    builder.pods(4, "1").created(queue_.now());
    if (maximum) builder.max_seconds(*maximum);
    runs_[name] = seconds(runs);
    queue_.see(builder.build());
  }
  // Second by second.
  void live(int count) {
    for (int i = 0; i < count; ++i) {
      queue_.wait(seconds(1));
      for (const auto& [name, end] : std::map(ends_)) {
        if (end > queue_.now()) continue;
        ends_.erase(name);
        api::kueue::JobReport report;
        report.finished = api::kueue::JobReport::Outcome{"Succeeded", ""};
        queue_.feed(engine::JobReported{"ns", name, report});
      }
      queue_.feed(engine::TimePassed{});
      for (int pass = 0; pass < 4; ++pass) {
        queue_.round([this](const engine::WriteWorkloadStatus& write) { store(write); });
      }
    }
  }

 private:
  void store(const engine::WriteWorkloadStatus& write) {
    Workload w = *write.base;
    w.status = write.status;
    if (api::is_true(w.status.conditions, api::kueue::kAdmitted) &&
        !api::is_true(write.base->status.conditions, api::kueue::kAdmitted))
      ends_[w.meta.name] = queue_.now() + runs_.at(w.meta.name);
    queue_.see(std::move(w));
  }

  testing_support::RecordedQueue queue_;
  std::map<std::string, Duration> runs_;
  std::map<std::string, Time> ends_;
};

class Predictions : public ::testing::Test {
 protected:
  std::string path() const { return directory_.path(); }

 private:
  const testing_support::Directory directory_;
};

TEST_F(Predictions, WithKnownMaximumTimesAreExact) {
  {
    World world(path());
    for (int i = 0; i < 8; ++i) world.submit("w" + std::to_string(i), 20, 20);
    world.live(200);
  }
  const auto found = calibrate(path());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->moments, 7u);
  EXPECT_GT(found->predictions, 7u);
  EXPECT_EQ(found->without, 0u);
  EXPECT_EQ(found->by_p90, found->predictions);
  EXPECT_EQ(found->exact, found->predictions);
}

TEST_F(Predictions, FromTheHistoryHoldAboutAsOftenAsTheySay) {
  {
    World world(path());
    // Run times from 10 s to 57 s, in a fixed order.
    for (int i = 0; i < 40; ++i) world.submit("w" + std::to_string(i), 10 + i * 29 % 48, {});
    world.live(1'450);
  }
  const auto history = run_history(path(), Time::max());
  ASSERT_TRUE(history);
  EXPECT_EQ(history->seen(), 40u);
  EXPECT_EQ(run_history(path(), test::at(1))->seen(), 0u);
  const auto found = calibrate(path(), {.moments = 8, .workloads = 10});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->moments, 8u);
  const std::size_t said = found->predictions - found->without;
  EXPECT_GT(said, 30u);
  EXPECT_GE(100 * found->by_p90, 70 * said) << found->by_p90 << " of " << said;
  EXPECT_GE(100 * found->by_p50, 20 * said) << found->by_p50 << " of " << said;
  EXPECT_LE(100 * found->by_p50, 85 * said) << found->by_p50 << " of " << said;
  RecordProperty("said", static_cast<int>(said));
  RecordProperty("by_p90", static_cast<int>(found->by_p90));
  // The engine of the journal predicts as the engine did.
  const auto replayed = replay_until(path(), test::at(100));
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_TRUE(engine::predict(*replayed->engine, *run_history(path(), test::at(100)), replayed->at, {"ns/w20"})[0].p90);
}

TEST_F(Predictions, OfNoJournal) {
  EXPECT_FALSE(calibrate(path()));
  EXPECT_FALSE(run_history(path() + "/nothing", Time::max()));
}

}  // namespace
}  // namespace berth::journal::predictions_test
