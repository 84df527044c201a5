// An incrementally updated ledger equals one that is built from the final objects: random changes of nodes, pods,
// claims, flavors and topologies, with trials in between. After each run the invariants hold, and a fresh ledger
// places gangs the same way.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "engine/topology/cluster.h"

namespace berth::engine::rebuilt_test {
namespace {

class Life {
 public:
  Life(std::uint32_t seed, bool groups, TopologyOptions options = {})
      : random_(seed), groups_(groups), options_(options), cluster_(options) {}

  void run(int changes) {
    for (int i = 0; i < changes && !::testing::Test::HasFailure(); ++i) {
      change();
      if (chance(15)) compare();
      if (chance(10)) suppose();
    }
    compare();
  }

 private:
  struct Claim {
    std::string holder;
    std::vector<std::pair<Amounts, api::kueue::TopologyAssignmentPtr>> pod_sets;
  };

  int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int percent) { return draw(1, 100) <= percent; }
  Amounts some_requests() {
    return {{"cpu", std::to_string(draw(0, 2))}, {chance(80) ? "memory" : "gpu", std::to_string(draw(0, 3))}};
  }
  std::string some_flavor() { return chance(50) ? "f" : "g"; }

  std::vector<std::string> levels() const {
    return groups_ ? std::vector<std::string>{"block", "rack"}
                   : std::vector<std::string>{"block", "rack", "kubernetes.io/hostname"};
  }

  void change() {
    const int what = draw(0, 99);
    if (what < 30) {
      set_node();
    } else if (what < 36) {
      const std::string name = "n" + std::to_string(draw(0, 9));
      nodes_.erase(name);
      cluster_.places.remove_node(name);
    } else if (what < 55) {
      set_pod();
    } else if (what < 65 && !pods_.empty()) {
      auto it = std::next(pods_.begin(), draw(0, static_cast<int>(pods_.size()) - 1));
      cluster_.places.remove_pod("uid-" + it->first);
      pods_.erase(it);
    } else if (what < 80) {
      take();
    } else if (what < 92) {
      const auto id = static_cast<std::size_t>(draw(0, 5));
      cluster_.places.give_back(WorkloadId(id));
      claims_.erase(id);
    } else if (what < 96) {
      const std::string name = some_flavor();
      if (flavors_.erase(name) > 0) {
        cluster_.places.remove_flavor(cluster_.id(name));
      } else {
        flavors_[name] = chance(50) ? api::StringMap{} : api::StringMap{{"kind", "a"}};
        cluster_.flavor(name, "t", flavors_[name]);
      }
    } else {
      topology_ = !topology_;
      if (topology_) {
        cluster_.topology("t", levels());
      } else {
        cluster_.places.remove_topology("t");
      }
    }
  }

  void set_node() {
    const std::string name = "n" + std::to_string(draw(0, 9));
    api::StringMap labels{{"kind", chance(50) ? "a" : "b"}};
    const std::string block = "b" + std::to_string(draw(0, 1));
    labels["block"] = block;
    if (!chance(10)) labels["rack"] = block + "r" + std::to_string(draw(0, 2));
    if (chance(10)) labels["kubernetes.io/hostname"] = chance(50) ? "n1" : "h";
    Amounts capacity{{"cpu", std::to_string(draw(0, 6))}, {"memory", std::to_string(draw(0, 9))}};
    if (chance(20)) capacity.push_back({"gpu", std::to_string(draw(1, 4))});
    api::Node node = Cluster::a_node(name, labels, capacity);
    node.ready = !chance(15);
    if (chance(20)) node.taints = {{"t", std::to_string(draw(0, 2)), "NoSchedule"}};
    nodes_[name] = node;
    cluster_.places.set_node(node);
  }

  void set_pod() {
    const std::string name = "p" + std::to_string(draw(0, 14));
    api::kueue::PodPlacement pod = Cluster::a_pod(name, chance(85) ? "n" + std::to_string(draw(0, 9)) : "h",
                                                  some_requests(), chance(60) ? "w" + std::to_string(draw(0, 5)) : "");
    pod.bound = chance(70);
    pod.terminated = chance(10);
    cluster_.places.set_pod(pod);
    if (pod.holds_node()) {
      pods_[name] = pod;
    } else {
      pods_.erase(name);
    }
  }

  void take() {
    const auto id = static_cast<std::size_t>(draw(0, 5));
    const std::vector<Gang> gangs = some_gangs();
    Placement placement = cluster_.place(gangs);
    if (!placement.ok) return;
    Claim claim{"ns/w" + std::to_string(id), {}};
    for (std::size_t i = 0; i < gangs.size(); ++i) {
      claim.pod_sets.emplace_back(gangs[i].requests, cluster_.places.assignment(placement.pod_sets[i]));
    }
    claims_[id] = {gangs, claim};
    cluster_.places.take(WorkloadId(id), claim.holder, std::move(placement.pod_sets));
  }

  std::vector<Gang> some_gangs() {
    Gang gang{.flavor = some_flavor(), .count = draw(1, 4), .requests = some_requests()};
    if (chance(30)) gang.constraints.tolerations = {{"t", "Exists", "", "", std::nullopt}};
    if (chance(20)) gang.constraints.node_selector = {{"kind", "a"}};
    const int how = draw(0, 4);
    if (how == 0) gang.required("rack");
    if (how == 1) gang.preferred("rack");
    if (how == 2) gang.required("block").slices("rack", gang.count);
    if (how == 3) gang.unconstrained();
    if (!chance(25)) return {gang};
    Gang other = gang;
    other.count = 1;
    other.requests = some_requests();
    if (how < 2 && chance(60)) return {gang.in("x"), other.in("x")};
    return {gang, other};
  }

  // The final objects, in a different order.
  std::unique_ptr<Cluster> rebuilt(const std::set<std::size_t>& without = {}) {
    auto cluster = std::make_unique<Cluster>(options_);
    for (const auto& [id, claim] : claims_) {
      if (without.contains(id)) continue;
      std::vector<StatedPlaces> stated;
      for (std::size_t i = 0; i < claim.second.pod_sets.size(); ++i) {
        const auto& [requests, assignment] = claim.second.pod_sets[i];
        stated.push_back({claim.first[i].flavor, cluster->amounts(requests), assignment});
      }
      cluster->places.take_stated(WorkloadId(id), claim.second.holder, stated);
    }
    for (auto it = pods_.rbegin(); it != pods_.rend(); ++it) {
      if (!it->second.workload.empty() && without.contains(static_cast<std::size_t>(it->second.workload[1] - '0')))
        continue;
      cluster->places.set_pod(it->second);
    }
    for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it) cluster->places.set_node(it->second);
    for (const auto& [name, labels] : flavors_) cluster->flavor(name, "t", labels);
    if (topology_) cluster->topology("t", levels());
    return cluster;
  }

  void compare_with(Cluster& fresh) {
    for (int i = 0; i < 4; ++i) {
      const std::vector<Gang> gangs = some_gangs();
      ASSERT_EQ(cluster_.where(gangs), fresh.where(gangs));
      ASSERT_EQ(cluster_.text(cluster_.place(gangs, true)), fresh.text(fresh.place(gangs, true)));
    }
  }
  void compare() {
    ASSERT_EQ(cluster_.broken(), "");
    const auto fresh = rebuilt();
    ASSERT_EQ(fresh->broken(), "");
    compare_with(*fresh);
  }

  // With some workloads taken out by a trial, everything is as if they did not exist.
  void suppose() {
    std::set<std::size_t> without;
    {
      Places::Trial trial(cluster_.places);
      for (const auto& [id, claim] : claims_) {
        if (!chance(50)) continue;
        without.insert(id);
        trial.without(WorkloadId(id));
        if (chance(20)) {
          trial.again(WorkloadId(id));
          without.erase(id);
        }
      }
      compare_with(*rebuilt(without));
    }
    ASSERT_EQ(cluster_.broken(), "");
  }

  std::mt19937 random_;
  bool groups_;
  TopologyOptions options_;
  Cluster cluster_;
  std::map<std::string, api::Node> nodes_;
  std::map<std::string, api::kueue::PodPlacement> pods_;
  std::map<std::size_t, std::pair<std::vector<Gang>, Claim>> claims_;
  std::map<std::string, api::StringMap> flavors_;
  bool topology_ = false;
};

TEST(TopologyRebuilt, NodesAsLeaves) {
  for (std::uint32_t seed = 1; seed <= 30 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Life(seed, false).run(200);
  }
}

TEST(TopologyRebuilt, GroupsAsLeaves) {
  for (std::uint32_t seed = 1; seed <= 30 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Life(seed, true).run(200);
  }
}

TEST(TopologyRebuilt, GroupsWithoutTheirNodes) {
  for (std::uint32_t seed = 1; seed <= 30 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Life(seed, true, {.every_node = false}).run(200);
  }
}

}  // namespace
}  // namespace berth::engine::rebuilt_test
