// ProvisioningRequests: existing capacity, new nodes, and failures on demand.
#include "embedded/cluster/autoscaler.h"
#include "api/resources.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/embedded.h"
#include "embedded/cluster/pretend_cluster.h"
#include "embedded/cluster/provisioning_terms.h"

namespace berth::cluster::autoscaler_test {
namespace {

using namespace testing_support;

class Growing : public Cluster {
 public:
  explicit Growing(std::string nodes = "1x2", std::string scale_up = "2x2") : Cluster(options(nodes, scale_up)) {
    for (const auto& file : embedded::crds()) {
      if (file.content.find("provisioningrequests.autoscaling.x-k8s.io") == std::string_view::npos) continue;
      auto r = request(api::Verb::kCreate, api::kCustomResourceDefinitions);
      r.ns.clear();
      r.body = yaml(file.content);
      expect_ok(call(std::move(r)));
    }
    pass(60);  // until the autoscaler's caches have retried
  }
  static ClusterOptions options(std::string nodes, std::string scale_up) {
    ClusterOptions options;
    options.nodes = std::move(nodes);
    options.scale_up = std::move(scale_up);
    options.node_resources = "cpu=4";
    return options;
  }

  void ask(const std::string& name, int pods, const std::string& cls, const std::string& parameters = "{}",
           const std::string& spec = "{containers: [{name: c, image: i, resources: {requests: {cpu: '2'}}}]}") {
    create(api::kPodTemplates, yaml("{apiVersion: v1, kind: PodTemplate, metadata: {name: ppt-" + name +
                                    "}, template: {spec: " + spec + "}}"));
    create(api::kProvisioningRequests,
           yaml("{apiVersion: autoscaling.x-k8s.io/v1, kind: ProvisioningRequest, metadata: {name: " + name +
                "}, spec: {provisioningClassName: " + cls + ".autoscaling.x-k8s.io, parameters: " + parameters +
                ", podSets: [{count: " + std::to_string(pods) + ", podTemplateRef: {name: ppt-" + name + "}}]}}"));
  }
  // "Accepted Provisioned!": the condition types; "!" marks a condition that is not True.
  std::string said(const std::string& name) {
    std::string out;
    const Json object = get(api::kProvisioningRequests, name);
    for (const auto& c : array_at(object, {"status", "conditions"})) {
      out += (out.empty() ? "" : " ") + std::string(string_at(c, {"type"})) +
             (string_at(c, {"status"}) == "True" ? "" : "!");
    }
    return out;
  }
  std::string message(const std::string& name, std::string_view type) {
    const Json object = get(api::kProvisioningRequests, name);
    for (const auto& c : array_at(object, {"status", "conditions"})) {
      if (string_at(c, {"type"}) == type) return std::string(string_at(c, {"message"}));
    }
    return "";
  }
  std::string node_names() {
    std::string out;
    for (const auto& node : list(kNodes))
      out += (out.empty() ? "" : " ") + std::string(string_at(node, {"metadata", "name"}));
    return out;
  }
};

constexpr const char* kCheck = "check-capacity";
constexpr const char* kScale = "best-effort-atomic-scale-up";

TEST(Autoscaler, FindsRoomThatIsThere) {
  Growing cluster;
  cluster.ask("fits", 4, kCheck);
  cluster.pass(1);
  EXPECT_EQ(cluster.said("fits"), "Accepted Provisioned");
  cluster.ask("too-many", 1, kCheck);
  cluster.pass(1);
  EXPECT_EQ(cluster.said("too-many"), "Accepted Failed") << "the room is kept for the first";
  EXPECT_EQ(cluster.message("too-many", "Failed"), "Room is missing for 1 of 1 pods");
  EXPECT_EQ(cluster.node_names(), "b1-r1-n1 b1-r1-n2") << "this class makes no nodes";
  cluster.ask("other", 1, "queued-provisioning");
  cluster.pass(60);
  EXPECT_EQ(cluster.said("other"), "") << "of somebody else's class";
}

TEST(Autoscaler, CountsPodsThatRunAndNodesThatMayBeUsed) {
  Growing cluster;
  cluster.pod("big", requests("{cpu: '4'}"), "{berth.dev/run-for: 1h}");
  cluster.pass(1);
  cluster.ask("one-node-left", 3, kCheck);
  cluster.pass(1);
  EXPECT_EQ(cluster.message("one-node-left", "Failed"), "Room is missing for 1 of 3 pods");
  cluster.patch(kNodes, "b1-r1-n2", "{spec: {unschedulable: true}}");
  cluster.pass(1);
  cluster.ask("none-left", 1, kCheck);
  cluster.pass(1);
  EXPECT_EQ(cluster.said("none-left"), "Accepted Failed");
}

TEST(Autoscaler, MakesTheNodesThatAreMissing) {
  Growing cluster;
  cluster.ask("grow", 7, kScale);  // two pods per node: four on the existing nodes, three on two new nodes
  cluster.pass(1);
  EXPECT_EQ(cluster.said("grow"), "Accepted Provisioned!");
  EXPECT_NE(cluster.message("grow", "Provisioned").find("expected at 20"), std::string::npos);
  EXPECT_EQ(cluster.node_names(), "b1-r1-n1 b1-r1-n2");
  cluster.pass(31);
  EXPECT_EQ(cluster.said("grow"), "Accepted Provisioned");
  EXPECT_EQ(cluster.node_names(), "b1-r1-n1 b1-r1-n2 b2-r1-n1 b2-r1-n2");
  const Json node = cluster.get(kNodes, "b2-r1-n1");
  EXPECT_EQ(string_at(node, {"metadata", "labels", "cloud.provider.com/topology-rack"}), "b2-r1");
  EXPECT_EQ(string_at(node, {"metadata", "labels", "cloud.provider.com/topology-block"}), "b2");
  EXPECT_EQ(string_at(node, {"status", "allocatable", "cpu"}), "4");

  cluster.ask("more", 5, kScale);  // the first request's nodes have capacity for one more pod
  cluster.pass(32);
  EXPECT_EQ(cluster.said("more"), "Accepted Provisioned");
  EXPECT_EQ(cluster.node_names(), "b1-r1-n1 b1-r1-n2 b2-r1-n1 b2-r1-n2 b2-r2-n1 b2-r2-n2");
  cluster.ask("even-more", 1, kScale);
  cluster.pass(32);
  EXPECT_EQ(cluster.message("even-more", "Failed"), "Room is missing for 1 of 1 pods, and 0 more nodes can be made");
}

TEST(Autoscaler, MakesAllNodesOrNone) {
  Growing cluster;
  cluster.ask("huge", 40, kScale);
  cluster.ask("elsewhere", 1, kScale, "{}",
              "{nodeSelector: {pool: other}, containers: [{name: c, image: i, resources: {requests: {cpu: '2'}}}]}");
  cluster.pass(32);
  EXPECT_EQ(cluster.message("huge", "Failed"), "Room is missing for 28 of 40 pods, and 4 more nodes can be made");
  EXPECT_EQ(cluster.said("elsewhere"), "Accepted Provisioned! Failed") << "no node of the group is what it selects";
  EXPECT_EQ(cluster.node_names(), "b1-r1-n1 b1-r1-n2");
}

TEST(Autoscaler, PromisesNothingTwice) {
  Growing cluster;
  cluster.ask("a", 6, kScale);
  cluster.ask("b", 6, kScale);
  cluster.pass(35);
  EXPECT_EQ(cluster.said("a"), "Accepted Provisioned");
  EXPECT_EQ(cluster.said("b"), "Accepted Provisioned");
  EXPECT_EQ(cluster.list(kNodes).size(), 6u) << "twelve pods, two a node";
}

TEST(Autoscaler, KeepsTheRoomUntilThePodsHaveComeOrTheTimeIsOver) {
  Growing cluster("1x2", "");
  cluster.ask("kept", 4, kCheck, "{expire-after: 2m}");
  cluster.pass(1);
  ASSERT_EQ(cluster.said("kept"), "Accepted Provisioned");
  cluster.pod("came", requests("{cpu: '2'}"),
              "{berth.dev/run-for: 1h, autoscaling.x-k8s.io/consume-provisioning-request: kept}");
  cluster.pass(1);
  ASSERT_NE(cluster.node_of("came"), "");
  cluster.ask("early", 1, kCheck);
  cluster.pass(1);
  EXPECT_EQ(cluster.said("early"), "Accepted Failed");
  cluster.pass(120);
  EXPECT_EQ(cluster.said("kept"), "Accepted Provisioned BookingExpired");
  cluster.ask("later", 3, kCheck);
  cluster.pass(1);
  EXPECT_EQ(cluster.said("later"), "Accepted Provisioned") << "the pod that came still runs";
}

TEST(Autoscaler, FailsAndRevokesOnDemand) {
  Growing cluster;
  cluster.ask("job-check-1", 1, kCheck, "{fail-attempts: '1'}");
  cluster.ask("job-check-2", 1, kCheck, "{fail-attempts: '1'}");
  cluster.ask("always-7", 1, kCheck, "{fail-attempts: all}");
  cluster.ask("revoked", 1, kCheck, "{revoke-after: 30s}");
  cluster.ask("slow", 1, kCheck, "{provisioning-delay: 20s}");
  cluster.ask("by-hand", 1, kCheck);
  cluster.pass(1);
  EXPECT_EQ(cluster.said("job-check-1"), "Accepted Failed");
  EXPECT_EQ(cluster.said("job-check-2"), "Accepted Provisioned");
  EXPECT_EQ(cluster.said("always-7"), "Accepted Failed");
  EXPECT_EQ(cluster.said("revoked"), "Accepted Provisioned");
  EXPECT_EQ(cluster.said("slow"), "Accepted Provisioned!");
  auto r = cluster.request(api::Verb::kPatch, api::kProvisioningRequests, "by-hand");
  r.patch_type = api::PatchType::kMerge;
  r.body = yaml("{metadata: {annotations: {berth.dev/revoke-after: 0s}}}");
  cluster.expect_ok(cluster.call(std::move(r)));
  cluster.pass(30);
  EXPECT_EQ(cluster.said("by-hand"), "Accepted Provisioned CapacityRevoked");
  EXPECT_EQ(cluster.said("revoked"), "Accepted Provisioned CapacityRevoked");
  EXPECT_EQ(cluster.said("slow"), "Accepted Provisioned");
}

TEST(Autoscaler, SaysWhatItCannotUnderstand) {
  Growing cluster;
  cluster.ask("odd", 1, kCheck, "{revoke-after: soon}");
  cluster.create(api::kProvisioningRequests,
                 yaml("{apiVersion: autoscaling.x-k8s.io/v1, kind: ProvisioningRequest, metadata: {name: bare}, spec: "
                      "{provisioningClassName: check-capacity.autoscaling.x-k8s.io, podSets: [{count: 1, "
                      "podTemplateRef: {name: none}}]}}"));
  cluster.pass(15);
  EXPECT_EQ(cluster.message("odd", "Failed"), "revoke-after is \"soon\"; expected a duration such as 90s or 5m");
  EXPECT_EQ(cluster.message("bare", "Failed"), "A pod template of the request does not exist");
}

TEST(Autoscaler, GoesOnAfterARestart) {
  Growing cluster;
  cluster.ask("grow", 6, kScale, "{revoke-after: 10m}");
  cluster.pass(10);
  const auto restart = [&] {
    cluster.cluster.reset();
    cluster.cluster = PretendCluster::make(*cluster.server, cluster.executor, Growing::options("1x2", "2x2")).value();
    cluster.cluster->start();
  };
  restart();
  cluster.pass(25);
  EXPECT_EQ(cluster.said("grow"), "Accepted Provisioned");
  EXPECT_EQ(cluster.list(kNodes).size(), 3u);
  restart();
  cluster.pass(1);
  cluster.ask("next", 1, kCheck);
  cluster.pass(1);
  EXPECT_EQ(cluster.said("next"), "Accepted Failed") << "the booking is known again";
  cluster.pass(600);
  EXPECT_EQ(cluster.said("grow"), "Accepted Provisioned CapacityRevoked");
}

TEST(Autoscaler, RefusesAShapeItCannotMake) {
  World world;
  ClusterOptions wrong;
  for (const char* shape : {"many", "2x2x2"}) {
    wrong.scale_up = shape;
    const auto made = PretendCluster::make(*world.server, world.executor, wrong);
    ASSERT_FALSE(made) << shape;
    EXPECT_NE(made.error().message.find("expected RACKSxNODES"), std::string::npos);
  }
}

}  // namespace
}  // namespace berth::cluster::autoscaler_test
