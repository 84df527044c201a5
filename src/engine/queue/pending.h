// The workloads that wait in one cluster queue: which is next, and which are parked until something changes.
//
// Workloads of the same shape and priority (and alike in whether a preemption gate is closed) form a class: they
// share a verdict, so they are parked and woken together (Kueue: scheduling equivalence hash). A parked class
// remembers which flavor-resources it lacked, or in which flavors it found no place. It is woken only when one of
// these may have more free capacity. Order: sticky workload, higher priority, older queue-order timestamp, UID.
//
// By usage (KEP-4136): the sticky workload, then the local queue with the lowest score (Slots::score, as of the last
// rank()), then as above. A class has workloads of one local queue only.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/queue/counted_order.h"
#include "engine/queue/first_of.h"
#include "engine/queue/lack.h"
#include "engine/queue/placed_heap.h"
#include "engine/queue/plan.h"
#include "engine/queue/slots.h"

namespace berth::engine {

// More than 40 methods: a workload that comes, goes, parks or wakes changes classes, positions and counts together, and
// there are many questions about positions.
class PendingQueue {
 public:
  static constexpr std::uint64_t kAnyBorrowing = std::numeric_limits<std::uint64_t>::max();
  // `share_verdicts` false: every workload forms a class of its own.
  PendingQueue(Slots& slots, bool share_verdicts);
  // A copy for `slots`, which must be a copy of the other's slots, at least of the workloads in this queue.
  PendingQueue(const PendingQueue& other, Slots& slots);
  PendingQueue(const PendingQueue&) = delete;
  PendingQueue& operator=(const PendingQueue&) = delete;

  // Orders local queues by their scores, or no longer. Wakes everything when this changes.
  void order_by_usage(bool by_usage);
  bool by_usage() const { return by_usage_; }
  // Takes over the scores, of all local queues or of one.
  void rank();
  void rank(LocalQueueId local_queue);

  // Adds the workload to its class. If the class is parked, the workload is parked with it, without evaluation. With
  // `age_decides` (withinClusterQueue: LowerOrNewerEqualPriority, where age matters for preemption) a workload older
  // than all of its class wakes the class instead.
  void push(WorkloadId workload, bool age_decides = false);
  // Its history of preemptions begins (Slot::has_precedents): moves it from its class to one of its own, awake. It
  // keeps its position.
  void stand_alone(WorkloadId workload);
  // Keeps it out of the classes: back-off, or on hold.
  void put_aside(WorkloadId workload);
  void erase(WorkloadId workload) { remove(workload); }  // wherever it is in the queue
  void erase_and_rank(WorkloadId workload);              // and rank() of its local queue

  // The next workload to evaluate: the sticky workload if it is awake, else the first awake one; invalid when all are
  // parked. A blocked StrictFIFO head is not returned, nor any workload behind it.
  WorkloadId head() const;

  // BestEffortFIFO: parks the class of the workload until one of `lacks` has more free capacity. `reason` is reported
  // for the other members; `borrowings` is the number of the last borrowing that the verdict took into account.
  void park(WorkloadId workload, std::vector<Lack> lacks, std::string_view reason, std::uint64_t borrowings = 0);
  // StrictFIFO: the workload blocks the queue while it is the first.
  void block(WorkloadId workload, std::vector<Lack> lacks, std::uint64_t borrowings = 0);
  // Wakes classes that lacked `id`, if `may_fit` returns true for the lack. Returns true when anything woke.
  bool wake(FlavorResourceId id, const std::function<bool(const Lack&, ShapeId)>& may_fit);
  // Wakes classes that may find new victims after borrowing `number`: those whose verdict is older than this borrowing,
  // and that lacked `id` or places, or anything if `id` is invalid. Returns true when anything woke.
  bool wake_for_victims(FlavorResourceId id, std::uint64_t number = kAnyBorrowing);
  // Wakes classes that wanted `id` when it was free, and for which `available` of it is not enough. Returns true when
  // anything woke.
  bool wake_where_taken(FlavorResourceId id, Amount available);
  // Wakes classes that found no place on the nodes of this flavor.
  bool wake_place(FlavorId flavor);
  bool wake_all();
  // Wakes the class of one workload, whatever it lacked.
  void wake(WorkloadId workload);
  // What the workload's class lacked when it was last parked; empty when it was never parked, or since wake_all().
  std::span<const Lack> former_lacks(WorkloadId workload) const {
    return classes_[slots_[workload].class_id.index()].lacks;
  }
  void park_again(WorkloadId workload);  // Parks its class again for the same lacks; there is nothing new to report.
  bool all_awake() const { return parked_.empty() && !blocked_.valid(); }

  // The preemptor stays first until it leaves the queue or another workload becomes sticky.
  void set_sticky(WorkloadId workload) { preempted_for_ = sticky_ = workload; }
  bool sticky(WorkloadId workload) const { return sticky_ == workload; }
  // Workloads were preempted for it, or will be. It comes before the heads of other queues, but keeps its normal
  // position in its own queue.
  void set_preempted_for(WorkloadId workload) {
    preempted_for_ = workload;
    if (sticky_ != workload) sticky_ = WorkloadId();
  }
  bool preempted_for(WorkloadId workload) const { return preempted_for_ == workload; }

  // The plan of the workload's shape for the queue's current configuration; made anew when `generation` has changed.
  template <typename Make>
  const Plan& plan(WorkloadId workload, std::uint64_t generation, Make make) {
    SharedPlan& shared = *classes_[slots_[workload].class_id.index()].plan;
    if (shared.generation != generation) {
      shared.plan = make();
      shared.generation = generation;
    }
    return shared.plan;
  }

  bool sleeps(WorkloadId workload) const;
  bool asleep(WorkloadId workload) const;  // counts in asleep(): in a parked class or aside
  std::size_t size() const { return everybody_.size(); }
  // How many of them are in a parked class or aside. A blocked head and the workloads behind it do not count.
  std::size_t asleep() const { return parked_members_ + aside_.size(); }
  // The same for the workloads that name a local queue.
  std::size_t size(LocalQueueId local_queue) const;
  std::size_t asleep(LocalQueueId local_queue) const;
  // How many different shapes with a priority wait (Kueue: scheduling hashes): with a member that is evaluated, with
  // one that is parked or aside, and in all. Barriers, gates and local queues make no difference. Costs a walk over
  // classes.
  struct Kinds {
    std::size_t awake = 0, asleep = 0, all = 0;
  };
  Kinds kinds() const;

  // --- Positions among all workloads, parked and aside ones too: 0-based, in the order of evaluation. O(log n); a
  // page also costs its length. By usage, a position also costs the number of local queues, and a page also the
  // workloads before it in local queues of equal score.
  std::size_t position(WorkloadId workload) const;                 // it must be in the queue
  std::size_t position_in_local_queue(WorkloadId workload) const;  // among those of its local queue
  std::vector<WorkloadId> page(std::size_t offset, std::size_t limit) const;
  std::vector<WorkloadId> page(LocalQueueId local_queue, std::size_t offset, std::size_t limit) const;

  std::vector<WorkloadId> sleeping_heads() const;  // the first of each parked class, and the blocked head
  const std::set<WorkloadId>& aside() const { return aside_; }

  // What the evaluation of one member found, for the others of its class: `print` is a hash of it. A class of one
  // workload needs none.
  struct Verdict {
    std::shared_ptr<const Slot::Identity> of;  // who was evaluated; it may be gone by now. Null: no verdict yet
    std::uint64_t print = 0;
    std::string text;
  };
  bool needs_verdict(WorkloadId workload, std::uint64_t print) const {  // its class has none, or another one
    const Class& c = classes_[slots_[workload].class_id.index()];
    return !c.key.alone.valid() && (c.verdict.of == nullptr || c.verdict.print != print);
  }
  void set_verdict(WorkloadId workload, std::uint64_t print, std::string text) {
    classes_[slots_[workload].class_id.index()].verdict = {slots_[workload].who, print, std::move(text)};
  }

  // Whether the workload's class can never fit, as found for this state of the configuration and the nodes.
  struct Never {
    std::uint64_t generation = 0, quotas = 0, nodes = 0;  // all zero: not asked yet
    bool never = false;
    bool by_places = false;  // only because of the nodes
    std::string text{};      // for its message, which does not say it yet
    bool found_for(const Never& other) const {
      return generation == other.generation && quotas == other.quotas && nodes == other.nodes;
    }
  };
  Never& never(WorkloadId workload) { return classes_[slots_[workload].class_id.index()].never; }
  // How many workloads that wait can never fit, as far as they were evaluated. Costs a walk over classes.
  std::size_t count_never() const;

  struct Unreported {
    WorkloadId workload;
    std::string_view reason;
    const Verdict* verdict = nullptr;  // of its class; valid until the queue changes
  };
  // Members that were parked without evaluation since the last call.
  std::vector<Unreported> take_unreported();
  std::vector<std::string> check() const;

 private:
  struct Key {
    std::int32_t priority = 0;
    Time queued_at{};
    WorkloadId workload;
    bool operator==(const Key&) const = default;
  };
  struct Before {
    const Slots* slots;
    bool operator()(const Key& a, const Key& b) const {
      if (a.priority != b.priority) return a.priority > b.priority;
      if (a.queued_at != b.queued_at) return a.queued_at < b.queued_at;
      return a.workload != b.workload && slots->uid_less(a.workload, b.workload);
    }
  };
  using Leaders = FirstOf<Key, Before>;
  using Counted = CountedOrder<Key, Before>;
  struct ClassKey {
    ShapeId shape;
    std::int32_t priority = 0;
    bool preemption_gated = false;
    WorkloadId alone;          // valid: a class of one workload
    LocalQueueId local_queue;  // by usage; else invalid
    auto operator<=>(const ClassKey&) const = default;
  };
  struct SharedPlan {  // of all classes of one shape
    Plan plan;
    std::uint64_t generation = 0;
    std::size_t classes = 0;
  };
  struct Local;
  struct Class {
    explicit Class(const Slots& slots) : members(Before{&slots}) {}
    Class(const Class& other, const Slots& slots);
    void vacate();  // it has no members any more; what it allocated serves the next class
    ClassKey key;
    std::map<ClassKey, ClassId>::iterator listed;  // in by_key_
    Counted members;
    // Number of members by local queue; no number is 0. By usage it is empty: all are of one.
    std::map<LocalQueueId, std::size_t> local_queues;
    Local* local = nullptr;  // by usage: in by_local_queue_
    bool parked = false;
    std::vector<Lack> lacks;       // when it was last parked; empty after wake_all()
    std::uint64_t borrowings = 0;  // the last borrowing that its verdict took into account
    std::string reason;            // reported to members while parked
    Verdict verdict;               // of its last evaluation
    Never never;
    std::vector<WorkloadId> arrivals;  // members not yet told why they wait
    SharedPlan* plan = nullptr;        // in plans_
  };

  // The workloads of one local queue.
  struct Local {
    explicit Local(const Slots& slots) : all(Before{&slots}), awake(Before{&slots}) {}
    Local(const Local& other, const Slots& slots);
    Counted all;
    // By usage:
    Leaders awake;  // the first member of each awake class
    Score score;
    Key first;              // the first awake one; invalid: none, and it is not in ranked_
    std::size_t place = 0;  // in ranked_
  };
  using Locals = std::map<LocalQueueId, Local>;
  struct BeforeByUsage {
    const Slots* slots;
    bool operator()(const Local& a, const Local& b) const {
      const auto order = a.score <=> b.score;
      return order != 0 ? order < 0 : Before{slots}(a.first, b.first);
    }
  };

  Key key(WorkloadId workload) const {
    const Slot& slot = slots_[workload];
    return {slot.priority, slot.queued_at, workload};
  }
  ClassKey class_key(WorkloadId workload) const;
  ClassId class_of(const ClassKey& key);
  void drop_class(ClassId id);
  bool remove(WorkloadId workload);  // returns whether the first awake workload of its local queue was found anew
  void unpark(ClassId id);
  bool wake_where(const auto& helps);
  void forget_gone_arrivals(ClassId id);
  void check_positions(std::vector<std::string>& broken) const;
  Local* count_in(WorkloadId workload);               // returns its local queue; null if it does not count there
  void count_out(WorkloadId workload, Local* local);  // the one that it was counted in
  Local* local_of(const Slot& slot);                  // null: none
  void count_members_asleep(const Class& c);          // it was parked
  void count_members_awake(const Class& c);           // it is not parked any more
  void fall_asleep(LocalQueueId local_queue, std::size_t workloads);
  void wake_up(LocalQueueId local_queue, std::size_t workloads);
  void add_awake(const Class& c) { change_awake(c, nullptr, &c.members.first()); }
  void drop_awake(const Class& c) { change_awake(c, &c.members.first(), nullptr); }
  // Of an awake class: its first member changes. Null: it becomes awake, or is no longer awake.
  void change_awake(const Class& c, const Key* before, const Key* after);
  // By usage (pending_by_usage.cpp).
  static void exchange(Leaders& leaders, const Key* before, const Key* after);
  void list(LocalQueueId id, Local& local);  // in ranked_, after its score or its first awake workload changed
  void copy_local_queues(const PendingQueue& other);
  const Score& score_of(const Key& key) const;
  bool precedes(const Key& a, const Key& b) const;  // in the order of evaluation, as if nothing were sticky
  std::vector<const Local*> by_score() const;
  bool evaluates(const Class& c) const;
  std::size_t place(const Key& key) const;  // as if nothing were sticky
  std::vector<WorkloadId> page_by_usage(std::size_t offset, std::size_t limit) const;
  bool sticky_in(LocalQueueId local_queue) const {
    return sticky_.valid() && slots_[sticky_].local_queue == local_queue;
  }
  std::size_t position(const Counted& order, bool has_sticky, WorkloadId workload) const;
  std::vector<WorkloadId> page(const Counted& order, bool has_sticky, std::size_t offset, std::size_t limit) const;

  Slots& slots_;
  bool share_verdicts_;
  std::vector<Class> classes_;
  std::vector<ClassId> free_classes_;
  std::map<ClassKey, ClassId> by_key_;
  std::map<ShapeId, SharedPlan> plans_;
  Leaders awake_;  // the first member of each awake class
  std::vector<ClassId> parked_;
  WorkloadId blocked_;
  std::vector<Lack> blocked_lacks_;
  std::uint64_t blocked_borrowings_ = 0;
  WorkloadId sticky_;  // invalid or equal to preempted_for_
  WorkloadId preempted_for_;
  std::set<WorkloadId> aside_;
  std::vector<ClassId> with_arrivals_;          // parked classes with arrivals; may list a class more than once
  std::size_t parked_members_ = 0;              // members of parked classes
  std::map<LocalQueueId, std::size_t> asleep_;  // parked members and aside ones by local queue; no number is 0
  Counted everybody_;
  bool by_usage_ = false;
  // No entry is empty. Workloads that name no local queue are there only by usage, under the invalid id.
  Locals by_local_queue_;
  PlacedHeap<Local, BeforeByUsage> ranked_;  // by usage: the local queues with an awake workload
};

}  // namespace berth::engine
