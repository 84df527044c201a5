// Devices that count by what they take: counters of devices that share others, capacity of shared devices, and lists of
// alternatives.
#include <gtest/gtest.h>

#include "jobs/devices/cluster.h"

namespace berth::jobs::devices::test {
namespace {

using Kind = api::config::DeviceSource::Kind;
using api::config::DeviceSource;

constexpr std::string_view kDriver = "d.example.com";

Cluster parts() {
  Cluster c;
  c.map("gpu-memory", {"mig"}, {{Kind::kCounter, "memory", std::string(kDriver), "device.driver == 'd.example.com'"}});
  c.give_class("mig", R"({"selectors":[{"cel":{"expression":"device.attributes['d.example.com'].type == 'mig'"}}]})");
  return c;
}

std::string part(std::string_view name, std::string_view size, std::string_view memory) {
  return R"({"name":")" + std::string(name) + R"(","attributes":{"type":{"string":"mig"},"size":{"string":")" +
         std::string(size) + R"("}},"consumesCounters":[{"counterSet":"s","counters":{"memory":{"value":")" +
         std::string(memory) + R"("}}}]})";
}

std::string slice(std::string_view pool, int generation, int slices, const std::string& devices) {
  return R"({"driver":"d.example.com","pool":{"name":")" + std::string(pool) + R"(","generation":)" +
         std::to_string(generation) + R"(,"resourceSliceCount":)" + std::to_string(slices) + R"(},"devices":[)" +
         devices + "]}";
}

constexpr std::string_view kSmall =
    R"("selectors":[{"cel":{"expression":"device.attributes['d.example.com'].size == 'small'"}}])";

TEST(DeviceCharge, CountsTheLargestCounterOfTheMatchingDevices) {
  Cluster c = parts();
  c.give_slice(
      "a",
      slice("n1", 1, 1, part("x", "small", "5Gi") + "," + part("y", "small", "5Gi") + "," + part("z", "big", "20Gi")));
  c.give_template("small",
                  R"([{"name":"r","exactly":{"deviceClassName":"mig","count":2,)" + std::string(kSmall) + "}}]");
  EXPECT_EQ(c.charge_of_template("small"), "gpu-memory: 10Gi");
  c.give_template("any", "[" + exactly("r", "mig") + "]");
  EXPECT_EQ(c.charge_of_template("any"), "gpu-memory: 20Gi");
}

TEST(DeviceCharge, LooksAtCompletePoolsOfTheNewestGenerationOnly) {
  Cluster c = parts();
  c.give_template("any", "[" + exactly("r", "mig") + "]");
  c.give_slice("a", slice("n1", 1, 1, part("x", "big", "40Gi")));
  EXPECT_EQ(c.charge_of_template("any"), "gpu-memory: 40Gi");
  c.give_slice("b", slice("n1", 2, 2, part("x", "small", "5Gi")));
  EXPECT_NE(
      c.charge_of_template("any").find("insufficient matching devices for counter driver: 0 device(s) match but 1 "
                                       "requested"),
      std::string::npos);
  c.give_slice("c", slice("n1", 2, 2, part("y", "small", "6Gi")));
  EXPECT_EQ(c.charge_of_template("any"), "gpu-memory: 6Gi");
}

TEST(DeviceCharge, NeedsTheCounter) {
  Cluster c = parts();
  c.give_template("any", "[" + exactly("r", "mig") + "]");
  c.give_slice("a", slice("n1", 1, 1, R"({"name":"x","attributes":{"type":{"string":"mig"}}})"));
  EXPECT_NE(c.charge_of_template("any").find("matched devices have no consumesCounters entry for counter \"memory\""),
            std::string::npos);
}

TEST(DeviceCharge, ANegativeCounterBuysNothing) {
  Cluster c = parts();
  c.give_template("any", "[" + exactly("r", "mig") + "]");
  c.give_slice("a", slice("n1", 1, 1, part("x", "small", "-5Gi")));
  EXPECT_EQ(c.charge_of_template("any"), "gpu-memory: 0");
}

TEST(DeviceCharge, RefusesAnExtendedResourceOfAClassThatCountsCounters) {
  Cluster c = parts();
  c.give_class("mig", R"({"extendedResourceName":"example.com/mig"})");
  EXPECT_NE(c.charge(Cluster::workload(R"({"containers":[{"resources":{"requests":{"example.com/mig":"1"}}}]})"))
                .find("extended resource example.com/mig resolves to DeviceClass mig with counters configured"),
            std::string::npos);
}

// --- Capacity.

Cluster shared(std::string_view policy, std::string_view value = "40Gi") {
  Cluster c;
  c.map("gpu-memory", {"gpu"}, {{Kind::kCapacity, "memory", std::string(kDriver), "true"}});
  c.rules.capacities = true;
  c.give_class("gpu");
  std::string spec = slice("n1", 1, 1,
                           R"({"name":"x","allowMultipleAllocations":true,"capacity":{"memory":{"value":")" +
                               std::string(value) + '"' + std::string(policy) + "}}}");
  c.give_slice("a", spec);
  return c;
}

std::string requests(std::string_view amount, int count = 1) {
  return R"([{"name":"r","exactly":{"deviceClassName":"gpu","count":)" + std::to_string(count) +
         (amount.empty() ? "" : R"(,"capacity":{"requests":{"memory":")" + std::string(amount) + R"("}})") + "}}]";
}

std::string charged(Cluster c, std::string_view amount) {
  c.give_template("t", requests(amount));
  return c.charge_of_template("t");
}

TEST(DeviceCharge, CountsTheCapacityThatIsRequested) {
  EXPECT_EQ(charged(shared(""), "15Gi"), "gpu-memory: 15Gi");
  EXPECT_EQ(charged(shared(""), ""), "gpu-memory: 40Gi") << "all of it";
  EXPECT_EQ(charged(shared(R"(,"requestPolicy":{"default":"10Gi"})"), ""), "gpu-memory: 10Gi");
}

TEST(DeviceCharge, ANegativeCapacityBuysNothing) {
  EXPECT_EQ(charged(shared(""), "-15Gi"), "gpu-memory: 0");
  EXPECT_EQ(charged(shared(R"(,"requestPolicy":{"default":"-10Gi"})"), ""), "gpu-memory: 0");
  EXPECT_EQ(charged(shared("", "-40Gi"), ""), "gpu-memory: 0");
  EXPECT_EQ(charged(shared(R"(,"requestPolicy":{"default":"1Gi","validValues":["-2Gi","1Gi"]})"), "-9Gi"),
            "gpu-memory: 0");
  EXPECT_EQ(charged(shared(R"(,"requestPolicy":{"default":"1Gi","validRange":{"min":"-5Gi","step":"1Gi"}})"), "-9Gi"),
            "gpu-memory: 0");
}

TEST(DeviceCharge, RoundsCapacityByThePolicyOfTheDevice) {
  const auto values = shared(R"(,"requestPolicy":{"default":"10Gi","validValues":["10Gi","20Gi","40Gi"]})");
  EXPECT_EQ(charged(values, "15Gi"), "gpu-memory: 20Gi");
  EXPECT_NE(charged(values, "41Gi")
                .find("capacity request cannot be satisfied by any matched device's RequestPolicy for "
                      "dimension \"memory\""),
            std::string::npos);
  const auto range =
      shared(R"(,"requestPolicy":{"default":"5Gi","validRange":{"min":"5Gi","max":"30Gi","step":"5Gi"}})");
  EXPECT_EQ(charged(range, "3Gi"), "gpu-memory: 5Gi");
  EXPECT_EQ(charged(range, "11Gi"), "gpu-memory: 15Gi");
  EXPECT_EQ(charged(range, "15Gi"), "gpu-memory: 15Gi");
  EXPECT_NE(charged(range, "31Gi").find("cannot be satisfied"), std::string::npos);
}

TEST(DeviceCharge, NeedsTheDimensionOfCapacity) {
  Cluster c = shared("");
  c.rules.mappings[0].sources[0].name = "cores";
  EXPECT_NE(charged(c, "").find("matched devices have no capacity dimension \"cores\""), std::string::npos);
}

// --- Alternatives.

std::string alternatives(std::string_view a, int a_count, std::string_view b, int b_count) {
  const auto one = [](std::string_view name, std::string_view device_class, int count) {
    return R"({"name":")" + std::string(name) + R"(","deviceClassName":")" + std::string(device_class) +
           R"(","allocationMode":"ExactCount","count":)" + std::to_string(count) + "}";
  };
  return R"([{"name":"r","firstAvailable":[)" + one("a", a, a_count) + "," + one("b", b, b_count) + "]}]";
}

TEST(DeviceCharge, CountsAlternativesOnce) {
  Cluster c;
  c.map("gpus", {"gpu", "biggpu"});
  c.map("nics", {"nic"});
  c.give_template("t", alternatives("gpu", 2, "biggpu", 2));
  EXPECT_NE(c.charge_of_template("t").find("FirstAvailable device selection is not supported"), std::string::npos);
  c.rules.prioritized_lists = true;
  EXPECT_EQ(c.charge_of_template("t"), "gpus: 2");
  c.give_template("t", alternatives("gpu", 1, "biggpu", 2));
  EXPECT_NE(c.charge_of_template("t").find("every alternative must have count 1, this one has 2"), std::string::npos);
  c.give_template("t", alternatives("gpu", 1, "nic", 1));
  EXPECT_NE(c.charge_of_template("t").find("every alternative must map to \"gpus\", this one maps to \"nics\""),
            std::string::npos);
}

}  // namespace
}  // namespace berth::jobs::devices::test
