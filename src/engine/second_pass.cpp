// The second pass (KEP-2724): assigns places to workloads that already hold quota, after an admission check created
// the nodes, or for the pods that were on failed nodes.
#include <utility>

#include "base/assert.h"
#include "engine/engine_impl.h"
#include "engine/lifecycle/preemption_gates.h"

namespace berth::engine {

using lifecycle::SecondPassNeed;

void Engine::Impl::second_pass(Tracked& t, Time now) {
  // A second pass of another workload in this round may have preempted it.
  const auto need = views.second_pass_need(t);
  workloads.mark(t);
  if (need == SecondPassNeed::kNone || !scheduler.holds(t.id)) return;
  Scheduler::SecondPass pass;
  pass.workload = t.id;
  pass.pod_sets = views.admitted_pod_sets(t);
  pass.admission = &*t.now.status().admission;
  if (need == SecondPassNeed::kFailedNodes) pass.failed = t.now.status().unhealthy_nodes;
  pass.preemption_gated = facts.options.preemption_gates && lifecycle::preemption_gated(*t.now);
  auto result = scheduler.second_pass(pass, now);
  if (result.preemption_gated) result.message += lifecycle::preemption_gated_text(*t.now);
  decisions.apply(result.preemptions, now);
  if (!result.ok() || !take_places(t, result, now)) second_pass_failed(t, result.message, now);
}

// Returns whether they are taken. An invalid change of an assignment is refused.
bool Engine::Impl::take_places(Tracked& t, const Scheduler::SecondPassResult& result, Time now) {
  const bool replaces = t.second_pass && t.second_pass->need == SecondPassNeed::kFailedNodes;
  auto change = replaces ? lifecycle::replace_nodes(*t.now, result.assignments, now)
                         : lifecycle::place(*t.now, result.assignments, now);
  BERTH_INVARIANT(change.has_value());
  if (!change) return false;
  transitions.apply(t, std::move(*change));
  failed_nodes.watch(t);
  feed.update(t, now);  // take them before the next second pass looks
  return true;
}

void Engine::Impl::second_pass_failed(Tracked& t, const std::string& message, Time now) {
  if (!t.second_pass) return;
  if (t.second_pass->need == SecondPassNeed::kFailedNodes && facts.options.replace_fail_fast) {
    auto change = lifecycle::evict(*t.now, lifecycle::no_replacement(*t.now), now);
    BERTH_INVARIANT(change.has_value());
    if (change) return transitions.apply(t, std::move(*change));
  }
  t.events.push_back(event_about(*t.now, {true, "SecondPassFailed", message, lifecycle::Note::kByScheduler}));
  writes.want(t);
  second_passes.failed(t, message, now);
}

}  // namespace berth::engine
