// What devices count (KEP-2941), and why they cannot be counted.
#include <gtest/gtest.h>

#include "jobs/devices/cluster.h"

namespace berth::jobs::devices::test {
namespace {

constexpr std::string_view kAt = "spec.podSets[0].template.spec.resourceClaims[0]";

Cluster gpus() {
  Cluster c;
  c.map("gpus", {"gpu", "biggpu"});
  c.map("nics", {"nic"});
  return c;
}

std::string selector(std::string_view expression) {
  return R"("selectors":[{"cel":{"expression":")" + std::string(expression) + R"("}}])";
}

TEST(DeviceCharge, CountsTheDevicesOfEachRequest) {
  Cluster c = gpus();
  c.give_template("two", R"([{"name":"r","exactly":{"deviceClassName":"gpu","count":2}}])");
  EXPECT_EQ(c.charge_of_template("two"), "gpus: 2");
  c.give_template("mixed", "[" + exactly("x", "gpu") + "," + exactly("y", "biggpu") + "," + exactly("z", "nic") + "]");
  EXPECT_EQ(c.charge_of_template("mixed"), "gpus: 2, nics: 1");
}

TEST(DeviceCharge, CountsOneDeviceWhereNoNumberStands) {
  Cluster c = gpus();
  c.give_template("one", R"([{"name":"r","exactly":{"deviceClassName":"gpu"}}])");
  EXPECT_EQ(c.charge_of_template("one"), "gpus: 1");
}

TEST(DeviceCharge, CountsEachClaimOfAPodWhicheverContainersUseIt) {
  Cluster c = gpus();
  c.give_template("one", "[" + exactly("r", "gpu") + "]");
  EXPECT_EQ(c.charge(Cluster::workload(R"({"containers":[{}],"resourceClaims":[
      {"name":"a","resourceClaimTemplateName":"one"},{"name":"b","resourceClaimTemplateName":"one"}]})")),
            "gpus: 2");
}

TEST(DeviceCharge, IsFreeForAdministrators) {
  Cluster c = gpus();
  c.give_template("watch", "[" + exactly("r", "unmapped", R"("adminAccess":true)") + "]");
  EXPECT_EQ(c.charge_of_template("watch"), "");
  c.give_template("all",
                  R"([{"name":"r","exactly":{"deviceClassName":"x","allocationMode":"All","adminAccess":true}}])");
  EXPECT_EQ(c.charge_of_template("all"), "");
}

TEST(DeviceCharge, IsNullForPodsWithoutDevices) {
  Cluster c = gpus();
  EXPECT_EQ(
      c.charge(Cluster::workload(R"({"containers":[{"resources":{"requests":{"cpu":"1","example.com/x":"1"}}}]})")),
      "null");
}

TEST(DeviceCharge, SaturatesInsteadOfWrapping) {
  Cluster c = gpus();
  const std::string most = R"({"name":"NAME","exactly":{"deviceClassName":"gpu","count":9223372036854775807}})";
  std::string a = most, b = most;
  a.replace(a.find("NAME"), 4, "a");
  b.replace(b.find("NAME"), 4, "b");
  c.give_template("much", "[" + a + "," + b + "]");
  Charges charges(c.rules, Inventory{c.templates, c.classes, c.slices});
  const auto workload = Cluster::with_template("much");
  const auto charge = charges.charge(workload, uses_of(workload));
  ASSERT_TRUE(charge);
  EXPECT_GT(charge->pod_sets[0].per_pod.at("gpus").sign(), 0);
  EXPECT_EQ(charge->pod_sets[0].per_pod.at("gpus").value(), INT64_MAX);
}

// --- Refusals.

TEST(DeviceCharge, RefusesClaimsThatExistAlready) {
  Cluster c = gpus();
  Charges charges(c.rules, Inventory{c.templates, c.classes, c.slices});
  const auto workload =
      Cluster::workload(R"({"containers":[{}],"resourceClaims":[{"name":"d","resourceClaimName":"mine"}]})");
  const auto charge = charges.charge(workload, uses_of(workload));
  ASSERT_TRUE(charge);
  EXPECT_EQ(charge->refused, "KueueDRAIntegration feature does not support use of resource claims");
  EXPECT_EQ(charge->not_requeued, "DRA resource claims not supported");
}

TEST(DeviceCharge, RefusesATemplateThatDoesNotExist) {
  Cluster c = gpus();
  EXPECT_EQ(c.charge_of_template("none"),
            std::string(kAt) +
                ": Internal error: failed to get claim spec for ResourceClaimTemplate none in podset main: "
                "ResourceClaimTemplate.resource.k8s.io \"none\" not found");
}

TEST(DeviceCharge, RefusesAClassWithoutMapping) {
  Cluster c = gpus();
  c.give_template("other", "[" + exactly("r", "other") + "]");
  EXPECT_EQ(c.charge_of_template("other"),
            std::string(kAt) +
                ".resourceClaimTemplateName: Not found: \"DeviceClass other is not mapped in DRA "
                "configuration for podset main\"");
}

TEST(DeviceCharge, RefusesAllDevices) {
  Cluster c = gpus();
  c.give_template("all", R"([{"name":"r","exactly":{"deviceClassName":"gpu","allocationMode":"All"}}])");
  EXPECT_EQ(c.charge_of_template("all"), std::string(kAt) +
                                             ".devices.requests[0].exactly.allocationMode: Invalid value: \"All\": "
                                             "ResourceClaimTemplate all: AllocationMode 'All' is not supported");
}

TEST(DeviceCharge, RefusesWhatItDoesNotKnow) {
  Cluster c = gpus();
  c.give_template("new", R"([{"name":"r","byMagic":{}}])");
  EXPECT_NE(c.charge_of_template("new").find("expected exactly or firstAvailable"), std::string::npos);
}

TEST(DeviceCharge, OffHasNoCharge) {
  Cluster c = gpus();
  c.rules.enabled = false;
  c.give_template("one", "[" + exactly("r", "gpu") + "]");
  EXPECT_EQ(c.charge_of_template("one"), "null");
}

TEST(DeviceCharge, SaysWhyNothingCanBeCounted) {
  Cluster c = gpus();
  c.give_template("one", "[" + exactly("r", "gpu") + "]");
  EXPECT_EQ(c.charge(Cluster::with_template("one"), "not served"), "not served");
}

// --- Selectors.

Cluster with_devices() {
  Cluster c = gpus();
  c.give_class("gpu", R"({"selectors":[{"cel":{"expression":"device.driver == 'd.example.com'"}}]})");
  c.give_slice("s", R"({"driver":"d.example.com","pool":{"name":"p","generation":1,"resourceSliceCount":1},"devices":[
      {"name":"a","attributes":{"model":{"string":"big"},"count":{"int":4}},"capacity":{"memory":{"value":"40Gi"}}},
      {"name":"b","attributes":{"model":{"string":"small"}},"capacity":{"memory":{"value":"10Gi"}}}]})");
  c.give_slice("other", R"({"driver":"other.example.com","pool":{"name":"q","generation":1,"resourceSliceCount":1},
      "devices":[{"name":"a","attributes":{"model":{"string":"big"}}}]})");
  return c;
}

TEST(DeviceCharge, WantsAsManyMatchingDevicesAsAreRequested) {
  Cluster c = with_devices();
  c.give_template("big",
                  "[" + exactly("r", "gpu", selector("device.attributes['d.example.com'].model == 'big'")) + "]");
  EXPECT_EQ(c.charge_of_template("big"), "gpus: 1");
  c.give_template("huge",
                  "[" + exactly("r", "gpu", selector("device.attributes['d.example.com'].model == 'huge'")) + "]");
  EXPECT_EQ(c.charge_of_template("huge"),
            std::string(kAt) +
                ".devices.requests[0].exactly.selectors: Internal error: ResourceClaimTemplate huge: "
                "insufficient matching devices for CEL selector in DeviceClass gpu: 0 device(s) match in the "
                "cluster but 1 requested");
}

TEST(DeviceCharge, GivesEachDeviceToOneRequestOfAClaim) {
  Cluster c = with_devices();
  const std::string big = selector("device.attributes['d.example.com'].model == 'big'");
  c.give_template("twice", "[" + exactly("x", "gpu", big) + "," + exactly("y", "gpu", big) + "]");
  EXPECT_NE(c.charge_of_template("twice").find("requests[1].exactly.selectors: Internal error"), std::string::npos);
}

TEST(DeviceCharge, ComparesCapacityAndDomainsThatAreNotThere) {
  Cluster c = with_devices();
  c.give_template(
      "room",
      "[" + exactly("r", "gpu", selector("device.capacity['d.example.com'].memory.compareTo(quantity('20Gi')) > 0")) +
          "]");
  EXPECT_EQ(c.charge_of_template("room"), "gpus: 1");
  c.give_template("has", "[" + exactly("r", "gpu", selector("!has(device.attributes['nowhere.example.com'].x)")) + "]");
  EXPECT_EQ(c.charge_of_template("has"), "gpus: 1");
}

TEST(DeviceCharge, RefusesSelectorsThatDoNotCompileOrFail) {
  Cluster c = with_devices();
  c.give_template("syntax", "[" + exactly("r", "gpu", selector("device.driver ==")) + "]");
  EXPECT_NE(
      c.charge_of_template("syntax").find("exactly.selectors: Invalid value: null: ResourceClaimTemplate syntax: CEL "
                                          "compilation failed: line 1"),
      std::string::npos);
  c.give_template("field", "[" + exactly("r", "gpu", selector("device.colour == 'red'")) + "]");
  EXPECT_NE(c.charge_of_template("field").find("undefined field 'colour'"), std::string::npos);
  c.give_template("key", "[" + exactly("r", "gpu", selector("device.attributes['d.example.com'].none == 'x'")) + "]");
  EXPECT_NE(c.charge_of_template("key").find("CEL evaluation failed for DeviceClass gpu: no such key"),
            std::string::npos);
  c.give_template("text", "[" + exactly("r", "gpu", selector("device.driver")) + "]");
  EXPECT_NE(c.charge_of_template("text").find("must evaluate to bool"), std::string::npos);
}

TEST(DeviceCharge, NeedsTheClassOfASelector) {
  Cluster c = with_devices();
  c.classes.clear();
  c.give_template("big", "[" + exactly("r", "gpu", selector("true")) + "]");
  EXPECT_EQ(c.charge_of_template("big"),
            std::string(kAt) +
                ".devices.requests[0]: Internal error: ResourceClaimTemplate big: failed to get DeviceClass "
                "gpu: DeviceClass.resource.k8s.io \"gpu\" not found");
}

TEST(DeviceCharge, BoundsTheCostOfSelectors) {
  Cluster c = gpus();
  c.give_class("gpu");
  std::string devices;
  for (int i = 0; i < 128; ++i) devices.append(i == 0 ? "" : ",").append(R"({"name":"d)" + std::to_string(i) + R"("})");
  c.give_slice("s",
               R"({"driver":"d.example.com","pool":{"name":"p","generation":1,"resourceSliceCount":1},"devices":[)" +
                   devices + "]}");
  const std::string numbers = "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]";
  c.give_template("costly",
                  "[" +
                      exactly("r", "gpu",
                              selector(numbers + ".all(a, " + numbers + ".all(b, " + numbers + ".all(c, " + numbers +
                                       ".all(d, a + b + c + d > 0)))) && "
                                       "false")) +
                      "]");
  const std::string said = c.charge_of_template("costly");
  EXPECT_NE(said.find("CEL evaluation failed for DeviceClass gpu"), std::string::npos) << said;
}

// --- Extended resources.

api::kueue::Workload asking(std::string_view amounts) {
  return Cluster::workload(R"({"containers":[{"resources":{"requests":)" + std::string(amounts) + "}}]}");
}

TEST(DeviceCharge, CountsAnExtendedResourceAsTheResourceOfItsClass) {
  Cluster c = gpus();
  EXPECT_EQ(c.charge(asking(R"({"example.com/gpu":"2"})")), "null");
  c.give_class("gpu", R"({"extendedResourceName":"example.com/gpu"})");
  EXPECT_EQ(c.charge(asking(R"({"example.com/gpu":"2"})")), "example.com/gpu -> gpus");
  c.give_class("free", R"({"extendedResourceName":"example.com/free"})");
  EXPECT_EQ(c.charge(asking(R"({"example.com/free":"2"})")), "example.com/free -> example.com/free");
  EXPECT_EQ(c.charge(asking(R"({"example.com/gpu":"0"})")), "null");
  EXPECT_EQ(c.charge(Cluster::workload(R"({"initContainers":[{"resources":{"limits":{"example.com/gpu":"1"}}}]})")),
            "example.com/gpu -> gpus");
}

TEST(DeviceCharge, TakesTheYoungestClassOfAnExtendedResource) {
  Cluster c = gpus();
  c.give_class("gpu", R"({"extendedResourceName":"example.com/x"})", "2026-01-02T00:00:00Z");
  c.give_class("nic", R"({"extendedResourceName":"example.com/x"})", "2026-01-03T00:00:00Z");
  EXPECT_EQ(c.charge(asking(R"({"example.com/x":"1"})")), "example.com/x -> nics");
  c.give_class("biggpu", R"({"extendedResourceName":"example.com/x"})", "2026-01-03T00:00:00Z");
  EXPECT_EQ(c.charge(asking(R"({"example.com/x":"1"})")), "example.com/x -> gpus") << "of one age: the first by name";
}

TEST(DeviceCharge, RefusesPartsOfAnExtendedResource) {
  Cluster c = gpus();
  c.give_class("gpu", R"({"extendedResourceName":"example.com/gpu"})");
  EXPECT_NE(c.charge(asking(R"({"example.com/gpu":"500m"})")).find("extended resource quantity must be an integer"),
            std::string::npos);
}

TEST(DeviceCharge, AddsClaimsAndExtendedResources) {
  Cluster c = gpus();
  c.give_class("gpu", R"({"extendedResourceName":"example.com/gpu"})");
  c.give_template("one", "[" + exactly("r", "gpu") + "]");
  EXPECT_EQ(c.charge(Cluster::workload(R"({"containers":[{"resources":{"requests":{"example.com/gpu":"1"}}}],
      "resourceClaims":[{"name":"d","resourceClaimTemplateName":"one"}]})")),
            "gpus: 1, example.com/gpu -> gpus");
}

TEST(DeviceCharge, LeavesExtendedResourcesAloneWhenTheirGateIsOff) {
  Cluster c = gpus();
  c.rules.extended_resources = false;
  c.give_class("gpu", R"({"extendedResourceName":"example.com/gpu"})");
  EXPECT_EQ(c.charge(asking(R"({"example.com/gpu":"2"})")), "null");
}

}  // namespace
}  // namespace berth::jobs::devices::test
