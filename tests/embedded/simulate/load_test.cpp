// Load files: what they may contain, the submissions that follow from them, and the report of a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "embedded/simulate/load.h"
#include "embedded/simulate/load_play.h"
#include "embedded/simulate/load_run.h"
#include "embedded/simulate/load_stall.h"
#include "embedded/simulate/world.h"
#include "source_dir.h"

namespace berth::simulation::load_test {
namespace {

using namespace std::chrono_literals;
using simulate::LoadKind;
using As = simulate::LoadAs;

// Two queues that may borrow from each other. Each gets four small workloads (1 cpu for 2 s, one per second) and a
// large one (4 cpu for 3 s) after 1500 ms.
constexpr std::string_view kTwoQueues = R"(
cohorts:
- className: hall
  count: 1
  queuesSets:
  - className: team
    count: 2
    nominalQuota: 4
    borrowingLimit: 2
    reclaimWithinCohort: Any
    withinClusterQueue: LowerPriority
    workloadsSets:
    - count: 4
      creationIntervalMs: 1000
      workloads:
      - {className: small, runtimeMs: 2000, priority: 10, request: 500m, podCount: 2}
    - count: 1
      creationIntervalMs: 1500
      workloads:
      - {className: large, runtimeMs: 3000, priority: 100, request: 4}
)";

constexpr std::string_view kRacks = R"(
topology:
  name: room
  levels:
  - {name: rack, count: 2, nodeLabel: example.com/rack}
  - {name: node, count: 3, nodeLabel: kubernetes.io/hostname, capacity: {cpu: 8, memory: 32Gi}}
resourceFlavor: {name: placed, nodeLabel: example.com/group, topologyName: room}
cohorts:
- className: hall
  count: 1
  queuesSets:
  - className: team
    count: 1
    nominalQuota: 8
    workloadsSets:
    - count: 2
      creationIntervalMs: 100
      workloads:
      - {className: tight, runtimeMs: 500, request: 1, podCount: 4, tasConstraint: required, tasLevel: example.com/rack}
      - {className: loose, runtimeMs: 500, request: 1, podCount: 4, tasConstraint: preferred, tasLevel: example.com/rack}
      - {className: sliced, runtimeMs: 500, request: 1, podCount: 4, tasConstraint: balanced, tasLevel: example.com/rack, sliceSize: 2}
)";

simulate::Load parsed(std::string_view text, const simulate::LoadOptions& options = {}) {
  auto load = simulate::parse_load(text, options);
  if (!load) {
    ADD_FAILURE() << load.error().message;
    return {};
  }
  return *std::move(load);
}

std::string error_of(std::string_view text) {
  const auto load = simulate::parse_load(text);
  return load ? "(no error)" : load.error().message;
}

// `text` with the first `from` replaced by `to`.
std::string changed(std::string_view from, std::string_view to, std::string_view text = kTwoQueues) {
  std::string out(text);
  const auto at = out.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) out.replace(at, from.size(), to);
  return out;
}

TEST(LoadFile, SetsAreMultipliedAndSubmittedSideBySide) {
  const auto load = parsed(kTwoQueues);
  ASSERT_EQ(load.queues.size(), 2u);
  EXPECT_EQ(load.queues[0].name, "team-0-0-hall-0");
  EXPECT_EQ(load.queues[1].name, "team-0-1-hall-0");
  EXPECT_EQ(load.queues[1].cohort, "hall-0");
  ASSERT_EQ(load.kinds.size(), 2u);
  ASSERT_EQ(load.submissions.size(), 10u);
  EXPECT_EQ(load.submissions[0].at, 1s);
  EXPECT_EQ(load.submissions[2].at, 1500ms);
  EXPECT_EQ(load.submissions[2].name, "large-1-0-0");
  EXPECT_EQ(load.submissions.back().at, 4s);
  // (4 * 1 cpu * 2 s + 4 cpu * 3 s) / 4 cpu
  EXPECT_EQ(load.quota_floor, 5s);
}

TEST(LoadFile, AQueuesOwnLimitMayBeTheFloor) {
  // The cohort has quota enough, but each team queue may use only 4 nominal + 2 borrowed cpu for its 20 cpu seconds.
  const auto text = changed("queuesSets:", R"(queuesSets:
  - className: idle
    count: 1
    nominalQuota: 100
    workloadsSets:
    - {count: 1, creationIntervalMs: 1, workloads: [{className: none, runtimeMs: 0, request: 1}]})");
  EXPECT_EQ(parsed(text).quota_floor, Duration(20s) / 6);
}

TEST(LoadFile, ALimitShortensEverySet) { EXPECT_EQ(parsed(kTwoQueues, {2}).submissions.size(), 6u); }

TEST(LoadFile, AskForTopologyAsJobsAndAsWorkloads) {
  const auto load = parsed(kRacks);
  ASSERT_EQ(load.nodes.size(), 6u);
  EXPECT_EQ(string_at(load.nodes[4], {"metadata", "name"}), "rack-1-node-1");
  EXPECT_EQ(string_at(load.nodes[4], {"metadata", "labels", "example.com/rack"}), "rack-1");
  EXPECT_EQ(string_at(load.nodes[4], {"metadata", "labels", "example.com/group"}), "placed");
  ASSERT_EQ(load.submissions.size(), 6u);
  const auto annotation = [&](std::size_t i, std::string_view name) {
    return std::string(
        string_at(simulate::job_of(load, load.submissions[i]), {"spec", "template", "metadata", "annotations", name}));
  };
  EXPECT_EQ(annotation(0, "kueue.x-k8s.io/podset-required-topology"), "example.com/rack");
  EXPECT_EQ(annotation(1, "kueue.x-k8s.io/podset-preferred-topology"), "example.com/rack");
  EXPECT_EQ(annotation(2, "kueue.x-k8s.io/podset-slice-required-topology"), "example.com/rack");
  EXPECT_EQ(annotation(2, "kueue.x-k8s.io/podset-slice-size"), "2");
  const auto sliced = simulate::workload_of(load, load.submissions[2]);
  const auto& request = object_at(array_at(sliced, {"spec", "podSets"})[0], {"topologyRequest"});
  EXPECT_EQ(request.at("podSetSliceRequiredTopology"), "example.com/rack");
  EXPECT_EQ(request.at("podSetSliceSize"), 2);
}

// A server that calls no webhooks stores these pods as they are.
TEST(LoadFile, PodsHaveWhatWebhooksGiveThem) {
  const auto load = parsed(kTwoQueues);
  const auto single = simulate::pod_of(load, load.submissions[2], 0, 0);
  EXPECT_EQ(string_at(single, {"metadata", "name"}), "large-1-0-0");
  EXPECT_EQ(string_at(single, {"metadata", "labels", "kueue.x-k8s.io/queue-name"}), "team-0-0-hall-0");
  EXPECT_EQ(string_at(single, {"metadata", "labels", "kueue.x-k8s.io/managed"}), "true");
  EXPECT_EQ(string_at(array_at(single, {"spec", "schedulingGates"})[0], {"name"}), "kueue.x-k8s.io/admission");
  EXPECT_EQ(string_at(single, {"metadata", "labels", "kueue.x-k8s.io/pod-group-name"}), "");
}

TEST(LoadFile, ConsecutiveWorkloadsBecomeOneGroup) {
  const auto load = parsed(kTwoQueues, {simulate::kMaxSubmissions, 3});
  ASSERT_EQ(load.submissions.size(), 6u) << "4 small ones become 2 groups, 1 large one becomes 1";
  EXPECT_EQ(load.submissions[0].at, 3s);
  const auto& small = load.kinds[load.submissions[0].kind];
  EXPECT_EQ(small.pods, 6);
  EXPECT_EQ(small.runtime, 6s);
  EXPECT_EQ(small.request.milli_value(), 167);
  const auto pod = simulate::pod_of(load, load.submissions[0], 5, 1);
  EXPECT_EQ(string_at(pod, {"metadata", "name"}), load.submissions[0].name + "-5-1");
  EXPECT_EQ(string_at(pod, {"metadata", "labels", "kueue.x-k8s.io/pod-group-name"}), load.submissions[0].name);
  EXPECT_EQ(string_at(pod, {"metadata", "annotations", "kueue.x-k8s.io/pod-group-total-count"}), "6");
  EXPECT_NE(string_at(pod, {"metadata", "annotations", "kueue.x-k8s.io/role-hash"}), "");
}

TEST(LoadFile, TheSampleCanBeRead) {
  std::ifstream in(source_path("config/samples/load.yaml"));
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_EQ(parsed(text).submissions.size(), 390u);
}

TEST(LoadFile, ErrorsNameThePlace) {
  EXPECT_EQ(error_of("{}"), "load.cohorts: expected a list with at least one entry");
  EXPECT_EQ(error_of("cohort: []"),
            "load: unknown field \"cohort\"; expected one of: topology, resourceFlavor, cohorts");
  EXPECT_EQ(error_of(changed("count: 2", "count: 0")),
            "load.cohorts[0].queuesSets[0].count: expected a whole number from 1 to 1000000");
  EXPECT_EQ(error_of(changed("nominalQuota: 4", "nominalQuota: many")),
            "load.cohorts[0].queuesSets[0].nominalQuota: expected a quantity from 0, such as 20 or 500m");
  EXPECT_EQ(error_of(changed("Any", "Sometimes")),
            "load.cohorts[0].queuesSets[0].reclaimWithinCohort: expected one of: Never, LowerPriority, Any");
  EXPECT_EQ(error_of(changed("request: 4", "priorty: 4")),
            "load.cohorts[0].queuesSets[0].workloadsSets[1].workloads[0]: unknown field \"priorty\"; "
            "expected one of: "
            "className, runtimeMs, priority, request, podCount, tasConstraint, tasLevel, sliceSize");
  EXPECT_EQ(error_of(changed("nominalQuota: 4", "nominalQuota: 0")),
            "load.cohorts: the queue team-0-0-hall-0 may use nothing: all its quota is 0");
  EXPECT_EQ(error_of(changed("runtimeMs: 3000", "runtimeMs: soon")),
            "load.cohorts[0].queuesSets[0].workloadsSets[1].workloads[0].runtimeMs: expected a whole number "
            "from 0 to "
            "31536000000");
  EXPECT_EQ(error_of("- a\n---\n- b"), "a load is one YAML document, this file has 2");
}

TEST(LoadFile, TopologiesAndWhatAsksForThemMustAgree) {
  const std::string workload = "load.cohorts[0].queuesSets[0].workloadsSets[0].workloads";
  EXPECT_EQ(error_of(changed("topologyName: room", "topologyName: hall", kRacks)),
            "load.resourceFlavor.topologyName: \"hall\" is not the name of load.topology");
  EXPECT_EQ(error_of(changed("tasLevel: example.com/rack", "tasLevel: example.com/block", kRacks)),
            workload + "[0].tasLevel: \"example.com/block\" is not the nodeLabel of a level of load.topology");
  EXPECT_EQ(error_of(changed("tasConstraint: preferred, ", "", kRacks)),
            workload + "[1].tasLevel: expected together with a tasConstraint, and not without");
  EXPECT_EQ(error_of(changed("sliceSize: 2", "sliceSize: 5", kRacks)),
            workload + "[2].sliceSize: expected a whole number from 1 to 4");
  EXPECT_EQ(error_of(changed(", capacity: {cpu: 8, memory: 32Gi}", "", kRacks)),
            "load.topology.levels[1].capacity: is missing: what one node has");
  EXPECT_EQ(error_of(changed("count: 3", "count: 99999", kRacks)),
            "load.topology.levels[1].count: more than 100000 nodes in all");
}

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
// finished and released. Whether pods are ready is told at leisure: fewer than half of the workloads run long enough.
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
  ASSERT_EQ(report.unfinished.size(), 1u);
  EXPECT_EQ(report.unfinished.begin()->second, 2u);
  EXPECT_NE(report.unfinished.begin()->first.find("cpu"), std::string::npos) << report.unfinished.begin()->first;
}

TEST(LoadRun, ARefusedObjectEndsTheRun) {
  const auto load = simulate::parse_load(changed("className: team", "className: Team"));
  ASSERT_TRUE(load);
  const auto report = simulate::run_load(*load, {});
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("Namespace Team-0-0-hall-0"), std::string::npos) << report.error().message;
}

// Passes everything on and records the "resource/subresource" of each request but lists, such as "workloads/status".
class Noting final : public api::RestClient {
 public:
  explicit Noting(api::RestClient& inner) : inner_(inner) {}
  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    if (request.verb != api::Verb::kList) wrote.insert(request.resource.resource + "/" + request.subresource);
    inner_.call(std::move(request), std::move(done));
  }
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override {
    return inner_.watch(std::move(request), std::move(on_event), std::move(on_end));
  }
  std::set<std::string> wrote;

 private:
  api::RestClient& inner_;
};

// Otherwise a burst of submissions would delay the status writes of running workloads.
TEST(LoadPlay, WhatBecomesOfRunsIsWrittenByAClientOfItsOwn) {
  auto world = simulate::World::make({});
  ASSERT_TRUE(world) << world.error().message;
  const auto load = parsed(kTwoQueues);
  Noting submitter((*world)->client()), runs((*world)->client());
  simulate::LoadPlayOptions options;
  options.as = As::kWorkloads;
  options.runs = &runs;
  simulate::LoadPlay play(load, submitter, (*world)->executor(), options);
  std::optional<std::size_t> finished;
  play.start([&](const Result<simulate::LoadReport>& report) { finished = report ? report->finished : 0; });
  (*world)->run_for(1min);
  EXPECT_EQ(finished, 10u);
  EXPECT_EQ(runs.wrote, std::set<std::string>{"workloads/status"});
  EXPECT_TRUE(submitter.wrote.contains("workloads/"));
  EXPECT_FALSE(submitter.wrote.contains("workloads/status"));
}

// The messages of a play that makes no progress, each with the seconds since the play's start.
std::vector<std::pair<int, std::string>> advice_of(const simulate::WorldOptions& world_options, As as,
                                                   Duration during) {
  auto world = simulate::World::make(world_options);
  EXPECT_TRUE(world) << (world ? "" : world.error().message);
  const auto load = parsed(kTwoQueues);
  std::vector<std::pair<int, std::string>> said;
  simulate::LoadPlayOptions options;
  options.as = as;
  Time start{};
  options.on_start = [&] { start = (*world)->executor().now(); };
  options.on_stall = [&](const std::string& why) {
    said.emplace_back(
        static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>((*world)->executor().now() - start).count()),
        why);
  };
  simulate::LoadPlay play(load, (*world)->client(), (*world)->executor(), options);
  play.start([](const Result<simulate::LoadReport>&) {});
  (*world)->run_for(during);
  return said;
}

TEST(LoadPlay, SaysThatNothingRunsPods) {
  const auto said = advice_of({}, As::kJobs, 2min);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_LT(said[0].first, 60);
  EXPECT_GE(said[1].first, said[0].first + 60);
  EXPECT_NE(said[0].second.find("Nothing runs the pods of Jobs on this server"), std::string::npos) << said[0].second;
}

TEST(LoadPlay, SaysThatNobodyDecides) {
  simulate::WorldOptions options;
  options.controller = false;
  auto said = advice_of(options, As::kJobs, 1min);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].second.find("there is no Workload for any of them"), std::string::npos) << said[0].second;
  said = advice_of(options, As::kWorkloads, 1min);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].second.find("Nobody decides about them"), std::string::npos) << said[0].second;
}

TEST(LoadPlay, SaysNothingWhileItMoves) { EXPECT_TRUE(advice_of({}, As::kWorkloads, 3min).empty()); }

TEST(LoadStall, TheAdviceFitsTheReason) {
  simulate::LoadStall stall{As::kJobs, 31s, 10s, 5, 5, 2, 2, "insufficient quota for cpu"};
  EXPECT_EQ(stall_advice(stall),
            "3 workloads wait and none runs. Most of them say: insufficient quota for cpu. Give their queue "
            "more quota or nodes, or ask for less");
  stall.admitted = 3;
  EXPECT_EQ(stall_advice(stall), "") << "it may still run";
  stall.quiet = 40s;
  EXPECT_NE(stall_advice(stall).find(
                "1 admitted workloads do not finish: nothing ended for 40s, and the longest runs for 10s"),
            std::string::npos);
  stall.quiet = 29s;
  stall.admitted = 0;
  EXPECT_EQ(stall_advice(stall), "");
}

}  // namespace
}  // namespace berth::simulation::load_test
