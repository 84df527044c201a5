// Queries about the scheduler's state, and its invariant checks.
#include <algorithm>
#include <map>

#include "engine/schedule/scheduler_impl.h"

namespace berth::engine {

namespace {

class OnlyLooks {
 public:
  explicit OnlyLooks(SchedulerState& state) : state_(state) { state_.only_looks = true; }
  ~OnlyLooks() { state_.only_looks = false; }
  OnlyLooks(const OnlyLooks&) = delete;
  OnlyLooks& operator=(const OnlyLooks&) = delete;

 private:
  SchedulerState& state_;
};

}  // namespace

const Ledger& Scheduler::ledger() const { return impl_->state.ledger; }
const Names& Scheduler::names() const { return impl_->state.names; }
const Places& Scheduler::places() const { return impl_->state.places; }
FairShare Scheduler::fair_share(QuotaNodeId node) const { return impl_->state.shares.of(node); }

bool Scheduler::pending(WorkloadId workload) const {
  if (!impl_->state.slots.known(workload)) return false;
  Slot::Place place = impl_->state.slots[workload].place;
  return place == Slot::Place::kAside || place == Slot::Place::kQueued;
}

bool Scheduler::holds(WorkloadId workload) const {
  return impl_->state.slots.known(workload) && impl_->state.slots[workload].place == Slot::Place::kHolder;
}

std::uint64_t Scheduler::search_steps() const { return impl_->state.preemption.steps(); }
bool Scheduler::blocked_by_pods() const { return impl_->state.admission_blocked(); }

std::span<const StatedPlaces> Scheduler::held_places(WorkloadId workload) const {
  if (!holds(workload)) return {};
  return impl_->state.slots[workload].places;
}

bool Scheduler::parked(WorkloadId workload) const {
  return pending(workload) && impl_->state.queue(impl_->state.slots[workload].queue)->pending.sleeps(workload);
}

bool Scheduler::inadmissible(WorkloadId workload) const {
  if (!pending(workload)) return false;
  const Queue& queue = *impl_->state.queue(impl_->state.slots[workload].queue);
  return !impl_->state.runs(queue) || queue.pending.asleep(workload);
}

bool Scheduler::evaluated() const { return impl_->state.evaluated; }

OverlapCounts Scheduler::overlap_counts(std::string_view cluster_queue) const {
  const auto it = impl_->state.overlaps.find(cluster_queue);
  return it == impl_->state.overlaps.end() ? OverlapCounts() : it->second;
}

std::size_t Scheduler::pending_count(std::string_view cluster_queue) const {
  const Queue* queue = impl_->find(cluster_queue);
  return queue == nullptr ? 0 : queue->pending.size();
}

std::size_t Scheduler::inadmissible_count(std::string_view cluster_queue) const {
  const Queue* queue = impl_->find(cluster_queue);
  if (queue == nullptr) return 0;
  return impl_->state.runs(*queue) ? queue->pending.asleep() : queue->pending.size();
}

Scheduler::ClassCounts Scheduler::class_counts(std::string_view cluster_queue) const {
  const Queue* queue = impl_->find(cluster_queue);
  if (queue == nullptr) return {};
  const PendingQueue::Kinds kinds = queue->pending.kinds();
  return impl_->state.runs(*queue) ? ClassCounts{kinds.awake, kinds.asleep} : ClassCounts{0, kinds.all};
}

std::size_t Scheduler::never_fit_count(std::string_view cluster_queue) const {
  const Queue* queue = impl_->find(cluster_queue);
  return queue == nullptr ? 0 : queue->pending.count_never();
}

std::size_t Scheduler::pending_count(std::string_view cluster_queue, std::string_view local_queue) const {
  const Queue* queue = impl_->find(cluster_queue);
  const LocalQueueId local = impl_->state.local_queues.find(local_queue);
  return queue == nullptr || !local.valid() ? 0 : queue->pending.size(local);
}

std::size_t Scheduler::inadmissible_count(std::string_view cluster_queue, std::string_view local_queue) const {
  const Queue* queue = impl_->find(cluster_queue);
  const LocalQueueId local = impl_->state.local_queues.find(local_queue);
  if (queue == nullptr || !local.valid()) return 0;
  return impl_->state.runs(*queue) ? queue->pending.asleep(local) : queue->pending.size(local);
}

std::vector<WorkloadId> Scheduler::pending_page(std::string_view cluster_queue, std::size_t offset,
                                                std::size_t limit) const {
  const Queue* queue = impl_->find(cluster_queue);
  return queue == nullptr ? std::vector<WorkloadId>() : queue->pending.page(offset, limit);
}

std::vector<WorkloadId> Scheduler::pending_page(std::string_view cluster_queue, std::string_view local_queue,
                                                std::size_t offset, std::size_t limit) const {
  const Queue* queue = impl_->find(cluster_queue);
  const LocalQueueId local = impl_->state.local_queues.find(local_queue);
  if (queue == nullptr || !local.valid()) return {};
  return queue->pending.page(local, offset, limit);
}

std::optional<Scheduler::Position> Scheduler::pending_position(WorkloadId workload) const {
  if (!pending(workload)) return std::nullopt;
  const PendingQueue& queue = impl_->state.queue(impl_->state.slots[workload].queue)->pending;
  return Position{queue.position(workload), queue.position_in_local_queue(workload)};
}

api::kueue::Admission Scheduler::admission(const Admit& admit) const {
  const SchedulerState& state = impl_->state;
  const Shape& shape = state.shapes[state.slots[admit.workload].shape];
  api::kueue::Admission admission;
  admission.cluster_queue = state.ledger.name(admit.cluster_queue);
  for (std::size_t i = 0; i < admit.pod_sets.size(); ++i) {
    const Shape::PodSet& pod_set = shape.pod_sets[i];
    api::kueue::PodSetAssignment assignment;
    assignment.name = pod_set.name;
    assignment.count = admit.pod_sets[i].count;
    assignment.topology_assignment = admit.pod_sets[i].places;
    if (admit.pod_sets[i].delayed) assignment.delayed_topology = api::kueue::DelayedTopology::kPending;
    for (const auto& [resource, flavor] : admit.pod_sets[i].flavors) {
      const std::string& name = state.names.name(resource);
      auto asked = std::find_if(pod_set.counted.begin(), pod_set.counted.end(),
                                [r = resource](const ResourceAmount& each) { return each.resource == r; });
      Amount per_pod = asked == pod_set.counted.end() ? Amount::of(1) : asked->amount;  // one of `pods`
      assignment.flavors[name] = state.names.name(flavor);
      assignment.resource_usage[name] = to_quantity(name, per_pod * assignment.count);
    }
    admission.pod_set_assignments.push_back(std::move(assignment));
  }
  return admission;
}

std::vector<api::kueue::PodSetRequest> Scheduler::resource_requests(WorkloadId workload) const {
  const SchedulerState& state = impl_->state;
  std::vector<api::kueue::PodSetRequest> requests;
  if (!state.slots.known(workload) || !state.slots[workload].shape.valid()) return requests;
  for (const Shape::PodSet& pod_set : state.shapes[state.slots[workload].shape].pod_sets) {
    api::kueue::PodSetRequest request{pod_set.name, {}};
    for (const ResourceAmount& each : pod_set.counted) {
      const std::string& name = state.names.name(each.resource);
      request.resources[name] = to_quantity(name, each.amount * pod_set.count);
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

// An awake workload that fits would have been admitted in the last pass, unless preemptions for another workload keep
// it waiting or a pass is due anyway. An awake workload that finds victims would have preempted them, unless an
// eviction is under way or another head reserves quota. Trees that share nodes count as one.
std::vector<std::string> Scheduler::Impl::check_awake(bool evicting) {
  std::vector<std::string> broken;
  if (!dirty.empty()) return broken;
  Nominator nominator(state);
  std::map<QuotaNodeId, std::vector<WorkloadId>> fitting;  // by tree
  std::map<QuotaNodeId, std::vector<std::pair<WorkloadId, WorkloadId>>>
      contended;  // by tree: the head, and its first victim
  const std::vector<QuotaNodeId> joint = trees_with_topology();
  for (const auto& queue : state.queues) {
    if (queue == nullptr || !state.runs(*queue) || !queue->pending.head().valid()) continue;
    Entry entry;
    entry.workload = queue->pending.head();
    entry.queue = queue.get();
    nominator.nominate_in_all_walks(entry);
    QuotaNodeId root = state.ledger.root(queue->node);
    if (std::ranges::find(joint, root) != joint.end()) root = joint.front();
    if (entry.plan != nullptr && entry.assignment.mode == Mode::kFit && state.admission_blocked()) continue;
    if (entry.plan != nullptr && entry.assignment.mode == Mode::kFit) {
      fitting[root].push_back(entry.workload);
      continue;
    }
    const bool preempts = entry.plan != nullptr && entry.plan->wants_places.empty() && !entry.targets.empty();
    contended[root].emplace_back(entry.workload, preempts ? entry.targets.front().workload : WorkloadId());
  }
  for (const auto& [root, workloads] : fitting) {
    if (contended.contains(root)) continue;
    for (WorkloadId each : workloads)
      broken.push_back("workload " + state.slots[each].who->uid + " fits but nobody looks at it");
  }
  for (const auto& [root, heads] : contended) {
    const auto [head, victim] = heads.front();
    if (evicting || heads.size() > 1 || fitting.contains(root) || !victim.valid()) continue;
    broken.push_back("workload " + state.slots[head].who->uid + " may preempt " + state.slots[victim].who->uid +
                     " but nobody looks at it");
  }
  return broken;
}

// While no workload is being evicted, no parked workload may find victims either.
std::vector<std::string> Scheduler::check() const {
  SchedulerState& state = impl_->state;
  const OnlyLooks only_looks(state);
  std::vector<std::string> broken = state.ledger.check();
  auto say = [&](std::vector<std::string> more) { broken.insert(broken.end(), more.begin(), more.end()); };
  std::size_t unready = 0, charged = 0;
  bool evicting = false;  // workloads that wait for evictions are woken when these release their quota
  for (std::size_t i = 0; i < state.slots.size(); ++i) {
    WorkloadId workload(i);
    const Slot& slot = state.slots[workload];
    bool holder = slot.place == Slot::Place::kHolder;
    if (!slot.pods_ready) ++unready;
    if (slot.use.valid() && holder) ++charged;
    evicting = evicting || (holder && slot.evicted);
    if (!slot.pods_ready && !holder) broken.push_back("workload " + slot.who->uid + " blocks others and holds nothing");
    if (!slot.in_use && slot.place != Slot::Place::kNone) broken.push_back("a workload that left is still somewhere");
    if (holder != (state.ledger.claim(workload) != nullptr)) {
      broken.push_back("workload " + slot.who->uid +
                       (holder ? " holds quota without a claim" : " has a claim it does not hold"));
    }
    const bool placed = holder && !slot.places.empty();
    if (placed != state.places.holds(workload)) {
      broken.push_back("workload " + slot.who->uid +
                       (placed ? " was placed but has no places" : " has places it does not hold"));
    }
  }
  say(state.book.check());
  if (state.book.claims() != charged) broken.push_back("the book of usage has claims of workloads that hold nothing");
  if (unready != state.unready_holders) broken.push_back("holders without ready pods are miscounted");
  say(state.places.check());
  impl_->absorb_reliefs();  // process pending wake-ups first
  say(impl_->check_awake(evicting));
  Nominator nominator(state);
  for (const auto& queue : state.queues) {
    if (queue == nullptr) continue;
    say(queue->pending.check());
    if (!state.runs(*queue)) continue;
    for (WorkloadId head : queue->pending.sleeping_heads()) {
      Entry entry;
      entry.workload = head;
      entry.queue = queue.get();
      nominator.nominate_in_all_walks(entry);
      if (entry.plan == nullptr) continue;
      const bool fits = entry.assignment.mode == Mode::kFit;
      const bool preempts = !evicting && entry.assignment.mode == Mode::kPreempt && !entry.targets.empty();
      if (!fits && !preempts) continue;
      broken.push_back("workload " + state.slots[head].who->uid + " is parked in " + state.ledger.name(queue->node) +
                       (fits ? " though it fits now"
                             : " though it may preempt " + state.slots[entry.targets.front().workload].who->uid));
    }
  }
  return broken;
}

}  // namespace berth::engine
