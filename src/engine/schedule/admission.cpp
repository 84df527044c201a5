// Converts between the scheduler's numbers and the API's admission: assigned flavors, and the amounts that a claim
// holds.
#include <algorithm>

#include "engine/schedule/entry.h"
#include "engine/schedule/scheduler.h"
#include "engine/schedule/state.h"

namespace berth::engine {

namespace {

void delay(const Entry& entry, const Plan::Unit& unit, std::vector<PodSetFlavors>& pod_sets) {
  for (std::size_t i : unit.pod_sets) pod_sets[i].delayed = entry.plan->wants_places[i] && pod_sets[i].count > 0;
}

}  // namespace

std::vector<PodSetFlavors> flavors_of(const Entry& entry) {
  std::vector<PodSetFlavors> pod_sets(entry.shape->pod_sets.size());
  for (std::size_t i = 0; i < pod_sets.size(); ++i) pod_sets[i].count = entry.assignment.counts[i];
  auto choice = entry.assignment.choices.begin();
  for (const Plan::Unit& unit : entry.plan->units) {
    for (const Plan::Step& step : unit.steps) {
      std::int32_t index = (choice++)->flavor;
      if (index < 0) continue;
      const ResourceGroup& group = entry.queue->config.groups[static_cast<std::size_t>(step.group)];
      FlavorId flavor = group.flavors[static_cast<std::size_t>(index)];
      const bool later = step.placing[static_cast<std::size_t>(index)] == Plan::Placing::kLater;
      if (later && !entry.plan->wants_places.empty()) delay(entry, unit, pod_sets);
      for (const Plan::Want& want : step.wants) {
        for (std::size_t i = 0; i < unit.pod_sets.size(); ++i) {
          // Pod sets assigned together: each lists only the resources that it requests itself.
          if (unit.pod_sets.size() > 1 && want.per_pod[i].is_zero()) continue;
          pod_sets[unit.pod_sets[i]].flavors.emplace_back(want.resource, flavor);
        }
      }
    }
  }
  return pod_sets;
}

std::vector<Holding::Amount> holding_amounts(const api::kueue::Admission& admission,
                                             const std::vector<api::kueue::ReclaimablePod>& reclaimable) {
  std::vector<Holding::Amount> amounts;
  for (const auto& pod_set : admission.pod_set_assignments) {
    auto reclaimed = std::find_if(reclaimable.begin(), reclaimable.end(),
                                  [&](const auto& each) { return each.name == pod_set.name; });
    std::int32_t gone = reclaimed == reclaimable.end() ? 0 : std::clamp(reclaimed->count, 0, pod_set.count);
    for (const auto& [resource, flavor] : pod_set.flavors) {
      auto usage = pod_set.resource_usage.find(resource);
      if (usage == pod_set.resource_usage.end()) continue;
      std::int64_t amount = to_amount(resource, usage->second).count();
      // Usage is a multiple of the count (the API's validation), so the division is exact.
      if (gone > 0) amount = amount / pod_set.count * (pod_set.count - gone);
      // A negative usage, written by another client, must not create quota.
      amounts.push_back({flavor, resource, Amount::of(std::max<std::int64_t>(amount, 0))});
    }
  }
  return amounts;
}

}  // namespace berth::engine
