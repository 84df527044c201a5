#include "engine/schedule/plan.h"

#include <algorithm>
#include <map>

namespace berth::engine {
namespace {

constexpr std::string_view kPods = "pods";

std::vector<Plan::Unit> group_pod_sets(const Shape& shape) {
  std::vector<Plan::Unit> units;
  std::map<std::string, std::size_t> by_group;
  for (std::size_t i = 0; i < shape.pod_sets.size(); ++i) {
    const std::string& group = shape.pod_sets[i].group;
    auto it = group.empty() ? by_group.end() : by_group.find(group);
    if (it != by_group.end()) {
      units[it->second].pod_sets.push_back(i);
      continue;
    }
    if (!group.empty()) by_group.emplace(group, units.size());
    units.push_back({{i}, {}});
  }
  return units;
}

// What a unit asks for, by resource name. `pods` counts only where the queue covers it.
std::vector<Plan::Want> wants_of(const Plan::Unit& unit, const Shape& shape, const QueueConfig& config,
                                 Names& names) {
  std::map<std::string_view, Plan::Want> by_name;
  auto ask = [&](ResourceId resource, std::size_t position, Amount amount) {
    Plan::Want& want = by_name[names.name(resource)];
    want.resource = resource;
    want.per_pod.resize(unit.pod_sets.size());
    want.per_pod[position] += amount;
  };
  ResourceId pods = names.resource(kPods);
  for (std::size_t i = 0; i < unit.pod_sets.size(); ++i) {
    for (const ResourceAmount& each : shape.pod_sets[unit.pod_sets[i]].per_pod) {
      if (each.resource != pods) ask(each.resource, i, each.amount);
    }
    if (config.group(pods) >= 0) ask(pods, i, Amount::of(1));
  }
  std::vector<Plan::Want> wants;
  for (auto& [name, want] : by_name) wants.push_back(std::move(want));
  return wants;
}

bool asks_nothing(const Plan::Want& want) {
  return std::all_of(want.per_pod.begin(), want.per_pod.end(), [](Amount a) { return a.is_zero(); });
}

void match_flavors(Plan::Step& step, const Plan::Unit& unit, const Shape& shape, const QueueConfig& config,
                   const FlavorTable& flavors, Names& names) {
  for (FlavorId flavor : config.groups[static_cast<std::size_t>(step.group)].flavors) {
    std::string why;
    for (std::size_t pod_set : unit.pod_sets) {
      why = flavors.mismatch(flavor, names.name(flavor), shape.pod_sets[pod_set].constraints);
      if (!why.empty()) break;
    }
    step.mismatch.push_back(std::move(why));
    auto& ids = step.ids.emplace_back();
    for (const Plan::Want& want : step.wants) ids.push_back(names.pair(flavor, want.resource));
  }
}

}  // namespace

Plan make_plan(const Shape& shape, const QueueConfig& config, const FlavorTable& flavors, Names& names) {
  Plan plan;
  plan.units = group_pod_sets(shape);
  for (Plan::Unit& unit : plan.units) {
    for (Plan::Want& want : wants_of(unit, shape, config, names)) {
      std::int32_t group = config.group(want.resource);
      if (group < 0 && asks_nothing(want))
        continue;  // kueue#8079: zero of what the queue does not offer is fine
      auto step = std::find_if(unit.steps.begin(), unit.steps.end(),
                               [&](const Plan::Step& each) { return group >= 0 && each.group == group; });
      if (step == unit.steps.end()) {
        unit.steps.push_back({group, {}, {}, {}});
        step = unit.steps.end() - 1;
      }
      step->wants.push_back(std::move(want));
    }
    for (Plan::Step& step : unit.steps) {
      if (step.group >= 0) match_flavors(step, unit, shape, config, flavors, names);
      ++plan.steps;
      plan.flavors_tried += step.mismatch.size();
    }
  }
  return plan;
}

}  // namespace berth::engine
