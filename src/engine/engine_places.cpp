// Workloads and topology placement: what their pods require of nodes with the updates of admission checks, which
// places they hold, and which of their nodes failed.
#include <algorithm>
#include <map>

#include "engine/engine_impl.h"

namespace berth::engine {

using api::kueue::Admission;
using api::kueue::PodSetAssignment;
using api::kueue::TopologyAssignment;
using api::kueue::TopologyAssignmentPtr;
using api::kueue::WorkloadStatus;
using lifecycle::State;

namespace {

bool has_places(const Admission& admission) {
  return std::ranges::any_of(admission.pod_set_assignments,
                             [](const PodSetAssignment& ps) { return ps.topology_assignment != nullptr; });
}

const PodSetRequest* find_pod_set(const Asks& asks, const std::string& name) {
  const auto it = std::ranges::find(asks.pod_sets, name, &PodSetRequest::name);
  return it == asks.pod_sets.end() ? nullptr : &*it;
}

// Adds the podSetUpdates of Ready checks to the constraints of a pod set.
void add_updates(const WorkloadStatus& status, const std::string& pod_set, api::NodeConstraints& constraints) {
  for (const auto& check : status.admission_checks) {
    if (check.state != api::kueue::CheckState::kReady) continue;
    for (const auto& update : check.pod_set_updates) {
      if (update.name != pod_set) continue;
      for (const auto& [label, value] : update.node_selector) constraints.node_selector[label] = value;
      constraints.tolerations.insert(constraints.tolerations.end(), update.tolerations.begin(),
                                     update.tolerations.end());
    }
  }
}

// The places that `before` has in excess of `after`; null when there are none.
TopologyAssignmentPtr left_behind(const TopologyAssignmentPtr& before, const TopologyAssignmentPtr& after) {
  if (!before || before == after) return nullptr;
  std::map<std::vector<std::string>, std::int32_t> there;
  if (after) {
    for (const auto& domain : after->domains) there[domain.values] += domain.count;
  }
  auto out = std::make_shared<TopologyAssignment>();
  out->levels = before->levels;
  for (const auto& domain : before->domains) {
    const std::int32_t more = domain.count - there[domain.values];
    if (more > 0) out->domains.push_back({domain.values, more});
  }
  return out->domains.empty() ? nullptr : out;
}

const PodSetAssignment* find_assignment(const WorkloadStatus& status, const std::string& pod_set) {
  if (!lifecycle::holds_quota(status)) return nullptr;
  const auto& all = status.admission->pod_set_assignments;
  const auto it = std::ranges::find(all, pod_set, &PodSetAssignment::name);
  return it == all.end() ? nullptr : &*it;
}

}  // namespace

// In the order of the admission's pod sets, with the admission's counts.
std::vector<PodSetRequest> Engine::Impl::admitted_pod_sets(const Tracked& t) const {
  const bool known = t.asks && t.asks_generation == t.now->meta.generation;
  const Asks asks = known ? *t.asks : asks_of(*t.now, registries, options.resources);
  std::vector<PodSetRequest> out;
  for (const auto& assigned : t.now->status.admission->pod_set_assignments) {
    const auto* asked = find_pod_set(asks, assigned.name);
    PodSetRequest request = asked != nullptr ? *asked : PodSetRequest{};
    request.name = assigned.name;
    request.count = assigned.count;
    request.min_count.reset();
    add_updates(t.now->status, assigned.name, request.constraints);
    out.push_back(std::move(request));
  }
  return out;
}

// Until a replacement assignment is written, the old places stay held as well: if the write fails, no other workload
// may have them.
std::vector<Holding::PodSetPlaces> Engine::Impl::places_of(const Tracked& t, const WorkloadStatus& status) const {
  std::vector<Holding::PodSetPlaces> out;
  if (!has_places(*status.admission)) return out;
  const bool known = t.asks && t.asks_generation == t.now->meta.generation;
  const Asks fresh = known ? Asks{} : asks_of(*t.now, registries, options.resources);
  for (const auto& ps : status.admission->pod_set_assignments) {
    if (!ps.topology_assignment) continue;
    const auto* asked = find_pod_set(known ? *t.asks : fresh, ps.name);
    if (asked == nullptr) continue;
    const std::string flavor = registries.placed_flavor(ps);
    out.push_back({flavor, asked->per_pod, ps.topology_assignment});
    const auto* written = find_assignment(t.base->status, ps.name);
    if (written == nullptr || &t.base->status == &status || registries.placed_flavor(*written) != flavor) continue;
    if (auto rest = left_behind(written->topology_assignment, ps.topology_assignment))
      out.push_back({flavor, asked->per_pod, std::move(rest)});
  }
  return out;
}

void Engine::Impl::watch_nodes(Tracked& t) {
  if (!options.replace_failed_nodes) return;
  const auto& status = t.now->status;
  if (!lifecycle::holds_quota(status) || !has_places(*status.admission)) return nodes.forget(t.id);
  const Asks& asks = asks_for(t);
  NodeWatch::Tolerations tolerations;
  for (const auto& ps : status.admission->pod_set_assignments) {
    const auto* asked = find_pod_set(asks, ps.name);
    api::NodeConstraints constraints;
    if (asked != nullptr) constraints.tolerations = asked->constraints.tolerations;
    add_updates(status, ps.name, constraints);
    const auto flavor = registries.flavors.find(registries.placed_flavor(ps));
    if (flavor != registries.flavors.end()) {
      const auto& more = flavor->second->tolerations;
      constraints.tolerations.insert(constraints.tolerations.end(), more.begin(), more.end());
    }
    tolerations.push_back(std::move(constraints.tolerations));
  }
  nodes.watch(t.id, t.key, *status.admission, std::move(tolerations));
}

void Engine::Impl::look_at_nodes(Tracked& t, lifecycle::Situation& situation, Time now) const {
  t.node_deadline.reset();
  if (!options.replace_failed_nodes || lifecycle::state_of(*t.now) != State::kAdmitted) return;
  const auto& status = t.now->status;
  if (!status.admission) return;
  auto verdict = nodes.verdict(t.id, status.unhealthy_nodes, ended_since(*status.admission, *t.now), now);
  situation.failed_nodes = std::move(verdict.failed);
  t.node_deadline = verdict.next;
}

}  // namespace berth::engine
