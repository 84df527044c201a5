// The quota tree of cohorts and cluster queues with their quotas, and the only record of usage.
//
// Usage changes only by take() and give_back() of a claim: one workload's amounts in one cluster queue. There is no
// second copy. A Trial makes tentative changes and undoes them when it ends; its cost is proportional to what it
// changes. Configuration may change at any time: claims stay, whatever happens to their queue. "Node" in this file
// means a cluster queue or a cohort.
//
// The formulas are Kueue's (KEP-79 hierarchical cohorts, KEP-1224 lending limit), with Q = subtree quota, U = usage:
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
#include "base/shared_blocks.h"
#include "engine/quota/ids.h"

namespace berth::engine {

// The quota of one flavor-resource of a node. An unlimited limit means "no limit".
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

// The weight of a cluster queue or cohort in fair sharing, as a fraction. With weight 0 its share is infinite as soon
// as it borrows anything (KEP-1714).
using FairWeight = Quantity::Fraction;

struct FlavorResourceAmount {
  FlavorResourceId id;
  Amount amount;
  bool operator==(const FlavorResourceAmount&) const = default;
};
// What a workload holds or wants.
using Usage = std::vector<FlavorResourceAmount>;
// Normalizes to the form that claims store: sorted by id, each id once, no zero amounts.
void tidy(Usage& usage);

struct Claim {
  QuotaNodeId cluster_queue;
  Usage usage;
};

// The lowest subtree whose quota suffices for an additional amount; the whole tree when none does.
struct BorrowLevel {
  int height = 0;  // 0: the cluster queue itself; else the height of the cohort (distance to its furthest descendant)
  bool smaller_than_tree = false;  // the subtree has a parent: preemption in the rest of the tree may help
};

// A node where usage fell or quota grew; workloads that wait below it may fit now.
struct Relief {
  QuotaNodeId node;     // the topmost node touched
  FlavorResourceId id;  // the flavor-resource; invalid: any
  bool operator==(const Relief&) const = default;
};

// More than 40 methods: quotas, claims, holds and trials change the same cells of the tree, and each question about a
// cell has a name.
class Ledger {
 public:
  // --- Configuration. The given quotas replace all previous ones; what is not listed has nominal quota 0 and no
  // limits. Cohort "" means none. A cohort without an object exists implicitly while another node names it as its
  // parent.
  QuotaNodeId set_cluster_queue(std::string_view name, std::string_view cohort, std::span<const QuotaEntry> quotas);
  // Returns whether setting this would change nothing.
  bool same_configuration(QuotaNodeId node, std::string_view parent, std::span<const QuotaEntry> quotas,
                          bool unbounded = false) const;
  void remove_cluster_queue(std::string_view name);  // its claims stay until they are given back
  // An unbounded cohort has an unlimited nominal quota of every flavor-resource that is not listed.
  QuotaNodeId set_cohort(std::string_view name, std::string_view parent, std::span<const QuotaEntry> quotas,
                         bool unbounded = false);
  void remove_cohort(std::string_view name);  // it remains as an implicit cohort while another node names it
  // The weight is 1/1 until it is set, and again after the object is removed.
  void set_weight(QuotaNodeId node, FairWeight weight);
  FairWeight weight(QuotaNodeId node) const { return at(node).weight; }
  std::uint64_t configuration() const { return configuration_; }  // changes whenever quotas or parents change

  QuotaNodeId find_cluster_queue(
      std::string_view name) const;                      // invalid when it has neither object nor claims nor pins
  QuotaNodeId find_cohort(std::string_view name) const;  // implicit ones too; invalid when there is none
  const std::string& name(QuotaNodeId node) const { return at(node).name; }
  bool is_cluster_queue(QuotaNodeId node) const { return at(node).cluster_queue; }
  bool exists(QuotaNodeId node) const { return at(node).exists; }     // an object defines it
  QuotaNodeId parent(QuotaNodeId node) const { return at(node).up; }  // the effective parent: invalid inside a cycle
  // the node itself when it has no parent; invalid inside a cycle
  QuotaNodeId root(QuotaNodeId node) const { return at(node).root; }
  bool in_cycle(QuotaNodeId node) const {
    return at(node).in_cycle;
  }  // its ancestors contain a cycle: the tree is inactive
  int height(QuotaNodeId node) const { return at(node).height; }  // 0 for a cluster queue
  std::span<const QuotaNodeId> children(QuotaNodeId node) const {
    return at(node).children;
  }  // by name, queues before cohorts
  template <typename Visit>
  void for_each_node(Visit visit) const {  // cluster queues and cohorts
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].in_use) visit(QuotaNodeId(i));
    }
  }
  std::vector<QuotaNodeId> cluster_queues() const;  // by name
  std::string path(QuotaNodeId node) const;         // "/root/.../name"
  bool is_ancestor_or_self(QuotaNodeId ancestor, QuotaNodeId node) const;

  // --- Numbers. A flavor-resource that a node does not define has quota 0 and no limits.
  const Quota& quota(QuotaNodeId node, FlavorResourceId id) const { return cell(node, id).quota; }
  // The number after the last flavor-resource that the node defines, or that was used in it.
  std::size_t end_of_ids(QuotaNodeId node) const { return at(node).cells.size(); }
  Amount subtree_quota(QuotaNodeId node, FlavorResourceId id) const { return cell(node, id).subtree; }
  Amount local_quota(QuotaNodeId node, FlavorResourceId id) const { return cell(node, id).local; }
  Amount local_available(QuotaNodeId node, FlavorResourceId id) const;  // max(0, local quota - usage)
  Amount usage(QuotaNodeId node, FlavorResourceId id) const { return cell(node, id).usage; }
  Amount available(QuotaNodeId node, FlavorResourceId id) const;  // clamped at 0 for cluster queues, as Kueue does
  Amount potential_available(QuotaNodeId node, FlavorResourceId id) const;
  Amount borrowed(QuotaNodeId node,
                  FlavorResourceId id) const;  // max(0, usage - subtree quota); 0 without a parent
  bool borrowing_with(QuotaNodeId node, FlavorResourceId id, Amount more) const;  // usage + more > subtree quota
  bool fits(QuotaNodeId cluster_queue, std::span<const FlavorResourceAmount> usage) const;
  // The same for usage that the queue already counts: true when it is within the available quota.
  bool fits_counted(QuotaNodeId cluster_queue, std::span<const FlavorResourceAmount> usage) const;
  BorrowLevel lowest_subtree_that_fits(QuotaNodeId cluster_queue, FlavorResourceId id, Amount more) const;
  // The topmost node, among the queue and the ancestors that count its usage, that uses more than its subtree quota;
  // invalid: none does.
  QuotaNodeId topmost_borrower(QuotaNodeId cluster_queue, FlavorResourceId id) const;
  // By how much the usage of `ancestor` (or of the queue itself) would rise or fall if the queue's usage did by
  // `amount`.
  Amount rise(QuotaNodeId cluster_queue, QuotaNodeId ancestor, FlavorResourceId id, Amount amount) const;
  Amount fall(QuotaNodeId cluster_queue, QuotaNodeId ancestor, FlavorResourceId id, Amount amount) const;

  // --- Claims. Amounts must not be negative; they are normalized with tidy().
  // The node of a cluster queue, created if necessary: claims may name a queue without an object.
  QuotaNodeId cluster_queue_node(std::string_view name);
  void pin(QuotaNodeId node) { ++at(node).pins; }  // keeps the node even if nothing defines or uses it
  void unpin(QuotaNodeId node);
  void take(WorkloadId workload, QuotaNodeId cluster_queue,
            Usage usage);                          // replaces a claim that the workload already has
  void hand_over(WorkloadId from, WorkloadId to);  // the claim of one becomes that of the other, which has none
  void give_back(WorkloadId workload);             // no effect when it has none
  const Claim* claim(WorkloadId workload) const;   // nullptr: none
  std::size_t claims() const { return claim_count_; }
  // an open trial has taken it out
  bool supposed_out(WorkloadId workload) const { return claims_[workload.index()].out; }

  // Quota reserved in a queue for the rest of a scheduling cycle, for workloads that wait for preemptions. It counts
  // as usage until drop_holds(). It is not a claim: no workload runs on it.
  void hold(QuotaNodeId cluster_queue, std::span<const FlavorResourceAmount> usage);
  void drop_holds();

  // Where capacity got free since the last call, by claims given back or reduced and by configuration. Trials and
  // holds do not count.
  std::vector<Relief> take_reliefs() { return std::exchange(reliefs_, {}); }

  // A scope of tentative changes. Trials nest: the last begun ends first. While one is open, claims, holds and
  // configuration must not change.
  class Trial {
   public:
    explicit Trial(Ledger& ledger);
    ~Trial() { roll_back(); }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;
    void without(WorkloadId workload);  // as if its claim were given back; no effect when it has none or is out already
    void again(WorkloadId workload);    // undoes without()
    void with(QuotaNodeId cluster_queue, std::span<const FlavorResourceAmount> usage);
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
    QuotaNodeId parent;  // as declared
    QuotaNodeId up;      // the effective parent: none inside a cycle
    QuotaNodeId root;    // none inside a cycle
    std::size_t claims = 0;
    std::size_t pins = 0;
    FairWeight weight{1, 1};
    std::vector<QuotaNodeId> children;
    std::vector<Cell> cells;  // by flavor-resource, grown on demand
  };
  struct ClaimSlot {
    Claim claim;
    bool taken = false;
    bool out = false;  // taken out by a trial
  };
  struct Undo {
    QuotaNodeId node;  // invalid: undo by flipping the claim's `out`
    FlavorResourceId id;
    Amount usage;
    WorkloadId workload;
  };
  struct Held {
    QuotaNodeId cluster_queue;
    Usage usage;
  };
  using NodeNames = std::map<std::string, QuotaNodeId, std::less<>>;

  Node& at(QuotaNodeId id) { return nodes_[id.index()]; }
  const Node& at(QuotaNodeId id) const { return nodes_[id.index()]; }
  const Cell& cell(QuotaNodeId id, FlavorResourceId fr) const {
    const Node& node = nodes_[id.index()];
    return fr.index() < node.cells.size() ? node.cells[fr.index()] : unlisted(node.unbounded);
  }
  static const Cell& unlisted(bool unbounded) { return unbounded ? kUnboundedCell : kNoCell; }
  Cell& grow_cell(QuotaNodeId id, FlavorResourceId fr);

  // tree.cpp
  QuotaNodeId new_node(std::string_view name, bool cluster_queue);
  QuotaNodeId cohort_node(std::string_view name);
  void set_quotas(QuotaNodeId node, std::span<const QuotaEntry> quotas, bool unbounded = false);
  void link(QuotaNodeId node, QuotaNodeId parent);
  void place_subtree(QuotaNodeId node);
  void refresh(QuotaNodeId node);     // derived values of one node from its children
  void refresh_up(QuotaNodeId node);  // of the node and its ancestors
  void drop_if_unused(QuotaNodeId node);

  // ledger.cpp
  Amount raw_available(QuotaNodeId node, FlavorResourceId id) const;
  void set_usage(QuotaNodeId node, FlavorResourceId id, Amount usage);
  void replace(WorkloadId workload, QuotaNodeId cluster_queue, const Usage& usage);
  void add(QuotaNodeId node, FlavorResourceId id, Amount amount);
  QuotaNodeId subtract(QuotaNodeId node, FlavorResourceId id, Amount amount);  // the topmost node touched
  void recount(QuotaNodeId node,
               FlavorResourceId id);  // recomputes the whole tree's usage of one id, after a saturation
  Amount counted(QuotaNodeId cluster_queue, FlavorResourceId id) const;

  static const Cell kNoCell, kUnboundedCell;
  std::vector<Node> nodes_;
  std::vector<QuotaNodeId> free_nodes_;
  NodeNames cluster_queues_, cohorts_;
  SharedBlocks<ClaimSlot> claims_;  // by workload
  std::size_t claim_count_ = 0;
  std::vector<Held> holds_;
  std::vector<Relief> reliefs_;
  std::vector<Undo> journal_;
  std::size_t open_trials_ = 0;
  std::uint64_t configuration_ = 0;
};

}  // namespace berth::engine
