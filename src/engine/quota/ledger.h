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

#include <map>
#include <span>
#include <string>
#include <string_view>
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

// How much a cluster queue or cohort counts for in fair sharing, as a fraction. 0: as long as it borrows anything, more than any other
// (KEP-1714).
using FairWeight = Quantity::Fraction;

struct FlavorResourceAmount {
  FlavorResourceId id;
  Amount amount;
  bool operator==(const FlavorResourceAmount&) const = default;
};
// What a workload holds or wants.
using Usage = std::vector<FlavorResourceAmount>;
// As claims keep it: by id, each at most once, no zero amounts.
void tidy(Usage& usage);

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

// A node where something got freer; what waits below it may fit now.
struct Relief {
  NodeId node;          // the topmost node touched
  FlavorResourceId id;  // what fell there; invalid: everything may have changed
  bool operator==(const Relief&) const = default;
};

class Ledger {
 public:
  // --- Configuration. Quotas replace the former ones; what is not listed has none (nominal 0, no limits).
  // The cohort "" means none; a cohort that no object defines exists implicitly while something names it.
  NodeId set_cluster_queue(std::string_view name, std::string_view cohort,
                           std::span<const QuotaEntry> quotas);
  // Whether setting this would change nothing.
  bool same_configuration(NodeId node, std::string_view parent, std::span<const QuotaEntry> quotas, bool unbounded = false) const;
  void remove_cluster_queue(std::string_view name);  // its claims stay until given back
  // An unbounded cohort has an unlimited nominal quota of everything that is not listed.
  NodeId set_cohort(std::string_view name, std::string_view parent, std::span<const QuotaEntry> quotas, bool unbounded = false);
  void remove_cohort(std::string_view name);  // goes on as an implicit cohort while something names it
  // 1/1 until it is set, and again when the object is removed.
  void set_weight(NodeId node, FairWeight weight);
  FairWeight weight(NodeId node) const { return at(node).weight; }
  std::uint64_t configuration() const { return configuration_; }  // another number whenever quotas or parents changed

  NodeId find_cluster_queue(std::string_view name) const;  // invalid when it has neither object nor claims
  NodeId find_cohort(std::string_view name) const;         // implicit ones too
  const std::string& name(NodeId node) const { return at(node).name; }
  bool is_cluster_queue(NodeId node) const { return at(node).cluster_queue; }
  bool exists(NodeId node) const { return at(node).exists; }  // an object defines it
  NodeId parent(NodeId node) const { return at(node).up; }    // the one that counts: none inside a cycle
  NodeId root(NodeId node) const { return at(node).root; }  // itself without a parent; invalid inside a cycle
  bool in_cycle(NodeId node) const {
    return at(node).in_cycle;
  }  // its parents lead into a cycle: the tree is inactive
  std::size_t nodes_in_cycles() const { return nodes_in_cycles_; }
  int height(NodeId node) const { return at(node).height; }  // 0 for a cluster queue
  std::span<const NodeId> children(NodeId node) const {
    return at(node).children;
  }  // by name, queues before cohorts
  std::vector<NodeId> cluster_queues() const;  // by name
  std::string path(NodeId node) const;         // "/root/.../name"
  bool is_ancestor_or_self(NodeId ancestor, NodeId node) const;

  // --- Numbers. A flavor-resource that a node does not define counts as quota 0 without limits.
  const Quota& quota(NodeId node, FlavorResourceId id) const { return cell(node, id).quota; }
  Amount subtree_quota(NodeId node, FlavorResourceId id) const { return cell(node, id).subtree; }
  Amount local_quota(NodeId node, FlavorResourceId id) const { return cell(node, id).local; }
  Amount local_available(NodeId node, FlavorResourceId id) const;  // max(0, local quota - usage)
  Amount usage(NodeId node, FlavorResourceId id) const { return cell(node, id).usage; }
  Amount available(NodeId node, FlavorResourceId id) const;  // clamped at 0 for cluster queues, as Kueue does
  Amount potential_available(NodeId node, FlavorResourceId id) const;
  Amount borrowed(NodeId node,
                  FlavorResourceId id) const;  // max(0, usage - subtree quota); 0 without a parent
  bool borrowing_with(NodeId node, FlavorResourceId id, Amount more) const;  // usage + more > subtree quota
  bool fits(NodeId cluster_queue, std::span<const FlavorResourceAmount> usage) const;
  // Of usage that the queue has already: whether there is room for it.
  bool fits_counted(NodeId cluster_queue, std::span<const FlavorResourceAmount> usage) const;
  BorrowLevel lowest_subtree_that_fits(NodeId cluster_queue, FlavorResourceId id, Amount more) const;
  // Of the queue and the ancestors that its usage counts in, the topmost that uses more than is its own; invalid: none does.
  NodeId topmost_borrower(NodeId cluster_queue, FlavorResourceId id) const;
  // By how much the usage of `ancestor` (or of the queue itself) would rise, or fall, if that of the queue did by `amount`.
  Amount rise(NodeId cluster_queue, NodeId ancestor, FlavorResourceId id, Amount amount) const;
  Amount fall(NodeId cluster_queue, NodeId ancestor, FlavorResourceId id, Amount amount) const;

  // --- Claims. Amounts must not be negative; they are tidied.
  // The node of a cluster queue that may have no object (yet): for claims that name it.
  NodeId cluster_queue_node(std::string_view name);
  void pin(NodeId node) { ++at(node).pins; }  // the node stays though nothing defines or uses it
  void unpin(NodeId node);
  void take(WorkloadId workload, NodeId cluster_queue,
            Usage usage);                         // replaces a claim the workload already has
  void give_back(WorkloadId workload);            // nothing when it has none
  const Claim* claim(WorkloadId workload) const;  // nullptr: none
  std::size_t claims() const { return claim_count_; }
  bool supposed_out(WorkloadId workload) const { return claims_[workload.index()].out; }  // by an open trial

  // Usage set aside in a queue for the rest of a scheduling cycle, by entries that wait for preemptions. It
  // counts as usage until drop_holds(). Not a claim: nobody runs on it.
  void hold(NodeId cluster_queue, std::span<const FlavorResourceAmount> usage);
  void drop_holds();

  // What got freer since the last call: by claims given back or shrunk and by configuration. Not by trials or
  // holds.
  std::vector<Relief> take_reliefs() { return std::exchange(reliefs_, {}); }

  // Supposes changes. Trials nest like scopes: the last begun ends first; while one is open, no claim, hold
  // or configuration changes.
  class Trial {
   public:
    explicit Trial(Ledger& ledger);
    ~Trial() { roll_back(); }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;
    void without(
        WorkloadId workload);  // as if its claim were given back; nothing when it has none or is out already
    void again(WorkloadId workload);  // undoes without()
    void with(NodeId cluster_queue, std::span<const FlavorResourceAmount> usage);
    void without_holds();  // as if drop_holds() had been called
    void roll_back();

   private:
    Ledger& ledger_;
    std::size_t mark_;
  };

  // Every usage that is not the sum of the claims below it, and every derived quota that differs from a
  // recomputation, as sentences.
  std::vector<std::string> check() const;

 private:
  struct Cell {
    Quota quota;
    Amount subtree;  // subtree quota
    Amount local;    // local quota
    Amount usage;
  };
  struct Node {
    std::string name;
    bool cluster_queue = false;
    bool exists = false;  // an object defines it
    bool in_use = false;  // the slot is taken
    bool in_cycle = false;
    bool unbounded = false;
    int height = 0;
    NodeId parent;  // as declared
    NodeId up;      // the parent that counts: none inside a cycle
    NodeId root;    // none inside a cycle
    std::size_t claims = 0;
    std::size_t pins = 0;
    FairWeight weight{1, 1};
    std::vector<NodeId> children;
    std::vector<Cell> cells;  // by flavor-resource, as far as any was needed
  };
  struct ClaimSlot {
    Claim claim;
    bool taken = false;
    bool out = false;  // supposed to be given back by a trial
  };
  struct Undo {
    NodeId node;  // invalid: the claim's `out` flips back
    FlavorResourceId id;
    Amount usage;
    WorkloadId workload;
  };
  struct Held {
    NodeId cluster_queue;
    Usage usage;
  };
  using NodeNames = std::map<std::string, NodeId, std::less<>>;

  Node& at(NodeId id) { return nodes_[id.index()]; }
  const Node& at(NodeId id) const { return nodes_[id.index()]; }
  const Cell& cell(NodeId id, FlavorResourceId fr) const {
    const Node& node = nodes_[id.index()];
    return fr.index() < node.cells.size() ? node.cells[fr.index()] : unlisted(node.unbounded);
  }
  static const Cell& unlisted(bool unbounded) { return unbounded ? kUnboundedCell : kNoCell; }
  Cell& grow_cell(NodeId id, FlavorResourceId fr);

  // tree.cpp
  NodeId new_node(std::string_view name, bool cluster_queue);
  NodeId cohort_node(std::string_view name);
  void set_quotas(NodeId node, std::span<const QuotaEntry> quotas, bool unbounded = false);
  void link(NodeId node, NodeId parent);
  void place_subtree(NodeId node);
  void refresh(NodeId node);     // derived values of one node from its children
  void refresh_up(NodeId node);  // of the node and its ancestors
  void drop_if_unused(NodeId node);

  // ledger.cpp
  Amount raw_available(NodeId node, FlavorResourceId id) const;
  void set_usage(NodeId node, FlavorResourceId id, Amount usage);
  void add(NodeId node, FlavorResourceId id, Amount amount);
  NodeId subtract(NodeId node, FlavorResourceId id, Amount amount);  // the topmost node touched
  void recount(NodeId node, FlavorResourceId id);  // the whole tree's usage of one id, after a saturation
  Amount counted(NodeId cluster_queue, FlavorResourceId id) const;

  static const Cell kNoCell, kUnboundedCell;
  std::vector<Node> nodes_;
  std::vector<NodeId> free_nodes_;
  NodeNames cluster_queues_, cohorts_;
  std::vector<ClaimSlot> claims_;
  std::size_t claim_count_ = 0;
  std::vector<Held> holds_;
  std::vector<Relief> reliefs_;
  std::vector<Undo> journal_;
  std::size_t open_trials_ = 0;
  std::uint64_t configuration_ = 0;
  std::size_t nodes_in_cycles_ = 0;
};

}  // namespace berth::engine
