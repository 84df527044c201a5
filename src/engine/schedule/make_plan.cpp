#include "engine/schedule/make_plan.h"

#include <algorithm>
#include <map>
#include <ranges>

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

// The requests of a unit, by resource name. `pods` is included only if the queue covers it.
std::vector<Plan::Want> wants_of(const Plan::Unit& unit, const Shape& shape, const QueueConfig& config, Names& names) {
  std::map<std::string_view, Plan::Want> by_name;
  auto ask = [&](ResourceId resource, std::size_t position, Amount amount) {
    Plan::Want& want = by_name[names.name(resource)];
    want.resource = resource;
    want.per_pod.resize(unit.pod_sets.size());
    want.per_pod[position] += amount;
  };
  ResourceId pods = names.resource(kPods);
  for (std::size_t i = 0; i < unit.pod_sets.size(); ++i) {
    for (const ResourceAmount& each : shape.pod_sets[unit.pod_sets[i]].counted) {
      if (each.resource != pods) ask(each.resource, i, each.amount);
    }
    if (config.group(pods) >= 0) ask(pods, i, Amount::of(1));
  }
  std::vector<Plan::Want> wants;
  for (auto& [name, want] : by_name) wants.push_back(std::move(want));
  return wants;
}

// The inputs of a plan.
struct Basis {
  const Shape& shape;
  const QueueConfig& config;
  const FlavorTable& flavors;
  const Places& places;
  Names& names;
  bool implied =
      false;  // every pod gets a place: the queue's flavors all have a topology (KEP-2724: implicit topology request)
};

bool only_topologies(const QueueConfig& config, const Places& places) {
  bool any = false;
  for (const ResourceGroup& group : config.groups) {
    for (FlavorId flavor : group.flavors) {
      if (!places.places_pods(flavor)) return false;
      any = true;
    }
  }
  return any;
}

// The group covers no resource that the pods themselves request of a node.
bool quota_only(const ResourceGroup& group, const Shape::PodSet& pod_set) {
  return std::none_of(pod_set.per_pod.begin(), pod_set.per_pod.end(), [&](const ResourceAmount& each) {
    return !each.amount.is_zero() &&
           std::find(group.resources.begin(), group.resources.end(), each.resource) != group.resources.end();
  });
}

std::string topology_mismatch(const Basis& basis, FlavorId flavor, const ResourceGroup& group,
                              const Shape::PodSet& pod_set) {
  const bool has_topology = basis.places.places_pods(flavor);
  if (!pod_set.topology && !basis.implied) {
    return has_topology ? "Flavor \"" + basis.names.name(flavor) + "\" supports only TopologyAwareScheduling" : "";
  }
  if (!has_topology && quota_only(group, pod_set)) return "";
  return basis.places.mismatch(flavor, pod_set.topology ? &*pod_set.topology : nullptr, pod_set.count);
}

std::string mismatch(const Basis& basis, FlavorId flavor, const ResourceGroup& group, const Plan::Unit& unit) {
  for (std::size_t index : unit.pod_sets) {
    const Shape::PodSet& pod_set = basis.shape.pod_sets[index];
    std::string why;
    if (basis.flavors.exists(flavor)) why = topology_mismatch(basis, flavor, group, pod_set);
    if (why.empty()) why = basis.flavors.mismatch(flavor, basis.names.name(flavor), pod_set.constraints);
    if (!why.empty()) return why;
  }
  return "";
}

Plan::Placing placing(const Basis& basis, FlavorId flavor) {
  if (!basis.places.places_pods(flavor)) return Plan::Placing::kNone;
  const auto& delayed = basis.config.delayed;
  const bool later = std::find(delayed.begin(), delayed.end(), flavor) != delayed.end();
  return later ? Plan::Placing::kLater : Plan::Placing::kNow;
}

void match_flavors(Plan::Step& step, const Plan::Unit& unit, const Basis& basis) {
  const ResourceGroup& group = basis.config.groups[static_cast<std::size_t>(step.group)];
  for (FlavorId flavor : group.flavors) {
    step.mismatch.push_back(mismatch(basis, flavor, group, unit));
    step.placing.push_back(placing(basis, flavor));
    auto& ids = step.ids.emplace_back();
    for (const Plan::Want& want : step.wants) ids.push_back(basis.names.pair(flavor, want.resource));
  }
}

std::vector<bool> wants_places(const Basis& basis) {
  std::vector<bool> wants;
  for (const Shape::PodSet& each : basis.shape.pod_sets) wants.push_back(basis.implied || each.topology);
  return std::find(wants.begin(), wants.end(), true) == wants.end() ? std::vector<bool>() : wants;
}

}  // namespace

Plan make_plan(const Shape& shape, const QueueConfig& config, const FlavorTable& flavors, const Places& places,
               Names& names, bool ignore_undeclared) {
  const Basis basis{shape, config, flavors, places, names, only_topologies(config, places)};
  Plan plan;
  plan.wants_places = wants_places(basis);
  plan.units = group_pod_sets(shape);
  for (Plan::Unit& unit : plan.units) {
    std::vector<Plan::Want> all = wants_of(unit, shape, config, names);
    // In reverse order of names, as in Kueue: when several resources are unavailable, the first one visited is
    // reported.
    for (Plan::Want& want : std::views::reverse(all)) {
      std::int32_t group = config.group(want.resource);
      if (group < 0 && (ignore_undeclared || want.requests_nothing()))
        continue;  // kueue#8079: a request of zero for an uncovered resource is allowed
      auto step = std::find_if(unit.steps.begin(), unit.steps.end(),
                               [&](const Plan::Step& each) { return group >= 0 && each.group == group; });
      if (step == unit.steps.end()) {
        unit.steps.push_back({group, {}, {}, {}, {}});
        step = unit.steps.end() - 1;
      }
      step->wants.insert(step->wants.begin(), std::move(want));
    }
    for (Plan::Step& step : unit.steps) {
      if (step.group >= 0) match_flavors(step, unit, basis);
      ++plan.steps;
      plan.flavors_tried += step.mismatch.size();
    }
  }
  return plan;
}

bool is_idle(const Plan& plan, const Plan::Unit& unit, const Plan::Step& step) {
  if (!step.requests_nothing()) return false;
  const auto places = [&](std::size_t pod_set) { return !plan.wants_places.empty() && plan.wants_places[pod_set]; };
  return std::ranges::none_of(unit.pod_sets, places) ||
         std::ranges::any_of(unit.steps, [](const Plan::Step& each) { return !each.requests_nothing(); });
}

}  // namespace berth::engine
