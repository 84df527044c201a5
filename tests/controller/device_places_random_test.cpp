// Places with devices on small random clusters, compared with all possible placements. What the pods of a gang need of
// devices is found by allocating the claims of all pods of a node, as kube-scheduler does.
//
// Where the devices of two kinds of requests are the same, apart, or one's inside the other's, a gang gets a place
// exactly when there is one. Otherwise (kinds that overlap, parts of devices, shared devices) a gang that can be placed
// always is; some are placed that do not fit, as docs/devices.md says. Their number is printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "embedded/cluster/devices/allocator.h"
#include "engine/topology/cluster.h"
#include "jobs/devices/cluster.h"
#include "jobs/devices/supply.h"

namespace berth::controller::device_places_random_test {
namespace {

using berth::cluster::devices::Allocator;
using engine::Gang;
using engine::Placement;
using engine::WorkloadId;
using jobs::devices::Kind;
using jobs::devices::Supply;

constexpr int kWorlds = 2'500, kGangsPerWorld = 8;

enum class Devices { kWhole, kOverlapping, kParts, kShared };

class World {
 public:
  World(std::uint32_t seed, Devices devices) : random_(seed), devices_(devices) {
    places_.topology("t", {"rack", "kubernetes.io/hostname"});
    places_.flavor("f", "t");
    cluster_.give_class("any", R"({"selectors":[{"cel":{"expression":"device.driver == 'd'"}}]})");
    cluster_.give_class(
        "red",
        R"({"selectors":[{"cel":{"expression":"device.driver == 'd' && device.attributes['d'].color == 'red'"}}]})");
    tolerant_ = chance(30);
    for (int i = draw(1, 4); i > 0; --i) add_node("n" + std::to_string(i));
    supply_ = std::make_unique<Supply>(inventory(), true);
    for (const auto& node : nodes_) supply_->set_node(node.name, node.labels);
    for (int i = 0; i < 3; ++i) requests_.push_back(a_request());
    for (const auto& each : requests_) supply_->use(*jobs::devices::kind_of(each, true));
    supply_->slices_changed();
    report();
    for (int i = draw(0, 3); i > 0; --i) give_to_stranger();
  }

  // Places a gang, or finds that it has no place.
  void one() {
    if (chance(25)) allocate_some();
    if (chance(10)) give_to_stranger();
    if (chance(10)) republish();
    if (chance(30) && !holders_.empty()) end_one();
    Gang gang;
    gang.count = draw(1, 3);
    const bool required = chance(50);
    required ? gang.required("rack") : gang.unconstrained();
    std::vector<api::ClaimRequest> asked;
    for (int i = chance(70) ? 1 : 2; i > 0; --i) {
      asked.push_back(requests_[static_cast<std::size_t>(draw(0, 2))]);
      asked.back().exactly->count = chance(70) ? 1 : draw(1, 3);
      asked.back().name = "r" + std::to_string(i);
    }
    api::ResourceList needs;
    for (const auto& each : asked) {
      for (const auto& [name, amount] : supply_->each_of(jobs::devices::kind_of(each, true)->name)) {
        Quantity& sum = needs[name];
        sum = sum + amount * each.exactly->count;
      }
    }
    for (const auto& [name, amount] : needs) gang.requests.emplace_back(name, amount.to_string());
    const std::size_t id = ++last_;
    const Placement placement = places_.place({gang});
    const bool can = possible(gang.count, asked, required);
    ++(can ? fit : no_fit);
    const std::string where = placement.ok ? places_.text(placement) : places_.where({gang});
    if (devices_ == Devices::kWhole) {
      EXPECT_EQ(placement.ok, can) << where << "\n" << describe(asked, gang.count);
    } else {
      EXPECT_TRUE(placement.ok || !can) << where << "\n" << describe(asked, gang.count);
      if (placement.ok && !can) ++too_many;
    }
    EXPECT_EQ(places_.broken(), "");
    if (!placement.ok || !can) return;
    places_.admit(id, {gang});
    // The scheduler gives the nodes their pods: only what it can.
    Holder& holder = holders_[id];
    const auto assignment = places_.places.assignment(placement.pod_sets[0]);
    for (const auto& domain : assignment->domains) {
      for (int i = 0; i < domain.count; ++i) holder.pods.push_back({domain.values.back(), a_claim(asked), false});
    }
    if (devices_ != Devices::kWhole) allocate_all(id);
  }

  int fit = 0, no_fit = 0, too_many = 0;

 private:
  struct Node {
    std::string name;
    api::StringMap labels;
    int cpu = 0;
  };
  struct Pod {
    std::string node;
    std::shared_ptr<api::ResourceClaim> claim;
    bool allocated = false;
  };
  struct Holder {
    std::vector<Pod> pods;
  };

  int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int percent) { return draw(1, 100) <= percent; }
  jobs::devices::Inventory inventory() const { return {cluster_.templates, cluster_.classes, cluster_.slices}; }

  void add_node(const std::string& name) {
    Node node{name, {{"rack", chance(50) ? "r1" : "r2"}, {"kubernetes.io/hostname", name}}, draw(1, 5)};
    places_.node(name, node.labels, {{"cpu", std::to_string(node.cpu)}});
    nodes_.push_back(node);
    give_slice(name, 1);
  }

  void give_slice(const std::string& node, int generation) {
    std::string devices, counters;
    const int count = draw(0, 6);
    for (int i = 0; i < count; ++i) {
      const std::string name = "g" + std::to_string(i);
      const auto device = [&](const std::string& of, const std::string& more) {
        const std::string color = chance(50) ? "red" : "blue", size = chance(50) ? "big" : "small";
        devices += (devices.empty() ? "" : ",") + (R"({"name":")" + of + R"(","attributes":{"color":{"string":")" +
                                                   color + R"("},"size":{"string":")" + size + R"("}})" + more + "}");
      };
      if (devices_ == Devices::kShared && chance(60)) {
        device(name, R"(,"allowMultipleAllocations":true,"capacity":{"memory":{"value":"4"}})");
      } else if (devices_ == Devices::kParts && chance(60)) {
        counters +=
            (counters.empty() ? "" : ",") + (R"({"name":")" + name + R"(","counters":{"memory":{"value":"4"}}})");
        for (const auto& [part, memory] : {std::pair("w", 4), {"h1", 2}, {"h2", 2}, {"q", 1}})
          device(name + part, R"(,"consumesCounters":[{"counterSet":")" + name +
                                  R"(","counters":{"memory":{"value":")" + std::to_string(memory) + R"("}}}])");
      } else {
        device(name, chance(15) ? R"(,"taints":[{"key":"worn","effect":"NoSchedule"}])" : "");
      }
    }
    const std::string head = R"({"driver":"d","nodeName":")" + node + R"(","pool":{"name":")" + node +
                             R"(","generation":)" + std::to_string(generation) + R"(,"resourceSliceCount":2},)";
    cluster_.give_slice(node, head + R"("devices":[)" + devices + "]}");
    cluster_.give_slice(node + "-counters", head + R"("sharedCounters":[)" + counters + "]}");
  }

  api::ClaimRequest a_request() {
    api::DeviceRequest request;
    request.device_class = chance(50) ? "any" : "red";
    const bool any_size = devices_ == Devices::kWhole && request.device_class == "any";
    if (!any_size && chance(50)) request.selectors = {"device.attributes['d'].size == 'big'"};
    if (devices_ == Devices::kWhole ? tolerant_ : chance(30))
      request.tolerations = {{"worn", "Exists", "", "", std::nullopt}};
    if (devices_ == Devices::kShared && chance(50)) request.capacity = {{"memory", Quantity::of(draw(1, 2))}};
    return {"r", request, {}};
  }

  std::shared_ptr<api::ResourceClaim> a_claim(const std::vector<api::ClaimRequest>& requests) {
    auto claim = std::make_shared<api::ResourceClaim>();
    claim->meta.ns = "ns";
    claim->meta.uid = claim->meta.name = "claim-" + std::to_string(++claims_);
    claim->requests = requests;
    return claim;
  }

  void report() {
    const auto changes = supply_->take_changes();
    for (const auto& each : changes.claims) {
      api::kueue::PodPlacement placement;
      placement.uid = each.claim;
      placement.ns = each.consumer.ns;
      placement.workload = each.consumer.workload;
      placement.node = each.consumer.node;
      placement.bound = true;
      placement.requests = each.amounts;
      places_.places.set_taken_devices(placement);
    }
    for (const auto& [node, devices] : changes.nodes) places_.places.set_devices(node, devices);
  }

  void set_allocated(const std::shared_ptr<api::ResourceClaim>& claim, const Json& allocation,
                     const std::string& workload, const std::string& node) {
    auto now = std::make_shared<api::ResourceClaim>(*claim);
    now->allocation = std::make_shared<const Json>(allocation);
    taken_.add(allocation);
    supply_->set_claim(now, {"ns", workload, node, false});
    report();
  }

  void give_to_stranger() {
    const Node& node = nodes_[static_cast<std::size_t>(draw(0, static_cast<int>(nodes_.size()) - 1))];
    auto request = requests_[static_cast<std::size_t>(draw(0, 2))];
    request.exactly->count = draw(1, 2);
    auto waiting = waiting_on(node.name);
    const auto claim = a_claim({request});
    waiting.push_back(claim.get());
    // Only what leaves the others their devices.
    const auto all = Allocator(inventory()).allocate(waiting, {node.name, node.labels}, taken_);
    if (all) set_allocated(claim, all->back(), "", node.name);
  }

  std::vector<const api::ResourceClaim*> waiting_on(const std::string& node) const {
    std::vector<const api::ResourceClaim*> out;
    for (const auto& [id, holder] : holders_) {
      for (const Pod& pod : holder.pods) {
        if (pod.node == node && !pod.allocated) out.push_back(pod.claim.get());
      }
    }
    return out;
  }

  // Some pods that wait get their devices: such that the others can have theirs, too.
  void allocate_some() {
    for (const Node& node : nodes_) {
      const auto all = Allocator(inventory()).allocate(waiting_on(node.name), {node.name, node.labels}, taken_);
      if (!all) continue;
      std::size_t at = 0;
      for (auto& [id, holder] : holders_) {
        for (Pod& pod : holder.pods) {
          if (pod.node != node.name || pod.allocated) continue;
          const Json& allocation = (*all)[at++];
          if (!chance(50)) continue;
          pod.allocated = true;
          set_allocated(pod.claim, allocation, "w" + std::to_string(id), node.name);
          pod.claim->allocation = std::make_shared<const Json>(allocation);
        }
      }
    }
  }

  void allocate_all(std::size_t id) {
    for (Pod& pod : holders_[id].pods) {
      const auto& labels = node_of(pod.node).labels;
      const auto got = Allocator(inventory()).allocate({pod.claim.get()}, {pod.node, labels}, taken_);
      if (!got) continue;  // the pod waits
      pod.allocated = true;
      set_allocated(pod.claim, got->front(), "w" + std::to_string(id), pod.node);
      pod.claim->allocation = std::make_shared<const Json>(got->front());
    }
  }

  void end_one() {
    const auto it = std::next(holders_.begin(), draw(0, static_cast<int>(holders_.size()) - 1));
    places_.places.give_back(WorkloadId(it->first));
    for (const Pod& pod : it->second.pods) {
      if (!pod.allocated) continue;
      taken_.add(*pod.claim->allocation, -1);
      supply_->remove_claim(pod.claim->meta.uid);
    }
    report();
    holders_.erase(it);
  }

  // A driver publishes its devices anew, some are gone. Not where pods wait for devices: theirs could be gone.
  void republish() {
    const Node& node = nodes_[static_cast<std::size_t>(draw(0, static_cast<int>(nodes_.size()) - 1))];
    if (!waiting_on(node.name).empty()) return;
    const bool in_use = std::ranges::any_of(holders_, [&](const auto& holder) {
      return std::ranges::any_of(holder.second.pods, [&](const Pod& pod) { return pod.node == node.name; });
    });
    if (in_use || last_ % 2 == 0) return;
    give_slice(node.name, static_cast<int>(last_) + 2);
    supply_->slices_changed();
    report();
    renewed_ = true;
    // What requests need may have changed: the controller charges workloads with places anew. Here they end.
    for (auto& [id, holder] : holders_) places_.places.give_back(WorkloadId(id));
    for (auto& [id, holder] : holders_) {
      for (Pod& pod : holder.pods) {
        if (!pod.allocated) continue;
        taken_.add(*pod.claim->allocation, -1);
        supply_->remove_claim(pod.claim->meta.uid);
      }
    }
    holders_.clear();
    report();
  }

  const Node& node_of(const std::string& name) const { return *std::ranges::find(nodes_, name, &Node::name); }

  // How many pods with these requests fit on the node beside all that is there.
  int fitting(const Node& node, const std::vector<api::ClaimRequest>& asked, int most) {
    auto claims = waiting_on(node.name);
    std::vector<std::shared_ptr<api::ResourceClaim>> more;
    int pods = 0, cpu = node.cpu;
    for (const auto& [id, holder] : holders_) {
      for (const Pod& pod : holder.pods) cpu -= pod.node == node.name ? 1 : 0;
    }
    for (; pods < most && pods < cpu; ++pods) {
      more.push_back(a_claim(asked));
      claims.push_back(more.back().get());
      if (!Allocator(inventory()).allocate(claims, {node.name, node.labels}, taken_)) break;
    }
    return pods;
  }
  bool possible(int count, const std::vector<api::ClaimRequest>& asked, bool required) {
    std::map<std::string, int> by_rack;
    int all = 0;
    for (const Node& node : nodes_) {
      const int fits = fitting(node, asked, count);
      by_rack[node.labels.at("rack")] += fits;
      all += fits;
    }
    return required ? std::ranges::any_of(by_rack, [&](const auto& rack) { return rack.second >= count; })
                    : all >= count;
  }
  std::string describe(const std::vector<api::ClaimRequest>& asked, int count) const {
    std::string out = std::to_string(count) + " pods with";
    for (const auto& each : asked)
      out += " " + std::to_string(each.exactly->count) + " of " + jobs::devices::kind_of(each, true)->name;
    return out;
  }

  std::mt19937 random_;
  const Devices devices_;
  bool tolerant_ = false, renewed_ = false;
  jobs::devices::test::Cluster cluster_;
  engine::Cluster places_;
  std::vector<Node> nodes_;
  std::vector<api::ClaimRequest> requests_;
  std::unique_ptr<Supply> supply_;
  berth::cluster::devices::Taken taken_;
  std::map<std::size_t, Holder> holders_;
  std::size_t last_ = 0, claims_ = 0;
};

void play(Devices devices, int worlds, std::uint32_t first_seed) {
  int fit = 0, no_fit = 0, too_many = 0;
  for (int i = 0; i < worlds; ++i) {
    const std::uint32_t seed = first_seed + static_cast<std::uint32_t>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed, devices);
    for (int gang = 0; gang < kGangsPerWorld; ++gang) world.one();
    fit += world.fit;
    no_fit += world.no_fit;
    too_many += world.too_many;
    if (::testing::Test::HasFailure()) return;
  }
  std::printf("%d gangs fit, %d do not; %d of these got a place\n", fit, no_fit, too_many);
  EXPECT_GT(fit, worlds);
  EXPECT_GT(no_fit, worlds / 2);
  EXPECT_LT(too_many, no_fit);
}

TEST(DevicePlacesRandom, WholeDevicesOfNestedKindsAreExact) { play(Devices::kWhole, kWorlds, 1); }
TEST(DevicePlacesRandom, WhatFitsWithOverlappingKindsIsPlaced) { play(Devices::kOverlapping, kWorlds / 5, 100'001); }
TEST(DevicePlacesRandom, WhatFitsWithPartsOfDevicesIsPlaced) { play(Devices::kParts, kWorlds / 10, 200'001); }
TEST(DevicePlacesRandom, WhatFitsWithSharedDevicesIsPlaced) { play(Devices::kShared, kWorlds / 5, 300'001); }

}  // namespace
}  // namespace berth::controller::device_places_random_test
