// Compares placement with all possible placements, on 20,000 random small cases of all kinds of requests: a gang is
// placed exactly when it can be, within capacity and its constraints, and with the smallest possible number of
// domains of the requested level.
//
// Some rules of KEP-2724 choose more domains; they take precedence. These kinds of cases are counted below, and each
// occurs:
//   fullest first    an unconstrained request, or one with slices only, uses the domains with the least free
//                    capacity first
//   level by level   a preferred request that fits in one domain some levels up gets the best fit of that domain. The
//                    fewest domains level by level need not be the fewest of the whole tree. One level up, the
//                    fewest domains of the chosen domain are required here.
//   leader first     the leader's domain is chosen before the workers' domains
#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <set>

#include "engine/topology/cluster.h"
#include "engine/topology/oracle.h"

namespace berth::engine::oracle_test {
namespace {

constexpr int kCases = 20'000, kRequestsPerCluster = 10;

class Cases {
 public:
  explicit Cases(std::uint32_t seed) : random_(seed) {}

  void run() {
    for (int i = 0; i < kCases / kRequestsPerCluster; ++i) {
      add_racks();
      for (int j = 0; j < kRequestsPerCluster && !::testing::Test::HasFailure(); ++j) one();
      if (::testing::Test::HasFailure()) return;
    }
  }

  int placed = 0, refused = 0, fewest = 0, tails = 0, racks = 0;
  std::map<std::string, int> more_by_rule;

 private:
  using Path = std::vector<std::string>;
  using Counts = std::map<Path, int>;
  struct NodeSpec {
    std::string name;
    std::vector<std::string> path;
    int cpu = 0, memory = 0, used_cpu = 0, used_memory = 0;
    bool tainted = false, up = true;
    std::string kind;
  };
  struct Kind {
    Gang workers;
    Gang leader;
    bool with_leader = false;
    OracleAsk ask;
    bool required = false, unconstrained = false;
  };

  int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int percent) { return draw(1, 100) <= percent; }

  void add_racks() {
    cluster_ = std::make_unique<Cluster>();
    nodes_.clear();
    depth_ = static_cast<std::size_t>(draw(1, 4));
    static const std::vector<std::string> kLevels{"zone", "block", "rack", "kubernetes.io/hostname"};
    bare_ = depth_ > 1 && chance(30);
    levels_.assign(kLevels.end() - static_cast<std::ptrdiff_t>(depth_), kLevels.end());
    if (bare_) {
      levels_.pop_back();
      --depth_;
    }
    cluster_->topology("t", levels_);
    cluster_->flavor("f", "t");
    const int count = draw(1, 12);
    for (int i = 0; i < count; ++i) {
      NodeSpec node;
      node.name = "n" + std::to_string(i);
      api::StringMap labels;
      std::string prefix;
      for (std::size_t level = 0; level + (bare_ ? 0 : 1) < depth_; ++level) {
        prefix += std::to_string(draw(0, level == 0 ? 1 : 2));
        node.path.push_back(levels_[level] + prefix);
        labels[levels_[level]] = node.path.back();
      }
      node.path.push_back(node.name);
      node.cpu = draw(0, 6);
      node.memory = draw(0, 12);
      node.kind = chance(80) ? "a" : "b";
      node.tainted = chance(15);
      node.up = !chance(8);
      labels["kind"] = node.kind;
      api::Node made = Cluster::a_node(node.name, labels,
                                       {{"cpu", std::to_string(node.cpu)}, {"memory", std::to_string(node.memory)}});
      if (node.tainted) made.taints = {{"t", "v", "NoSchedule"}};
      made.ready = node.up;
      cluster_->places.set_node(made);
      if (chance(30)) {
        node.used_cpu = draw(0, 3);
        node.used_memory = draw(0, 3);
        if (bare_) {  // a node that gave more than it has makes its rack smaller
          node.used_cpu = std::min(node.used_cpu, node.cpu);
          node.used_memory = std::min(node.used_memory, node.memory);
        }
        cluster_->pod("p" + node.name, node.name,
                      {{"cpu", std::to_string(node.used_cpu)}, {"memory", std::to_string(node.used_memory)}},
                      chance(50) ? "w" : "");
      }
      nodes_.push_back(node);
    }
  }

  Amounts some_requests() {
    requests_cpu_ = draw(0, 3);
    requests_memory_ = draw(0, 4);
    return {{"cpu", std::to_string(requests_cpu_)}, {"memory", std::to_string(requests_memory_)}};
  }

  Kind some_request() {
    Kind kind;
    kind.ask.pods = draw(1, 12);
    const auto last = static_cast<int>(depth_) - 1;
    const int how = draw(0, 9);
    auto level = [&] { return static_cast<std::size_t>(draw(0, last)); };
    kind.ask.level = how < 8 ? level() : depth_ - 1;
    std::size_t slice_level = depth_;
    if (how >= 5 && how < 8) {  // slices, possibly in layers
      slice_level = static_cast<std::size_t>(draw(static_cast<int>(kind.ask.level), last));
      if (how == 7) kind.ask.level = 0;
      const int size = draw(1, 4);
      kind.ask.pods = size * draw(1, 4);
      kind.ask.multiple[slice_level] = size;
      std::vector<api::kueue::SliceLayer> layers{{levels_[slice_level], size}};
      if (static_cast<int>(slice_level) < last && chance(60)) {
        const auto inner = static_cast<std::size_t>(draw(static_cast<int>(slice_level) + 1, last));
        const int part = size % 2 == 0 ? 2 : 1;
        kind.ask.multiple[inner] = part;
        layers.push_back({levels_[inner], part});
      }
      if (layers.size() == 1 && size > 1 && chance(40)) {  // a smaller last slice, or only that
        kind.ask.tail = draw(1, size - 1);
        kind.ask.tail_level = slice_level;
        kind.ask.pods = size * draw(0, 3) + kind.ask.tail;
      }
      kind.workers.layers(layers);
    }
    kind.required = how == 0 || how == 1 || how == 5;
    kind.unconstrained = how >= 7;
    if (kind.required) kind.workers.required(levels_[kind.ask.level]);
    if (how >= 2 && how <= 4) kind.workers.preferred(levels_[kind.ask.level]);
    if (how == 6) kind.workers.preferred(levels_[kind.ask.level]);
    if (how == 8) kind.workers.unconstrained();
    kind.with_leader = how < 8 && chance(40);
    return kind;
  }

  int fit(const NodeSpec& node, int cpu, int memory, int less_cpu, int less_memory) const {
    int most = 100;
    if (cpu > 0) most = std::min(most, std::max(0, node.cpu - node.used_cpu - less_cpu) / cpu);
    if (memory > 0) most = std::min(most, std::max(0, node.memory - node.used_memory - less_memory) / memory);
    return most;
  }

  void one() {
    Kind kind = some_request();
    kind.workers.count = kind.ask.pods;
    kind.workers.requests = some_requests();
    const int cpu = requests_cpu_, memory = requests_memory_;
    const bool picky = chance(20), tolerant = chance(30);
    auto constrain = [&](Gang& gang) {
      if (picky) gang.constraints.node_selector = {{"kind", "a"}};
      if (tolerant) gang.constraints.tolerations = {{"t", "Exists", "", "", std::nullopt}};
    };
    constrain(kind.workers);
    std::vector<Gang> gangs{kind.workers};
    int leader_cpu = 0, leader_memory = 0;
    if (kind.with_leader) {
      Gang leader = kind.workers;
      leader.count = 1;
      leader.requests = some_requests();
      leader_cpu = requests_cpu_;
      leader_memory = requests_memory_;
      gangs = {leader.in("g"), kind.workers.in("g")};
      if (kind.ask.pods == 1) std::swap(gangs[0], gangs[1]);  // of two pod sets of one pod, the second is the leader
      kind.ask.leader = true;
    }
    std::vector<OracleNode> nodes;
    for (const NodeSpec& node : nodes_) {
      if (!node.up || (picky && node.kind != "a") || (!tolerant && node.tainted)) continue;
      OracleNode each{node.path, fit(node, cpu, memory, 0, 0), 0, false};
      each.leader = kind.with_leader && fit(node, leader_cpu, leader_memory, 0, 0) > 0;
      if (each.leader) each.beside = fit(node, cpu, memory, leader_cpu, leader_memory);
      nodes.push_back(each);
    }
    judge(kind, gangs, nodes);
  }

  void judge(const Kind& kind, const std::vector<Gang>& gangs, const std::vector<OracleNode>& nodes) {
    const Oracle oracle(nodes, kind.ask);
    const int best = kind.required ? oracle.fewest_in_one(kind.ask.level) : oracle.fewest();
    const Placement placement = cluster_->place(gangs);
    ASSERT_EQ(placement.ok, best < Oracle::kNever) << cluster_->where(gangs);
    if (!placement.ok) {
      ++refused;
      return;
    }
    ++placed;
    racks += bare_ ? 1 : 0;
    const std::size_t workers = kind.with_leader && kind.ask.pods > 1 ? 1 : 0;
    Counts on;
    const auto assignment = cluster_->places.assignment(placement.pod_sets[workers]);
    for (const auto& domain : assignment->domains) on[leaf_of(domain.values)] = domain.count;
    tail_comes_last(kind, leaf_of(assignment->domains.back().values), on);
    Path leader;
    if (kind.with_leader)
      leader = leaf_of(cluster_->places.assignment(placement.pod_sets[1 - workers])->domains.front().values);
    std::set<Path> used;
    valid(kind, nodes, on, leader, used);
    if (static_cast<int>(used.size()) <= best) {
      ++fewest;
      return;
    }
    const std::string rule = rule_of(kind, oracle, *used.begin(), static_cast<int>(used.size()));
    ASSERT_NE(rule, "") << used.size() << " domains instead of " << best << ": " << cluster_->where(gangs);
    ++more_by_rule[rule];
  }

  // The values of a leaf from the top level down.
  Path leaf_of(const Path& values) const {
    if (bare_) return values;
    const auto found =
        std::find_if(nodes_.begin(), nodes_.end(), [&](const NodeSpec& node) { return node.name == values.back(); });
    return found->path;
  }
  static Path above(const Path& leaf, std::size_t level) {
    return {leaf.begin(), leaf.begin() + static_cast<std::ptrdiff_t>(level) + 1};
  }

  // The domain of the last place has the smaller slice.
  void tail_comes_last(const Kind& kind, const Path& last, const Counts& on) {
    if (kind.ask.tail == 0) return;
    ++tails;
    int pods = 0;
    for (const auto& [leaf, count] : on) {
      if (above(leaf, kind.ask.tail_level) == above(last, kind.ask.tail_level)) pods += count;
    }
    ASSERT_EQ(pods % kind.ask.multiple.at(kind.ask.tail_level), kind.ask.tail);
  }

  // Whether the nodes of a leaf take so many pods, and the leader.
  static bool takes(const std::vector<OracleNode>& nodes, const Path& leaf, int pods, bool leader) {
    std::vector<OracleNode> inside;
    for (const OracleNode& node : nodes) {
      if (above(node.path, leaf.size() - 1) == leaf) inside.push_back(node);
    }
    OracleAsk ask;
    ask.pods = pods;
    ask.leader = leader;
    return Oracle(inside, ask).fewest() < Oracle::kNever;
  }

  void valid(const Kind& kind, const std::vector<OracleNode>& nodes, Counts on, const Path& leader,
             std::set<Path>& used) {
    if (!leader.empty()) on[leader] += 0;
    int sum = 0;
    std::map<Path, int> pods;  // by domain of any level
    for (const auto& [leaf, count] : on) {
      ASSERT_TRUE(takes(nodes, leaf, count, leaf == leader));
      sum += count;
      for (std::size_t level = 0; level < depth_; ++level) pods[above(leaf, level)] += count;
      used.insert(above(leaf, kind.ask.level));
    }
    ASSERT_EQ(sum, kind.ask.pods);
    int smaller = 0;
    for (const auto& [domain, count] : pods) {
      const auto multiple = kind.ask.multiple.find(domain.size() - 1);
      const int more = multiple == kind.ask.multiple.end() ? 0 : count % multiple->second;
      if (more == 0) continue;
      ASSERT_EQ(more, kind.ask.tail);
      ASSERT_EQ(domain.size() - 1, kind.ask.tail_level);
      ++smaller;
    }
    ASSERT_EQ(smaller, kind.ask.tail > 0 ? 1 : 0);
    ASSERT_TRUE(!kind.required || used.size() == 1);
  }

  // The rule that explains why more domains were used than necessary; "" when none does.
  std::string rule_of(const Kind& kind, const Oracle& oracle, const std::vector<std::string>& used, int domains) const {
    if (kind.unconstrained) return "fullest first";
    if (kind.with_leader) return "leader first";
    std::size_t level = kind.ask.level;
    while (level > 0 && oracle.fewest_in_one(level) >= Oracle::kNever) --level;
    if (level == kind.ask.level) return "";
    if (level + 1 < kind.ask.level) return "level by level";
    if (oracle.fewest_in_one(level) >= Oracle::kNever) return "level by level";  // several roots
    return domains <= oracle.fewest_in({used.begin(), used.begin() + static_cast<std::ptrdiff_t>(level) + 1})
               ? "level by level"
               : "";
  }

  std::mt19937 random_;
  std::unique_ptr<Cluster> cluster_;
  std::vector<NodeSpec> nodes_;
  std::vector<std::string> levels_;
  std::size_t depth_ = 1;
  bool bare_ = false;  // the topology ends above the nodes
  int requests_cpu_ = 0, requests_memory_ = 0;
};

TEST(TopologyOracle, PlacedExactlyWhenPossibleAndInTheFewestDomains) {
  Cases cases(20);
  cases.run();
  RecordProperty("placed", cases.placed);
  RecordProperty("refused", cases.refused);
  RecordProperty("fewest", cases.fewest);
  for (const auto& [rule, count] : cases.more_by_rule)
    std::printf("more domains by rule: %s: %d\n", rule.c_str(), count);
  std::printf("placed %d, refused %d, in the fewest domains %d\n", cases.placed, cases.refused, cases.fewest);
  EXPECT_EQ(cases.placed + cases.refused, kCases);
  EXPECT_GT(cases.placed, kCases / 4);
  EXPECT_GT(cases.refused, kCases / 4);
  EXPECT_GT(cases.fewest, cases.placed * 8 / 10);
  EXPECT_GT(cases.tails, kCases / 40);
  EXPECT_GT(cases.racks, kCases / 20);
  for (const char* rule : {"fullest first", "level by level", "leader first"})
    EXPECT_GT(cases.more_by_rule[rule], 0) << rule;
}

}  // namespace
}  // namespace berth::engine::oracle_test
