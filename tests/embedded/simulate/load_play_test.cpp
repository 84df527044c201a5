// A load that is played on any server: its requests, and what it says when nothing moves.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "api/resources.h"
#include "base/yaml.h"
#include "embedded/simulate/load_files.h"
#include "embedded/simulate/load_play.h"
#include "embedded/simulate/load_stall.h"
#include "embedded/simulate/world.h"

namespace berth::simulation::load_play_test {
namespace {

using namespace load_tests;
using namespace std::chrono_literals;
using As = simulate::LoadAs;

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

// A queue with much quota and a finished workload, as a server may have them.
void create_others(simulate::World& world) {
  std::vector<Json> objects = *parse_yaml(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: other}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [memory], flavors: [{name: other, resources: [{name: memory, nominalQuota: 64Gi}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: done, namespace: default}
spec: {queueName: gone, podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, image: i}]}}}]}
)");
  for (Json& object : objects) {
    api::RestRequest request;
    request.verb = api::Verb::kCreate;
    request.resource = simulate::load_resource(string_at(object, {"kind"}));
    request.ns = string_at(object, {"metadata", "namespace"});
    request.body = object;
    world.client().call(std::move(request), [](const api::RestResponse& answer) { EXPECT_EQ(answer.code, 201); });
  }
  api::RestRequest finish;
  finish.verb = api::Verb::kPatch;
  finish.patch_type = api::PatchType::kMerge;
  finish.resource = api::kWorkloads;
  std::tie(finish.ns, finish.name, finish.subresource) = std::tuple("default", "done", "status");
  finish.body = *parse_json(R"({"status":{"conditions":[{"type":"Finished","status":"True","reason":"Succeeded",
    "message":"done","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})");
  world.client().call(std::move(finish), [](const api::RestResponse& answer) { EXPECT_EQ(answer.code, 200); });
  world.run_for(1s);
}

simulate::LoadReport report_of(bool with_others) {
  auto world = simulate::World::make({});
  EXPECT_TRUE(world);
  if (with_others) create_others(**world);
  const auto load = parsed(kTwoQueues);
  simulate::LoadPlayOptions options;
  options.as = As::kWorkloads;
  simulate::LoadPlay play(load, (*world)->client(), (*world)->executor(), options);
  simulate::LoadReport out;
  play.start([&](const Result<simulate::LoadReport>& report) {
    EXPECT_TRUE(report) << (report ? "" : report.error().message);
    if (report) out = *report;
  });
  (*world)->run_for(2min);
  return out;
}

TEST(LoadPlay, WhatElseIsOnTheServerDoesNotCount) {
  const auto alone = report_of(false), among_others = report_of(true);
  EXPECT_EQ(alone.finished, 10u);
  EXPECT_EQ(among_others.finished, 10u);
  EXPECT_GT(alone.utilisation, 0.1);
  EXPECT_NEAR(among_others.utilisation, alone.utilisation, 0.05);
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
            "3 workloads wait, none runs. Most of them say: insufficient quota for cpu. Give their queue "
            "more quota or nodes, or ask for less");
  stall.admitted = 3;
  EXPECT_EQ(stall_advice(stall), "") << "it may still run";
  stall.quiet = 40s;
  EXPECT_NE(stall_advice(stall).find(
                "1 admitted workload does not finish: nothing ended for 40s, and the longest runs for 10s"),
            std::string::npos);
  stall.quiet = 29s;
  stall.admitted = 0;
  EXPECT_EQ(stall_advice(stall), "");
}

}  // namespace
}  // namespace berth::simulation::load_play_test
