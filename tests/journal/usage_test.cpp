// What workloads used, waited for and lost, read from a journal.
#include "journal/usage.h"

#include <gtest/gtest.h>

#include "journal/recorded_queue.h"

namespace berth::journal::usage_test {
namespace {

namespace test = engine::test;
using api::kueue::Workload;
using std::chrono::minutes;
using testing_support::RecordedQueue;

const Time kStart = parse_time("2026-01-01T00:00:00Z").value();

Workload workload(const std::string& name, int pods, Time created) {
  return test::WorkloadBuilder(name, "q").pods(pods, "1").created(created).build();
}

// The line of cpu in hours of cores.
UsageLine cpu(const Usage& usage) {
  for (const auto& line : usage.lines) {
    if (line.resource == "cpu") return line;
  }
  return {};
}

Usage usage(const std::string& directory, const UsagePeriod& period) {
  auto found = usage_of(directory, period);
  EXPECT_TRUE(found) << found.error().message;
  return found ? std::move(*found) : Usage();
}

class UsageOfAJournal : public testing::Test {
 protected:
  std::string path() const { return directory_.path(); }

 private:
  const testing_support::Directory directory_;
};

// Three of four cpus are held for two hours. Another workload asks for two cpus and waits for one hour of it.
TEST_F(UsageOfAJournal, CountsWhatIsHeldAndWhatWaits) {
  {
    RecordedQueue recorded(kStart, path());
    recorded.see(workload("a", 3, kStart));
    recorded.round();
    recorded.wait(minutes(60));
    recorded.see(workload("b", 2, recorded.now()));
    recorded.round();
    recorded.wait(minutes(60));
    recorded.round();
    recorded.checkpoint();
  }
  const auto all = usage(path(), {std::chrono::hours(24 * 30)});
  EXPECT_EQ(all.from, kStart) << "the journal begins later than was asked for";
  EXPECT_EQ(all.to, kStart + minutes(120));
  EXPECT_EQ(all.workloads, 2u);
  const UsageLine line = cpu(all);
  EXPECT_EQ(line.cluster_queue, "cq");
  EXPECT_EQ(line.ns, "ns");
  EXPECT_DOUBLE_EQ(line.used, 6);
  EXPECT_DOUBLE_EQ(line.waited, 2);
  EXPECT_DOUBLE_EQ(line.lost, 0);

  const auto last = cpu(usage(path(), {minutes(30)}));
  EXPECT_DOUBLE_EQ(last.used, 1.5);
  EXPECT_DOUBLE_EQ(last.waited, 1);
  const auto early = cpu(usage(path(), {minutes(30), kStart + minutes(70)}));
  EXPECT_DOUBLE_EQ(early.used, 1.5);
  EXPECT_NEAR(early.waited, 2.0 / 6, 1e-9);
}

TEST_F(UsageOfAJournal, WhatEndsWithAnEvictionIsLost) {
  {
    RecordedQueue recorded(kStart, path());
    Workload w = workload("a", 2, kStart);
    recorded.see(w);
    recorded.round([&](const engine::WriteWorkloadStatus& write) {
      w.status = write.status;
      recorded.see(w);
    });
    ASSERT_TRUE(w.status.admission);
    recorded.wait(minutes(30));
    w.status.conditions.push_back({std::string(api::kueue::kEvicted), true, false, "Preempted", "", recorded.now(), 0});
    recorded.see(w);
    w.status.admission.reset();
    std::erase_if(w.status.conditions, [](const auto& c) { return c.type != api::kueue::kEvicted; });
    recorded.wait(minutes(30));
    recorded.see(w);  // its pods have ended
    recorded.wait(minutes(15));
    recorded.see(w);
  }
  const UsageLine line = cpu(usage(path(), {minutes(600)}));
  EXPECT_DOUBLE_EQ(line.used, 2);
  EXPECT_DOUBLE_EQ(line.lost, 2);
  EXPECT_DOUBLE_EQ(line.waited, 0.5);
}

TEST_F(UsageOfAJournal, SaysWhatItCannotCount) {
  const auto missing = usage_of(path(), {minutes(1)});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find(path()), std::string::npos) << missing.error().message;
  {
    RecordedQueue recorded(kStart, path());
  }
  const auto before = usage_of(path(), {minutes(1), kStart - minutes(1)});
  ASSERT_FALSE(before);
  EXPECT_EQ(before.error().message,
            "the journal " + path() + " begins at 2026-01-01T00:00:00Z, after 2025-12-31T23:59:00Z");
}

}  // namespace
}  // namespace berth::journal::usage_test
