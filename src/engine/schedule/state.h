// Everything the scheduler knows, shared by its parts.
#pragma once

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "engine/queue/pending.h"
#include "engine/quota/ledger.h"
#include "engine/quota/names.h"
#include "engine/schedule/assignment.h"
#include "engine/schedule/flavors.h"
#include "engine/schedule/holders.h"
#include "engine/schedule/options.h"
#include "engine/schedule/queue_config.h"
#include "engine/schedule/shape.h"
#include "engine/schedule/slots.h"
#include "engine/topology/places.h"

namespace berth::engine {

// A cluster queue: its rules, who waits and who holds quota. It exists as long as any of these does.
struct Queue {
  Queue(Slots& slots, bool share_verdicts, NodeId id)
      : node(id), pending(slots, share_verdicts), holders(slots) {}
  NodeId node;
  bool configured = false;  // an object defines it
  bool active = false;      // may admit
  bool dirty = false;       // something happened that may let somebody in
  QueueConfig config;
  std::vector<FlavorId> rooms;   // its flavors that have a topology
  std::uint64_t generation = 0;  // of the configuration, for what is compiled from it
  PendingQueue pending;
  Holders holders;
};

// What a root cohort (or a queue without one) remembers between passes.
struct Tree {
  std::uint64_t cycle = 0;  // scheduling cycles so far
  std::uint64_t releases =
      0;  // changes when quota was released or reconfigured (Kueue: AllocatableResourceGeneration)
  std::uint64_t progress = 0;  // changes when anything was admitted, preempted or parked
};

// A claim made a queue or cohort use more than is its own: whoever waits beside it and may reclaim may find victims there that it
// did not find before, or of whom none was enough.
struct Loan {
  NodeId among;  // whoever waits below it
  FlavorResourceId id;
  std::uint64_t number = 0;  // of those before it and itself
};

struct SchedulerState {
  explicit SchedulerState(SchedulerOptions o)
      : options(o),
        places(names, o.topology),
        shares(ledger, names),
        preemption(ledger, places, shares, slots, [this](NodeId node) { return holders(node); }, o.fair_sharing),
        assigner(ledger, preemption, o.flavor_fungibility, o.fair_sharing.enabled) {}
  SchedulerState(const SchedulerState&) = delete;
  SchedulerState& operator=(const SchedulerState&) = delete;

  Queue* queue(NodeId node) const {
    return node.valid() && node.index() < queues.size() ? queues[node.index()].get() : nullptr;
  }
  const Holders* holders(NodeId node) const {
    const Queue* q = queue(node);
    return q == nullptr ? nullptr : &q->holders;
  }
  Tree& tree(NodeId root) {
    if (trees.size() <= root.index()) trees.resize(root.index() + 1);
    return trees[root.index()];
  }
  // May anything be evaluated there?
  bool runs(const Queue& q) const { return q.configured && q.active && !ledger.in_cycle(q.node); }

  // Whether a workload that lacked this may fit or preempt now. Without preemption nothing but room helps,
  // and a request of one pod set that may not be reduced needs all of its amount.
  bool may_help(const Queue& q, const Lack& lack, ShapeId shape_id) const {
    if (lack.place.valid()) return true;
    const Shape& shape = shapes[shape_id];
    return q.config.preempts() || shape.reducible || shape.pod_sets.size() > 1 ||
           lack.wanted <= ledger.available(q.node, lack.id);
  }

  // What a queue took may be a loan.
  void note_loans(NodeId queue, std::span<const FlavorResourceAmount> usage) {
    if (!reclaims) return;
    for (const FlavorResourceAmount& each : usage) {
      const NodeId borrower = ledger.topmost_borrower(queue, each.id);
      if (!borrower.valid()) continue;
      const NodeId above = ledger.parent(borrower);
      loans.push_back({reclaims_over_levels ? ledger.root(borrower) : above.valid() ? above : borrower, each.id, ++loans_ever});
    }
  }

  // Whether the pods of somebody who holds quota keep all others waiting.
  bool admission_blocked() const { return options.block_admission && unready_holders > 0; }
  void set_pods_ready(Slot& holder, bool ready) {
    if (holder.pods_ready == ready) return;
    holder.pods_ready = ready;
    unready_holders = ready ? unready_holders - 1 : unready_holders + 1;
  }

  SchedulerOptions options;
  Time now{};               // of the pass, or the second pass
  bool only_looks = false;  // whatever is evaluated is only asked about, and changes nothing
  // When the patience with leaving pods ends, and which queue's head waits for them.
  std::set<std::pair<Time, NodeId>> waits_for_leavers;
  std::size_t unready_holders = 0;
  Names names;
  Ledger ledger;
  FlavorTable flavors;
  Places places;
  ShapeTable shapes;
  Slots slots;
  topology::StringPool local_queues;           // those that workloads were submitted through
  std::vector<std::unique_ptr<Queue>> queues;  // by node
  std::vector<Tree> trees;                     // by root
  std::uint64_t counter = 0;                   // gives generations
  std::vector<Loan> loans;                     // since somebody was last woken for them
  std::uint64_t loans_ever = 0;
  bool reclaims = false;              // some queue might reclaim, now or once
  bool reclaims_over_levels = false;  // and past cohorts that use no more than is theirs
  Shares shares;
  Preemption preemption;
  Assigner assigner;
};

}  // namespace berth::engine
