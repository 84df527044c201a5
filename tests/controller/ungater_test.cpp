// The ungater with an API server whose answers may be lost and with a cache that may be behind.
#include "controller/ungater.h"

#include <gtest/gtest.h>

#include <map>

#include "api/kueue/slices.h"
#include "api/resources.h"
#include "embedded/cluster/world.h"
#include "jobs/placed_pods.h"

namespace berth::controller::ungater_test {
namespace {

using cluster::testing_support::World;
using cluster::testing_support::yaml;

// Passes requests on; the answers to some writes are lost.
class LossyClient final : public api::RestClient {
 public:
  explicit LossyClient(api::RestClient& to) : to_(to) {}
  int lose = 0;    // the next `lose` patches are carried out, but their answers are lost
  int refuse = 0;  // the next `refuse` patches are not carried out
  std::string workload_version = "1";
  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    const bool write = request.verb == api::Verb::kPatch;
    if (write && refuse > 0) {
      --refuse;
      request.dry_run = true;
      return to_.call(std::move(request), [done](const api::RestResponse&) {
        api::RestResponse busy;
        busy.code = 500;
        done(busy);
      });
    }
    if (request.resource == api::kWorkloads) {  // as if the cache of workloads were behind
      return to_.call(std::move(request), [this, done](const api::RestResponse&) {
        api::RestResponse found;
        found.body = JsonObject{{"metadata", JsonObject{{"resourceVersion", workload_version}}}};
        done(found);
      });
    }
    if (write && lose > 0) {
      --lose;
      return to_.call(std::move(request), [done](const api::RestResponse&) {
        api::RestResponse lost;
        lost.code = 0;
        done(lost);
      });
    }
    to_.call(std::move(request), std::move(done));
  }
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override {
    return to_.watch(std::move(request), std::move(on_event), std::move(on_end));
  }

 private:
  api::RestClient& to_;
};

// The engine decides nothing here.
class NoReceiver : public EffectReceiver {
  void cluster_queue_status_changed(const std::string&) override {}
  void local_queue_status_changed(const std::string&, const std::string&) override {}
  void cohort_status_changed(const std::string&) override {}
  void set_finalizer(const engine::SetFinalizer&) override {}
  void decided(const engine::Effects&, Duration) override {}
  bool take(const engine::Effect&) override { return false; }
};

class UngaterTest : public testing::Test {
 protected:
  UngaterTest()
      : client(*world.server),
        shell(client, world.executor, {}, receiver),
        ungater(shell, {{[this](std::string_view host) { return !gone.contains(std::string(host)); },
                         [this](std::string_view host, const std::vector<api::Toleration>&) {
                           return !gone.contains(std::string(host)) && host != down;
                         }},
                        [this](const std::string& key) { return key == "default/w" ? workload : nullptr; },
                        [this](const api::kueue::Workload& w, const Json& pod, std::string_view) {
                          ungated[std::string(string_at(pod, {"metadata", "name"}))] += w.meta.name;
                        },
                        [this](const api::kueue::Workload& slice) { return slice.meta.name != replaced; }}) {
    ungater.start();
  }

  // The topology assignment of the workload "w", which has one pod set.
  void place(const std::vector<std::pair<std::string, std::int32_t>>& hosts, std::vector<std::string> unhealthy = {}) {
    auto w = std::make_shared<api::kueue::Workload>();
    w->meta.ns = "default";
    w->meta.name = "w";
    w->meta.resource_version = "1";
    w->pod_sets.emplace_back();
    api::kueue::TopologyAssignment places;
    places.levels = {"kubernetes.io/hostname"};
    api::kueue::PodSetAssignment assignment;
    for (const auto& [host, count] : hosts) {
      places.domains.push_back({{host}, count});
      assignment.count += count;
    }
    assignment.topology_assignment = std::make_shared<const api::kueue::TopologyAssignment>(std::move(places));
    w->status.admission = api::kueue::Admission{"cq", {assignment}};
    api::Condition admitted;
    admitted.type = api::kueue::kAdmitted;
    admitted.status = true;
    w->status.conditions = {admitted};
    w->status.unhealthy_nodes = std::move(unhealthy);
    workload = w;
    ungater.workload_changed(api::object_key(w->meta), w);
  }

  Json add_pod(const std::string& name, bool other_gate = true) {
    Json pod = yaml(R"(
apiVersion: v1
kind: Pod
metadata:
  annotations: {kueue.x-k8s.io/workload: w, kueue.x-k8s.io/podset-required-topology: rack}
  labels: {kueue.x-k8s.io/podset: main}
spec:
  schedulingGates: [{name: kueue.x-k8s.io/topology}, {name: example.com/other}]
  nodeSelector: {pool: p}
  restartPolicy: Never
  containers: [{name: c, image: i}]
)");
    ensure_path(pod, {"metadata", "name"}) = name;
    if (!other_gate) ensure_path(pod, {"spec", "schedulingGates"}).as_array().pop_back();
    const Json created = world.create(api::kPods, std::move(pod));
    show(created);
    return created;
  }

  // Shows a new state of a pod in the cache.
  void show(const Json& pod) {
    const std::string name(string_at(pod, {"metadata", "name"}));
    const auto now = std::make_shared<const Json>(pod);
    ungater.pod_changed(who(std::exchange(cached[name], now)), now);
  }
  // The cache keeps only the identity and version of pods.
  static JsonPtr who(const JsonPtr& pod) {
    if (!pod) return nullptr;
    JsonObject metadata;
    for (const std::string_view key : {"namespace", "name", "uid", "resourceVersion"})
      metadata[key] = string_at(*pod, {"metadata", key});
    return std::make_shared<const Json>(JsonObject{{"metadata", std::move(metadata)}});
  }
  Json get(const std::string& name) {
    return world.expect_ok(world.call(world.request(api::Verb::kGet, api::kPods, name)));
  }
  std::string host(const std::string& name) {
    return std::string(string_at(get(name), {"spec", "nodeSelector", "kubernetes.io/hostname"}));
  }
  void run() { world.run_for(std::chrono::seconds(2)); }

  World world;
  LossyClient client;
  NoReceiver receiver;
  Shell shell;
  std::set<std::string> gone;
  std::string down;
  std::string replaced;                        // the slice whose quota another one took over
  std::map<std::string, std::string> ungated;  // pod -> the workloads for which its gate was removed
  Ungater ungater;
  jobs::WorkloadPtr workload;
  std::map<std::string, JsonPtr> cached;
};

TEST_F(UngaterTest, TakesItsGateAloneAndAddsTheNode) {
  place({{"n1", 1}});
  add_pod("a");
  EXPECT_EQ(host("a"), "") << "pods are collected first";
  run();
  const Json pod = get("a");
  EXPECT_EQ(to_string(Json(object_at(pod, {"spec", "nodeSelector"}))), R"({"pool":"p","kubernetes.io/hostname":"n1"})");
  EXPECT_EQ(to_string(Json(array_at(pod, {"spec", "schedulingGates"}))), R"([{"name":"example.com/other"}])");
  EXPECT_EQ(ungated, (std::map<std::string, std::string>{{"a", "w"}}));
}

// A slice of the elastic job whose first slice is w; without quota it waits.
jobs::WorkloadPtr slice(const std::string& name, std::int32_t pods, bool holds, int created) {
  auto w = std::make_shared<api::kueue::Workload>();
  w->meta.ns = "default";
  w->meta.name = name;
  w->meta.uid = name;
  w->meta.resource_version = "1";
  w->meta.creation += std::chrono::seconds(created);
  w->meta.annotations[std::string(api::kueue::kSliceName)] = "w";
  w->pod_sets.emplace_back().count = pods;
  if (!holds) return w;
  api::kueue::PodSetAssignment assignment;
  assignment.count = pods;
  w->status.admission = api::kueue::Admission{"cq", {assignment}};
  for (const auto type : {api::kueue::kQuotaReserved, api::kueue::kAdmitted}) {
    auto& condition = w->status.conditions.emplace_back();
    condition.type = type;
    condition.status = true;
  }
  return w;
}

class ElasticPods : public UngaterTest {
 protected:
  void add(const std::string& name) {
    Json pod = yaml(
        "{apiVersion: v1, kind: Pod, metadata: {annotations: {kueue.x-k8s.io/workload: w, "
        "kueue.x-k8s.io/workload-slice-name: w}, labels: {kueue.x-k8s.io/podset: main}}, spec: "
        "{schedulingGates: [{name: kueue.x-k8s.io/elastic-job}], restartPolicy: Never, containers: [{name: "
        "c, image: i}]}}");
    ensure_path(pod, {"metadata", "name"}) = name;
    show(world.create(api::kPods, std::move(pod)));
  }
  bool gated(const std::string& name) { return !array_at(get(name), {"spec", "schedulingGates"}).empty(); }
};

TEST_F(ElasticPods, GoAsTheSliceAllowsThatHoldsQuota) {
  ungater.workload_changed("default/w", slice("w", 1, true, 0));
  for (const char* name : {"a", "b", "c"}) add(name);
  run();
  EXPECT_FALSE(gated("a"));
  EXPECT_TRUE(gated("b")) << "quota is granted for one";
  ungater.workload_changed("default/w2", slice("w2", 3, false, 1));
  run();
  EXPECT_TRUE(gated("b")) << "the other slice waits";
  ungater.workload_changed("default/w2", slice("w2", 2, true, 1));
  ungater.workload_changed("default/w", nullptr);
  run();
  EXPECT_FALSE(gated("b")) << "also when the first slice is gone";
  EXPECT_TRUE(gated("c"));
  EXPECT_EQ(ungated, (std::map<std::string, std::string>{{"a", "w"}, {"b", "w2"}}));
}

TEST_F(ElasticPods, DoNotGoByASliceWhoseQuotaAnotherOneTook) {
  ungater.workload_changed("default/w", slice("w", 2, true, 0));
  ungater.workload_changed("default/w2", slice("w2", 1, false, 1));
  replaced = "w";  // by w2, which the cache does not show yet
  for (const char* name : {"a", "b"}) add(name);
  run();
  EXPECT_TRUE(gated("a"));
  EXPECT_TRUE(gated("b"));
  ungater.workload_changed("default/w2", slice("w2", 1, true, 1));
  run();
  EXPECT_FALSE(gated("a"));
  EXPECT_TRUE(gated("b"));
}

TEST_F(ElasticPods, DoNotGoByASliceThatIsOutOfDate) {
  ungater.workload_changed("default/w", slice("w", 2, true, 0));
  client.workload_version = "2";  // it shrank, and the cache does not show that yet
  for (const char* name : {"a", "b"}) add(name);
  run();
  EXPECT_TRUE(gated("a"));
  auto smaller = std::make_shared<api::kueue::Workload>(*slice("w", 1, true, 0));
  smaller->meta.resource_version = "2";
  ungater.workload_changed("default/w", smaller);
  run();
  EXPECT_FALSE(gated("a"));
  EXPECT_TRUE(gated("b"));
}

TEST_F(UngaterTest, ACacheThatLagsBehindGivesNoPlaceTwice) {
  place({{"n1", 1}, {"n2", 1}});
  add_pod("b");
  run();
  EXPECT_EQ(host("b"), "n1");
  add_pod("a");  // sorts before b, which the cache still shows gated
  run();
  EXPECT_EQ(host("a"), "n2");
  show(*cached["b"]);  // an old event arrives again
  add_pod("c");
  run();
  EXPECT_EQ(host("c"), "");
  EXPECT_EQ(shell.writes.counts().at("patch pods"), 2u);
}

TEST_F(UngaterTest, AWriteWithoutAnAnswerIsLookedUpBeforeItsPlaceIsGivenAway) {
  place({{"n1", 1}, {"n2", 1}});
  client.lose = 1;
  add_pod("b");
  world.run_for(std::chrono::milliseconds(101));
  add_pod("a");
  run();
  EXPECT_EQ(host("b"), "n1");
  EXPECT_EQ(host("a"), "n2");
}

TEST_F(UngaterTest, ARefusedWriteIsTriedAgain) {
  place({{"n1", 1}});
  client.refuse = 2;
  add_pod("a");
  run();
  EXPECT_EQ(ungated["a"], "w") << "once, and not for the refused writes";
  EXPECT_EQ(host("a"), "n1");
}

TEST_F(UngaterTest, APodThatIsGoneFreesItsPlace) {
  place({{"n1", 1}});
  add_pod("a");
  run();
  add_pod("b");
  run();
  EXPECT_EQ(host("b"), "");
  world.call(world.request(api::Verb::kDelete, api::kPods, "a"));
  ungater.pod_changed(who(cached["a"]), nullptr);
  run();
  EXPECT_EQ(host("b"), "n1");
}

TEST_F(UngaterTest, WaitsForANodeThatIsDown) {
  down = "n1";
  place({{"n1", 1}});
  add_pod("a");
  run();
  EXPECT_EQ(host("a"), "");
  down.clear();
  ungater.nodes_changed();
  run();
  EXPECT_EQ(host("a"), "n1");
}

TEST_F(UngaterTest, FailsAPodWhosePlaceIsLostAndLetsItsSuccessorGo) {
  place({{"n1", 1}});
  add_pod("a", false);
  run();
  ASSERT_EQ(host("a"), "n1");
  gone.insert("n1");
  place({{"n2", 1}});
  run();
  const Json pod = get("a");
  EXPECT_EQ(string_at(pod, {"status", "phase"}), "Failed");
  const auto& conditions = array_at(pod, {"status", "conditions"});
  ASSERT_FALSE(conditions.empty());
  EXPECT_EQ(string_at(conditions.back(), {"reason"}), "UnschedulableOnAssignedNode");
  add_pod("b", false);
  run();
  EXPECT_EQ(host("b"), "n2");
  EXPECT_EQ(shell.writes.counts().at("patch pods/status"), 1u) << "once";
}

TEST_F(UngaterTest, FailsPodsOfAnEarlierAdmission) {
  // A pod with a node selector for n1 from its owner.
  const auto add = [this](const std::string& name,
                          const std::vector<std::pair<std::string, std::string>>& annotations) {
    Json pod = yaml(R"(
apiVersion: v1
kind: Pod
metadata: {labels: {kueue.x-k8s.io/podset: main}}
spec: {restartPolicy: Never, nodeSelector: {kubernetes.io/hostname: n1}, containers: [{name: c, image: i}]}
)");
    ensure_path(pod, {"metadata", "name"}) = name;
    for (const auto& [key, value] : annotations)
      ensure_path(pod, {"metadata", "annotations", "kueue.x-k8s.io/" + key}) = value;
    show(world.create(api::kPods, std::move(pod)));
  };
  const auto phase = [this](const std::string& name) { return std::string(string_at(get(name), {"status", "phase"})); };
  place({{"n1", 2}});
  add_pod("a", false);
  add_pod("gated");
  run();
  ASSERT_EQ(host("a"), "n1");
  add("unmarked", {});
  add("stranger", {{"workload", "nobody"}, {"podset-required-topology", "rack"}});
  add("elsewhere", {{"workload", "w"}});
  auto w = std::make_shared<api::kueue::Workload>(*workload);
  w->status = {};
  workload = w;
  ungater.workload_changed(api::object_key(w->meta), w);
  run();
  EXPECT_EQ(phase("a"), "Failed");
  for (const char* name : {"gated", "unmarked", "stranger", "elsewhere"}) EXPECT_EQ(phase(name), "Pending") << name;
  add("late", {{"workload", "w"}, {"podset-required-topology", "rack"}});
  run();
  EXPECT_EQ(phase("late"), "Failed");
  EXPECT_EQ(shell.writes.counts().at("patch pods/status"), 2u);
}

TEST_F(UngaterTest, FailsNoPodByAWorkloadThatIsOutOfDate) {
  place({{"n1", 1}});
  add_pod("a", false);
  run();
  client.workload_version = "2";
  place({{"n2", 1}});
  run();
  EXPECT_EQ(string_at(get("a"), {"status", "phase"}), "Pending");
}

TEST_F(UngaterTest, NothingIsWrittenForAWorkloadThatIsGone) {
  place({{"n1", 1}});
  add_pod("a");
  const std::string key = api::object_key(std::exchange(workload, nullptr)->meta);
  ungater.workload_changed(key, nullptr);
  run();
  EXPECT_EQ(host("a"), "");
}

}  // namespace
}  // namespace berth::controller::ungater_test
