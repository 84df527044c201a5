// Random workloads that are spread: no domain over its share gets one (a required rule), or only when no other domain
// can hold it (a preferred rule); and none waits that could be placed. Compared with sums over a plain list.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/topology/cluster.h"

namespace berth::engine::spreading_random_test {
namespace {

constexpr int kZones = 3, kRacks = 3, kNodes = 2;
const api::StringMap kApp{{"app", "a"}};

// A zone "a" has the racks "ab", ..., a rack "ab" has the nodes "abc", ...: names are made of the names above.
class World {
 public:
  World(std::uint32_t seed, bool hosts) : random_(seed), hosts_(hosts) {
    cluster_.topology("t", hosts ? std::vector<std::string>{"zone", "rack", "kubernetes.io/hostname"}
                                 : std::vector<std::string>{"zone", "rack"});
    cluster_.flavor("f", "t");
    for (int z = 0; z < kZones; ++z) {
      for (int r = 0; r < kRacks; ++r) {
        for (int n = 0; n < kNodes; ++n) {
          const std::string name{letter(z), letter(r), letter(n)};
          const int cpu = draw(1, 4);
          free_[name] = cpu;
          cluster_.node(name, {{"zone", name.substr(0, 1)}, {"rack", name.substr(0, 2)}},
                        {{"cpu", std::to_string(cpu)}});
        }
      }
    }
  }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      if (!admitted_.empty() && draw(1, 100) <= 35) {
        give_back();
      } else {
        admit();
      }
      if (i % 10 == 0) {
        EXPECT_EQ(cluster_.broken(), "");
      }
    }
  }

  int placed = 0, refused = 0, forced = 0;

 private:
  struct Admitted {
    std::map<std::string, int> pods;  // by node, or by rack without hosts
    bool counts = false;
  };

  static char letter(int i) { return static_cast<char>('a' + i); }
  int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  // "zone" is the first letter of a name, "rack" the first two.
  static std::string at_level(const std::string& name, const std::string& level) {
    return name.substr(0, level == "zone" ? 1 : 2);
  }

  std::set<std::string> crowded(const api::kueue::SpreadingRule& rule) const {
    std::map<std::string, int> held;
    int total = 0;
    for (const auto& [id, one] : admitted_) {
      std::set<std::string> domains;
      for (const auto& [name, pods] : one.pods) domains.insert(at_level(name, rule.topology_key));
      if (!one.counts) continue;
      for (const auto& domain : domains) ++held[domain];
      total += static_cast<int>(domains.size());
    }
    std::set<std::string> out;
    for (const auto& [domain, count] : held) {
      if (count * 1000 > rule.most_share * total) out.insert(domain);
    }
    return out;
  }

  // How many pods fit in a domain, without what is forbidden.
  int room(const std::string& domain,
           const std::vector<std::pair<std::string, std::set<std::string>>>& forbidden) const {
    int sum = 0;
    for (const auto& [name, cpu] : free_) {
      if (!name.starts_with(domain)) continue;
      const bool allowed = std::ranges::none_of(
          forbidden, [&, &node = name](const auto& each) { return each.second.contains(at_level(node, each.first)); });
      if (allowed) sum += cpu;
    }
    return sum;
  }

  void admit() {
    const std::string level = draw(0, 1) == 0 ? "zone" : "rack";
    Gang gang{.count = draw(1, 3)};
    gang.required(level);
    for (const std::string& key : {std::string("zone"), std::string("rack")}) {
      if (draw(0, 1) == 0) gang.spread(key, draw(1, 9) * 100, draw(0, 1) == 0);
    }
    std::vector<std::pair<std::string, std::set<std::string>>> forbidden, avoided;
    for (const auto& rule : gang.spreading ? gang.spreading->rules : std::vector<api::kueue::SpreadingRule>()) {
      // A preferred rule below the required level only orders the parts of a domain.
      if (rule.preferred && rule.topology_key == "rack" && level == "zone") continue;
      (rule.preferred ? avoided : forbidden).emplace_back(rule.topology_key, crowded(rule));
    }
    std::set<std::string> fitting, preferred;
    for (const auto& [name, cpu] : free_) {
      const std::string domain = at_level(name, level);
      if (room(domain, forbidden) < gang.count) continue;
      fitting.insert(domain);
      const bool uncrowded = std::ranges::none_of(
          avoided, [&](const auto& each) { return each.second.contains(at_level(domain, each.first)); });
      if (uncrowded) preferred.insert(domain);
    }
    Placement placement = cluster_.place({gang});
    ASSERT_EQ(placement.ok, !fitting.empty());
    if (!placement.ok) {
      ++refused;
      return;
    }
    ++placed;
    Admitted one;
    one.counts = draw(1, 100) <= 80;
    const auto assignment = cluster_.places.assignment(placement.pod_sets[0]);
    for (const auto& domain : assignment->domains) one.pods[domain.values.back()] += domain.count;
    for (const auto& [name, pods] : one.pods) {
      for (const auto& [key, domains] : forbidden) EXPECT_FALSE(domains.contains(at_level(name, key))) << name;
      const std::string domain = at_level(name, level);
      if (!preferred.empty()) {
        EXPECT_TRUE(preferred.contains(domain)) << name << " is crowded";
      }
      forced += preferred.empty() ? 1 : 0;
      take(name, pods);
    }
    const int id = ++last_;
    cluster_.places.take(WorkloadId(static_cast<std::size_t>(id)), "ns/w" + std::to_string(id),
                         std::move(placement.pod_sets),
                         std::make_shared<const api::StringMap>(one.counts ? kApp : api::StringMap()));
    admitted_.emplace(id, std::move(one));
  }

  // Without hosts only the rack is known: its nodes are full in the order of their names, as far as the sum matters.
  void take(const std::string& name, int pods) {
    for (auto& [node, cpu] : free_) {
      if (!node.starts_with(name)) continue;
      const int taken = hosts_ ? pods : std::min(pods, cpu);
      cpu -= taken;
      pods -= taken;
      if (pods == 0) return;
    }
    ADD_FAILURE() << name << " holds more than it has";
  }

  void give_back() {
    const auto one = std::next(admitted_.begin(), draw(0, static_cast<int>(admitted_.size()) - 1));
    cluster_.places.give_back(WorkloadId(static_cast<std::size_t>(one->first)));
    for (const auto& [name, pods] : one->second.pods) {
      auto node = free_.lower_bound(name);
      node->second += pods;  // only sums of racks matter where hosts do not
    }
    admitted_.erase(one);
  }

  std::mt19937 random_;
  bool hosts_;
  Cluster cluster_;
  std::map<std::string, int> free_;  // cpu, by node
  std::map<int, Admitted> admitted_;
  int last_ = 0;
};

TEST(SpreadingRandom, RulesHoldAndNobodyWaitsInVain) {
  int placed = 0, refused = 0, forced = 0;
  for (std::uint32_t seed = 1; seed <= 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    World world(seed, seed % 3 != 0);
    world.run(150);
    placed += world.placed;
    refused += world.refused;
    forced += world.forced;
  }
  EXPECT_GT(placed, 1000);
  EXPECT_GT(refused, 100);
  EXPECT_GT(forced, 10) << "crowded domains that were taken because no other one was left";
}

}  // namespace
}  // namespace berth::engine::spreading_random_test
