#include "engine/schedule/pass.h"

#include <algorithm>
#include <numeric>

#include "engine/schedule/trial.h"
#include "engine/schedule/victims.h"

namespace berth::engine {

namespace {

// Limit of cycles in one pass. Each cycle but the last admits, preempts, parks, or advances a walk over flavors, so
// in practice the number of pending workloads bounds it. This limit only keeps one pass from delaying everything
// else.
constexpr int kMaxCycles = 1'000'000;

constexpr std::string_view kOverlaps = "Workload has overlapping preemption targets with another workload";
constexpr std::string_view kAfterPodsReady = "waiting for all admitted workloads to be in PodsReady condition";
constexpr std::string_view kAfterPreemptions = "Workload fits once the preemptions under way are done";

}  // namespace

bool Pass::run(std::span<const QuotaNodeId> roots, Time now, Decisions& out) {
  now_ = now;
  out_ = &out;
  roots_ = roots;
  all_.clear();
  for (QuotaNodeId root : roots) collect(root);
  live_ = all_;
  aside_.clear();
  moved_after_ = false;
  bool done = false;
  for (int i = 0; i < kMaxCycles && !done; ++i) done = !cycle() && !try_those_aside();
  report_waits();
  for (Queue* queue : all_) report_unreported(*queue);
  end_turns_of_others();
  return done;
}

void Pass::collect(QuotaNodeId node) {
  if (Queue* queue = state_.queue(node)) {
    if (queue->pending.by_usage()) state_.rank(*queue);
    if (state_.runs(*queue) && queue->pending.size() > 0) all_.push_back(queue);
  }
  for (QuotaNodeId child : state_.ledger.children(node)) collect(child);
}

void Pass::moved() {
  moved_ = true;
  ++state_.counter;
  for (QuotaNodeId root : roots_) state_.tree(root).progress = state_.counter;
}

bool Pass::cycle() {
  for (QuotaNodeId root : roots_) ++state_.tree(root).cycle;
  moved_ = places_changed_ = false;
  std::size_t count = nominate_heads();
  if (count == 0) return false;
  if (!state_.precedence.empty()) count_outranked(count);
  preempted_.clear();
  beaten_.clear();
  process_in_order(count);
  state_.ledger.drop_holds();
  if (places_changed_) state_.places.drop_holds();
  return moved_ || let_others_try();
}

void Pass::process_in_order(std::size_t count) {
  if (state_.options.fair_sharing.enabled) {
    tournament_.begin({entries_.data(), count});
    while (Entry* entry = tournament_.next()) process(*entry);
    return;
  }
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::sort(order_.begin(), order_.end(),
            [this](std::size_t a, std::size_t b) { return before(entries_[a], entries_[b]); });
  for (std::size_t i : order_) process(entries_[i]);
}

std::size_t Pass::nominate_heads() {
  std::size_t count = 0;
  std::erase_if(live_, [&](Queue* queue) {
    WorkloadId head = queue->pending.head();
    state_.evaluated = state_.evaluated || head.valid();
    for (; head.valid() && still_hopeless(*queue, head); head = queue->pending.head()) {
      queue->pending.park_again(head);
      nothing_new(head);
    }
    if (!head.valid()) return true;
    if (entries_.size() == count) entries_.emplace_back();
    Entry& entry = entries_[count++];
    entry.workload = head;
    entry.queue = queue;
    nominator_.nominate(entry, true);
    return false;
  });
  return count;
}

// A preemptor comes before its victims, and before the victims of these; not if it finds nothing any more, because
// others took what they left: it would only keep them waiting.
void Pass::count_outranked(std::size_t count) {
  const std::span<Entry> entries(entries_.data(), count);
  for (const Entry& entry : entries) {
    const QuotaNodeId root = state_.ledger.root(entry.queue->node);
    for (const WorkloadId above : state_.precedence.above(root, entry.workload)) {
      const auto found = std::ranges::find(entries, above, &Entry::workload);
      if (found != entries.end() && found->promising()) ++found->outranks;
    }
  }
}

// The workload was woken because something got free, but by now too little of it is left: an evaluation could not end
// differently.
bool Pass::still_hopeless(const Queue& queue, WorkloadId head) const {
  const Slot& slot = state_.slots[head];
  if (slot.reported == 0 || slot.reported_of_other) return false;  // it must get its own verdict once
  auto lacks = queue.config.strict() ? std::span<const Lack>() : queue.pending.former_lacks(head);
  return !lacks.empty() && std::none_of(lacks.begin(), lacks.end(),
                                        [&](const Lack& lack) { return state_.may_help(queue, lack, slot.shape); });
}

// A preemptor comes first: otherwise its victim, being older, could take the same quota again and again. Among
// preemptors, first those that preempted others here. Then: higher priority of the queue, less borrowing, higher
// priority, older queue-order timestamp, UID.
bool Pass::before(const Entry& a, const Entry& b) const {
  if (a.outranks != b.outranks) return a.outranks > b.outranks;
  const bool a_preempted_for = a.queue->pending.preempted_for(a.workload),
             b_preempted_for = b.queue->pending.preempted_for(b.workload);
  if (a_preempted_for != b_preempted_for) return a_preempted_for;
  const std::int32_t a_priority = a.queue->config.terms.priority, b_priority = b.queue->config.terms.priority;
  if (a_priority != b_priority) return a_priority > b_priority;
  const Slot &x = state_.slots[a.workload], &y = state_.slots[b.workload];
  if (a.assignment.borrowing != b.assignment.borrowing) return a.assignment.borrowing < b.assignment.borrowing;
  if (state_.options.priority_sorting_within_cohort && x.priority != y.priority) return x.priority > y.priority;
  if (x.queued_at != y.queued_at) return x.queued_at < y.queued_at;
  return state_.slots.uid_less(a.workload, b.workload);
}

void Pass::process(Entry& entry) {
  if (entry.is_slice && !may_replace(entry)) return;
  if (entry.plan == nullptr) {
    const Barrier& barrier = *state_.slots[entry.workload].barrier;
    wait(entry.workload, barrier.reason, barrier.message);
    return give_up(entry, barrier.reason);
  }
  Assignment& assignment = entry.assignment;
  if (assignment.mode == Mode::kPreempt && state_.options.recompute_on_overlap && overlaps(entry))
    recompute_without_victims(entry);
  if (assignment.mode == Mode::kNoFit) return fail(entry, assignment.no_fit_reason);
  if (assignment.mode == Mode::kPreempt && entry.targets.empty()) {
    fail(entry, assignment.only_place_short ? kTopologyPlacementFailed : kWaitingForQuota);
    if (!entry.preemption_gated) reserve(entry);  // a workload that may not preempt reserves nothing
    return;
  }
  if (assignment.mode == Mode::kDeferredFit) {
    hold(entry, wanted(entry));
    note_preempted_for(entry);
    state_.slots[entry.workload].scan.reset();
    if (entry.wait_ends) return wait_for_leaving_pods(entry);
    return wait(entry.workload, kWaitingForPreemptedWorkloads, kAfterPreemptions);
  }
  bool overlap = overlaps(entry);
  if (overlap || !fits(entry)) {
    if (!entry.targets.empty()) ++overlap_counts(entry).skips;
    wait(entry.workload, kWaitingForQuota, overlap ? kOverlaps : kNoLongerFits);
    return try_again(entry, overlap);
  }
  if (assignment.mode != Mode::kFit) return preempt(entry);
  if (!state_.admission_blocked()) return admit(entry);
  hold(entry, wanted(entry));
  wait(entry.workload, kWaitingForPodsReady, kAfterPodsReady);
}

bool Pass::overlaps(const Entry& entry) const {
  return std::any_of(entry.targets.begin(), entry.targets.end(), [this](const Target& target) {
    return std::find(preempted_.begin(), preempted_.end(), target.workload) != preempted_.end();
  });
}

// Treats the victims of earlier entries as gone: is that enough, or which further victims are needed?
void Pass::recompute_without_victims(Entry& entry) {
  Trial trial(state_.ledger, state_.places);
  for (WorkloadId victim : preempted_) trial.without(victim);
  nominator_.renominate(entry);
  if (entry.assignment.mode == Mode::kFit) entry.assignment.mode = Mode::kDeferredFit;
  if (state_.only_looks) return;
  OverlapCounts& counts = overlap_counts(entry);
  const bool deferred = entry.assignment.mode == Mode::kDeferredFit;
  ++(deferred ? counts.deferred_fit : entry.targets.empty() ? counts.skipped : counts.new_targets);
}

OverlapCounts& Pass::overlap_counts(const Entry& entry) {
  return state_.overlaps[state_.ledger.name(entry.queue->node)];
}

bool Pass::fits(Entry& entry) {
  const Usage& usage = entry.assignment.usage;
  QuotaNodeId node = entry.queue->node;
  const TakeOver taking(state_.ledger, state_.predecessor(entry));
  if (preempted_.empty() && entry.targets.empty()) return state_.ledger.fits(node, usage) && keeps_place(entry);
  {
    Trial trial(state_.ledger, state_.places);
    for (WorkloadId victim : preempted_) trial.without(victim);
    for (const Target& target : entry.targets) trial.without(target.workload);
    if (!state_.ledger.fits(node, usage)) return false;
    if (entry.assignment.mode != Mode::kFit) return keeps_place(entry);
  }
  {
    // Victims still hold their quota: what is admitted now must fit beside them.
    Ledger::Trial trial(state_.ledger);
    trial.without_holds();
    if (!state_.ledger.fits(node, usage)) return false;
  }
  return keeps_place(entry);  // beside the victims and the workloads that will replace them
}

// Searches places again after other entries of this cycle took some (Kueue:
// TASRecomputeAssignmentWithinSchedulingCycle). A preemptor's places were chosen on an empty cluster, so they are
// always searched again.
bool Pass::keeps_place(Entry& entry) {
  const Assignment& assignment = entry.assignment;
  if (assignment.places.empty() || (assignment.mode == Mode::kFit && !places_changed_)) return true;
  return nominator_.placer().place_again(entry);
}

void Pass::admit(Entry& entry) {
  Slot& slot = state_.slots[entry.workload];
  Queue& queue = *entry.queue;
  Admit decision;
  decision.workload = entry.workload;
  decision.cluster_queue = queue.node;
  decision.pod_sets = flavors_of(entry);
  decision.considered = considered(entry.assignment, *entry.plan, *entry.shape, state_.names);
  if (const WorkloadId former = state_.predecessor(entry); former.valid()) replace(former, entry.workload);
  if (!entry.assignment.places.empty()) take_places(entry, decision);
  entry.replaces = nullptr;
  slot.replaces.reset();
  out_->push_back(std::move(decision));
  if (state_.book.on()) state_.charge(slot, entry.assignment.usage, std::nullopt);
  queue.pending.erase_and_rank(entry.workload);
  slot.scan.reset();
  slot.chosen.reset();
  slot.reported = 0;
  slot.reported_reason.clear();
  slot.place = Slot::Place::kHolder;
  slot.evicted = false;
  slot.reserved_at = now_;
  state_.set_pods_ready(slot, false);
  state_.ledger.take(entry.workload, queue.node, entry.assignment.usage);
  state_.note_taken(queue.node, entry.assignment.usage);
  state_.precedence.note_admitted(state_.ledger.root(queue.node), entry.workload);
  queue.holders.insert(slot, entry.workload);
  moved();
  moved_after_ = true;
}

void Pass::take_places(Entry& entry, Admit& decision) {
  Slot& slot = state_.slots[entry.workload];
  slot.places = nominator_.placer().state(entry, decision.pod_sets);
  state_.places.take(entry.workload, slot.who->key, std::move(entry.assignment.places), slot.labels);
  places_changed_ = true;
}

void Pass::hold(const Entry& entry, const Usage& usage) {
  state_.ledger.hold(entry.queue->node, usage);
  if (entry.assignment.places.empty()) return;
  state_.places.hold(entry.assignment.places);
  places_changed_ = true;
}

void Pass::preempt(Entry& entry) {
  report(entry, kWaitingForPreemptedWorkloads, entry.targets.size());
  for (const Target& target : entry.targets) preempted_.push_back(target.workload);
  if (order_evictions(state_, entry.workload, entry.targets, *out_)) {
    moved();
    moved_after_ = true;
    note_choice(entry);
  }
  entry.queue->pending.stand_alone(entry.workload);
  hold(entry, wanted(entry));
  note_preempted_for(entry);
  state_.slots[entry.workload].scan.reset();
}

void Pass::note_choice(const Entry& entry) {
  PreemptorsChoice& choice = state_.slots[entry.workload].chosen.emplace();
  for (const auto& each : entry.assignment.choices) choice.flavors.push_back(each.flavor);
  choice.counts = entry.assignment.counts;
  choice.generation = entry.queue->generation;
}

// The head of a StrictFIFO queue is first in its queue anyway. It precedes the heads of other queues only with
// prioritize_preemptors.
void Pass::note_preempted_for(const Entry& entry) {
  PendingQueue& pending = entry.queue->pending;
  if (!entry.queue->config.strict()) {
    pending.set_sticky(entry.workload);
  } else if (state_.options.prioritize_preemptors) {
    pending.set_preempted_for(entry.workload);
  }
}

// Whether to reserve quota for the rest of the cycle, for a workload that needs preemption but found no victims. Not
// if the queue may reclaim it from any workload at any time, except for a preemptor with precedence.
bool Pass::reserves(const Entry& entry) const {
  const bool comes_first = state_.options.prioritize_preemptors && entry.queue->pending.preempted_for(entry.workload);
  return comes_first || entry.queue->config.reclaim_within_cohort != api::kueue::ReclaimWithinCohort::kAny;
}

void Pass::reserve(const Entry& entry) {
  if (!reserves(entry)) return;
  QuotaNodeId node = entry.queue->node;
  Usage usage;
  for (const FlavorResourceAmount& each : wanted(entry)) {
    const Quota& quota = state_.ledger.quota(node, each.id);
    bool borrows = entry.assignment.borrowing > 0;
    Amount amount = each.amount;
    if (!borrows || !quota.borrowing_limit.is_unlimited()) {
      Amount limit = borrows ? quota.nominal + quota.borrowing_limit : quota.nominal;
      amount = min(amount, limit - state_.ledger.usage(node, each.id));
    }
    if (amount > Amount()) usage.push_back({each.id, amount});
  }
  hold(entry, usage);
}

void Pass::fail(Entry& entry, std::string_view reason) {
  report(entry, reason, 0);
  give_up(entry, reason);
}

void Pass::give_up(Entry& entry, std::string_view reason) {
  if (entry.plan != nullptr && scan_moved(entry)) return;  // the next cycle tries other flavors
  if (entry.partial_view) return;
  PendingQueue& pending = entry.queue->pending;
  const auto& barrier = state_.slots[entry.workload].barrier;
  if (!entry.queue->config.strict() || (barrier && !barrier->blocks_strict_queue)) {
    pending.park(entry.workload, std::move(entry.assignment.lacks), reason, entry.borrowings);
    return moved();
  }
  // The head of a StrictFIFO queue that reserves quota must do so in every cycle, so it is not blocked.
  if (entry.assignment.mode != Mode::kPreempt || entry.preemption_gated || !reserves(entry))
    pending.block(entry.workload, std::move(entry.assignment.lacks), entry.borrowings);
}

// One whose victims are on their way waits for them, also if others come before it by now: else they go for nothing.
void Pass::try_again(Entry& entry, bool overlaps) {
  const bool waits = !entry.targets.empty() && std::ranges::all_of(entry.targets, [&](const Target& target) {
    return state_.slots[target.workload].evicted;
  });
  if (waits && state_.has_preempted(*entry.queue, entry.workload)) return;
  Rare<PreemptorsChoice>& chosen = state_.slots[entry.workload].chosen;
  if (chosen) moved_ = true;  // others hold what it chose: the next cycle may choose anew
  chosen.reset();
  if (!scan_moved(entry) && !overlaps) beaten_.push_back(&entry);
}

// Stores how far the walk over flavors got. Returns true when the next cycle will try other flavors. This is bounded:
// after one full round without any other progress, the workload is parked like any other.
bool Pass::scan_moved(Entry& entry) {
  Slot& slot = state_.slots[entry.workload];
  const Tree& tree = tree_of(entry);
  const std::uint64_t stamp = std::max(tree.progress, tree.releases);
  if (slot.scan_stamp != stamp) {
    slot.scan_stamp = stamp;
    slot.scan_moves = 0;
  }
  bool resumed = slot.scan.has_value();
  slot.scan.reset();
  if (slot.scan_moves >
      // the last walk must begin at the first flavor: only then the workload may be parked
      entry.plan->flavors_tried) {
    moved_ = moved_ || resumed;
    return resumed;
  }
  if (!entry.assignment.scan_pending()) {
    // A walk that began in the middle ends here: the next one begins at the first flavor.
    if (resumed) moved_ = true;
    if (resumed) ++slot.scan_moves;
    return resumed;
  }
  ++slot.scan_moves;
  slot.scan.emplace();
  for (const auto& choice : entry.assignment.choices) slot.scan->tried.push_back(choice.tried);
  slot.scan->cycle = tree.cycle;
  slot.scan->releases = tree.releases;
  slot.scan->generation = entry.queue->generation;
  moved_ = true;
  return true;
}

}  // namespace berth::engine
