// Which changes of nodes and pods become engine events, and which do not.
#include "controller/placement_sources.h"

#include <gtest/gtest.h>

#include "base/yaml.h"
#include "controller/sources.h"
#include "kube/decoded_objects.h"

namespace berth::controller::placement_sources_test {
namespace {

JsonPtr object(std::string_view yaml) {
  auto documents = parse_yaml(yaml);
  EXPECT_TRUE(documents) << documents.error().message;
  return std::make_shared<const Json>(documents->at(0));
}

JsonPtr with(const JsonPtr& base, std::initializer_list<std::string_view> path, Json value) {
  Json copy = *base;
  ensure_path(copy, path) = std::move(value);
  return std::make_shared<const Json>(std::move(copy));
}

const JsonPtr kNode = object(R"(
metadata: {name: n1, uid: u, resourceVersion: "1", labels: {rack: r1}}
status:
  allocatable: {cpu: "4"}
  conditions: [{type: Ready, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z"}]
)");

// The cache of nodes, their hostnames, and the engine events.
class NodeSource {
 public:
  std::optional<engine::Event> changed(const JsonPtr& old, const JsonPtr& now) {
    const auto change = nodes_.changed(old, now);
    if (!change) return std::nullopt;
    hosts_.changed(change->old, change->now);
    return seen_or_gone<engine::NodeSeen, engine::NodeGone>(change->key, change->now);
  }
  bool exists(std::string_view hostname) const { return hosts_.exists(hostname); }
  bool usable(std::string_view hostname) const { return hosts_.usable(hostname, {}); }

 private:
  kube::DecodedObjects<api::Node> nodes_{api::decode_node};
  NodeHosts hosts_;
};

TEST(NodeSource, ReportsANodeOnceAndNotItsHeartbeats) {
  NodeSource source;
  const auto first = source.changed(nullptr, kNode);
  ASSERT_TRUE(first);
  EXPECT_EQ(std::get<engine::NodeSeen>(*first).object->name, "n1");

  const JsonPtr heartbeat = object(R"(
metadata: {name: n1, uid: u, resourceVersion: "2", labels: {rack: r1}}
status:
  allocatable: {cpu: "4"}
  images: [{names: [i]}]
  conditions: [{type: Ready, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z", lastHeartbeatTime: "2026-01-01T00:05:00Z"}]
)");
  EXPECT_FALSE(source.changed(kNode, heartbeat));

  const JsonPtr cordoned = with(heartbeat, {"spec", "unschedulable"}, true);
  const auto second = source.changed(heartbeat, cordoned);
  ASSERT_TRUE(second);
  EXPECT_TRUE(std::get<engine::NodeSeen>(*second).object->unschedulable);
}

TEST(NodeSource, ReportsThatANodeIsGoneAndThatItCameBack) {
  NodeSource source;
  source.changed(nullptr, kNode);
  const auto gone = source.changed(kNode, nullptr);
  ASSERT_TRUE(gone);
  EXPECT_EQ(std::get<engine::NodeGone>(*gone).name, "n1");
  EXPECT_FALSE(source.changed(kNode, nullptr)) << "it is gone already";
  EXPECT_TRUE(source.changed(nullptr, kNode));
}

TEST(NodeSource, KnowsHostsByTheirLabel) {
  NodeSource source;
  const JsonPtr node = with(kNode, {"metadata", "labels", "kubernetes.io/hostname"}, "host-1");
  source.changed(nullptr, node);
  EXPECT_TRUE(source.exists("host-1"));
  EXPECT_TRUE(source.usable("host-1"));
  EXPECT_FALSE(source.exists("n1"));
  const JsonPtr cordoned = with(node, {"spec", "unschedulable"}, true);
  source.changed(node, cordoned);
  EXPECT_TRUE(source.exists("host-1"));
  EXPECT_FALSE(source.usable("host-1"));
  const JsonPtr renamed = with(node, {"metadata", "labels", "kubernetes.io/hostname"}, "host-2");
  source.changed(cordoned, renamed);
  EXPECT_FALSE(source.exists("host-1"));
  EXPECT_TRUE(source.usable("host-2"));
  source.changed(renamed, nullptr);
  EXPECT_FALSE(source.exists("host-2"));
}

const JsonPtr kGated = object(R"(
metadata: {name: p, namespace: a, uid: p1, annotations: {kueue.x-k8s.io/workload: w}, labels: {kueue.x-k8s.io/podset: main}}
spec: {schedulingGates: [{name: kueue.x-k8s.io/topology}], containers: [{resources: {requests: {cpu: "2"}}}]}
status: {phase: Pending}
)");

TEST(PodSource, ReportsAPodFromTheMomentItHasANodeUntilItEnds) {
  PodSource source(false);
  EXPECT_FALSE(source.changed(nullptr, kGated)) << "a gated pod holds nothing";

  const JsonPtr let_go = object(R"(
metadata: {name: p, namespace: a, uid: p1, annotations: {kueue.x-k8s.io/workload: w}, labels: {kueue.x-k8s.io/podset: main}}
spec: {nodeSelector: {kubernetes.io/hostname: n1}, containers: [{resources: {requests: {cpu: "2"}}}]}
status: {phase: Pending}
)");
  const auto seen = source.changed(kGated, let_go);
  ASSERT_TRUE(seen);
  const auto& placement = *std::get<engine::PodSeen>(*seen).object;
  EXPECT_EQ(placement.node, "n1");
  EXPECT_EQ(placement.workload, "w");
  EXPECT_FALSE(placement.bound);

  const JsonPtr bound = with(let_go, {"spec", "nodeName"}, "n1");
  EXPECT_TRUE(source.changed(let_go, bound));
  const JsonPtr running = with(bound, {"status", "phase"}, "Running");
  EXPECT_FALSE(source.changed(bound, running)) << "running takes no more than being bound";
  const JsonPtr terminating = with(running, {"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  EXPECT_TRUE(source.changed(running, terminating));
  const JsonPtr done = with(terminating, {"status", "phase"}, "Failed");
  const auto gone = source.changed(terminating, done);
  ASSERT_TRUE(gone);
  EXPECT_EQ(std::get<engine::PodGone>(*gone).uid, "p1");
  EXPECT_FALSE(source.changed(done, nullptr)) << "told before";
}

// For waitForPodsReady.unscheduledTimeout.
TEST(PodSource, InformsEveryPodOfAWorkloadWhenAskedTo) {
  PodSource source(true);
  ASSERT_TRUE(source.changed(nullptr, kGated));
  EXPECT_FALSE(source.changed(nullptr, kGated)) << "told before";
  const JsonPtr done = with(kGated, {"status", "phase"}, "Succeeded");
  const auto ended = source.changed(kGated, done);
  ASSERT_TRUE(ended);
  EXPECT_TRUE(std::get<engine::PodSeen>(*ended).object->succeeded);
  const auto gone = source.changed(done, nullptr);
  ASSERT_TRUE(gone);
  EXPECT_EQ(std::get<engine::PodGone>(*gone).uid, "p1");
  const JsonPtr other = with(kGated, {"metadata", "annotations"}, JsonObject());
  EXPECT_FALSE(source.changed(nullptr, other)) << "it names no workload";
}

TEST(PodSource, ReportsThatADeletedPodIsGoneWhateverItsLastStateWas) {
  PodSource source(false);
  const JsonPtr bound = with(kGated, {"spec", "nodeName"}, "n1");
  ASSERT_TRUE(source.changed(nullptr, bound));
  const JsonPtr last = with(bound, {"status", "phase"}, "Failed");  // the watch skipped the states before
  EXPECT_TRUE(source.changed(last, nullptr));
}

}  // namespace
}  // namespace berth::controller::placement_sources_test
