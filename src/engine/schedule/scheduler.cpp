#include <algorithm>
#include <tuple>

#include "base/assert.h"
#include "engine/schedule/scheduler_impl.h"

namespace berth::engine {

Scheduler::Scheduler(SchedulerOptions options) : impl_(std::make_unique<Impl>(options)) {}
Scheduler::~Scheduler() = default;
Scheduler::Scheduler(Scheduler&&) noexcept = default;
Scheduler& Scheduler::operator=(Scheduler&&) noexcept = default;

// --- Queues.

Queue& Scheduler::Impl::queue_of(std::string_view name) {
  NodeId node = state.ledger.cluster_queue_node(name);
  if (state.queues.size() <= node.index()) state.queues.resize(node.index() + 1);
  auto& queue = state.queues[node.index()];
  if (queue == nullptr) {
    queue = std::make_unique<Queue>(state.slots, state.options.equivalence_hashing, node);
    state.ledger.pin(node);
  }
  return *queue;
}

void Scheduler::Impl::drop_if_unused(Queue& queue) {
  if (queue.configured || queue.pending.size() > 0 || !queue.holders.empty()) return;
  NodeId node = queue.node;
  std::erase(dirty, node);
  rooms.erase(node);
  state.queues[node.index()].reset();
  state.ledger.unpin(node);
}

void Scheduler::Impl::mark(Queue& queue) {
  if (queue.dirty) return;
  queue.dirty = true;
  dirty.push_back(queue.node);
}

void Scheduler::Impl::wake_queue(Queue& queue) {
  queue.pending.wake_all();
  mark(queue);
}

void Scheduler::Impl::wake_tree(Queue& queue) {
  if (!state.ledger.in_cycle(queue.node)) relieve(state.ledger.root(queue.node), FlavorResourceId());
}

void Scheduler::Impl::reconfigured(Queue& queue) {
  queue.generation = ++state.counter;
  queue.rooms.clear();
  for (const ResourceGroup& group : queue.config.groups) {
    for (FlavorId flavor : group.flavors) {
      if (state.places.places_pods(flavor)) queue.rooms.push_back(flavor);
    }
  }
  if (queue.rooms.empty()) {
    rooms.erase(queue.node);
  } else {
    rooms.insert(queue.node);
  }
  wake_queue(queue);
}

// Everything below a node where capacity got free may be worth another evaluation; of parked classes, only those that
// lacked this.
void Scheduler::Impl::relieve(NodeId node, FlavorResourceId id) {
  if (Queue* queue = state.queue(node); queue != nullptr && queue->pending.size() > 0) {
    auto may_fit = [&](const Lack& lack, ShapeId shape) { return state.may_help(*queue, lack, shape); };
    if (!id.valid()) {
      queue->pending.wake_all();
    } else {
      queue->pending.wake(id, may_fit);
      // Whatever got free, shares of pending workloads here may be smaller now.
      if (state.options.fair_sharing.enabled && queue->config.reclaims())
        queue->pending.wake_for_victims(FlavorResourceId());
    }
    if (queue->pending.head().valid()) mark(*queue);
  }
  for (NodeId child : state.ledger.children(node)) {
    if (state.ledger.parent(child) == node) relieve(child, id);
  }
}

// Workloads that may reclaim and lack what others borrowed search victims again; with fair sharing, whatever they
// lack.
void Scheduler::Impl::tempt(NodeId node, const Loan& loan) {
  if (Queue* queue = state.queue(node); queue != nullptr && queue->config.reclaims() && queue->pending.size() > 0) {
    const FlavorResourceId id = state.options.fair_sharing.enabled ? FlavorResourceId() : loan.id;
    queue->pending.wake_for_victims(id, loan.number);
    if (queue->pending.head().valid())
      mark(*queue);  // even if nothing was parked: the head of a StrictFIFO queue that reserves quota
  }
  for (NodeId child : state.ledger.children(node)) {
    if (state.ledger.parent(child) == node) tempt(child, loan);
  }
}

void Scheduler::Impl::absorb_loans() {
  if (state.loans.empty()) return;
  std::vector<Loan> loans = std::exchange(state.loans, {});
  // Keep only the latest of equal loans.
  const auto order = [](const Loan& a, const Loan& b) {
    return std::tuple(a.among, a.id, b.number) < std::tuple(b.among, b.id, a.number);
  };
  const auto same = [](const Loan& a, const Loan& b) { return a.among == b.among && a.id == b.id; };
  std::sort(loans.begin(), loans.end(), order);
  loans.erase(std::unique(loans.begin(), loans.end(), same), loans.end());
  for (const Loan& loan : loans) {
    if (loan.among.valid()) tempt(loan.among, loan);  // invalid in a tree with a cycle: nothing is evaluated there
  }
}

void Scheduler::Impl::absorb_reliefs() {
  std::vector<Relief> reliefs = state.ledger.take_reliefs();
  auto order = [](const Relief& a, const Relief& b) { return std::pair(a.node, a.id) < std::pair(b.node, b.id); };
  std::sort(reliefs.begin(), reliefs.end(), order);
  reliefs.erase(std::unique(reliefs.begin(), reliefs.end()), reliefs.end());
  for (const Relief& relief : reliefs) {
    NodeId root = state.ledger.root(relief.node);
    if (root.valid()) state.tree(root).releases = ++state.counter;
    relieve(relief.node, relief.id);
  }
  for (FlavorId flavor : state.places.take_reliefs()) relieve_room(flavor);
  absorb_loans();
}

// --- Configuration.

void Scheduler::Impl::flavors_changed(FlavorId flavor) {
  for (auto& queue : state.queues) {
    if (queue == nullptr) continue;
    bool uses = std::any_of(queue->config.groups.begin(), queue->config.groups.end(), [&](const ResourceGroup& group) {
      return std::find(group.flavors.begin(), group.flavors.end(), flavor) != group.flavors.end();
    });
    if (uses) reconfigured(*queue);
  }
}

void Scheduler::set_flavor(const api::kueue::ResourceFlavor& flavor) {
  FlavorId id = impl_->state.names.flavor(flavor.meta.name);
  const bool places_changed = impl_->state.places.set_flavor(id, flavor);
  if (impl_->state.flavors.set(id, flavor) || places_changed) impl_->flavors_changed(id);
}

void Scheduler::remove_flavor(std::string_view name) {
  FlavorId id = impl_->state.names.find_flavor(name);
  if (!id.valid()) return;
  const bool places_changed = impl_->state.places.remove_flavor(id);
  if (impl_->state.flavors.remove(id) || places_changed) impl_->flavors_changed(id);
}

void Scheduler::set_cohort(const api::kueue::Cohort& cohort) {
  SchedulerState& state = impl_->state;
  auto quotas = compile_quotas(cohort.resource_groups, state.names);
  NodeId node = state.ledger.find_cohort(cohort.meta.name);
  if (!node.valid() || !state.ledger.same_configuration(node, cohort.parent_name, quotas, cohort.unbounded))
    node = state.ledger.set_cohort(cohort.meta.name, cohort.parent_name, quotas, cohort.unbounded);
  state.ledger.set_weight(node, cohort.fair_weight.fraction());
}

void Scheduler::remove_cohort(std::string_view name) { impl_->state.ledger.remove_cohort(name); }

void Scheduler::set_cluster_queue(const api::kueue::ClusterQueue& object, bool active,
                                  const std::vector<std::string>& delayed_flavors) {
  SchedulerState& state = impl_->state;
  Queue& queue = impl_->queue_of(object.meta.name);
  auto quotas = compile_quotas(object.resource_groups, state.names);
  QueueConfig config = compile_queue(object, delayed_flavors, state.names);
  bool rules_changed = !queue.configured || queue.config != config;
  if (rules_changed || !state.ledger.same_configuration(queue.node, object.cohort_name, quotas)) {
    state.ledger.set_cluster_queue(object.meta.name, object.cohort_name, quotas);
  }
  state.ledger.set_weight(queue.node, object.fair_weight.fraction());
  bool woken = rules_changed || (active && !queue.active);
  queue.config = std::move(config);
  queue.holders.reclaimable = queue.config.terms.reclaimable;
  queue.holders.queue_priority = queue.config.terms.priority;
  state.reclaims = state.reclaims || queue.config.reclaims();
  state.reclaims_over_levels =
      state.reclaims_over_levels || (queue.config.reclaims() && queue.config.terms.reclaim_levels);
  queue.configured = true;
  queue.active = active;
  queue.holders.by_usage = queue.config.by_usage && state.book.on();
  queue.pending.order_by_usage(queue.holders.by_usage);
  if (woken) impl_->reconfigured(queue);
}

void Scheduler::remove_cluster_queue(std::string_view name) {
  Queue* queue = impl_->find(name);
  if (queue == nullptr || !queue->configured) return;
  queue->configured = queue->active = false;
  queue->config = QueueConfig();
  queue->pending.order_by_usage(false);
  queue->holders.reclaimable = true;
  queue->holders.queue_priority = 0;
  queue->holders.by_usage = false;
  impl_->reconfigured(*queue);
  impl_->state.ledger.remove_cluster_queue(name);
  impl_->drop_if_unused(*queue);
}

// --- Workloads.

WorkloadId Scheduler::enter(std::string_view uid, std::string_view job_uid, std::string_view key) {
  return impl_->state.slots.enter(uid, job_uid, key.empty() ? uid : key);
}

void Scheduler::leave(WorkloadId workload) {
  SchedulerState& state = impl_->state;
  if (!state.slots.known(workload)) return;
  Slot& slot = state.slots[workload];
  if (slot.queue.valid()) impl_->forget_precedence(slot.queue);
  withdraw(workload);
  release(workload);
  if (slot.shape.valid()) state.shapes.release(slot.shape);
  if (slot.local_queue.valid()) state.local_queues.release(slot.local_queue);
  state.slots.leave(workload);
}

void Scheduler::Impl::leave_queue(WorkloadId workload) {
  Slot& slot = state.slots[workload];
  Queue& queue = *state.queue(slot.queue);
  if (slot.not_before) backoffs.erase({*slot.not_before, workload});
  slot.not_before.reset();
  slot.scan.reset();
  queue.pending.erase(workload);
  mark(queue);  // workloads behind it, or preempted for it, may continue
}

void Scheduler::Impl::leave_claim(WorkloadId workload) {
  Slot& slot = state.slots[workload];
  Queue& queue = *state.queue(slot.queue);
  queue.holders.erase(slot, workload);
  state.ledger.give_back(workload);
  if (!slot.places.empty()) state.places.give_back(workload);
  slot.places.clear();
  slot.place = Slot::Place::kNone;
  slot.evicted = false;
  state.discharge(slot);
  set_pods_ready(slot, true);
  drop_if_unused(queue);
}

void Scheduler::Impl::set_pods_ready(Slot& holder, bool ready) {
  const bool blocked = state.admission_blocked();
  state.set_pods_ready(holder, ready);
  if (!blocked || state.admission_blocked()) return;
  for (auto& queue : state.queues) {
    if (queue != nullptr && queue->pending.head().valid()) mark(*queue);
  }
}

void Scheduler::Impl::place(WorkloadId workload) {
  Slot& slot = state.slots[workload];
  Queue& queue = *state.queue(slot.queue);
  if (slot.on_hold || slot.not_before) {
    queue.pending.put_aside(workload);
    if (!slot.on_hold) backoffs.emplace(*slot.not_before, workload);
    return;
  }
  push(workload);
  mark(queue);
}

void Scheduler::Impl::push(WorkloadId workload) {
  Queue& queue = *state.queue(state.slots[workload].queue);
  queue.pending.push(workload, queue.config.age_decides());
  if (state.ledger.in_cycle(queue.node)) cut_off.insert(workload);
}

void Scheduler::Impl::find_cut_off() {
  if (std::exchange(seen_configuration, state.ledger.configuration()) == state.ledger.configuration()) return;
  if (state.ledger.nodes_in_cycles() == 0) return;
  for (const auto& queue : state.queues) {
    if (queue == nullptr || !state.ledger.in_cycle(queue->node)) continue;
    queue->pending.forget_reasons();
    const auto all = queue->pending.page(0, queue->pending.size());
    cut_off.insert(all.begin(), all.end());
  }
}

void Scheduler::Impl::tell_cut_off(Decisions& out) {
  find_cut_off();
  for (const WorkloadId workload : std::exchange(cut_off, {})) {
    if (!state.slots.known(workload) || state.slots[workload].place != Slot::Place::kQueued) continue;
    const Queue& queue = *state.queue(state.slots[workload].queue);
    if (queue.configured && queue.active && state.ledger.in_cycle(queue.node)) pass.tell_cut_off(workload, out);
  }
}

bool Scheduler::Impl::submitted_through(const Slot& slot, std::string_view local_queue) const {
  return slot.local_queue.valid() ? state.local_queues[slot.local_queue] == local_queue : local_queue.empty();
}

void Scheduler::Impl::submit_through(Slot& slot, std::string_view local_queue) {
  if (submitted_through(slot, local_queue)) return;
  if (slot.local_queue.valid()) state.local_queues.release(slot.local_queue);
  slot.local_queue = local_queue.empty() ? LocalQueueId() : state.local_queues.acquire(local_queue);
}

bool Scheduler::submit(WorkloadId workload, const Pending& pending, bool anew) {
  SchedulerState& state = impl_->state;
  Slot& slot = state.slots[workload];
  BERTH_INVARIANT(slot.place != Slot::Place::kHolder);
  if (slot.place == Slot::Place::kHolder) release(workload);
  ShapeId shape = state.shapes.acquire(pending.pod_sets, state.names);
  Queue& queue = impl_->queue_of(pending.cluster_queue);
  bool waits = slot.place != Slot::Place::kNone;
  const bool asks_the_same = waits && slot.queue == queue.node && slot.shape == shape;
  // A reported verdict stays valid for all members of its class.
  const bool knows = asks_the_same && !anew && slot.priority == pending.priority && slot.barrier == pending.barrier &&
                     slot.preemption_gated == pending.preemption_gated;
  const bool same = knows && slot.queued_at == pending.queued_at && slot.not_before == pending.not_before &&
                    slot.on_hold == pending.on_hold && impl_->submitted_through(slot, pending.local_queue);
  const bool made_way = asks_the_same && queue.pending.made_way(workload);
  const bool sticky = asks_the_same && queue.pending.sticky(workload);
  if (slot.has_precedents && (slot.queue != queue.node || slot.shape != shape || slot.priority != pending.priority))
    impl_->forget_precedence(slot.queue);
  if (slot.shape.valid()) state.shapes.release(slot.shape);
  slot.shape = shape;
  if (same) {
    if (state.ledger.in_cycle(queue.node)) impl_->cut_off.insert(workload);
    return slot.told != 0;
  }
  NodeId former = waits ? slot.queue : NodeId();
  if (waits) impl_->leave_queue(workload);
  slot.queue = queue.node;
  slot.priority = pending.priority;
  slot.queued_at = pending.queued_at;
  slot.barrier = pending.barrier;
  slot.not_before = pending.not_before;
  slot.on_hold = pending.on_hold;
  slot.preemption_gated = pending.preemption_gated;
  impl_->submit_through(slot, pending.local_queue);
  if (!knows) {
    slot.told = 0;
    slot.told_reason.clear();
  }
  impl_->place(workload);
  if (made_way && slot.place == Slot::Place::kQueued) {
    sticky ? queue.pending.set_sticky(workload) : queue.pending.set_made_way(workload);
  }
  if (former.valid() && former != queue.node) impl_->drop_if_unused(*state.queue(former));
  return slot.told != 0;
}

void Scheduler::withdraw(WorkloadId workload) {
  if (!impl_->state.slots.known(workload)) return;
  const Slot& slot = impl_->state.slots[workload];
  if (slot.has_precedents && slot.place != Slot::Place::kHolder) impl_->forget_precedence(slot.queue);
  if (!pending(workload)) return;
  impl_->leave_queue(workload);
  impl_->drop_if_unused(*impl_->state.queue(impl_->state.slots[workload].queue));
}

void Scheduler::hold(WorkloadId workload, const Holding& holding) {
  SchedulerState& state = impl_->state;
  Slot& slot = state.slots[workload];
  Usage usage;
  for (const auto& each : holding.amounts) {
    FlavorResourceId id = state.names.pair(state.names.flavor(each.flavor), state.names.resource(each.resource));
    usage.push_back({id, each.amount});
  }
  tidy(usage);
  withdraw(workload);
  Queue& queue = impl_->queue_of(holding.cluster_queue);
  const Claim* claim = state.ledger.claim(workload);
  if (slot.place == Slot::Place::kHolder && slot.queue != queue.node) {
    impl_->forget_precedence(slot.queue);
    impl_->leave_claim(workload);
    claim = nullptr;
  }
  if (slot.place == Slot::Place::kHolder) {
    queue.holders.erase(slot, workload);
    // The eviction failed or was reverted: workloads that wait for it choose victims again.
    if (slot.evicted && !holding.evicted) impl_->mark(queue);
    // Not this scheduler's preemption: somebody else evicts it, or reverted the eviction.
    if (slot.evicted != holding.evicted) impl_->forget_precedence(queue.node);
    // Workloads that could not preempt it may be able to now.
    if (holding.priority < slot.priority || holding.queued_at > slot.queued_at) {
      impl_->forget_precedence(queue.node);
      impl_->wake_tree(queue);
    }
  }
  slot.place = Slot::Place::kHolder;
  slot.queue = queue.node;
  slot.priority = holding.priority;
  slot.queued_at = holding.queued_at;
  slot.reserved_at = holding.reserved_at;
  slot.evicted = holding.evicted;
  impl_->set_pods_ready(slot, holding.pods_ready);
  queue.holders.insert(slot, workload);
  if (claim == nullptr || claim->usage != usage) {
    if (claim != nullptr) {
      impl_->forget_precedence(queue.node);
    } else {
      state.precedence.note_admitted(state.ledger.root(queue.node), workload);
    }
    state.ledger.take(workload, queue.node, std::move(usage));
    state.note_loans(queue.node, state.ledger.claim(workload)->usage);
  }
  if (state.book.on()) {
    if (const auto use = impl_->adopted.find(slot.who->uid); use != impl_->adopted.end()) {
      slot.use = use->second;
      impl_->adopted.erase(use);
    }
    if (!holding.local_queue.empty()) impl_->submit_through(slot, holding.local_queue);
    state.charge(slot, state.ledger.claim(workload)->usage, holding.admitted_at);
  }
  impl_->hold_places(workload, holding);
}

void Scheduler::release(WorkloadId workload) {
  if (!holds(workload)) return;
  const Slot& slot = impl_->state.slots[workload];
  if (!slot.evicted) impl_->forget_precedence(slot.queue);
  impl_->leave_claim(workload);
}

// --- Decisions.

void Scheduler::Impl::end_backoffs(Time now) {
  while (!backoffs.empty() && backoffs.begin()->first <= now) {
    WorkloadId workload = backoffs.begin()->second;
    leave_queue(workload);
    push(workload);
  }
}

void Scheduler::Impl::end_patience(Time now) {
  auto& waits = state.waits_for_leavers;
  while (!waits.empty() && waits.begin()->first <= now) {
    if (Queue* queue = state.queue(waits.extract(waits.begin()).value().second)) mark(*queue);
  }
}

Decisions Scheduler::schedule(Time now) {
  SchedulerState& state = impl_->state;
  state.now = now;
  set_time(now);
  impl_->forget_precedence_if_configured();
  impl_->end_backoffs(now);
  impl_->end_patience(now);
  impl_->rank_again();
  impl_->absorb_reliefs();
  std::set<NodeId> roots;
  for (NodeId node : std::exchange(impl_->dirty, {})) {
    Queue& queue = *state.queue(node);
    queue.dirty = false;
    if (!state.ledger.in_cycle(node)) roots.insert(state.ledger.root(node));
  }
  if (!roots.empty()) {
    for (auto& [name, counts] : state.overlaps) counts.skips = 0;
  }
  Decisions decisions;
  impl_->tell_cut_off(decisions);
  const std::vector<NodeId> joint = impl_->room_trees();
  if (std::any_of(joint.begin(), joint.end(), [&](NodeId root) { return roots.contains(root); })) {
    impl_->run_pass(joint, now, decisions);
    for (NodeId root : joint) roots.erase(root);
  }
  for (NodeId root : roots) impl_->run_pass({&root, 1}, now, decisions);
  return decisions;
}

void Scheduler::Impl::run_pass(std::span<const NodeId> roots, Time now, Decisions& out) {
  if (pass.run(roots, now, out)) return;
  for (auto& queue : state.queues) {  // stopped at the limit of cycles: continue in the next call
    if (queue != nullptr && std::ranges::find(roots, state.ledger.root(queue->node)) != roots.end()) mark(*queue);
  }
}

bool Scheduler::wants_pass() const {
  impl_->absorb_reliefs();
  return !impl_->dirty.empty();
}

std::optional<Time> Scheduler::next_wake() const {
  const auto& backoffs = impl_->backoffs;
  const auto& waits = impl_->state.waits_for_leavers;
  std::optional<Time> when = impl_->state.book.next_sample();
  if (!backoffs.empty() && (!when || backoffs.begin()->first < *when)) when = backoffs.begin()->first;
  if (!waits.empty() && (!when || waits.begin()->first < *when)) when = waits.begin()->first;
  return when;
}

}  // namespace berth::engine
