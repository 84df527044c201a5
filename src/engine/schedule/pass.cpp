#include "engine/schedule/pass.h"

#include <algorithm>
#include <numeric>

namespace berth::engine {

namespace {

// Cycles in one pass over a tree. Each cycle but the last admits, preempts, parks or moves on in somebody's
// flavors, so the number of pending workloads bounds it in fact; this bound only keeps one pass from holding
// up everything else.
constexpr int kMaxCycles = 1'000'000;

constexpr std::string_view kNoLongerFits = "Workload no longer fits after processing another workload";
constexpr std::string_view kOverlaps = "Workload has overlapping preemption targets with another workload";
constexpr std::string_view kAfterPreemptions = "Workload fits once the preemptions under way are done";
constexpr std::string_view kBypassed =
    "Bypassed scheduling evaluation because an equivalent workload recently failed";

// FNV-1a: recognises that a workload was told the same before.
class Fingerprint {
 public:
  Fingerprint& add(std::uint64_t v) {
    h_ = (h_ ^ v) * 1099511628211ULL;
    return *this;
  }
  Fingerprint& add(std::string_view text) {
    for (char c : text) add(static_cast<unsigned char>(c));
    return add(text.size());
  }
  std::uint64_t value() const { return h_ == 0 ? 1 : h_; }  // 0 means "never told"

 private:
  std::uint64_t h_ = 14695981039346656037ULL;
};

std::uint64_t fingerprint(std::string_view reason, std::string_view text) {
  return Fingerprint().add(reason).add(text).value();
}

// Of the message an assignment would give, without making it. `victims`: how many it waits for.
std::uint64_t fingerprint(std::string_view reason, const Assignment& assignment, std::size_t victims) {
  Fingerprint print;
  print.add(reason).add(victims);
  for (const Shortage& each : assignment.shortages) {
    print.add(static_cast<std::uint64_t>(each.kind))
        .add(each.unit)
        .add(each.resource.value)
        .add(each.flavor.value);
    for (Amount amount : {each.a, each.b, each.c}) print.add(static_cast<std::uint64_t>(amount.count()));
    if (each.text != nullptr) print.add(*each.text);
  }
  return print.value();
}

}  // namespace

bool Pass::run(NodeId root, Time now, Decisions& out) {
  now_ = now;
  out_ = &out;
  tree_ = &state_.tree(root);
  all_.clear();
  collect(root);
  live_ = all_;
  bool done = false;
  for (int i = 0; i < kMaxCycles && !done; ++i) done = !cycle();
  tell_waits();
  for (Queue* queue : all_) tell_untold(*queue);
  return done;
}

void Pass::collect(NodeId node) {
  if (Queue* queue = state_.queue(node)) {
    if (state_.runs(*queue) && queue->pending.size() > 0) all_.push_back(queue);
  }
  for (NodeId child : state_.ledger.children(node)) collect(child);
}

void Pass::moved() {
  moved_ = true;
  tree_->progress = ++state_.counter;
}

bool Pass::cycle() {
  ++tree_->cycle;
  moved_ = false;
  std::size_t count = nominate_heads();
  if (count == 0) return false;
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::sort(order_.begin(), order_.end(),
            [this](std::size_t a, std::size_t b) { return before(entries_[a], entries_[b]); });
  preempted_.clear();
  for (std::size_t i : order_) process(entries_[i]);
  state_.ledger.drop_holds();
  return moved_;
}

std::size_t Pass::nominate_heads() {
  std::size_t count = 0;
  std::erase_if(live_, [&](Queue* queue) {
    WorkloadId head = queue->pending.head();
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

// Woken because something got freer, but by now not enough of it is left: no evaluation could end
// differently.
bool Pass::still_hopeless(const Queue& queue, WorkloadId head) const {
  const Slot& slot = state_.slots[head];
  if (slot.told == 0 || slot.told_of_other) return false;  // it shall hear its own verdict once
  auto lacks = queue.config.strict() ? std::span<const Lack>() : queue.pending.former_lacks(head);
  return !lacks.empty() && std::none_of(lacks.begin(), lacks.end(), [&](const Lack& lack) {
    return state_.may_help(queue, lack, slot.shape);
  });
}

// Whoever made others give way comes first: otherwise its victim, older, could take the same quota again and
// again. Then who borrows less, then higher priority, then the older; the UID decides between equals.
bool Pass::before(const Entry& a, const Entry& b) const {
  const bool a_made_way = a.queue->pending.sticky(a.workload),
             b_made_way = b.queue->pending.sticky(b.workload);
  if (a_made_way != b_made_way) return a_made_way;
  const Slot &x = state_.slots[a.workload], &y = state_.slots[b.workload];
  if (a.assignment.borrowing != b.assignment.borrowing)
    return a.assignment.borrowing < b.assignment.borrowing;
  if (state_.options.priority_sorting_within_cohort && x.priority != y.priority)
    return x.priority > y.priority;
  if (x.queued_at != y.queued_at) return x.queued_at < y.queued_at;
  return state_.slots.uid_less(a.workload, b.workload);
}

void Pass::process(Entry& entry) {
  if (entry.plan == nullptr) {
    const Barrier& barrier = *state_.slots[entry.workload].barrier;
    wait(entry.workload, barrier.reason, barrier.message);
    return give_up(entry, barrier.reason);
  }
  Assignment& assignment = entry.assignment;
  if (assignment.mode == Mode::kPreempt && overlaps(entry)) recompute_without_victims(entry);
  if (assignment.mode == Mode::kNoFit) return fail(entry, assignment.no_fit_reason);
  if (assignment.mode == Mode::kPreempt && entry.targets.empty()) {
    reserve(entry);
    return fail(entry, kWaitingForQuota);
  }
  if (assignment.mode == Mode::kDeferredFit) {
    state_.ledger.hold(entry.queue->node, assignment.usage);
    if (!entry.queue->config.strict()) entry.queue->pending.set_sticky(entry.workload);
    state_.slots[entry.workload].scan.reset();
    return wait(entry.workload, kWaitingForPreemptedWorkloads, kAfterPreemptions);
  }
  bool overlap = overlaps(entry);
  if (overlap || !fits(entry)) {
    wait(entry.workload, kWaitingForQuota, overlap ? kOverlaps : kNoLongerFits);
    return try_again(entry);
  }
  if (assignment.mode == Mode::kFit) return admit(entry);
  preempt(entry);
}

bool Pass::overlaps(const Entry& entry) const {
  return std::any_of(entry.targets.begin(), entry.targets.end(), [this](const Target& target) {
    return std::find(preempted_.begin(), preempted_.end(), target.workload) != preempted_.end();
  });
}

// The victims of earlier entries are as good as gone: are they enough, or whom else would it take?
void Pass::recompute_without_victims(Entry& entry) {
  Ledger::Trial trial(state_.ledger);
  for (WorkloadId victim : preempted_) trial.without(victim);
  nominator_.renominate(entry);
  if (entry.assignment.mode == Mode::kFit) entry.assignment.mode = Mode::kDeferredFit;
}

bool Pass::fits(const Entry& entry) {
  const Usage& usage = entry.assignment.usage;
  NodeId node = entry.queue->node;
  if (preempted_.empty() && entry.targets.empty()) return state_.ledger.fits(node, usage);
  {
    Ledger::Trial trial(state_.ledger);
    for (WorkloadId victim : preempted_) trial.without(victim);
    for (const Target& target : entry.targets) trial.without(target.workload);
    if (!state_.ledger.fits(node, usage)) return false;
  }
  if (entry.assignment.mode != Mode::kFit) return true;
  // Victims still hold their quota: what is admitted beside them must fit beside them.
  Ledger::Trial trial(state_.ledger);
  trial.without_holds();
  return state_.ledger.fits(node, usage);
}

void Pass::admit(Entry& entry) {
  Slot& slot = state_.slots[entry.workload];
  Queue& queue = *entry.queue;
  Admit decision;
  decision.workload = entry.workload;
  decision.cluster_queue = queue.node;
  decision.pod_sets = flavors_of(entry);
  decision.considered = considered(entry.assignment, *entry.plan, *entry.shape, state_.names);
  out_->push_back(std::move(decision));
  queue.pending.erase(entry.workload);
  slot.scan.reset();
  slot.told = 0;
  slot.told_reason.clear();
  slot.place = Slot::Place::kHolder;
  slot.evicted = false;
  slot.reserved_at = now_;
  state_.ledger.take(entry.workload, queue.node, entry.assignment.usage);
  queue.holders.insert(slot, entry.workload);
  moved();
}

void Pass::preempt(Entry& entry) {
  for (const Target& target : entry.targets) {
    preempted_.push_back(target.workload);
    Slot& victim = state_.slots[target.workload];
    if (victim.evicted) continue;
    out_->push_back(
        Preempt{target.workload, entry.workload, target.reason, preemption_message(entry, target)});
    Queue& queue = *state_.queue(victim.queue);
    queue.holders.erase(victim, target.workload);
    victim.evicted = true;
    queue.holders.insert(victim, target.workload);
    moved();
  }
  state_.ledger.hold(entry.queue->node, entry.assignment.usage);
  if (!entry.queue->config.strict()) entry.queue->pending.set_sticky(entry.workload);
  state_.slots[entry.workload].scan.reset();
  std::size_t victims = entry.targets.size();
  std::uint64_t print = fingerprint(kWaitingForPreemptedWorkloads, entry.assignment, victims);
  if (!news(entry.workload, print)) return;
  std::string text =
      message_of(entry) + ". Pending the preemption of " + std::to_string(victims) + " workload(s)";
  say({entry.workload, kWaitingForPreemptedWorkloads, {}, std::move(text), print});
}

// What would fit after preemptions that find no victims is set aside for the rest of the cycle, unless the
// queue can reclaim it from anybody at any time.
void Pass::reserve(const Entry& entry) {
  if (entry.queue->config.reclaim_within_cohort == api::kueue::ReclaimWithinCohort::kAny) return;
  NodeId node = entry.queue->node;
  Usage usage;
  for (const FlavorResourceAmount& each : entry.assignment.usage) {
    const Quota& quota = state_.ledger.quota(node, each.id);
    bool borrows = entry.assignment.borrowing > 0;
    Amount amount = each.amount;
    if (!borrows || !quota.borrowing_limit.is_unlimited()) {
      Amount limit = borrows ? quota.nominal + quota.borrowing_limit : quota.nominal;
      amount = min(amount, limit - state_.ledger.usage(node, each.id));
    }
    if (amount > Amount()) usage.push_back({each.id, amount});
  }
  state_.ledger.hold(node, usage);
}

void Pass::fail(Entry& entry, std::string_view reason) {
  std::uint64_t print = fingerprint(reason, entry.assignment, 0);
  if (news(entry.workload, print)) say({entry.workload, reason, {}, message_of(entry), print});
  give_up(entry, reason);
}

void Pass::give_up(Entry& entry, std::string_view reason) {
  if (entry.plan != nullptr && scan_moved(entry)) return;  // other flavors come next
  if (entry.partial_view) return;
  PendingQueue& pending = entry.queue->pending;
  const auto& barrier = state_.slots[entry.workload].barrier;
  if (!entry.queue->config.strict() || (barrier && !barrier->blocks_strict_queue)) {
    pending.park(entry.workload, std::move(entry.assignment.lacks), reason);
    return moved();
  }
  // The head of a StrictFIFO queue that keeps capacity reserved goes on doing so in every cycle.
  bool reserves = entry.assignment.mode == Mode::kPreempt &&
                  entry.queue->config.reclaim_within_cohort != api::kueue::ReclaimWithinCohort::kAny;
  if (!reserves) pending.block(entry.workload, std::move(entry.assignment.lacks));
}

void Pass::try_again(Entry& entry) { scan_moved(entry); }

// Remembers how far the walk over flavors got. True when the next cycle looks at other flavors; not for ever:
// having gone round once without anything else happening, the workload waits like any other.
bool Pass::scan_moved(Entry& entry) {
  Slot& slot = state_.slots[entry.workload];
  if (slot.scan_stamp != tree_->progress) {
    slot.scan_stamp = tree_->progress;
    slot.scan_moves = 0;
  }
  bool resumed = slot.scan != nullptr;
  slot.scan.reset();
  if (slot.scan_moves > entry.plan->flavors_tried) return false;
  if (!entry.assignment.scan_pending()) {
    // A walk that began in the middle ends here: the next one begins at the first flavor.
    if (resumed) moved_ = true;
    if (resumed) ++slot.scan_moves;
    return resumed;
  }
  ++slot.scan_moves;
  slot.scan = std::make_unique<FlavorScan>();
  for (const auto& choice : entry.assignment.choices) slot.scan->tried.push_back(choice.tried);
  slot.scan->cycle = tree_->cycle;
  slot.scan->releases = tree_->releases;
  slot.scan->generation = entry.queue->generation;
  moved_ = true;
  return true;
}

// False when the workload knows that already; what it was about to be told in this pass is taken back then.
bool Pass::news(WorkloadId workload, std::uint64_t print) {
  if (state_.slots[workload].told != print) return true;
  nothing_new(workload);
  return false;
}

void Pass::nothing_new(WorkloadId workload) {
  Slot& slot = state_.slots[workload];
  if (slot.wait_index == Slot::kNoWait) return;
  words_[slot.wait_index].workload = WorkloadId();
  slot.wait_index = Slot::kNoWait;
}

void Pass::wait(WorkloadId workload, std::string_view reason, std::string_view text) {
  std::uint64_t print = fingerprint(reason, text);
  if (news(workload, print)) say({workload, reason, text, {}, print});
}

void Pass::say(Word word) {
  nothing_new(word.workload);
  state_.slots[word.workload].wait_index = static_cast<std::uint32_t>(words_.size());
  words_.push_back(std::move(word));
}

std::string Pass::message_of(const Entry& entry) const {
  return message(entry.assignment, *entry.plan, *entry.shape, state_.names);
}

std::string Pass::preemption_message(const Entry& entry, const Target& target) const {
  const Slot &preemptor = state_.slots[entry.workload], &victim = state_.slots[target.workload];
  auto or_unknown = [](const std::string& s) { return s.empty() ? std::string("UNKNOWN") : s; };
  return "Preempted to accommodate a workload (UID: " + or_unknown(preemptor.uid) +
         ", JobUID: " + or_unknown(preemptor.job_uid) + ") due to " +
         std::string(human_readable(target.reason)) +
         "; preemptor path: " + state_.ledger.path(entry.queue->node) +
         "; preemptee path: " + state_.ledger.path(victim.queue);
}

// Only the last word of the pass counts.
void Pass::tell_waits() {
  for (Word& word : words_) {
    if (!word.workload.valid()) continue;
    Slot& slot = state_.slots[word.workload];
    slot.wait_index = Slot::kNoWait;
    if (slot.place == Slot::Place::kHolder) continue;
    slot.told = word.fingerprint;
    slot.told_reason = word.reason;
    slot.told_of_other = false;
    if (!word.constant.empty()) word.text = word.constant;
    out_->push_back(Wait{word.workload, std::string(word.reason), std::move(word.text), true});
  }
  words_.clear();
}

void Pass::tell_untold(Queue& queue) {
  for (const auto& [workload, reason] : queue.pending.take_untold()) {
    Slot& slot = state_.slots[workload];
    if (slot.told != 0 && slot.told_reason == reason) continue;  // it knows, in its own words
    slot.told = fingerprint(reason, kBypassed);
    slot.told_reason = reason;
    slot.told_of_other = true;
    out_->push_back(Wait{workload, std::string(reason), std::string(kBypassed), false});
  }
}

}  // namespace berth::engine
