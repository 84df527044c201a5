// Compares random quota trees with a naive recursive computation of the formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>

#include "engine/quota/ledger.h"
#include "support/sanitized.h"

namespace berth::engine::ledger_random_test {
namespace {

constexpr int kTrees = 10'000 / testing_support::kFewer;
constexpr int kStepsPerTree = 12;
constexpr std::size_t kIds = 2;

struct NaiveNode {
  int parent = -1;
  bool queue = false;
  Quota quota[kIds];
  QuotaNodeId id;
};

// Computes everything from the nodes and claims, top-down. What is asked for often is kept until changed().
class Naive {
 public:
  std::vector<NaiveNode> nodes;
  std::map<int, std::pair<int, Usage>> claims;  // workload -> node, usage

  void changed() {
    for (auto* kept : {&subtrees_, &usages_}) kept->assign(nodes.size() * kIds, std::nullopt);
  }
  Amount subtree(int node, std::size_t r) const {
    std::optional<Amount>& kept = subtrees_[static_cast<std::size_t>(node) * kIds + r];
    if (!kept) {
      Amount sum = nodes[node].quota[r].nominal;
      for (int c : children(node)) sum += subtree(c, r) - local(c, r);
      kept = sum;
    }
    return *kept;
  }
  Amount local(int node, std::size_t r) const {
    const Quota& q = nodes[node].quota[r];
    return q.lending_limit.is_unlimited() ? Amount() : max(Amount(), subtree(node, r) - q.lending_limit);
  }
  Amount usage(int node, std::size_t r) const {
    std::optional<Amount>& kept = usages_[static_cast<std::size_t>(node) * kIds + r];
    if (!kept) {
      Amount sum = claimed(node, r);
      for (int c : children(node)) sum += max(Amount(), usage(c, r) - local(c, r));
      kept = sum;
    }
    return *kept;
  }
  Amount available(int node, std::size_t r) const {
    Amount q = subtree(node, r), u = usage(node, r), l = local(node, r);
    int parent = nodes[node].parent;
    if (parent < 0) return q - u;
    Amount above = available(parent, r);
    Amount limit = nodes[node].quota[r].borrowing_limit;
    if (!limit.is_unlimited()) above = min(above, q - l - max(Amount(), u - l) + limit);
    return max(Amount(), l - u) + above;
  }
  Amount potential(int node, std::size_t r) const {
    int parent = nodes[node].parent;
    if (parent < 0) return subtree(node, r);
    Amount all = local(node, r) + potential(parent, r);
    Amount limit = nodes[node].quota[r].borrowing_limit;
    return limit.is_unlimited() ? all : min(all, subtree(node, r) + limit);
  }
  int height(int node) const {
    if (nodes[node].queue) return 0;
    int h = 0;
    for (int c : children(node)) h = std::max(h, height(c) + 1);
    // A cohort without children has height 0; a cohort that has only such children has height 1.
    return h;
  }
  int borrow_height(int node, std::size_t r, Amount more) const {
    if (nodes[node].parent < 0) return 0;
    while (true) {
      if (usage(node, r) + more <= subtree(node, r) || nodes[node].parent < 0) return height(node);
      more -= max(Amount(), local(node, r) - usage(node, r));
      node = nodes[node].parent;
    }
  }
  std::vector<int> children(int node) const {
    std::vector<int> all;
    for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
      if (nodes[i].parent == node) all.push_back(i);
    }
    return all;
  }

 private:
  Amount claimed(int node, std::size_t r) const {
    Amount sum;
    for (const auto& [w, claim] : claims) {
      if (claim.first != node) continue;
      for (const auto& each : claim.second) {
        if (each.id.index() == r) sum += each.amount;
      }
    }
    return sum;
  }

  mutable std::vector<std::optional<Amount>> subtrees_, usages_;  // by node and resource
};

class RandomTree {
 public:
  explicit RandomTree(unsigned seed) : random_(seed) {
    int cohorts = pick(0, 4), queues = pick(1, 5);
    for (int i = 0; i < cohorts + queues; ++i) {
      NaiveNode node;
      node.queue = i >= cohorts;
      int limit = node.queue ? cohorts : i;
      if (limit > 0 && pick(0, 5) > 0) node.parent = pick(0, limit - 1);
      naive.nodes.push_back(node);
      new_quotas(i);
    }
    for (int i = 0; i < cohorts + queues; ++i) configure(i);
    naive.changed();
  }

  void step() {
    int what = pick(0, 9);
    int node = pick(0, static_cast<int>(naive.nodes.size()) - 1);
    if (what < 5) {
      while (!naive.nodes[node].queue) node = pick(0, static_cast<int>(naive.nodes.size()) - 1);
      int workload = pick(0, 6);
      Usage usage;
      for (std::size_t r = 0; r < kIds; ++r) usage.push_back({FlavorResourceId(r), Amount::of(pick(0, 9))});
      naive.claims[workload] = {node, usage};
      ledger.take(WorkloadId(workload), naive.nodes[node].id, usage);
    } else if (what < 8) {
      int workload = pick(0, 6);
      naive.claims.erase(workload);
      ledger.give_back(WorkloadId(workload));
    } else {
      new_quotas(node);
      // Only to smaller numbers among cohorts, so that there is no cycle.
      int limit = naive.nodes[node].queue ? first_queue() : node;
      naive.nodes[node].parent = limit > 0 && pick(0, 3) > 0 ? pick(0, limit - 1) : -1;
      configure(node);
    }
    naive.changed();
  }

  void compare(const std::string& where) {
    for (int i = 0; i < static_cast<int>(naive.nodes.size()); ++i) {
      QuotaNodeId id = naive.nodes[i].id;
      for (std::size_t r = 0; r < kIds; ++r) {
        FlavorResourceId fr(r);
        ASSERT_EQ(ledger.subtree_quota(id, fr).count(), naive.subtree(i, r).count()) << where;
        ASSERT_EQ(ledger.local_quota(id, fr).count(), naive.local(i, r).count()) << where;
        ASSERT_EQ(ledger.usage(id, fr).count(), naive.usage(i, r).count()) << where;
        Amount available = naive.available(i, r);
        if (naive.nodes[i].queue) available = max(Amount(), available);
        ASSERT_EQ(ledger.available(id, fr).count(), available.count()) << where;
        ASSERT_EQ(ledger.potential_available(id, fr).count(), naive.potential(i, r).count()) << where;
        if (!naive.nodes[i].queue) continue;
        Amount more = Amount::of(pick(1, 20));
        ASSERT_EQ(ledger.lowest_subtree_that_fits(id, fr, more).height, naive.borrow_height(i, r, more)) << where;
      }
    }
  }

  void try_and_roll_back(const std::string& where) {
    {
      Ledger::Trial trial(ledger);
      for (int i = 0; i < 4; ++i) {
        trial.without(WorkloadId(pick(0, 6)));
        trial.again(WorkloadId(pick(0, 6)));
        Usage usage{{FlavorResourceId(pick(0, 1)), Amount::of(pick(1, 9))}};
        trial.with(naive.nodes[first_queue()].id, usage);
      }
    }
    compare(where + " after a trial");
  }

  Naive naive;
  Ledger ledger;

 private:
  int pick(int low, int high) { return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1)); }
  int first_queue() const {
    int i = 0;
    while (!naive.nodes[i].queue) ++i;
    return i;
  }
  void new_quotas(int node) {
    for (Quota& q : naive.nodes[node].quota) {
      q.nominal = Amount::of(pick(0, 10));
      q.borrowing_limit = pick(0, 1) ? Amount::of(pick(0, 5)) : Amount::unlimited();
      q.lending_limit = pick(0, 1) ? Amount::of(pick(0, 10)) : Amount::unlimited();
    }
  }
  void configure(int i) {
    NaiveNode& node = naive.nodes[i];
    std::vector<QuotaEntry> quotas;
    for (std::size_t r = 0; r < kIds; ++r) quotas.push_back({FlavorResourceId(r), node.quota[r]});
    std::string parent = node.parent < 0 ? "" : "n" + std::to_string(node.parent);
    std::string name = "n" + std::to_string(i);
    node.id = node.queue ? ledger.set_cluster_queue(name, parent, quotas) : ledger.set_cohort(name, parent, quotas);
  }
  std::mt19937 random_;
};

TEST(LedgerProperty, EqualsANaiveRecursiveComputation) {
  for (unsigned seed = 0; seed < kTrees; ++seed) {
    RandomTree tree(seed);
    for (int step = 0; step < kStepsPerTree; ++step) {
      std::string where = "seed " + std::to_string(seed) + " step " + std::to_string(step);
      tree.step();
      ASSERT_NO_FATAL_FAILURE(tree.compare(where));
      if (step % 4 == 3) {
        ASSERT_NO_FATAL_FAILURE(tree.try_and_roll_back(where));
      }
    }
    ASSERT_TRUE(tree.ledger.check().empty()) << "seed " << seed << ": " << tree.ledger.check().front();
  }
}

}  // namespace
}  // namespace berth::engine::ledger_random_test
