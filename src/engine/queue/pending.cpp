#include "engine/queue/pending.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/assert.h"
#include "base/planted.h"

namespace berth::engine {

namespace {
constexpr std::size_t kStaleArrivals = 16;  // so that small classes are not cleaned up at every push
}

PendingQueue::PendingQueue(Slots& slots, bool share_verdicts)
    : slots_(slots),
      share_verdicts_(share_verdicts),
      awake_(Before{&slots}),
      everybody_(Before{&slots}),
      ranked_(BeforeByUsage{&slots}) {}

PendingQueue::Class::Class(const Class& other, const Slots& slots)
    : key(other.key),
      members(other.members, Before{&slots}),
      local_queues(other.local_queues),
      parked(other.parked),
      lacks(other.lacks),
      borrowings(other.borrowings),
      reason(other.reason),
      verdict(other.verdict),
      never(other.never),
      arrivals(other.arrivals) {}

void PendingQueue::Class::vacate() {
  parked = false;
  lacks.clear();
  borrowings = 0;
  reason.clear();
  verdict = {};
  never = {};
  arrivals.clear();
  plan = nullptr;
  local = nullptr;
}

PendingQueue::Local::Local(const Local& other, const Slots& slots)
    : all(other.all, Before{&slots}),
      awake(other.awake, Before{&slots}),
      score(other.score),
      first(other.first),
      place(other.place) {}

PendingQueue::PendingQueue(const PendingQueue& other, Slots& slots)
    : slots_(slots),
      share_verdicts_(other.share_verdicts_),
      free_classes_(other.free_classes_),
      by_key_(other.by_key_),
      plans_(other.plans_),
      awake_(other.awake_, Before{&slots}),
      parked_(other.parked_),
      blocked_(other.blocked_),
      blocked_lacks_(other.blocked_lacks_),
      blocked_borrowings_(other.blocked_borrowings_),
      sticky_(other.sticky_),
      preempted_for_(other.preempted_for_),
      aside_(other.aside_),
      with_arrivals_(other.with_arrivals_),
      parked_members_(other.parked_members_),
      asleep_(other.asleep_),
      everybody_(other.everybody_, Before{&slots}),
      by_usage_(other.by_usage_),
      ranked_(BeforeByUsage{&slots}) {
  classes_.reserve(other.classes_.size());
  for (const Class& each : other.classes_) classes_.emplace_back(each, slots);
  for (auto it = by_key_.begin(); it != by_key_.end(); ++it) {
    Class& each = classes_[it->second.index()];
    each.listed = it;
    each.plan = &plans_.at(it->first.shape);
  }
  copy_local_queues(other);
}

PendingQueue::ClassKey PendingQueue::class_key(WorkloadId workload) const {
  const Slot& slot = slots_[workload];
  bool alone = !share_verdicts_ || slot.has_precedents || slot.barrier.has_value() || slot.replaces.has_value();
  return {slot.shape, slot.priority, slot.preemption_gated, alone ? workload : WorkloadId(),
          by_usage_ ? slot.local_queue : LocalQueueId()};
}

ClassId PendingQueue::class_of(const ClassKey& key) {
  if (auto it = by_key_.find(key); it != by_key_.end()) return it->second;
  ClassId id(classes_.size());
  if (free_classes_.empty()) {
    classes_.emplace_back(slots_);
  } else {
    id = free_classes_.back();
    free_classes_.pop_back();
  }
  classes_[id.index()].key = key;
  classes_[id.index()].plan = &plans_[key.shape];
  ++classes_[id.index()].plan->classes;
  classes_[id.index()].listed = by_key_.emplace(key, id).first;
  return id;
}

void PendingQueue::drop_class(ClassId id) {
  Class& c = classes_[id.index()];
  if (c.parked) std::erase(parked_, id);
  by_key_.erase(c.listed);
  if (--c.plan->classes == 0) plans_.erase(c.key.shape);
  c.vacate();
  free_classes_.push_back(id);
}

PendingQueue::Kinds PendingQueue::kinds() const {
  using Kind = std::pair<ShapeId, std::int32_t>;
  std::set<Kind> awake, asleep;
  for (const auto& [key, id] : by_key_) {
    auto& where = classes_[id.index()].parked ? asleep : awake;
    where.insert(where.end(), {key.shape, key.priority});
  }
  for (const WorkloadId each : aside_) asleep.insert({slots_[each].shape, slots_[each].priority});
  std::size_t both = 0;
  for (const Kind& each : awake) both += asleep.count(each);
  return {awake.size(), asleep.size(), awake.size() + asleep.size() - both};
}

void PendingQueue::push(WorkloadId workload, bool age_decides) {
  ClassId id = class_of(class_key(workload));
  Slot& slot = slots_[workload];
  slot.place = Slot::Place::kQueued;
  slot.class_id = id;
  Local* const local = count_in(workload);
  Class& c = classes_[id.index()];
  if (by_usage_) c.local = local;
  Key former = c.members.empty() ? Key() : c.members.first();
  c.members.insert(key(workload));
  if (slot.local_queue.valid() && !by_usage_) ++c.local_queues[slot.local_queue];
  c.arrivals.push_back(workload);
  if (c.arrivals.size() > kStaleArrivals + 2 * c.members.size()) forget_gone_arrivals(id);
  if (c.parked) {
    ++parked_members_;
    fall_asleep(slot.local_queue, 1);
    if (c.arrivals.size() == 1) with_arrivals_.push_back(id);
    if (!age_decides || c.members.first().workload != workload) return;
    std::erase(parked_, id);
    unpark(id);
    return;
  }
  if (c.members.first().workload != workload) return;
  change_awake(c, former.workload.valid() ? &former : nullptr, &c.members.first());
}

void PendingQueue::stand_alone(WorkloadId workload) {
  const Slot& slot = slots_[workload];
  if (slot.place != Slot::Place::kQueued) return;
  const ClassKey own = class_key(workload);
  if (classes_[slot.class_id.index()].key == own) return;
  class_of(own);  // before the old class goes: an entry of the running cycle may use the plan that they share
  const WorkloadId sticky = sticky_, preempted_for = preempted_for_, blocked = blocked_;
  erase(workload);
  push(workload);
  sticky_ = sticky;
  preempted_for_ = preempted_for;
  blocked_ = blocked;
}

// A class that is never parked would otherwise remember every workload that ever passed through it.
void PendingQueue::forget_gone_arrivals(ClassId id) {
  auto& arrivals = classes_[id.index()].arrivals;
  std::erase_if(arrivals, [&](WorkloadId each) { return !slots_.known(each) || slots_[each].class_id != id; });
  std::sort(arrivals.begin(), arrivals.end());
  arrivals.erase(std::unique(arrivals.begin(), arrivals.end()), arrivals.end());
}

void PendingQueue::put_aside(WorkloadId workload) {
  slots_[workload].place = Slot::Place::kAside;
  aside_.insert(workload);
  count_in(workload);
  fall_asleep(slots_[workload].local_queue, 1);
}

void PendingQueue::erase_and_rank(WorkloadId workload) {
  const LocalQueueId local_queue = slots_[workload].local_queue;
  if (!remove(workload)) rank(local_queue);
}

bool PendingQueue::remove(WorkloadId workload) {
  Slot& slot = slots_[workload];
  if (sticky_ == workload) sticky_ = WorkloadId();
  if (preempted_for_ == workload) preempted_for_ = WorkloadId();
  if (blocked_ == workload) blocked_ = WorkloadId();
  Slot::Place place = std::exchange(slot.place, Slot::Place::kNone);
  if (place == Slot::Place::kAside) {
    aside_.erase(workload);
    wake_up(slot.local_queue, 1);
    count_out(workload, local_of(slot));
    return false;
  }
  BERTH_INVARIANT(place == Slot::Place::kQueued);
  Class& c = classes_[slot.class_id.index()];
  Local* const local = by_usage_ ? c.local : local_of(slot);
  const bool leads = !c.parked && c.members.first().workload == workload;
  c.members.erase(key(workload));
  if (!by_usage_) {
    if (const auto own = c.local_queues.find(slot.local_queue); own != c.local_queues.end() && --own->second == 0)
      c.local_queues.erase(own);
  }
  if (c.parked) {
    --parked_members_;
    wake_up(slot.local_queue, 1);
  }
  if (leads) {
    const Key former = key(workload);
    change_awake(c, &former, c.members.empty() ? nullptr : &c.members.first());
  }
  if (c.members.empty()) drop_class(slot.class_id);
  slot.class_id = ClassId();
  count_out(workload, local);
  return leads;
}

void PendingQueue::exchange(Leaders& leaders, const Key* before, const Key* after) {
  if (before == nullptr) return leaders.add(*after);
  if (after == nullptr) return leaders.remove(*before);
  leaders.replace(*before, *after);
}

void PendingQueue::change_awake(const Class& c, const Key* before, const Key* after) {
  if (!by_usage_) return exchange(awake_, before, after);
  exchange(c.local->awake, before, after);
  list(c.key.local_queue, *c.local);
}

WorkloadId PendingQueue::head() const {
  if (sticky_.valid()) {
    const Slot& slot = slots_[sticky_];
    if (slot.place == Slot::Place::kQueued && !classes_[slot.class_id.index()].parked) return sticky_;
  }
  if (by_usage_ ? ranked_.empty() : awake_.empty()) return {};
  WorkloadId first = by_usage_ ? ranked_.first().first.workload : awake_.first().workload;
  return first == blocked_ ? WorkloadId() : first;
}

void PendingQueue::park(WorkloadId workload, std::vector<Lack> lacks, std::string_view reason,
                        std::uint64_t borrowings) {
  ClassId id = slots_[workload].class_id;
  Class& c = classes_[id.index()];
  BERTH_INVARIANT(!c.parked);
  drop_awake(c);
  c.parked = true;
  count_members_asleep(c);
  c.lacks = std::move(lacks);
  c.borrowings = borrowings;
  parked_.push_back(id);
  if (c.reason != reason) {  // the reason that members were told before is outdated
    c.reason = reason;
    c.arrivals.clear();
    c.members.visit(0, [&](const Key& member) { return c.arrivals.push_back(member.workload), true; });
  }
  if (!c.arrivals.empty()) with_arrivals_.push_back(id);
}

void PendingQueue::park_again(WorkloadId workload) {
  ClassId id = slots_[workload].class_id;
  Class& c = classes_[id.index()];
  BERTH_INVARIANT(!c.parked);
  drop_awake(c);
  c.parked = true;
  count_members_asleep(c);
  parked_.push_back(id);
  if (!c.arrivals.empty()) with_arrivals_.push_back(id);
}

void PendingQueue::block(WorkloadId workload, std::vector<Lack> lacks, std::uint64_t borrowings) {
  blocked_ = workload;
  blocked_borrowings_ = borrowings;
  blocked_lacks_ = std::move(lacks);
}

void PendingQueue::unpark(ClassId id) {
  Class& c = classes_[id.index()];
  c.parked = false;
  count_members_awake(c);
  add_awake(c);
}

// `helps(lack, shape, borrowings)`: one lack of a class of this shape, and the last borrowing that its verdict took
// into account.
bool PendingQueue::wake_where(const auto& helps) {
  auto concerns = [&](const std::vector<Lack>& lacks, ShapeId shape, std::uint64_t borrowings) {
    return std::any_of(lacks.begin(), lacks.end(), [&](const Lack& lack) { return helps(lack, shape, borrowings); });
  };
  bool any = false;
  std::erase_if(parked_, [&](ClassId each) {
    const Class& c = classes_[each.index()];
    if (!concerns(c.lacks, c.key.shape, c.borrowings)) return false;
    unpark(each);
    return any = true;
  });
  if (blocked_.valid() && concerns(blocked_lacks_, slots_[blocked_].shape, blocked_borrowings_)) {
    blocked_ = WorkloadId();
    any = true;
  }
  return any;
}

bool PendingQueue::wake(FlavorResourceId id, const std::function<bool(const Lack&, ShapeId)>& may_fit) {
  return wake_where(
      [&](const Lack& lack, ShapeId shape, std::uint64_t) { return lack.id == id && may_fit(lack, shape); });
}

bool PendingQueue::wake_for_victims(FlavorResourceId id, std::uint64_t number) {
  return wake_where([&](const Lack& lack, ShapeId, std::uint64_t known) {
    return known < number && (!id.valid() || (lack.id == id && !lack.was_free) || lack.place.valid());
  });
}

bool PendingQueue::wake_where_taken(FlavorResourceId id, Amount available) {
  if (parked_.empty() && !blocked_.valid()) return false;
  return wake_where([&](const Lack& lack, ShapeId, std::uint64_t) {
    return lack.was_free && lack.id == id && lack.wanted > available;
  });
}

bool PendingQueue::wake_place(FlavorId flavor) {
  return wake_where([&](const Lack& lack, ShapeId, std::uint64_t) { return lack.place == flavor; });
}

bool PendingQueue::wake_all() {
  if (planted(Planted::kSleepingClass)) return false;
  bool any = !all_awake();
  for (ClassId each : parked_) unpark(each);
  parked_.clear();
  for (Class& c : classes_) c.lacks.clear();
  blocked_ = WorkloadId();
  return any;
}

void PendingQueue::wake(WorkloadId workload) {
  const Slot& slot = slots_[workload];
  if (slot.place != Slot::Place::kQueued) return;
  Class& c = classes_[slot.class_id.index()];
  c.lacks.clear();
  if (c.parked) {
    std::erase(parked_, slot.class_id);
    unpark(slot.class_id);
  }
  if (blocked_ == workload) blocked_ = WorkloadId();
}

bool PendingQueue::asleep(WorkloadId workload) const {
  const Slot& slot = slots_[workload];
  return slot.place == Slot::Place::kAside ||
         (slot.place == Slot::Place::kQueued && classes_[slot.class_id.index()].parked);
}

bool PendingQueue::sleeps(WorkloadId workload) const {
  return asleep(workload) || (slots_[workload].place == Slot::Place::kQueued && workload == blocked_);
}

std::vector<WorkloadId> PendingQueue::sleeping_heads() const {
  std::vector<WorkloadId> heads;
  for (ClassId each : parked_) heads.push_back(classes_[each.index()].members.first().workload);
  if (blocked_.valid()) heads.push_back(blocked_);
  return heads;
}

std::size_t PendingQueue::count_never() const {
  std::size_t count = 0;
  for (const auto& [key, id] : by_key_) {
    const Class& c = classes_[id.index()];
    if (c.never.never) count += c.members.size();
  }
  return count;
}

std::vector<PendingQueue::Unreported> PendingQueue::take_unreported() {
  std::vector<Unreported> unreported;
  for (ClassId id : with_arrivals_) {
    Class& c = classes_[id.index()];
    if (!c.parked) continue;  // woken meanwhile: they get the reason when the class is parked again
    for (WorkloadId each : std::exchange(c.arrivals, {})) {
      if (slots_.known(each) && slots_[each].class_id == id) unreported.push_back({each, c.reason, &c.verdict});
    }
  }
  with_arrivals_.clear();
  return unreported;
}

}  // namespace berth::engine
