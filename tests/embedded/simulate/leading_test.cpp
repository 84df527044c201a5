// A follower reads and writes nothing. A new leader decides on the present state. A leader whose time has passed writes
// nothing.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "api/kueue/names.h"
#include "base/yaml.h"
#include "controller/controller.h"
#include "embedded/simulate/lab_names.h"
#include "embedded/simulate/world.h"

namespace berth::simulation::leading_test {
namespace {

using controller::Controller;
using std::chrono::seconds;

constexpr std::string_view kClusterQueue = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: room-for-one}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: 1}]}]}]
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 1000
)";

std::string local_queue(std::string_view name) {
  return "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: " + std::string(name) +
         ", namespace: default}, spec: {clusterQueue: room-for-one}}";
}

std::string job(std::string_view name, std::string_view queue, std::string_view priority_class = "") {
  return "{apiVersion: batch/v1, kind: Job, metadata: {name: " + std::string(name) +
         ", namespace: default, labels: {kueue.x-k8s.io/queue-name: " + std::string(queue) +
         "}}, spec: {suspend: true, template: {spec: {restartPolicy: Never, priorityClassName: \"" +
         std::string(priority_class) + "\", containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}}";
}

// Passes everything on. But while `stuck` is set, it drops the events of the watches on one resource that began
// before.
class LateWatches final : public api::RestClient {
 public:
  LateWatches(api::RestClient& inner, std::string resource) : inner_(inner), resource_(std::move(resource)) {}
  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    if (request.verb == api::Verb::kList) ++lists[request.resource.resource];
    inner_.call(std::move(request), std::move(done));
  }
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override {
    if (request.send_initial_events) ++lists[request.resource.resource];
    const bool mine = request.resource.resource == resource_ && !stuck;
    return inner_.watch(
        std::move(request),
        [this, mine, on_event = std::move(on_event)](const api::WatchEvent& event) {
          if (!mine || !stuck) on_event(event);
        },
        std::move(on_end));
  }
  bool stuck = false;
  std::map<std::string, int> lists;  // number of list requests by resource, paged or streaming

 private:
  api::RestClient& inner_;
  std::string resource_;
};

class Leading : public testing::Test {
 protected:
  Leading() {
    simulate::WorldOptions options;
    options.start = parse_time("2026-01-01T00:00:00Z").value();
    options.controller = false;
    auto made = simulate::World::make(options);
    if (!made) throw std::runtime_error(made.error().message);
    world = std::move(*made);
    apply(kClusterQueue);
  }

  void apply(std::string_view manifests) {
    auto objects = parse_yaml(manifests).value();
    for (auto& object : objects) {
      const auto applied = world->apply(std::move(object));
      ASSERT_TRUE(applied) << applied.error().message;
    }
  }
  std::unique_ptr<Controller> make(api::RestClient& client, std::uint64_t seed) {
    controller::ControllerOptions options;
    options.seed = seed;
    return std::make_unique<Controller>(client, world->executor(), options);
  }
  bool holds_quota(std::string_view job) {
    auto request = world->request_for(std::string(api::kueue::kGroup) + "/v1beta2", "Workload", "default", "").value();
    request.verb = api::Verb::kList;
    const auto response = world->call(std::move(request));
    for (const auto& workload : array_at(response.body, {"items"})) {
      const auto& owners = array_at(workload, {"metadata", "ownerReferences"});
      if (owners.empty() || string_at(owners[0], {"name"}) != job) continue;
      for (const auto& condition : array_at(workload, {"status", "conditions"})) {
        if (string_at(condition, {"type"}) == "QuotaReserved") return string_at(condition, {"status"}) == "True";
      }
    }
    return false;
  }
  void pass(int s) { world->run_for(seconds(s)); }

  std::unique_ptr<simulate::World> world;
};

TEST_F(Leading, AFollowerKnowsEverythingAndWritesNothing) {
  simulate::FaultyClient client(world->client(), world->executor(), 1, {});
  std::uint64_t writes = 0;
  client.on_write([&](std::uint64_t) { return ++writes > 0; });
  const auto follower = make(client, 1);
  bool reported = false;
  follower->on_synced([&] { reported = true; });
  follower->start();
  apply(local_queue("q"));
  apply(job("one", "q"));
  pass(120);
  EXPECT_TRUE(reported);
  EXPECT_TRUE(follower->synced());
  EXPECT_FALSE(follower->leading());
  EXPECT_EQ(writes, 0u);
  const api::GroupVersionResource queues{std::string(api::kueue::kGroup), "v1beta2", "localqueues"};
  ASSERT_NE(follower->find(queues, "default", "q"), nullptr);
  EXPECT_EQ(follower->find(queues, "default", "none"), nullptr);
  EXPECT_EQ(follower->find({"", "v1", "secrets"}, "default", "q"), nullptr);
  EXPECT_NE(follower->find({"", "v1", "namespaces"}, "", "default"), nullptr);

  follower->lead();
  EXPECT_FALSE(follower->leading()) << "not before it has read the workloads anew";
  pass(2);
  EXPECT_TRUE(follower->leading());
  EXPECT_TRUE(holds_quota("one"));
}

// A new leader does not assign quota again that the former leader assigned, even if its watch has not shown this yet.
TEST_F(Leading, ANewLeaderKnowsWhatTheLastOneWroteLast) {
  LateWatches late(world->client(), "workloads");
  auto first = make(world->client(), 1);
  const auto second = make(late, 2);
  first->lead();
  first->start();
  second->start();
  apply(job("first", "a"));
  apply(job("urgent", "b", "urgent"));
  pass(5);
  late.stuck = true;
  apply(local_queue("a"));
  pass(5);
  ASSERT_TRUE(holds_quota("first"));
  first.reset();
  // No client has written workload "urgent" since the second controller read it, so no precondition would stop its
  // admission.
  apply(local_queue("b"));
  second->lead();
  pass(1);
  EXPECT_TRUE(second->leading());
  EXPECT_FALSE(holds_quota("urgent")) << "the quota is in use";
}

// If there is a flavor with a topology, a new leader lists the pods again too: ungated pods use nodes, as workloads
// use quota.
TEST_F(Leading, PodsAreReadAnewWherePlacesAreGiven) {
  for (const bool places : {false, true}) {
    if (places)
      apply(
          "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: room}, spec: {levels: "
          "[{nodeLabel: "
          "kubernetes.io/hostname}]}}\n---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, "
          "metadata: {name: placed}, spec: "
          "{nodeLabels: {a: b}, topologyName: room}}");
    LateWatches client(world->client(), "none");
    const auto follower = make(client, 1);
    follower->start();
    pass(2);
    ASSERT_TRUE(follower->synced());
    const auto before = client.lists;
    follower->lead();
    pass(2);
    EXPECT_TRUE(follower->leading());
    EXPECT_EQ(client.lists["workloads"] - before.at("workloads"), 1);
    EXPECT_EQ(client.lists["pods"] - before.at("pods"), places ? 1 : 0);
  }
}

TEST_F(Leading, NothingIsWrittenWhenTheTimeToLeadIsOver) {
  apply(local_queue("q"));
  Time until = world->executor().now() - seconds(1);
  simulate::FaultyClient client(world->client(), world->executor(), 1, {});
  std::uint64_t writes = 0;
  client.on_write([&](std::uint64_t) { return ++writes > 0; });
  const auto leader = make(client, 1);
  leader->lead([&until] { return until; });
  leader->start();
  apply(job("one", "q"));
  pass(10);
  EXPECT_EQ(writes, 0u);
  until = world->executor().now() + seconds(3600);
  pass(60);
  EXPECT_TRUE(holds_quota("one"));
}

TEST_F(Leading, DrainingWaitsForTheWritesThatWereSent) {
  apply(local_queue("q"));
  simulate::FaultRates slow;
  slow.slow = 1000;
  simulate::FaultyClient client(world->client(), world->executor(), 1, slow);
  const auto leader = make(client, 1);
  leader->lead();
  leader->start();
  apply(job("one", "q"));
  while (leader->request_counts().empty()) ASSERT_TRUE(world->executor().step());
  bool drained = false;
  leader->drain([&] { drained = true; });
  EXPECT_FALSE(drained);
  const auto before = leader->request_counts();
  pass(30);
  EXPECT_TRUE(drained);
  EXPECT_EQ(leader->request_counts(), before);
  EXPECT_FALSE(holds_quota("one")) << "nothing followed";
}

}  // namespace
}  // namespace berth::simulation::leading_test
