// Decisions: which trees of cohorts are worth a pass, and when.
#include <algorithm>

#include "engine/schedule/scheduler_impl.h"

namespace berth::engine {

Scheduler::Scheduler(SchedulerOptions options) : impl_(std::make_unique<Impl>(options)) {}
Scheduler::~Scheduler() = default;
Scheduler::Scheduler(Scheduler&&) noexcept = default;
Scheduler& Scheduler::operator=(Scheduler&&) noexcept = default;

void Scheduler::Impl::end_backoffs(Time now) {
  while (!backoffs.empty() && backoffs.begin()->first <= now) {
    WorkloadId workload = backoffs.begin()->second;
    leave_queue(workload);
    push(workload);
  }
}

void Scheduler::Impl::end_waits_for_leaving_pods(Time now) {
  auto& waits = state.waits_for_leaving_pods;
  while (!waits.empty() && waits.begin()->first <= now) {
    if (Queue* queue = state.queue(waits.extract(waits.begin()).value().second)) mark(*queue);
  }
}

Decisions Scheduler::schedule(Time now) {
  SchedulerState& state = impl_->state;
  state.now = now;
  state.evaluated = false;
  set_time(now);
  impl_->forget_precedence_if_configured();
  impl_->end_backoffs(now);
  impl_->end_waits_for_leaving_pods(now);
  impl_->rank_again();
  impl_->absorb_reliefs();
  std::set<QuotaNodeId> roots;
  for (QuotaNodeId node : std::exchange(impl_->dirty, {})) {
    Queue& queue = *state.queue(node);
    queue.dirty = false;
    if (!state.ledger.in_cycle(node)) roots.insert(state.ledger.root(node));
  }
  if (!roots.empty()) {
    for (auto& [name, counts] : state.overlaps) counts.skips = 0;
  }
  Decisions decisions;
  const std::vector<QuotaNodeId> joint = impl_->trees_with_topology();
  if (std::any_of(joint.begin(), joint.end(), [&](QuotaNodeId root) { return roots.contains(root); })) {
    impl_->run_pass(joint, now, decisions);
    for (QuotaNodeId root : joint) roots.erase(root);
  }
  for (QuotaNodeId root : roots) impl_->run_pass({&root, 1}, now, decisions);
  return decisions;
}

void Scheduler::Impl::run_pass(std::span<const QuotaNodeId> roots, Time now, Decisions& out) {
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
  const auto& waits = impl_->state.waits_for_leaving_pods;
  std::optional<Time> when = impl_->state.book.next_sample();
  if (!backoffs.empty() && (!when || backoffs.begin()->first < *when)) when = backoffs.begin()->first;
  if (!waits.empty() && (!when || waits.begin()->first < *when)) when = waits.begin()->first;
  return when;
}

}  // namespace berth::engine
