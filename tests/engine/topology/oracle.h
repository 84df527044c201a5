// All possible placements: exhaustive search over every way to spread pods over a small tree, without the rules for
// choosing one. A set of reachable pod counts per domain is exact, because domains do not share nodes.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace berth::engine {

struct OracleNode {
  std::vector<std::string> path;  // a value per level
  int alone = 0;                  // workers that fit
  int beside = 0;                 // workers that fit beside the leader
  bool leader = false;            // the leader fits
};

struct OracleAsk {
  int pods = 0;
  bool leader = false;
  std::size_t level = 0;                // the level whose domains are counted
  std::map<std::size_t, int> multiple;  // by level: in each of its domains the number of pods is a multiple of this
  int tail = 0;                         // one domain of tail_level has so many more pods than a multiple
  std::size_t tail_level = 0;
};

class Oracle {
 public:
  static constexpr int kNever = std::numeric_limits<int>::max() / 4;

  Oracle(std::vector<OracleNode> nodes, OracleAsk ask) : nodes_(std::move(nodes)), ask_(std::move(ask)) {
    std::sort(nodes_.begin(), nodes_.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  }

  // The smallest number of domains of ask.level that holds everything; kNever: impossible.
  int fewest() const {
    if (nodes_.empty()) return kNever;
    const Costs all = spread(0, nodes_.size(), -1);
    return all[everything()][static_cast<std::size_t>(ask_.pods)];
  }
  // With everything in one domain of `level`: the smallest number of domains of ask.level there.
  int fewest_in_one(std::size_t level) const {
    int best = kNever;
    for_each_domain(level, [&](const std::string&, int cost) { best = std::min(best, cost); });
    return best;
  }
  // The same for a given domain (its values from the top level down).
  int fewest_in(const std::vector<std::string>& domain) const {
    int found = kNever;
    const std::string key = join(domain, domain.size());
    for_each_domain(domain.size() - 1, [&](const std::string& each, int cost) {
      if (each == key) found = cost;
    });
    return found;
  }

 private:
  // [kLeader, kTail: what is inside][pods inside] -> fewest domains
  static constexpr std::size_t kLeader = 1, kTail = 2;
  using Costs = std::array<std::vector<int>, 4>;

  std::size_t everything() const { return (ask_.leader ? kLeader : 0) | (ask_.tail > 0 ? kTail : 0); }

  static std::string join(const std::vector<std::string>& path, std::size_t values) {
    std::string key;
    for (std::size_t i = 0; i < values; ++i) key += path[i] + "/";
    return key;
  }
  Costs nothing() const {
    Costs costs;
    costs.fill(std::vector<int>(static_cast<std::size_t>(ask_.pods) + 1, kNever));
    costs[0][0] = 0;
    return costs;
  }
  template <typename Use>
  void for_each_domain(std::size_t level, Use use) const {
    for (std::size_t begin = 0; begin < nodes_.size();) {
      const std::string key = join(nodes_[begin].path, level + 1);
      std::size_t end = begin;
      while (end < nodes_.size() && join(nodes_[end].path, level + 1) == key) ++end;
      use(key, domain(begin, end, static_cast<int>(level))[everything()][static_cast<std::size_t>(ask_.pods)]);
      begin = end;
    }
  }
  // The children of a domain of `level` (-1: of the whole tree), each with any number of pods.
  Costs spread(std::size_t begin, std::size_t end, int level) const {
    Costs sum = nothing();
    for (std::size_t first = begin; first < end;) {
      const std::string key = join(nodes_[first].path, static_cast<std::size_t>(level + 2));
      std::size_t last = first;
      while (last < end && join(nodes_[last].path, static_cast<std::size_t>(level + 2)) == key) ++last;
      const Costs child = domain(first, last, level + 1);
      Costs next = nothing();
      next[0][0] = kNever;
      for (std::size_t a = 0; a < sum.size(); ++a) {
        for (std::size_t b = 0; b < sum.size(); ++b) {
          if ((a & b) != 0) continue;
          for (std::size_t i = 0; i < sum[a].size(); ++i) {
            if (sum[a][i] >= kNever) continue;
            for (std::size_t j = 0; i + j < sum[a].size(); ++j) {
              next[a + b][i + j] = std::min(next[a + b][i + j], sum[a][i] + child[b][j]);
            }
          }
        }
      }
      sum = next;
      first = last;
    }
    return sum;
  }
  Costs domain(std::size_t begin, std::size_t end, int level) const {
    Costs costs;
    if (static_cast<std::size_t>(level) + 1 < nodes_[begin].path.size()) {
      costs = spread(begin, end, level);
    } else {
      costs = nothing();
      const OracleNode& node = nodes_[begin];
      for (std::size_t pods = 0; pods < costs[0].size(); ++pods) {
        costs[0][pods] = static_cast<int>(pods) <= node.alone ? 0 : kNever;
        costs[kLeader][pods] = node.leader && static_cast<int>(pods) <= node.beside ? 0 : kNever;
      }
    }
    cut(costs, static_cast<std::size_t>(level));
    for (std::size_t inside = 0; inside < costs.size(); ++inside) {
      for (std::size_t pods = 0; pods < costs[inside].size(); ++pods) {
        int& cost = costs[inside][pods];
        if (static_cast<std::size_t>(level) == ask_.level && cost < kNever && (pods > 0 || inside > 0)) cost = 1;
        cost = std::min(cost, kNever);
      }
    }
    return costs;
  }
  // Leaves what the slices of this level allow in one domain.
  void cut(Costs& costs, std::size_t level) const {
    const auto found = ask_.multiple.find(level);
    if (found == ask_.multiple.end()) return;
    const bool has_tail = ask_.tail > 0 && level == ask_.tail_level;
    for (std::size_t inside = 0; inside < kTail; ++inside) {
      for (std::size_t pods = 0; pods < costs[inside].size(); ++pods) {
        const int more = static_cast<int>(pods) % found->second;
        if (has_tail && more == ask_.tail) costs[inside | kTail][pods] = costs[inside][pods];
        if (more != 0) costs[inside][pods] = kNever;
      }
    }
  }

  std::vector<OracleNode> nodes_;
  OracleAsk ask_;
};

}  // namespace berth::engine
