// Slices of elastic jobs (KEP-77) in a pass: what one keeps of the slice that it replaces, and how it takes its place.
#include <algorithm>

#include "engine/schedule/pass.h"

namespace berth::engine {

namespace {

constexpr std::string_view kFormerLeaves = "The slice that it replaces is being evicted";

}  // namespace

// Whether the slice that it replaces lets it. Otherwise it waits.
bool Pass::may_replace(Entry& entry) {
  if (state_.predecessor_leaves(entry.workload)) {  // the whole job stops first, and gives its quota back
    wait(entry.workload, kWaitingForQuota, kFormerLeaves);
    entry.queue->pending.park(entry.workload, {}, kWaitingForQuota);
    moved();
    return false;
  }
  if (entry.replaces == nullptr || state_.predecessor(entry.workload).valid()) return true;
  // Another slice of its job took the place of its predecessor in this cycle.
  wait(entry.workload, kWaitingForQuota, kNoLongerFits);
  try_again(entry, true);
  return false;
}

const Usage& Pass::wanted(const Entry& entry) {
  const WorkloadId predecessor = state_.predecessor(entry);
  const Claim* former = predecessor.valid() ? state_.ledger.claim(predecessor) : nullptr;
  if (former == nullptr) return entry.assignment.usage;
  difference_ = entry.assignment.usage;
  for (FlavorResourceAmount& each : difference_) {
    const auto had = std::ranges::find(former->usage, each.id, &FlavorResourceAmount::id);
    if (had != former->usage.end()) each.amount = max(Amount(), each.amount - had->amount);
  }
  return difference_;
}

// Its claim passes to the slice that replaces it, which then changes it: nothing gets free in between. Who has chosen
// it as a victim in this cycle waits for the next one.
void Pass::replace(WorkloadId former, WorkloadId by) {
  Slot& slot = state_.slots[former];
  state_.queue(slot.queue)->holders.erase(slot, former);
  state_.ledger.hand_over(former, by);
  if (!slot.places.empty()) state_.places.give_back(former);
  slot.places.clear();
  slot.place = Slot::Place::kNone;
  state_.discharge(slot);
  state_.set_pods_ready(slot, true);
  preempted_.push_back(former);
}

// A slice keeps the flavors of the one that it replaces: the pods that run are on their nodes.
std::vector<Assigner::Kept> Nominator::kept_flavors(const Entry& entry) const {
  std::vector<Assigner::Kept> kept;
  if (entry.replaces == nullptr) return kept;
  for (const Plan::Unit& unit : entry.plan->units) {
    const auto* had = entry.replaces->find(entry.shape->pod_sets[unit.pod_sets.front()].name);
    for (const Plan::Step& step : unit.steps) {
      Assigner::Kept& each = kept.emplace_back();
      if (had == nullptr || step.group < 0) continue;
      for (const Plan::Want& want : step.wants) {
        const auto flavor = had->flavors.find(state_.names.name(want.resource));
        if (flavor == had->flavors.end()) continue;
        const auto& flavors = entry.queue->config.groups[static_cast<std::size_t>(step.group)].flavors;
        each.name = &flavor->second;
        each.flavor = static_cast<std::int32_t>(std::ranges::find(flavors, state_.names.find_flavor(flavor->second)) -
                                                flavors.begin());
        break;
      }
    }
  }
  return kept;
}

}  // namespace berth::engine
