#include "engine/schedule/placer.h"

#include <algorithm>

#include "engine/schedule/make_plan.h"
#include "engine/schedule/state.h"

namespace berth::engine {
namespace {

struct TopologyFlavor {
  FlavorId flavor{};
  Plan::Placing placing = Plan::Placing::kNone;
  std::string error;
};

// The flavor of a unit that has a topology. A pod needs nodes of one flavor, so any other number of them is an error.
TopologyFlavor topology_flavor(const Entry& entry, const Plan::Unit& unit, std::size_t first_step, const Names& names) {
  TopologyFlavor found;
  for (std::size_t i = 0; i < unit.steps.size(); ++i) {
    const std::int32_t index = entry.assignment.choices[first_step + i].flavor;
    if (index < 0 || is_idle(*entry.plan, unit, unit.steps[i])) continue;
    const auto position = static_cast<std::size_t>(index);
    if (unit.steps[i].placing[position] == Plan::Placing::kNone) continue;
    const auto& group = entry.queue->config.groups[static_cast<std::size_t>(unit.steps[i].group)];
    const FlavorId flavor = group.flavors[position];
    if (found.flavor.valid() && found.flavor != flavor) {
      const auto [first, second] = std::minmax(names.name(found.flavor), names.name(flavor));
      found.error = "more than one flavor with a topology assigned: " + first + ", " + second;
      return found;
    }
    found.flavor = flavor;
    found.placing = unit.steps[i].placing[position];
  }
  if (!found.flavor.valid()) found.error = "no flavor with a topology assigned";
  return found;
}

}  // namespace

std::string Placer::add_requests(const Entry& entry, const Plan::Unit& unit, std::size_t first_step) {
  TopologyFlavor chosen;
  for (std::size_t index : unit.pod_sets) {
    const std::int32_t count = entry.assignment.counts[index];
    if (!entry.plan->wants_places[index] || count == 0) continue;
    if (!chosen.flavor.valid()) chosen = topology_flavor(entry, unit, first_step, names_);
    if (!chosen.error.empty()) {
      pod_sets_.assign(1, index);
      return chosen.error;
    }
    const Shape::PodSet& pod_set = entry.shape->pod_sets[index];
    if (chosen.placing == Plan::Placing::kLater) {
      if (count == pod_set.count) continue;
      // No search follows now for the reduced gang: check here that it still consists of slices, or this would be
      // noticed too late.
      std::string why = places_.mismatch(chosen.flavor, pod_set.topology ? &*pod_set.topology : nullptr, count);
      if (why.empty()) continue;
      pod_sets_.assign(1, index);
      return why;
    }
    requests_.push_back({chosen.flavor,
                         count,
                         {pod_set.per_pod, &pod_set.constraints},
                         pod_set.topology ? &*pod_set.topology : nullptr,
                         pod_set.group,
                         pod_set.group.empty() ? std::string_view(pod_set.name) : pod_set.group,
                         pod_set.spreading ? &*pod_set.spreading : nullptr});
    if (const auto* had = entry.replaces == nullptr ? nullptr : entry.replaces->find(pod_set.name)) {
      requests_.back().kept = had->places.get();
      requests_.back().kept_by = entry.replaces->of;
    }
    pod_sets_.push_back(index);
  }
  return "";
}

std::string Placer::collect(const Entry& entry) {
  requests_.clear();
  pod_sets_.clear();
  if (entry.plan->wants_places.empty()) return "";
  std::size_t first_step = 0;
  for (const Plan::Unit& unit : entry.plan->units) {
    std::string error = add_requests(entry, unit, first_step);
    if (!error.empty()) return error;
    first_step += unit.steps.size();
  }
  return "";
}

void Placer::place(Entry& entry) {
  Assignment& assignment = entry.assignment;
  requests_.clear();
  if (entry.plan->wants_places.empty() || assignment.mode == Mode::kNoFit) return;
  if (std::string error = collect(entry); !error.empty()) {
    return never(entry, {pod_sets_.front(), {.text = std::move(error)}});
  }
  if (requests_.empty()) return;
  if (assignment.mode == Mode::kFit) {
    Placement now = places_.place(requests_);
    if (now.ok) {
      assignment.places = std::move(now.pod_sets);
      return;
    }
    note_no_place(entry, std::move(now.failure));
  }
  note_lacks(entry);
  Placement ever = places_.place(requests_, true);
  if (!ever.ok) return never(entry, {pod_sets_[ever.failure.ask], std::move(ever.failure)});
  assignment.places = std::move(ever.pod_sets);
}

// All resources of the failing pod set count as short: so every workload that uses some of them is a candidate.
void Placer::note_no_place(Entry& entry, PlaceFailure failure) {
  Assignment& assignment = entry.assignment;
  const std::size_t pod_set = pod_sets_[failure.ask];
  assignment.no_place = NoPlace{pod_set, std::move(failure)};
  assignment.only_place_short = true;
  assignment.mode = Mode::kPreempt;
  for (Assignment::Part& part : assignment.parts) {
    const auto& members = entry.plan->units[part.unit].pod_sets;
    if (std::find(members.begin(), members.end(), pod_set) != members.end()) part.mode = Mode::kPreempt;
  }
}

void Placer::note_lacks(Entry& entry) {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const bool again = i > 0 && requests_[i].flavor == requests_[i - 1].flavor;
    if (!again) entry.assignment.lacks.push_back({.place = requests_[i].flavor});
  }
}

void Placer::note_others(Entry& entry) {
  Assignment& assignment = entry.assignment;
  auto choice = assignment.choices.begin();
  for (const Plan::Unit& unit : entry.plan->units) {
    for (const Plan::Step& step : unit.steps) {
      const Assignment::Choice chosen = *choice++;
      for (std::int32_t other = 0; chosen.flavor >= 0 && other < std::ssize(step.ids); ++other) {
        const auto index = static_cast<std::size_t>(other);
        if (other == chosen.flavor || !step.mismatch[index].empty()) continue;
        const bool untried = other > chosen.last;
        for (FlavorResourceId id : step.ids[index]) {
          if (untried) assignment.lacks.push_back({.id = id});
        }
        if ((untried || chosen.is_possible(other)) && step.placing[index] == Plan::Placing::kNow) {
          const auto& group = entry.queue->config.groups[static_cast<std::size_t>(step.group)];
          assignment.lacks.push_back({.place = group.flavors[index]});
        }
      }
    }
  }
}

void Placer::never(Entry& entry, NoPlace why) {
  Assignment& assignment = entry.assignment;
  assignment.mode = Mode::kNoFit;
  assignment.no_fit_reason = kTopologyPlacementFailed;
  if (!assignment.no_place) assignment.no_place = std::move(why);
}

bool Placer::place_again(Entry& entry) {
  if (!collect(entry).empty()) return false;
  Placement now = places_.place(requests_);
  if (now.ok) entry.assignment.places = std::move(now.pod_sets);
  return now.ok;
}

bool Placer::places_on_empty(const Entry& entry) {
  return collect(entry).empty() && (requests_.empty() || places_.place(requests_, true).ok);
}

std::string Placer::explain(const Entry& entry) {
  if (!entry.assignment.no_place) return "";
  const PlaceFailure& failure = entry.assignment.no_place->failure;
  if (!failure.text.empty()) return failure.text;
  collect(entry);
  return places_.explain(requests_, failure);
}

std::vector<StatedPlaces> Placer::state(const Entry& entry, std::vector<PodSetFlavors>& pod_sets) {
  std::vector<StatedPlaces> stated;
  if (entry.assignment.places.empty()) return stated;
  collect(entry);
  for (std::size_t ask = 0; ask < requests_.size(); ++ask) {
    pod_sets[pod_sets_[ask]].places = places_.assignment(entry.assignment.places[ask]);
  }
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    if (pod_sets[i].places == nullptr) continue;
    const auto ask = static_cast<std::size_t>(std::find(pod_sets_.begin(), pod_sets_.end(), i) - pod_sets_.begin());
    stated.push_back({names_.name(requests_[ask].flavor), entry.shape->pod_sets[i].per_pod, pod_sets[i].places,
                      std::string(requests_[ask].unit)});
  }
  return stated;
}

}  // namespace berth::engine
