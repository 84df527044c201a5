// How much is free: the tree of cohorts and cluster queues, their quotas, and the one ledger of usage.
//
// Usage changes only by take() and give_back() of a claim: one workload's amounts in one cluster queue.
// Nothing else keeps a second copy. A Trial supposes changes and takes them back when it ends; it costs what
// it touches. Configuration may change at any time: claims stay, whatever happens to their queue.
//
// The formulas are Kueue's (KEP-79 hierarchical cohorts, KEP-1224 lending limit), with Q = subtree quota, U =
// usage:
//   Q(cluster queue) = nominal            Q(cohort) = nominal + sum over children of Q - L
//   L(node) = max(0, Q - lending limit), 0 without a limit: what the node keeps for itself
//   U(cohort) = sum over children of max(0, U - L)
//   available(root) = Q - U
//   available(node) = max(0, L - U) + min(available(parent), Q - L - max(0, U - L) + borrowing limit)
//   potential(root) = Q;  potential(node) = min(Q + borrowing limit, L + potential(parent))
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/amount.h"
#include "engine/quota/ids.h"

namespace berth::engine {

// The quota of one flavor-resource of a node. Unlimited limits mean "no limit".
struct Quota {
  Amount nominal;
  Amount borrowing_limit = Amount::unlimited();
  Amount lending_limit = Amount::unlimited();
  bool operator==(const Quota&) const = default;
};
struct QuotaEntry {
  FlavorResourceId id;
  Quota quota;
};

struct FlavorResourceAmount {
  FlavorResourceId id;
  Amount amount;
  bool operator==(const FlavorResourceAmount&) const = default;
};
// What a workload holds or wants: each flavor-resource at most once, no zero amounts.
using Usage = std::vector<FlavorResourceAmount>;

struct Claim {
  NodeId cluster_queue;
  Usage usage;
};

// The lowest subtree whose quota suffices for an additional amount.
struct BorrowLevel {
  int height =
      0;  // 0: the cluster queue itself; else the height of the cohort (distance to its furthest leaf)
  bool smaller_than_tree = false;  // the subtree has a parent: the rest of the tree may be made to give way
};

// A node whose usage fell or whose quota changed, for waking what waits below it. Ordered as it happened.
struct Relief {
  NodeId node;                        // the topmost node touched
  std::vector<FlavorResourceId> ids;  // what fell there; empty: everything may have changed
};

class Ledger {
 public:
  Ledger();
  ~Ledger();
  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;

  // --- Configuration. Quotas replace the former ones; what is not listed has none (nominal 0, no limits).
  // The cohort "" means none; a cohort that no object defines exists implicitly while something names it.
  NodeId set_cluster_queue(std::string_view name, std::string_view cohort,
                           std::span<const QuotaEntry> quotas);
  void remove_cluster_queue(std::string_view name);  // its claims stay until given back
  NodeId set_cohort(std::string_view name, std::string_view parent, std::span<const QuotaEntry> quotas);
  void remove_cohort(std::string_view name);  // goes on as an implicit cohort while something names it

  NodeId find_cluster_queue(std::string_view name) const;  // invalid when it has neither object nor claims
  NodeId find_cohort(std::string_view name) const;         // implicit ones too
  const std::string& name(NodeId node) const;
  bool is_cluster_queue(NodeId node) const;
  bool exists(NodeId node) const;  // an object defines it
  NodeId parent(NodeId node) const;
  NodeId root(NodeId node) const;  // the node itself when it has no parent; invalid inside a cycle
  bool in_cycle(
      NodeId node) const;  // its parents lead into a cycle: nothing may be admitted in the whole tree
  int height(NodeId node) const;
  std::span<const NodeId> children(NodeId node) const;  // by (cluster queues first, name)
  std::span<const NodeId> nodes() const;                // every node of the ledger, by id
  std::string path(NodeId node) const;                  // "/root/.../name"
  bool is_ancestor_or_self(NodeId ancestor, NodeId node) const;

  // --- Numbers. A flavor-resource that a node does not define counts as quota 0 without limits.
  const Quota& quota(NodeId node, FlavorResourceId id) const;
  Amount subtree_quota(NodeId node, FlavorResourceId id) const;
  Amount local_quota(NodeId node, FlavorResourceId id) const;
  Amount local_available(NodeId node, FlavorResourceId id) const;  // max(0, local quota - usage)
  Amount usage(NodeId node, FlavorResourceId id) const;
  Amount available(NodeId node, FlavorResourceId id) const;  // clamped at 0 for cluster queues, as Kueue does
  Amount potential_available(NodeId node, FlavorResourceId id) const;
  Amount borrowed(NodeId node,
                  FlavorResourceId id) const;  // max(0, usage - subtree quota); 0 without a parent
  bool borrowing_with(NodeId node, FlavorResourceId id, Amount more) const;  // usage + more > subtree quota
  bool fits(NodeId cluster_queue, std::span<const FlavorResourceAmount> usage) const;
  BorrowLevel lowest_subtree_that_fits(NodeId cluster_queue, FlavorResourceId id, Amount more) const;

  // --- Claims. Amounts must not be negative; zero amounts are left out, repeated ids are added up.
  void take(WorkloadId workload, NodeId cluster_queue,
            Usage usage);                         // replaces a claim the workload already has
  void give_back(WorkloadId workload);            // nothing when it has none
  const Claim* claim(WorkloadId workload) const;  // nullptr: none
  std::size_t claims() const;
  std::size_t claims_in(NodeId cluster_queue) const;

  // What got freer since the last call: by claims given back or shrunk and by configuration. Not by trials.
  std::vector<Relief> take_reliefs();

  // Supposes changes. Trials nest like scopes: the last begun ends first; while one is open, no claim or
  // configuration changes.
  class Trial {
   public:
    explicit Trial(Ledger& ledger);
    ~Trial() { roll_back(); }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;
    void without(WorkloadId workload);  // as if its claim were given back
    void with(NodeId cluster_queue, std::span<const FlavorResourceAmount> usage);
    void again(WorkloadId workload);  // undoes without()
    void roll_back();

   private:
    Ledger& ledger_;
    std::size_t mark_;
  };

  // Every usage that is not the sum of the claims below it, as sentences; and quotas that differ from a
  // recomputation.
  std::vector<std::string> check() const;

 private:
  friend class Trial;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::engine
