// Random claims, classes, slices and mappings: the charge is what a naive computation says, which works on plain
// numbers and knows neither selectors' language nor quantities.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "jobs/devices/cluster.h"
#include "support/sanitized.h"

namespace berth::jobs::devices::test {
namespace {

using Kind = api::config::DeviceSource::Kind;

struct Random {
  std::uint64_t state;
  std::uint64_t below(std::uint64_t n) { return next_random(state) % n; }
};

struct NaiveDevice {
  int slice = 0, number = 0, size = 0;
  std::optional<int> memory;  // what it takes of the counter
};
struct NaiveSlice {
  int driver = 0, pool = 0, generation = 0, slices = 1;
  std::vector<NaiveDevice> devices;
};
struct NaiveRequest {
  int device_class = 0, count = 1;
  std::optional<int> at_least;  // selector: size
  bool all = false, admin = false;
};
struct NaiveClass {
  std::optional<int> driver;  // selector
};

// Class 0 and 1 count as gpus, 2 by the counter as memory, 3 is not mapped.
constexpr int kClasses = 4, kByCounter = 2, kUnmapped = 3;

struct World {
  std::vector<std::optional<NaiveClass>> classes;  // nullopt: it does not exist
  std::vector<NaiveSlice> slices;
  std::vector<NaiveRequest> requests;
};

World random_world(Random& random) {
  World out;
  for (int i = 0; i < kClasses; ++i) {
    out.classes.emplace_back();
    if (random.below(8) == 0) continue;
    out.classes.back().emplace();
    if (random.below(2) == 0) out.classes.back()->driver = static_cast<int>(random.below(2));
  }
  for (std::uint64_t i = random.below(4); i > 0; --i) {
    NaiveSlice slice{static_cast<int>(random.below(2)),
                     static_cast<int>(random.below(2)),
                     static_cast<int>(random.below(2)),
                     1 + static_cast<int>(random.below(2)),
                     {}};
    for (std::uint64_t k = random.below(4); k > 0; --k) {
      NaiveDevice device{
          static_cast<int>(out.slices.size()), static_cast<int>(k), static_cast<int>(random.below(3)), {}};
      if (random.below(3) > 0) device.memory = static_cast<int>(random.below(10));
      slice.devices.push_back(device);
    }
    out.slices.push_back(slice);
  }
  for (std::uint64_t i = 1 + random.below(3); i > 0; --i) {
    NaiveRequest request;
    request.device_class = static_cast<int>(random.below(random.below(4) == 0 ? kClasses : kUnmapped));
    request.count = 1 + static_cast<int>(random.below(3));
    if (random.below(2) == 0) request.at_least = static_cast<int>(random.below(3));
    request.all = random.below(16) == 0;
    request.admin = random.below(8) == 0;
    out.requests.push_back(request);
  }
  return out;
}

Cluster cluster_of(const World& world) {
  Cluster c;
  c.map("gpus", {"c0", "c1"});
  c.map("memory", {"c2"}, {{Kind::kCounter, "memory", "d0", "device.driver == 'd0'"}});
  for (int i = 0; i < kClasses; ++i) {
    const auto& naive = world.classes[static_cast<std::size_t>(i)];
    if (!naive) continue;
    const std::string selector = naive->driver ? R"({"selectors":[{"cel":{"expression":"device.driver == 'd)" +
                                                     std::to_string(*naive->driver) + R"('"}}]})"
                                               : "{}";
    c.give_class("c" + std::to_string(i), selector);
  }
  for (std::size_t i = 0; i < world.slices.size(); ++i) {
    const auto& slice = world.slices[i];
    std::string devices;
    for (const auto& device : slice.devices) {
      devices.append(devices.empty() ? "" : ",")
          .append(R"({"name":"x)" + std::to_string(device.number) + R"(","attributes":{"size":{"int":)" +
                  std::to_string(device.size) + "}}");
      if (device.memory)
        devices.append(R"(,"consumesCounters":[{"counterSet":"s","counters":{"memory":{"value":")" +
                       std::to_string(*device.memory) + R"("}}}])");
      devices.append("}");
    }
    c.give_slice("s" + std::to_string(i), R"({"driver":"d)" + std::to_string(slice.driver) + R"(","pool":{"name":"p)" +
                                              std::to_string(slice.pool) + R"(","generation":)" +
                                              std::to_string(slice.generation) + R"(,"resourceSliceCount":)" +
                                              std::to_string(slice.slices) + R"(},"devices":[)" + devices + "]}");
  }
  std::string requests;
  for (const auto& request : world.requests) {
    requests.append(requests.empty() ? "" : ",")
        .append(R"({"name":"r","exactly":{"deviceClassName":"c)" + std::to_string(request.device_class) +
                R"(","allocationMode":")" + (request.all ? "All" : "ExactCount") + '"');
    if (!request.all) requests.append(R"(,"count":)" + std::to_string(request.count));
    if (request.admin) requests.append(R"(,"adminAccess":true)");
    if (request.at_least)
      requests.append(
          R"(,"selectors":[{"cel":{"expression":"device.driver == device.driver && device.attributes[device.driver].size >= )" +
          std::to_string(*request.at_least) + R"("}}])");
    requests.append("}}");
  }
  c.give_template("t", "[" + requests + "]");
  return c;
}

bool matches(const World& world, const NaiveRequest& request, const NaiveSlice& slice, const NaiveDevice& device) {
  const auto& of_class = world.classes[static_cast<std::size_t>(request.device_class)];
  return (!of_class->driver || *of_class->driver == slice.driver) &&
         (!request.at_least || device.size >= *request.at_least);
}

bool complete(const World& world, const NaiveSlice& slice) {
  int newest = -1, there = 0;
  for (const auto& other : world.slices) {
    if (other.driver == slice.driver && other.pool == slice.pool) newest = std::max(newest, other.generation);
  }
  // The number of slices is what the first of them says.
  std::optional<int> wanted;
  for (const auto& other : world.slices) {
    if (other.driver != slice.driver || other.pool != slice.pool || other.generation != newest) continue;
    ++there;
    if (!wanted) wanted = other.slices;
  }
  return slice.generation == newest && there == wanted;
}

// nullopt: it is refused.
std::optional<std::map<std::string, int>> naive_charge(const World& world) {
  std::map<std::string, int> out;
  for (const auto& request : world.requests) {
    if (request.admin) continue;
    if (request.all || request.device_class == kUnmapped) return std::nullopt;
    if (request.device_class != kByCounter) out["gpus"] += request.count;
  }
  std::set<std::pair<int, int>> given;
  for (const auto& request : world.requests) {
    if (!request.at_least || request.all) continue;
    if (!world.classes[static_cast<std::size_t>(request.device_class)]) return std::nullopt;
    int found = 0;
    for (const auto& slice : world.slices) {
      for (const auto& device : slice.devices) {
        if (found < request.count && matches(world, request, slice, device) &&
            given.insert({device.slice, device.number}).second)
          ++found;
      }
    }
    if (found < request.count) return std::nullopt;
  }
  for (const auto& request : world.requests) {
    if (request.admin || request.device_class != kByCounter) continue;
    if (!world.classes[kByCounter]) return std::nullopt;
    int found = 0;
    std::optional<int> most;
    for (const auto& slice : world.slices) {
      if (slice.driver != 0 || !complete(world, slice)) continue;
      for (const auto& device : slice.devices) {
        if (!matches(world, request, slice, device)) continue;
        ++found;
        if (device.memory) most = std::max(most.value_or(0), *device.memory);
      }
    }
    if (found < request.count || !most) return std::nullopt;
    out["memory"] += *most * request.count;
  }
  return out;
}

TEST(DeviceCharge, IsWhatANaiveComputationSays) {
  int refused = 0, counted = 0;
  for (std::uint64_t seed = 1; seed <= std::uint64_t{100'000 / testing_support::kFewer}; ++seed) {
    Random random{seed};
    const World world = random_world(random);
    Cluster cluster = cluster_of(world);
    Charges charges(cluster.rules, Inventory{cluster.templates, cluster.classes, cluster.slices});
    const auto workload = Cluster::with_template("t");
    const auto charge = charges.charge(workload, uses_of(workload));
    ASSERT_TRUE(charge);
    const auto expected = naive_charge(world);
    ASSERT_EQ(charge->refused.empty(), expected.has_value()) << "seed " << seed << ": " << charge->refused;
    if (!expected) {
      ++refused;
      continue;
    }
    ++counted;
    std::map<std::string, int> found;
    for (const auto& [name, amount] : charge->pod_sets[0].per_pod) found[name] = static_cast<int>(amount.value());
    ASSERT_EQ(found, *expected) << "seed " << seed;
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(counted, refused / 10);
}

}  // namespace
}  // namespace berth::jobs::devices::test
