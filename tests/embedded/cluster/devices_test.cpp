// Claims of devices in the pretend cluster: made from templates, given devices with the node, given back at the end.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "embedded/cluster/devices/driver.h"
#include "embedded/cluster/pretend_cluster.h"

namespace berth::cluster::devices_test {
namespace {

using namespace testing_support;
using devices::DeviceShape;

class DeviceCluster : public Cluster {
 public:
  explicit DeviceCluster(const std::string& devices, const std::string& nodes = "2")
      : Cluster(options(devices, nodes)) {}

  static ClusterOptions options(const std::string& devices, const std::string& nodes) {
    ClusterOptions out;
    out.nodes = nodes;
    out.devices = devices;
    return out;
  }
  // `requests`: spec.spec.devices.requests, as YAML.
  void give_template(const std::string& name, const std::string& requests, const std::string& more = "") {
    create(api::kResourceClaimTemplates,
           yaml("{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: " + name +
                "}, spec: {spec: {devices: {requests: " + requests + more + "}}}}"));
  }
  void give_pod(const std::string& name, const std::string& claim_template, const std::string& run_for = "1h") {
    create(
        kPods,
        yaml("{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", annotations: {berth.dev/run-for: " + run_for +
             "}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {claims: [{name: d}]}}], "
             "resourceClaims: [{name: d, resourceClaimTemplateName: " +
             claim_template + "}]}}"));
  }
  std::string node_of(const std::string& pod) { return std::string(string_at(get(kPods, pod), {"spec", "nodeName"})); }
  Json claim_of(const std::string& pod) {
    const Json object = get(kPods, pod);
    const auto& made = array_at(object, {"status", "resourceClaimStatuses"});
    return made.empty() ? Json() : get(api::kResourceClaims, string_at(made[0], {"resourceClaimName"}));
  }
  // "pool/device" of each result.
  std::vector<std::string> devices_of(const std::string& pod) {
    std::vector<std::string> out;
    const Json claim = claim_of(pod);
    for (const Json& result : array_at(claim, {"status", "allocation", "devices", "results"}))
      out.push_back(std::string(string_at(result, {"pool"})) + "/" + std::string(string_at(result, {"device"})));
    return out;
  }
};

constexpr const char* kOne = "[{name: r, exactly: {deviceClassName: gpu.example.com}}]";

TEST(PretendDevices, AreGivenToThePodsThatClaimThem) {
  DeviceCluster c("gpu.example.com=2", "1");
  c.give_template("one", kOne);
  c.give_pod("a", "one");
  c.give_pod("b", "one");
  c.give_pod("c", "one");
  c.pass(5);
  EXPECT_EQ(c.devices_of("a"), std::vector<std::string>{"b1-r1-n1/gpu-0"});
  EXPECT_EQ(c.devices_of("b"), std::vector<std::string>{"b1-r1-n1/gpu-1"});
  EXPECT_EQ(c.node_of("c"), "");
  const Json claim = c.claim_of("a");
  EXPECT_EQ(string_at(array_at(claim, {"status", "reservedFor"}).at(0), {"name"}), "a");
  EXPECT_TRUE(string_at(claim, {"metadata", "name"}).starts_with("a-d-"));
  EXPECT_EQ(string_at(array_at(claim, {"metadata", "ownerReferences"}).at(0), {"kind"}), "Pod");
  EXPECT_EQ(string_at(claim, {"metadata", "annotations", "resource.kubernetes.io/pod-claim-name"}), "d");
}

TEST(PretendDevices, AreGivenBackWhenThePodEnds) {
  DeviceCluster c("gpu.example.com=1", "1");
  c.give_template("one", kOne);
  c.give_pod("a", "one", "10s");
  c.pass(2);
  c.give_pod("b", "one");
  c.pass(2);
  EXPECT_EQ(c.node_of("b"), "");
  c.pass(20);
  EXPECT_EQ(c.devices_of("b"), std::vector<std::string>{"b1-r1-n1/gpu-0"});
  EXPECT_EQ(c.list(api::kResourceClaims).size(), 1U);
  c.remove(kPods, "b");
  c.pass(40);
  EXPECT_TRUE(c.list(api::kResourceClaims).empty());
}

TEST(PretendDevices, WaitForTheirTemplate) {
  DeviceCluster c("gpu.example.com=1", "1");
  c.give_pod("a", "one");
  c.pass(5);
  EXPECT_EQ(c.node_of("a"), "");
  c.give_template("one", kOne);
  c.pass(5);
  EXPECT_EQ(c.node_of("a"), "b1-r1-n1");
}

TEST(PretendDevices, OfOneClaimAreOnOneNode) {
  DeviceCluster c("gpu.example.com=2", "3");
  c.give_template("two", "[{name: r, exactly: {deviceClassName: gpu.example.com, count: 2}}]");
  for (const auto* pod : {"a", "b", "c", "d"}) c.give_pod(pod, "two");
  c.pass(5);
  std::set<std::string> nodes;
  for (const auto* pod : {"a", "b", "c"}) {
    nodes.insert(c.node_of(pod));
    EXPECT_EQ(c.devices_of(pod).size(), 2U);
  }
  EXPECT_EQ(nodes, (std::set<std::string>{"b1-r1-n1", "b1-r1-n2", "b1-r1-n3"}));
  EXPECT_EQ(c.node_of("d"), "");
}

TEST(PretendDevices, OfAClaimThatPodsShareAreUsedTogether) {
  DeviceCluster c("gpu.example.com=1", "2");
  c.create(api::kResourceClaims,
           yaml(std::string("{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: mine}, "
                            "spec: {devices: {requests: ") +
                kOne + "}}}"));
  for (const std::string pod : {"a", "b"})
    c.create(kPods,
             yaml("{apiVersion: v1, kind: Pod, metadata: {name: " + pod +
                  "}, spec: {restartPolicy: Never, containers: [{name: c, image: i}], resourceClaims: [{name: d, "
                  "resourceClaimName: mine}]}}"));
  c.pass(5);
  EXPECT_EQ(c.node_of("a"), "b1-r1-n1");
  EXPECT_EQ(c.node_of("b"), "b1-r1-n1");
  EXPECT_EQ(array_at(c.get(api::kResourceClaims, "mine"), {"status", "reservedFor"}).size(), 2U);
}

TEST(PretendDevices, MayBePartsOfOthers) {
  DeviceCluster c("mig.example.com=1:parts", "1");
  const auto part = [](const std::string& type) {
    return "[{name: r, exactly: {deviceClassName: mig.example.com, selectors: [{cel: {expression: "
           "'device.attributes[\"mig.example.com\"].type == \"" +
           type + "\"'}}]}}]";
  };
  c.give_template("half", part("half"));
  c.give_template("quarter", part("quarter"));
  c.give_template("whole", part("whole"));
  c.give_pod("a", "half");
  c.give_pod("b", "quarter");
  c.give_pod("c", "quarter");
  c.pass(5);
  EXPECT_EQ(c.devices_of("a"), std::vector<std::string>{"b1-r1-n1/gpu-0-half-0"});
  EXPECT_EQ(c.node_of("b"), "b1-r1-n1");
  EXPECT_EQ(c.node_of("c"), "b1-r1-n1");
  c.give_pod("d", "quarter");
  c.give_pod("e", "whole");
  c.pass(5);
  EXPECT_EQ(c.node_of("d"), "") << "a half and two quarters are all";
  EXPECT_EQ(c.node_of("e"), "");
}

TEST(PretendDevices, MayBeSharedByWhatIsTakenOfThem) {
  DeviceCluster c("shared.example.com=1:shared", "1");
  c.give_template("most",
                  "[{name: r, exactly: {deviceClassName: shared.example.com, capacity: {requests: {memory: 60Gi}}}}]");
  c.give_template("some", "[{name: r, exactly: {deviceClassName: shared.example.com}}]");
  c.give_pod("a", "most");
  c.give_pod("b", "some");
  c.give_pod("c", "some");
  c.pass(5);
  const Json claim = c.claim_of("b");
  EXPECT_EQ(
      string_at(array_at(claim, {"status", "allocation", "devices", "results"}).at(0), {"consumedCapacity", "memory"}),
      "10Gi");
  EXPECT_EQ(c.node_of("c"), "b1-r1-n1");
  c.give_pod("d", "some");
  c.pass(5);
  EXPECT_EQ(c.node_of("d"), "");
}

TEST(PretendDevices, AreTheFirstAlternativeThatFits) {
  DeviceCluster c("gpu.example.com=1,big.example.com=1", "1");
  c.give_template("any",
                  "[{name: r, firstAvailable: [{name: big, deviceClassName: big.example.com}, {name: small, "
                  "deviceClassName: gpu.example.com}]}]");
  c.give_pod("a", "any");
  c.pass(3);
  c.give_pod("b", "any");
  c.pass(3);
  const auto request_of = [&](const std::string& pod) {
    const Json claim = c.claim_of(pod);
    return std::string(string_at(array_at(claim, {"status", "allocation", "devices", "results"}).at(0), {"request"}));
  };
  EXPECT_EQ(request_of("a"), "r/big");
  EXPECT_EQ(request_of("b"), "r/small");
}

TEST(PretendDevices, KeepConstraints) {
  DeviceCluster c("gpu.example.com=2", "1");
  const std::string two =
      "[{name: x, exactly: {deviceClassName: gpu.example.com}}, {name: y, exactly: {deviceClassName: "
      "gpu.example.com}}]";
  c.give_template("same", two, ", constraints: [{matchAttribute: gpu.example.com/index}]");
  c.give_template("distinct", two, ", constraints: [{distinctAttribute: gpu.example.com/index}]");
  c.give_pod("a", "same");
  c.pass(3);
  EXPECT_EQ(c.node_of("a"), "") << "no two devices have one index";
  c.give_pod("b", "distinct");
  c.pass(3);
  EXPECT_EQ(c.node_of("b"), "b1-r1-n1");
}

TEST(PretendDevices, AreNotGivenTwiceAfterARestart) {
  DeviceCluster c("gpu.example.com=1", "1");
  c.give_template("one", kOne);
  c.give_pod("a", "one");
  c.pass(3);
  c.cluster.reset();
  c.cluster = *PretendCluster::make(*c.server, c.executor, DeviceCluster::options("gpu.example.com=1", "1"));
  c.cluster->start();
  c.pass(3);
  c.give_pod("b", "one");
  c.pass(3);
  EXPECT_EQ(c.node_of("b"), "");
  EXPECT_EQ(c.devices_of("a").size(), 1U);
}

TEST(PretendDevices, ComeAndGoWithTheirNode) {
  DeviceCluster c("gpu.example.com=1", "1");
  EXPECT_FALSE(c.get(api::kResourceSlices, "b1-r1-n1-gpu.example.com").is_null());
  c.remove(kNodes, "b1-r1-n1");
  c.pass(3);
  EXPECT_TRUE(c.get(api::kResourceSlices, "b1-r1-n1-gpu.example.com").is_null());
}

TEST(PretendDevices, AreReadFromText) {
  const auto shapes = devices::parse_devices("gpu.example.com=8,mig.example.com=2:parts,s=4:shared");
  ASSERT_TRUE(shapes);
  ASSERT_EQ(shapes->size(), 3U);
  EXPECT_EQ((*shapes)[1].kind, DeviceShape::Kind::kParts);
  const std::map<std::string, std::string> wrong = {
      {"gpu", "there is no ="}, {"=2", "is no name of a driver"}, {"g=0", "from 1 to 64"},
      {"g=65", "from 1 to 64"}, {"g=9:parts", "from 1 to 8"},     {"g=1:cut", "\"cut\" is no kind of device"},
      {"g=x", "from 1 to 64"},  {"g=1,g=2", "stands there twice"}};
  for (const auto& [text, why] : wrong) {
    const auto found = devices::parse_devices(text);
    ASSERT_FALSE(found) << text;
    EXPECT_NE(found.error().message.find(why), std::string::npos) << found.error().message;
  }
}

}  // namespace
}  // namespace berth::cluster::devices_test
