// The second pass (KEP-2724): assigns places to workloads that already hold quota, after an admission check created
// the nodes, or for the pods that were on failed nodes.
//
// Whether a workload needs it follows from its state alone; this is checked when its timer is set and again when it
// fires. The timers live only here: after a restart they begin with the shortest delay.
#include <algorithm>
#include <vector>

#include "base/assert.h"
#include "engine/engine_impl.h"
#include "engine/lifecycle/preemption_gates.h"

namespace berth::engine {

using lifecycle::SecondPassNeed;

SecondPassNeed Engine::Impl::second_pass_need(const Tracked& t) const {
  // Fast path: few workloads need it, and this test needs neither queues nor checks.
  if (!lifecycle::topology_is_delayed(t.now->status) && t.now->status.unhealthy_nodes.empty())
    return SecondPassNeed::kNone;
  const auto need = lifecycle::second_pass_need(*t.now, situation_of(t));
  return need == SecondPassNeed::kFailedNodes && !options.replace_failed_nodes ? SecondPassNeed::kNone : need;
}

void Engine::Impl::plan_second_pass(Tracked& t, Time now) {
  const auto need = second_pass_need(t);
  if (need == SecondPassNeed::kNone) {
    t.second_pass.reset();
  } else if (!t.second_pass || t.second_pass->need != need) {
    t.second_pass = SecondPassTimer{need, 1, now + lifecycle::second_pass_delay(1), {}};
  }
  if (t.second_pass && t.second_pass->at <= now && t.await_version.empty()) due_second_passes.insert(&t);
}

// In the order of admission: higher priority, older queue-order timestamp, UID.
void Engine::Impl::second_passes(Time now) {
  const auto due = std::exchange(due_second_passes, {});
  std::vector<Tracked*> ordered(due.begin(), due.end());
  std::ranges::sort(ordered, [this](const Tracked* a, const Tracked* b) {
    const std::int32_t priority_a = priority_of(*a->now).effective(), priority_b = priority_of(*b->now).effective();
    if (priority_a != priority_b) return priority_a > priority_b;
    const Time since_a = queue_order_time(*a->now, options.wait_for_pods_ready),
               since_b = queue_order_time(*b->now, options.wait_for_pods_ready);
    return since_a != since_b ? since_a < since_b : a->now->meta.uid < b->now->meta.uid;
  });
  for (Tracked* t : ordered) second_pass(*t, now);
}

void Engine::Impl::second_pass(Tracked& t, Time now) {
  // A second pass of another workload in this round may have preempted it.
  const auto need = second_pass_need(t);
  workloads.mark(t);
  if (need == SecondPassNeed::kNone || !scheduler.holds(t.id)) return;
  Scheduler::SecondPass pass;
  pass.workload = t.id;
  pass.pod_sets = admitted_pod_sets(t);
  pass.admission = &*t.now->status.admission;
  if (need == SecondPassNeed::kFailedNodes) pass.failed = t.now->status.unhealthy_nodes;
  pass.preemption_gated = options.preemption_gates && lifecycle::preemption_gated(*t.now);
  auto result = scheduler.second_pass(pass, now);
  if (result.preemption_gated) result.message += lifecycle::preemption_gated_text(*t.now);
  for (const auto& decision : result.preemptions) {
    std::visit([&](const auto& d) { on_decision(d, now); }, decision);
  }
  if (!result.ok() || !take_places(t, result, now)) second_pass_failed(t, result.message, now);
}

// Returns whether they are taken. An invalid change of an assignment is refused.
bool Engine::Impl::take_places(Tracked& t, const Scheduler::SecondPassResult& result, Time now) {
  const bool failed_nodes = t.second_pass && t.second_pass->need == SecondPassNeed::kFailedNodes;
  auto change = failed_nodes ? lifecycle::replace_nodes(*t.now, result.assignments, now)
                             : lifecycle::place(*t.now, result.assignments, now);
  BERTH_INVARIANT(change.has_value());
  if (!change) return false;
  apply(t, std::move(*change));
  watch_nodes(t);
  place(t, now);  // take them before the next second pass looks
  return true;
}

void Engine::Impl::second_pass_failed(Tracked& t, const std::string& message, Time now) {
  if (!t.second_pass) return;
  if (t.second_pass->need == SecondPassNeed::kFailedNodes && options.replace_fail_fast) {
    auto change = lifecycle::evict(*t.now, lifecycle::no_replacement(*t.now), now);
    BERTH_INVARIANT(change.has_value());
    if (change) return apply(t, std::move(*change));
  }
  t.events.push_back(event_about(*t.now, {true, "SecondPassFailed", message, lifecycle::Note::kByScheduler}));
  to_flush.insert(&t);
  t.second_pass->failure = message;
  ++t.second_pass->iteration;
  t.second_pass->at = now + lifecycle::second_pass_delay(t.second_pass->iteration);
}

}  // namespace berth::engine
