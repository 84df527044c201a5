// A client that may send few requests a second: the writes take turns.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "api/meta.h"
#include "base/yaml.h"
#include "embedded/simulate/world.h"
#include "kube/rate_limit.h"

namespace berth::simulation::turns_test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kKueue = "kueue.x-k8s.io/v1beta2";
constexpr int kCrowd = 600;

// Sends requests in their order, 100 a second.
class SlowClient final : public api::RestClient {
 public:
  SlowClient(api::RestClient& server, Executor& executor)
      : server_(server), executor_(executor), rate_({100, 1}, executor.now()) {}

  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    if (request.verb == api::Verb::kList || request.resource.resource == "events")
      return server_.call(std::move(request), std::move(done));
    const auto send = [this, request = std::move(request), done = std::move(done)] { server_.call(request, done); };
    executor_.after(rate_.reserve(executor_.now()), send);
  }
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override {
    return server_.watch(std::move(request), std::move(on_event), std::move(on_end));
  }

 private:
  api::RestClient& server_;
  Executor& executor_;
  kube::RateLimit rate_;
};

class TurnsOfWrites : public testing::TestWithParam<const char*> {
 protected:
  TurnsOfWrites() {
    simulate::WorldOptions options;
    options.start = parse_time("2026-01-01T00:00:00Z").value();
    options.nodes = "1x1x4";
    options.node_resources = "cpu=400,memory=32Gi,pods=1000";
    options.between = [](api::RestClient& server, Executor& executor) {
      return std::make_unique<SlowClient>(server, executor);
    };
    world_ = simulate::World::make(options).value();
    create("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}");
    for (const std::string name : {"crowd", "calm"}) {
      create("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: " + name +
             "}, spec: {namespaceSelector: {}" + GetParam() +
             ", resourceGroups: [{coveredResources: [cpu], flavors: "
             "[{name: f, resources: [{name: cpu, nominalQuota: 600}]}]}]}}");
      create("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: " + name +
             ", namespace: default}, spec: {clusterQueue: " + name + "}}");
    }
    world_->run_for(5s);
  }
  void create(const std::string& text) {
    const auto made = world_->create(parse_yaml(text).value().front());
    ASSERT_TRUE(made) << made.error().message;
  }
  void job(const std::string& name, const std::string& queue) {
    create("{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
           ", namespace: default, labels: {kueue.x-k8s.io/queue-name: " + queue +
           "}}, spec: {suspend: true, template: {metadata: {annotations: {berth.dev/run-for: 10h}}, spec: "
           "{restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}}");
  }
  static std::string name(int i) { return "c" + std::to_string(1000 + i); }
  bool starts(const std::string& name) {
    const auto job = world_->get("batch/v1", "Job", "default", name);
    return job && !bool_at(*job, {"spec", "suspend"});
  }
  int running() {
    int count = 0;
    for (int i = 0; i < kCrowd; ++i) count += starts(name(i)) ? 1 : 0;
    return count;
  }
  std::unique_ptr<simulate::World> world_;
};

TEST_P(TurnsOfWrites, MassEvictionsInOneQueueDoNotDelayStartsInAnother) {
  for (int i = 0; i < kCrowd; ++i) job(name(i), "crowd");
  world_->run_for(60s);
  ASSERT_EQ(running(), kCrowd);
  auto stop = world_->request_for(kKueue, "ClusterQueue", "", "crowd").value();
  stop.verb = api::Verb::kPatch;
  stop.body = parse_yaml("{spec: {stopPolicy: HoldAndDrain}}").value().front();
  ASSERT_TRUE(world_->call(std::move(stop)).ok());
  world_->run_for(1s);
  job("one", "calm");
  world_->run_for(2s);
  EXPECT_TRUE(starts("one"));
  EXPECT_GT(running(), kCrowd / 2) << "the crowd is still being stopped";
  world_->run_for(4s);
  job("two", "calm");
  world_->run_for(2s);
  EXPECT_TRUE(starts("two"));
  world_->run_for(60s);
  EXPECT_EQ(running(), 0);
}

INSTANTIATE_TEST_SUITE_P(Trees, TurnsOfWrites, testing::Values("", ", cohortName: both"),
                         [](const auto& info) { return info.index == 0 ? "Apart" : "InOneCohort"; });

}  // namespace
}  // namespace berth::simulation::turns_test
