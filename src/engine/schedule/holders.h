// The workloads that hold quota of one cluster queue, in preemption order.
#pragma once

#include <limits>
#include <memory>
#include <set>

#include "engine/queue/slots.h"

namespace berth::engine {

// Preemption order, as in Kueue: evicted ones first, then those of local queues with more past usage (by usage only),
// then lower priority, then the latest reservation, then UID.
struct HolderKey {
  bool evicted = false;
  Score usage{};  // of its local queue; only in in_order_of_usage()
  std::int32_t priority = 0;
  Time reserved_at{};
  WorkloadId workload;
};
struct HolderOrder {
  const Slots* slots;
  bool operator()(const HolderKey& a, const HolderKey& b) const {
    if (a.evicted != b.evicted) return a.evicted;
    if (a.usage != b.usage) return a.usage > b.usage;
    if (a.priority != b.priority) return a.priority < b.priority;
    if (a.reserved_at != b.reserved_at) return a.reserved_at > b.reserved_at;
    if (!a.workload.valid() || !b.workload.valid())
      return !a.workload.valid() && b.workload.valid();  // an invalid workload is a bound for lower_bound()
    return a.workload != b.workload && slots->uid_less(a.workload, b.workload);
  }
};

// Workloads of different cluster queues are compared without usage, which says nothing across queues.
inline bool earlier_candidate(HolderKey a, HolderKey b, const Slots& slots) {
  a.usage = b.usage = Score();
  return HolderOrder{&slots}(a, b);
}

class Holders {
 public:
  using Set = std::set<HolderKey, HolderOrder>;
  explicit Holders(const Slots& slots) : set_(HolderOrder{&slots}) {}
  // A copy for `slots`, which must be a copy of the other's slots, at least of these workloads.
  Holders(const Holders& other, const Slots& slots)
      : exempt(other.exempt),
        reclaimable(other.reclaimable),
        queue_priority(other.queue_priority),
        by_usage(other.by_usage),
        set_(other.set_.begin(), other.set_.end(), HolderOrder{&slots}) {}
  Holders(const Holders&) = delete;
  Holders& operator=(const Holders&) = delete;
  void insert(const Slot& slot, WorkloadId id) { set_.insert(key(slot, id)); }
  void erase(const Slot& slot, WorkloadId id) { set_.erase(key(slot, id)); }
  const Set& ordered() const { return set_; }
  bool empty() const { return set_.empty(); }
  // Only those that leave anyway are candidates: the queue is stopped or inactive otherwise.
  bool exempt = false;
  // Rules of the queue: whether other queues may preempt these workloads, and its priority (queues of lower priority
  // are preempted first).
  bool reclaimable = true;
  std::int32_t queue_priority = 0;
  bool by_usage = false;  // candidates come in order of usage (KEP-4136)
  // The same workloads by the present scores of their local queues. Costs a sort.
  std::shared_ptr<const Holders> in_order_of_usage() const {
    const Slots& slots = *set_.key_comp().slots;
    auto out = std::make_shared<Holders>(slots);
    out->exempt = exempt;
    out->reclaimable = reclaimable;
    out->queue_priority = queue_priority;
    out->by_usage = by_usage;
    for (HolderKey each : set_) {
      each.usage = slots.score(slots[each.workload].local_queue);
      out->set_.insert(each);
    }
    return out;
  }
  // The first of the evicted, or of the other holders.
  Set::const_iterator begin_of(bool evicted) const {
    return evicted ? set_.begin()
                   : set_.lower_bound({false, Score{true, ~Wide{0}}, std::numeric_limits<std::int32_t>::min(),
                                       Time::max(), WorkloadId()});
  }

 private:
  static HolderKey key(const Slot& slot, WorkloadId id) {
    return {slot.evicted, Score(), slot.priority, slot.reserved_at, id};
  }
  Set set_;
};

}  // namespace berth::engine
