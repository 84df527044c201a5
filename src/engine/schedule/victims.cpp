#include "engine/schedule/victims.h"

namespace berth::engine {
namespace {

std::string text(const SchedulerState& state, WorkloadId preemptor, const Target& target) {
  const Slot &by = state.slots[preemptor], &victim = state.slots[target.workload];
  const auto or_unknown = [](const std::string& s) { return s.empty() ? std::string("UNKNOWN") : s; };
  return "Preempted to accommodate a workload (UID: " + or_unknown(by.who->uid) +
         ", JobUID: " + or_unknown(by.who->job_uid) + ") due to " + std::string(human_readable(target.reason)) +
         "; preemptor path: " + state.ledger.path(by.queue) + "; preemptee path: " + state.ledger.path(victim.queue);
}

}  // namespace

bool order_evictions(SchedulerState& state, WorkloadId preemptor, const std::vector<Target>& targets, Decisions& out) {
  bool any = false;
  for (const Target& target : targets) {
    Slot& victim = state.slots[target.workload];
    if (victim.evicted) continue;
    any = true;
    state.note_preemption(preemptor, target.workload);
    out.push_back(Preempt{target.workload, preemptor, target.reason, text(state, preemptor, target)});
    Holders& holders = state.queue(victim.queue)->holders;
    holders.erase(victim, target.workload);
    victim.evicted = true;
    holders.insert(victim, target.workload);
  }
  return any;
}

std::string pending_preemption(std::size_t victims) {
  return ". Pending the preemption of " + std::to_string(victims) + " workload(s)";
}

}  // namespace berth::engine
