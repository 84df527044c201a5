// Balanced placement (TASBalancedPlacement, KEP-2724).
#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <sstream>

#include "engine/topology/balanced_oracle.h"
#include "engine/topology/cluster.h"
#include "engine/topology/evenness.h"

namespace berth::engine::balanced_test {
namespace {

using Racks = std::vector<std::vector<int>>;  // cpu by node

// Racks "r1".. of one block, with nodes "x1".. numbered across racks.
void add_block(Cluster& cluster, const Racks& racks) {
  cluster.topology("t", {"block", "rack", "kubernetes.io/hostname"});
  cluster.flavor("f", "t");
  int node = 0, rack = 0;
  for (const auto& nodes : racks) {
    ++rack;
    for (int cpu : nodes) {
      cluster.node("x" + std::to_string(++node), {{"block", "b1"}, {"rack", "r" + std::to_string(rack)}},
                   {{"cpu", std::to_string(cpu)}});
    }
  }
}

std::string balanced(const Racks& racks, const std::vector<Gang>& gangs) {
  Cluster cluster({.balanced_placement = true});
  add_block(cluster, racks);
  return cluster.where(gangs);
}

Gang in_a_rack(std::int32_t count) { return Gang{.count = count}.preferred("rack"); }

TEST(TopologyBalanced, TheExamplesOfTheKep) {
  EXPECT_EQ(balanced({{15}, {15}}, {in_a_rack(25)}), "x1:13 x2:12");
  EXPECT_EQ(balanced({{15, 13, 10}}, {in_a_rack(23)}), "x1:12 x2:11");
  EXPECT_EQ(balanced({{20, 10}, {15, 15}}, {in_a_rack(22)}), "x3:11 x4:11");
  EXPECT_EQ(balanced({{20, 10}, {15, 15}}, {in_a_rack(20)}), "x1:20");
  EXPECT_EQ(balanced({{10, 5}, {5, 5, 5}}, {in_a_rack(15)}), "x3:5 x4:5 x5:5");
  EXPECT_EQ(balanced({{15}, {15}, {15, 15}}, {in_a_rack(25).slices("kubernetes.io/hostname", 5)}), "x3:15 x4:10");
}

TEST(TopologyBalanced, SlicesGoToNodesThatTakeAsManyEach) {
  EXPECT_EQ(balanced({{12, 12}, {14, 6}}, {in_a_rack(16).slices("kubernetes.io/hostname", 4)}), "x1:8 x2:8");
}

TEST(TopologyBalanced, ALeaderIsBesideAFullShare) {
  Gang leader = Gang{.count = 1}.preferred("rack").in("g");
  Gang workers = in_a_rack(30).slices("kubernetes.io/hostname", 5).in("g");
  EXPECT_EQ(balanced({{12, 12}, {14, 6}}, {leader, workers}), "x1:1 | x1:10 x2:10 x3:10");
  workers.count = 25;
  EXPECT_EQ(balanced({{20, 15, 12}}, {leader, workers}), "x3:1 | x2:15 x3:10");
  // Capacity for the leader is reserved on one node, not on each.
  EXPECT_EQ(balanced({{7, 5}}, {leader, in_a_rack(10).in("g")}), "x1:1 | x1:5 x2:5");
}

TEST(TopologyBalanced, WhereNothingIsBalancedBestFitCounts) {
  Cluster cluster({.balanced_placement = true}), usual;
  add_racks(cluster, 3, 2);  // racks of 8
  add_racks(usual, 3, 2);
  for (const Gang& gang : {Gang{.count = 12}.preferred("rack").slices("rack", 4), Gang{.count = 25}.preferred("rack"),
                           Gang{.count = 7}.required("rack"), Gang{.count = 7}.unconstrained()}) {
    EXPECT_EQ(cluster.where({gang}), usual.where({gang}));
  }
  EXPECT_EQ(cluster.where({Gang{.count = 6}.preferred("rack")}), "r1-n1:3 r1-n2:3");
  EXPECT_EQ(usual.where({Gang{.count = 6}.preferred("rack")}), "r1-n1:4 r1-n2:2");
}

// Searches that are too large use best fit: the gang is placed anyway.
TEST(TopologyBalanced, ASearchThatIsTooLargeIsLeftToBestFit) {
  Cluster cluster({.balanced_placement = true});
  add_block(cluster, {{2'000'000, 2'000'001}, {1'999'999}});
  for (int i = 1; i <= 3; ++i) {
    const std::string name = "x" + std::to_string(i);
    api::Node node = Cluster::a_node(name, {{"block", "b1"}, {"rack", i < 3 ? "r1" : "r2"}},
                                     {{"cpu", std::to_string(2'000'000 + i)}});
    node.allocatable["pods"] = Quantity::of(3'000'000);
    cluster.places.set_node(node);
  }
  EXPECT_NE(cluster.where({in_a_rack(5'000'000)}).find("x1:"), std::string::npos);
}

TEST(TopologyEvenness, OrdersByEntropy) {
  using topology::evenness;
  const auto of = [](std::vector<std::int32_t> amounts) { return evenness(amounts); };
  constexpr std::int64_t kBit = 1 << 24;
  EXPECT_EQ(of({}), 0);
  EXPECT_EQ(of({0, 0}), 0);
  EXPECT_EQ(of({7}), 0);
  EXPECT_EQ(of({3, 3}), kBit);
  EXPECT_EQ(of({2'000'000'000, 2'000'000'000}), kBit);
  EXPECT_EQ(of({1, 1, 2}), kBit * 3 / 2);
  EXPECT_EQ(of({9, 18, 9, 0}), kBit * 3 / 2);
  EXPECT_EQ(of({5, 5, 5}), of({1, 1, 1}));
  EXPECT_GT(of({5, 5, 5}), of({10, 5}));
  EXPECT_GT(of({8, 8, 8}), of({16, 8}));
  EXPECT_GT(of({10, 5}), of({11, 4}));
}

// --- Against an independent computation, on random topologies of up to four levels.

class Cases {
 public:
  explicit Cases(std::uint32_t seed) : random_(seed) {}

  void run(int cases) {
    for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
      if (i % 8 == 0) add_racks();
      one();
    }
  }

  int balanced = 0, best_fit = 0, refused = 0, with_leader = 0, from_above = 0;

 private:
  struct NodeSpec {
    std::vector<std::string> path;
    int cpu = 0;
  };
  int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  void add_racks() {
    static const std::vector<std::string> kLevels{"zone", "block", "rack", "kubernetes.io/hostname"};
    const auto depth = static_cast<std::ptrdiff_t>(draw(1, 4));
    levels_.assign(kLevels.end() - depth, kLevels.end());
    cluster_ = std::make_unique<Cluster>(TopologyOptions{.balanced_placement = true});
    usual_ = std::make_unique<Cluster>();
    specs_.clear();
    for (Cluster* cluster : {cluster_.get(), usual_.get()}) {
      cluster->topology("t", levels_);
      cluster->flavor("f", "t");
    }
    const int few = draw(1, 3), count = draw(1, 10);  // few kinds of nodes lead to ties
    const bool alike = draw(0, 1) == 0;
    for (int i = 0; i < count; ++i) {
      NodeSpec spec;
      api::StringMap labels;
      std::string prefix;
      for (std::size_t level = 0; level + 1 < levels_.size(); ++level) {
        prefix += std::to_string(draw(0, level == 0 ? 1 : 2));
        spec.path.push_back(levels_[level] + prefix);
        labels[levels_[level]] = spec.path.back();
      }
      spec.path.push_back("n" + std::to_string(i));
      spec.cpu = alike ? 4 * draw(1, few) : draw(0, 16);
      for (Cluster* cluster : {cluster_.get(), usual_.get()})
        cluster->node(spec.path.back(), labels, {{"cpu", std::to_string(spec.cpu)}});
      specs_.push_back(spec);
    }
  }

  void one() {
    BalancedAsk ask;
    const auto last = static_cast<int>(levels_.size()) - 1;
    ask.level = static_cast<std::size_t>(draw(0, last));
    ask.slice_level = static_cast<std::size_t>(last);
    const int worker = draw(1, 2), leader = draw(0, 6);
    Gang workers;
    workers.requests = {{"cpu", std::to_string(worker)}};
    workers.preferred(levels_[ask.level]);
    if (draw(0, 1) == 0) {
      ask.slice_level = static_cast<std::size_t>(draw(static_cast<int>(ask.level), last));
      ask.slice = draw(1, 4);
      workers.slices(levels_[ask.slice_level], ask.slice);
    }
    ask.pods = ask.slice * draw(1, draw(0, 1) == 0 ? 6 : 16);
    ask.leader = draw(0, 2) == 0;
    workers.count = ask.pods;
    std::vector<Gang> gangs{workers};
    if (ask.leader) {
      Gang chief = workers;
      chief.count = 1;
      chief.requests = {{"cpu", std::to_string(leader)}};
      gangs = {chief.in("g"), workers.in("g")};
      if (ask.pods == 1) std::swap(gangs[0], gangs[1]);  // of two pod sets of one pod, the second is the leader
    }
    std::vector<OracleNode> nodes;
    for (const NodeSpec& spec : specs_) {
      OracleNode node{spec.path, spec.cpu / worker, 0, spec.cpu >= leader};
      node.beside = node.leader ? (spec.cpu - leader) / worker : 0;
      nodes.push_back(node);
    }
    judge(ask, gangs, nodes);
  }

  void judge(const BalancedAsk& ask, const std::vector<Gang>& gangs, const std::vector<OracleNode>& nodes) {
    BalancedOracle oracle(nodes, ask);
    const auto expected = oracle.place();
    const Placement placement = cluster_->place(gangs);
    ASSERT_EQ(cluster_->broken(), "");
    if (!expected) {
      ASSERT_EQ(cluster_->where(gangs), usual_->where(gangs)) << story(ask);
      ++(placement.ok ? best_fit : refused);
      return;
    }
    ++balanced;
    with_leader += ask.leader ? 1 : 0;
    ASSERT_TRUE(placement.ok) << story(ask);
    const std::size_t level = expected->begin()->first.size() - 1,
                      workers = gangs.back().count == ask.pods && (!ask.leader || ask.pods > 1) ? gangs.size() - 1 : 0;
    from_above += level + 1 < levels_.size() ? 1 : 0;
    const auto pods = by_path(cluster_->text(placement.pod_sets[workers]));
    BalancedOracle::Shares got;
    for (const auto& [path, count] : pods) got[cut(path, level)].first += count;
    if (ask.leader) {
      const auto chief = by_path(cluster_->text(placement.pod_sets[1 - workers]));
      ASSERT_EQ(chief.size(), 1u);
      got[cut(chief.begin()->first, level)].second = true;
    }
    ASSERT_EQ(got, *expected) << cluster_->text(placement) << story(ask);
    for (const auto& [path, share] : *expected) {
      if (share.second) continue;
      std::map<std::vector<std::string>, int> here;
      for (const auto& [leaf, count] : pods) {
        if (cut(leaf, level) == path) here[leaf] = count;
      }
      ASSERT_EQ(here, oracle.leaves(path, share.first)) << cluster_->text(placement) << story(ask);
    }
  }

  static std::vector<std::string> cut(const std::vector<std::string>& path, std::size_t level) {
    return {path.begin(), path.begin() + static_cast<std::ptrdiff_t>(level) + 1};
  }
  // "n1:2 n3:1" by the nodes' paths.
  std::map<std::vector<std::string>, int> by_path(const std::string& places) const {
    std::map<std::vector<std::string>, int> out;
    std::istringstream in(places);
    for (std::string each; in >> each;) {
      const std::string name = each.substr(0, each.find(':'));
      for (const NodeSpec& spec : specs_) {
        if (spec.path.back() == name) out[spec.path] = std::stoi(each.substr(each.find(':') + 1));
      }
    }
    return out;
  }
  std::string story(const BalancedAsk& ask) const {
    std::string out = "\n" + std::to_string(ask.pods) + " pods, preferred " + levels_[ask.level] + ", slices of " +
                      std::to_string(ask.slice) + " on " + levels_[ask.slice_level] + (ask.leader ? ", a leader" : "") +
                      "\n";
    for (const NodeSpec& spec : specs_) {
      for (const std::string& value : spec.path) out += value + "/";
      out += " " + std::to_string(spec.cpu) + "\n";
    }
    return out;
  }

  std::mt19937 random_;
  std::unique_ptr<Cluster> cluster_, usual_;
  std::vector<std::string> levels_;
  std::vector<NodeSpec> specs_;
};

TEST(TopologyBalanced, EqualsAnIndependentComputationOnRandomClusters) {
  constexpr int kCases = 6'000;
  // Different cases in each run of --gtest_shuffle --gtest_repeat=N.
  Cases cases(static_cast<std::uint32_t>(12 + ::testing::UnitTest::GetInstance()->random_seed()));
  cases.run(kCases);
  std::printf("balanced %d (with a leader %d, on racks and above %d), best fit %d, refused %d\n", cases.balanced,
              cases.with_leader, cases.from_above, cases.best_fit, cases.refused);
  EXPECT_GT(cases.balanced, kCases / 4);
  EXPECT_GT(cases.with_leader, kCases / 20);
  EXPECT_GT(cases.from_above, kCases / 20);
  EXPECT_GT(cases.best_fit, kCases / 20);
}

}  // namespace
}  // namespace berth::engine::balanced_test
