// The second pass (KEP-2724): places for a workload that already holds quota, because they were delayed or because
// nodes failed.
#include <algorithm>

#include "engine/schedule/placer.h"
#include "engine/schedule/scheduler_impl.h"
#include "engine/schedule/victims.h"

namespace berth::engine {
namespace {

using api::kueue::DelayedTopology;
using api::kueue::PodSetAssignment;

// The pod sets to place and their requests, in the form that Places takes.
struct Wanted {
  std::vector<PlaceRequest> requests;
  std::vector<std::size_t> pod_sets;                       // by ask: index in the admission
  std::vector<api::kueue::TopologyAssignmentPtr> current;  // by ask
  std::vector<std::vector<ResourceAmount>> per_pod;        // storage that the asks point into
  std::string error;
};

struct PlacedFlavor {
  FlavorId flavor;
  std::string error;
};

bool uses(const PodSetAssignment& assigned, const std::string& resource) {
  const auto usage = assigned.resource_usage.find(resource);
  return usage != assigned.resource_usage.end() && !usage->second.is_zero();
}

// Of the resources that the pods use, or of the others.
PlacedFlavor flavor_of_resources(const PodSetAssignment& assigned, bool used, const SchedulerState& state) {
  PlacedFlavor placed;
  for (const auto& [resource, name] : assigned.flavors) {
    if (uses(assigned, resource) != used) continue;
    const FlavorId flavor = state.names.find_flavor(name);
    if (!flavor.valid() || flavor == placed.flavor || !state.places.places_pods(flavor)) continue;
    if (placed.flavor.valid()) placed.error = "more than one flavor with a topology assigned";
    placed.flavor = flavor;
  }
  return placed;
}

PlacedFlavor placed_flavor(const PodSetAssignment& assigned, const SchedulerState& state) {
  PlacedFlavor placed = flavor_of_resources(assigned, true, state);
  if (!placed.flavor.valid()) placed = flavor_of_resources(assigned, false, state);
  if (!placed.flavor.valid()) placed.error = "no flavor with a topology assigned";
  return placed;
}

bool wants(const Scheduler::SecondPass& pass, const PodSetAssignment& assigned) {
  if (!pass.failed.empty()) return assigned.topology_assignment != nullptr;
  return assigned.topology_assignment == nullptr && assigned.delayed_topology == DelayedTopology::kPending &&
         assigned.count > 0;
}

void add(Wanted& wanted, const PodSetRequest& request, const PodSetAssignment& assigned, std::size_t index,
         SchedulerState& state) {
  const PlacedFlavor placed = placed_flavor(assigned, state);
  if (!placed.error.empty()) {
    wanted.error = couldnt_assign(assigned.name) + placed.error;
    return;
  }
  const bool is_explicit = request.topology && request.topology->explicit_request();
  const auto* topology = is_explicit ? &*request.topology : nullptr;
  if (std::string why = state.places.mismatch(placed.flavor, topology, assigned.count); !why.empty()) {
    wanted.error = couldnt_assign(assigned.name) + why;
    return;
  }
  const auto& per_pod = wanted.per_pod.emplace_back(amounts_of(request.per_pod, state.names));
  wanted.requests.push_back({placed.flavor,
                             assigned.count,
                             {per_pod, &request.constraints},
                             topology,
                             request.group,
                             request.group.empty() ? std::string_view(request.name) : request.group,
                             request.spreading ? &*request.spreading : nullptr});
  wanted.pod_sets.push_back(index);
  wanted.current.push_back(assigned.topology_assignment);
}

Wanted wanted_by(const Scheduler::SecondPass& pass, SchedulerState& state) {
  Wanted wanted;
  const auto& assigned = pass.admission->pod_set_assignments;
  wanted.per_pod.reserve(assigned.size());
  for (std::size_t i = 0; i < assigned.size() && wanted.error.empty(); ++i) {
    if (!wants(pass, assigned[i])) continue;
    const auto request = std::ranges::find(pass.pod_sets, assigned[i].name, &PodSetRequest::name);
    if (request == pass.pod_sets.end()) {
      wanted.error = couldnt_assign(assigned[i].name) + "the workload has no such pod set";
    } else {
      add(wanted, *request, assigned[i], i, state);
    }
  }
  return wanted;
}

// Whether pods that are leaving (their workload has no claim any more) will leave enough capacity: then no preemption
// is needed.
bool comes_free(const Wanted& wanted, SchedulerState& state) {
  Places::Trial trial(state.places);
  trial.without_leaving_pods(state.now, false);
  return state.places.place(wanted.requests).ok;
}

// Only places are short, not quota; candidates are the workloads that use the same flavor-resources.
std::vector<Target> victims(const Scheduler::SecondPass& pass, const Wanted& wanted, SchedulerState& state) {
  std::vector<FlavorResourceId> ids;
  for (std::size_t index : wanted.pod_sets) {
    const PodSetAssignment& assigned = pass.admission->pod_set_assignments[index];
    for (const auto& [resource, flavor] : assigned.flavors) {
      if (uses(assigned, resource))
        ids.push_back(state.names.pair(state.names.flavor(flavor), state.names.resource(resource)));
    }
  }
  return state.preemption.targets(state.preemptor(pass.workload), ids, {}, wanted.requests);
}

}  // namespace

Scheduler::SecondPassResult Scheduler::second_pass(const SecondPass& pass, Time now) {
  SecondPassResult result;
  SchedulerState& state = impl_->state;
  state.now = now;
  if (!holds(pass.workload) || pass.admission == nullptr) {
    result.message = "the workload holds no quota";
    return result;
  }
  const Wanted wanted = wanted_by(pass, state);
  if (!wanted.error.empty()) {
    result.message = wanted.error;
    return result;
  }
  const bool delayed = pass.failed.empty();
  if (wanted.requests.empty()) {
    result.assignments.resize(pass.admission->pod_set_assignments.size());
    return result;
  }
  const Placement placement = delayed ? state.places.place(wanted.requests)
                                      : state.places.replace(wanted.requests, wanted.current, pass.failed);
  if (placement.ok) {
    result.assignments.resize(pass.admission->pod_set_assignments.size());
    for (std::size_t ask = 0; ask < wanted.requests.size(); ++ask) {
      const Placed& placed = placement.pod_sets[ask];
      if (!placed.places.empty()) result.assignments[wanted.pod_sets[ask]] = state.places.assignment(placed);
    }
    return result;
  }
  const std::string& pod_set = pass.admission->pod_set_assignments[wanted.pod_sets[placement.failure.ask]].name;
  result.message = couldnt_assign(pod_set) + state.places.explain(wanted.requests, placement.failure);
  if (!delayed || !state.places.place(wanted.requests, true).ok) return result;
  const std::vector<Target> targets = victims(pass, wanted, state);
  if (targets.empty() || comes_free(wanted, state)) return result;
  if (pass.preemption_gated) {
    result.preemption_gated = true;
    return result;
  }
  order_evictions(state, pass.workload, targets, result.preemptions);
  result.message += pending_preemption(targets.size());
  return result;
}

}  // namespace berth::engine
