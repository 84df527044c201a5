// The whole state of the scheduler, shared by its parts.
#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "engine/queue/pending.h"
#include "engine/queue/shape.h"
#include "engine/queue/slots.h"
#include "engine/quota/ledger.h"
#include "engine/quota/names.h"
#include "engine/schedule/assignment.h"
#include "engine/schedule/entry.h"
#include "engine/schedule/flavors.h"
#include "engine/schedule/holders.h"
#include "engine/schedule/options.h"
#include "engine/schedule/precedence.h"
#include "engine/schedule/queue_config.h"
#include "engine/topology/places.h"

namespace berth::engine {

// A cluster queue: its rules, its pending workloads and its quota holders. It exists as long as any of these does.
struct Queue {
  Queue(Slots& slots, bool share_verdicts, QuotaNodeId id) : node(id), pending(slots, share_verdicts), holders(slots) {}
  Queue(const Queue& other, Slots& slots)
      : node(other.node),
        configured(other.configured),
        active(other.active),
        dirty(other.dirty),
        config(other.config),
        topology_flavors(other.topology_flavors),
        generation(other.generation),
        pending(other.pending, slots),
        holders(other.holders, slots) {}
  QuotaNodeId node;
  bool configured = false;  // an object defines it
  bool active = false;      // may admit
  bool dirty = false;       // an event may allow it to admit a workload
  QueueConfig config;
  std::vector<FlavorId> topology_flavors;  // its flavors that have a topology
  std::uint64_t generation = 0;            // of the configuration: plans of an older generation are recompiled
  PendingQueue pending;
  Holders holders;
};

// State of a root cohort (or of a queue without cohort) that is kept between passes.
struct Tree {
  std::uint64_t cycle = 0;  // scheduling cycles so far
  std::uint64_t releases =
      0;  // changes whenever quota is released or reconfigured (Kueue: AllocatableResourceGeneration)
  std::uint64_t progress = 0;  // changes when anything was admitted, preempted or parked
};

// A claim made a queue or cohort use more than its subtree quota. Pending workloads in other queues that may reclaim
// may now find new victims there. With fair sharing, also a claim in the subtree of those who wait.
struct Borrowing {
  QuotaNodeId among;  // the workloads that may profit wait below this node
  FlavorResourceId id;
  std::uint64_t number = 0;  // counts all borrowings, from 1
};

// A claim took a flavor-resource in this tree.
struct Taken {
  QuotaNodeId root;
  FlavorResourceId id;
  auto operator<=>(const Taken&) const = default;
};

// The part of the scheduler's state that is plain values, copied as a whole.
struct SchedulerFacts {
  explicit SchedulerFacts(SchedulerOptions o) : options(o), book(o.usage) {}

  SchedulerOptions options;
  Time now{};               // of the running pass or second pass
  bool only_looks = false;  // evaluations are only queries (invariant checks) and change nothing
  bool evaluated = false;   // the last schedule() looked at a workload that waits
  // When the wait for leaving pods ends, and which queue's head waits.
  std::set<std::pair<Time, QuotaNodeId>> waits_for_leaving_pods;
  std::size_t unready_holders = 0;
  Names names;
  Ledger ledger;
  FlavorTable flavors;
  ShapeTable shapes;
  topology::StringPool local_queues;  // those through which workloads were submitted
  std::vector<Tree> trees;            // by root
  std::uint64_t counter = 0;          // source of generations
  std::vector<Borrowing> borrowings;  // not yet processed: no workload was woken for them
  std::uint64_t borrowings_ever = 0;
  std::vector<Taken> taken;  // not yet processed; in order, each once
  bool reclaims = false;     // some queue may reclaim, or could once
  // some queue may reclaim past cohorts that are within their quota (terms.reclaim_levels), or could once
  bool reclaims_over_levels = false;
  // By cluster queue: those in which workloads wanted the same victims.
  std::map<std::string, OverlapCounts, std::less<>> overlaps;
  std::uint64_t node_changes = 1;  // changes whenever nodes or topologies change
  Precedence precedence;
  UsageBook book;                                     // of past usage
  std::vector<AccountId> accounts;                    // by local queue
  std::vector<LocalQueueId> payers;                   // by account; an account that was closed has its last one
  std::vector<UsageBook::Resource> booked_resources;  // by resource, as far as known
};

struct SchedulerState : SchedulerFacts {
  explicit SchedulerState(SchedulerOptions o)
      : SchedulerFacts(o),
        places(names, o.topology),
        shares(ledger, names),
        preemption(
            ledger, places, shares, slots, [this](QuotaNodeId node) { return holders(node); }, o.fair_sharing),
        assigner(ledger, preemption, o.flavor_fungibility, o.fair_sharing.enabled) {}
  // A copy, or the part of it that decides about the trees of cohorts `roots` (all trees that share nodes with them
  // must be named): other trees have their quota and usage, but no workloads.
  SchedulerState(const SchedulerState& other, const std::vector<QuotaNodeId>* roots);
  SchedulerState(const SchedulerState&) = delete;
  SchedulerState& operator=(const SchedulerState&) = delete;

  Queue* queue(QuotaNodeId node) const {
    return node.valid() && node.index() < queues.size() ? queues[node.index()].get() : nullptr;
  }
  const Holders* holders(QuotaNodeId node) const {
    const Queue* q = queue(node);
    return q == nullptr ? nullptr : &q->holders;
  }
  Tree& tree(QuotaNodeId root) {
    if (trees.size() <= root.index()) trees.resize(root.index() + 1);
    return trees[root.index()];
  }
  bool is_below(QuotaNodeId node, const std::vector<QuotaNodeId>& roots) const;  // in one of these trees
  bool has_topology(const std::vector<QuotaNodeId>& roots) const;  // a queue there has flavors with a topology
  // Whether workloads of the queue may be evaluated.
  bool runs(const Queue& q) const { return q.configured && q.active && !ledger.in_cycle(q.node); }

  // Whether a workload with this lack may fit or preempt now. Without preemption only free quota helps, and a request
  // with one pod set that must not be reduced needs its whole amount.
  bool may_help(const Queue& q, const Lack& lack, ShapeId shape_id) const {
    if (lack.place.valid()) return true;
    if (lack.was_free) return false;
    const Shape& shape = shapes[shape_id];
    return q.config.preempts() || shape.reducible || shape.pod_sets.size() > 1 ||
           lack.wanted <= ledger.available(q.node, lack.id);
  }

  // Records what was taken, and a borrowing for each flavor-resource of `usage` for which the queue or an ancestor now
  // borrows. With fair sharing also for those whose own share it makes larger: they are offered workloads in another
  // order, and may find victims in it.
  void note_taken(QuotaNodeId queue, std::span<const FlavorResourceAmount> usage) {
    if (!reclaims) return;
    if (options.fair_sharing.enabled && !usage.empty() && !ledger.in_cycle(queue))
      borrowings.push_back({below_root(queue), usage.front().id, ++borrowings_ever});
    for (const FlavorResourceAmount& each : usage) {
      if (!ledger.in_cycle(queue)) note_taken({ledger.root(queue), each.id});
      const QuotaNodeId borrower = ledger.topmost_borrower(queue, each.id);
      if (borrower.valid()) borrowings.push_back({among(borrower), each.id, ++borrowings_ever});
    }
  }
  // The largest subtree with the queue that is not the whole tree, if there is one.
  QuotaNodeId below_root(QuotaNodeId node) const {
    for (QuotaNodeId above = ledger.parent(node); above.valid() && ledger.parent(above).valid();
         above = ledger.parent(node))
      node = above;
    return node;
  }
  void note_taken(const Taken& what) {
    const auto at = std::lower_bound(taken.begin(), taken.end(), what);
    if (at == taken.end() || *at != what) taken.insert(at, what);
  }
  // Where workloads wait that may find victims when this node begins to borrow. Fair shares count all flavors of a
  // resource: so victims may be found in every cohort that borrows anything, also where it does not borrow this one.
  QuotaNodeId among(QuotaNodeId borrower) {
    if (reclaims_over_levels) return ledger.root(borrower);
    QuotaNodeId above = ledger.parent(borrower);
    if (!above.valid()) return borrower;
    if (!options.fair_sharing.enabled || ledger.in_cycle(borrower)) return above;
    while (ledger.parent(above).valid() && shares.of(above).borrows()) above = ledger.parent(above);
    return above;
  }

  // The preemptor and the victim have classes of their own: nobody shares what they may preempt.
  void note_preemption(WorkloadId preemptor, WorkloadId victim) {
    precedence.note(ledger.root(slots[victim].queue), preemptor, victim);
    slots[preemptor].has_precedents = slots[victim].has_precedents = true;
  }
  // The holder whose quota this pending one takes over, as far as it may: not when that is being evicted. Invalid:
  // none.
  WorkloadId predecessor(WorkloadId workload) const {
    const WorkloadId of = replaced_holder(workload);
    return of.valid() && !slots[of].evicted ? of : WorkloadId();
  }
  // The same for one that was evaluated in this cycle.
  WorkloadId predecessor(const Entry& entry) const {
    return entry.replaces == nullptr ? WorkloadId() : predecessor(entry.workload);
  }
  // It takes over what another one holds, and that is being evicted.
  bool predecessor_leaves(WorkloadId workload) const {
    const WorkloadId of = replaced_holder(workload);
    return of.valid() && slots[of].evicted;
  }
  WorkloadId replaced_holder(WorkloadId workload) const {
    const Slot& slot = slots[workload];
    if (!slot.replaces) return {};
    const WorkloadId of = slot.replaces->what.of;
    if (!slots.known(of) || slots[of].who != slot.replaces->who) return {};
    return slots[of].place == Slot::Place::kHolder && slots[of].queue == slot.queue ? of : WorkloadId();
  }
  // Whether it preempted others and was not admitted since, as far as that is known.
  bool has_preempted(const Queue& queue, WorkloadId workload) const {
    return queue.pending.preempted_for(workload) || !precedence.victims(ledger.root(queue.node), workload).empty();
  }
  Preemptor preemptor(WorkloadId workload) const {
    const Slot& slot = slots[workload];
    return {slot.queue, &queue(slot.queue)->config, slot.priority, slot.queued_at,
            precedence.protected_victims(ledger.root(slot.queue), workload)};
  }

  // Whether all admission must wait because pods of a quota holder are not ready.
  bool admission_blocked() const { return options.block_admission && unready_holders > 0; }
  void set_pods_ready(Slot& holder, bool ready) {
    if (holder.pods_ready == ready) return;
    holder.pods_ready = ready;
    unready_holders = ready ? unready_holders - 1 : unready_holders + 1;
  }

  // --- Past usage of local queues (usage.cpp). Without such a book these do nothing.
  AccountId account(LocalQueueId local_queue) const {
    return local_queue.valid() && local_queue.index() < accounts.size() ? accounts[local_queue.index()] : AccountId();
  }
  void link(LocalQueueId local_queue, AccountId account);
  UsageBook::Resource booked(ResourceId resource) {
    if (resource.index() >= booked_resources.size()) book_resources(resource);
    return booked_resources[resource.index()];
  }
  void book_resources(ResourceId last);
  // The workload holds these amounts, and runs since then or not yet.
  void charge(Slot& holder, std::span<const FlavorResourceAmount> amounts, std::optional<Time> runs_since);
  void discharge(Slot& holder) { book.discharge(holder.use); }
  void rank(Queue& queue);  // compares its local queues anew

  Places places;
  Slots slots;
  std::vector<std::unique_ptr<Queue>> queues;  // by node
  Shares shares;
  Preemption preemption;
  Assigner assigner;
};

}  // namespace berth::engine
