// The report of a load that runs in virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "embedded/simulate/load_files.h"
#include "embedded/simulate/load_run.h"
#include "embedded/simulate/world.h"

namespace berth::simulation::load_run_test {
namespace {

using namespace load_tests;
using namespace std::chrono_literals;
using As = simulate::LoadAs;

simulate::LoadReport report_of(std::string_view text, As as) {
  simulate::LoadRunOptions options;
  options.as = as;
  auto report = simulate::run_load(parsed(text), options);
  if (!report) {
    ADD_FAILURE() << report.error().message;
    return {};
  }
  return *std::move(report);
}

// At 1 s a small workload starts in each queue. At 1.5 s the large ones preempt them (4 of 4 cpu in each queue) and
// run until 4.5 s. Then all small ones run until 6.5 s (4 of 4 cpu in each queue).
TEST(LoadRun, BareWorkloadsRunFromTheirAdmissionOn) {
  const auto report = report_of(kTwoQueues, As::kWorkloads);
  EXPECT_EQ(report.count, 10u);
  EXPECT_EQ(report.finished, 10u);
  EXPECT_EQ(report.makespan, 6500ms);
  EXPECT_EQ(report.quota_floor, 5s);
  EXPECT_EQ(report.last_submission, 4s);
  ASSERT_EQ(report.classes.size(), 2u);
  const auto& small = report.classes[0];
  EXPECT_EQ(small.class_name, "small");
  EXPECT_EQ(small.count, 8u);
  EXPECT_EQ(small.evictions, 2u);
  EXPECT_EQ(small.wait_longest, 3500ms);  // submitted at 1 s; admitted at once, and again at 4.5 s
  EXPECT_EQ(small.wait_average, 2s);
  EXPECT_EQ(small.wait_median, 1500ms);
  EXPECT_EQ(small.held_average, 2s);
  const auto& large = report.classes[1];
  EXPECT_EQ(large.wait_longest, 0s);
  EXPECT_EQ(large.held_average, 3s);
  EXPECT_EQ(large.evictions, 0u);
  // Used: 40 cpu seconds of work, and 0.5 cpu seconds of each of the 2 evicted workloads. Available: 8 cpu for 6.5 s.
  EXPECT_NEAR(report.utilisation, 41.0 / 52.0, 1e-9);
  EXPECT_GT(report.controller_requests.at("update workloads/status"), 20u);
}

// The same with pods: the pretend cluster needs no virtual time for its actions.
TEST(LoadRun, JobsRunAsPodsOnThePretendCluster) {
  const auto report = report_of(kTwoQueues, As::kJobs);
  EXPECT_EQ(report.finished, 10u);
  EXPECT_EQ(report.makespan, 6500ms);
  EXPECT_EQ(report.classes[0].held_average, 2s);
  EXPECT_EQ(report.controller_requests.at("create workloads"), 10u);
}

// A pod is let go with one patch, and released from the finalizer with another. A workload is created, admitted,
// finished and released. Whether pods are ready is written at a limited rate: fewer than half of the workloads run long
// enough.
TEST(LoadRun, PodsCostFewWrites) {
  const auto requests = [](std::int64_t merge) {
    const auto load = parsed(R"(
cohorts:
- className: hall
  count: 1
  queuesSets:
  - className: team
    count: 4
    nominalQuota: 25
    workloadsSets:
    - {count: 100, creationIntervalMs: 10, workloads: [{className: one, runtimeMs: 100, request: 1}]}
)",
                             {simulate::kMaxSubmissions, merge});
    simulate::LoadRunOptions options;
    options.as = As::kPods;
    auto report = simulate::run_load(load, options);
    EXPECT_TRUE(report) << (report ? "" : report.error().message);
    if (!report) return std::map<std::string, std::uint64_t>();
    EXPECT_EQ(report->finished, report->count);
    EXPECT_EQ(report->pods, 400);
    return std::move(report->controller_requests);
  };
  auto single = requests(1);
  EXPECT_EQ(single["create workloads"], 400u);
  EXPECT_EQ(single["patch workloads"], 400u);
  EXPECT_EQ(single["patch pods"], 800u);
  EXPECT_LT(single["update workloads/status"] + single["patch workloads/status"], 800u + 200u);
  auto groups = requests(10);
  EXPECT_EQ(groups["create workloads"], 40u);
  EXPECT_EQ(groups["patch workloads"], 40u);
  EXPECT_EQ(groups["patch pods"], 800u);
  EXPECT_LE(groups["update workloads/status"] + groups["patch workloads/status"], 160u);
}

// When all pods of a workload exist, their scheduling gates are removed without delay.
TEST(LoadRun, PlacedJobsRunOnTheirNodesAtOnce) {
  const auto report = report_of(kRacks, As::kJobs);
  EXPECT_EQ(report.finished, 6u);
  for (const auto& c : report.classes) EXPECT_EQ(c.held_average, 500ms) << c.class_name;
  EXPECT_EQ(report.controller_requests.at("patch pods"), 24u);
}

TEST(LoadRun, TheSameSeedGivesTheSameReport) {
  const auto once = simulate::to_json(report_of(kTwoQueues, As::kJobs));
  EXPECT_EQ(to_string(once), to_string(simulate::to_json(report_of(kTwoQueues, As::kJobs))));
}

// The large workloads need more cpu than their queue may ever use: the run ends all the same, and reports them.
TEST(LoadRun, WhatNeverFitsDoesNotFinish) {
  const auto report = report_of(changed("request: 4", "request: 7"), As::kWorkloads);
  EXPECT_EQ(report.count, 10u);
  EXPECT_EQ(report.finished, 8u);
  EXPECT_EQ(report.classes[1].finished, 0u);
  EXPECT_GE(report.makespan, 10min);
  EXPECT_EQ(report.unfinished.size(), 2u) << "one in each queue, which is named";
  for (const auto& [why, count] : report.unfinished) {
    EXPECT_EQ(count, 1u);
    EXPECT_NE(why.find("It can never fit: ClusterQueue team-0-"), std::string::npos) << why;
  }
}

TEST(LoadRun, ARefusedObjectEndsTheRun) {
  const auto load = simulate::parse_load(changed("className: team", "className: Team"));
  ASSERT_TRUE(load);
  const auto report = simulate::run_load(*load, {});
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("Namespace Team-0-0-hall-0"), std::string::npos) << report.error().message;
}

}  // namespace
}  // namespace berth::simulation::load_run_test
