// Workloads and topology placement: what their pods require of nodes with the updates of admission checks, and which
// places they hold.
#include <algorithm>
#include <map>
#include <utility>

#include "engine/workload_views.h"

namespace berth::engine {

using api::kueue::Admission;
using api::kueue::PodSetAssignment;
using api::kueue::TopologyAssignment;
using api::kueue::TopologyAssignmentPtr;
using api::kueue::WorkloadStatus;

namespace {

const PodSetRequest* find_pod_set(const RequestedPods& requests, const std::string& name) {
  const auto it = std::ranges::find(requests.pod_sets, name, &PodSetRequest::name);
  return it == requests.pod_sets.end() ? nullptr : &*it;
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

bool has_places(const Admission& admission) {
  return std::ranges::any_of(admission.pod_set_assignments,
                             [](const PodSetAssignment& ps) { return ps.topology_assignment != nullptr; });
}

std::vector<PodSetRequest> WorkloadViews::admitted_pod_sets(const Tracked& t) const {
  const Ptr<RequestedPods> requests = present_requests(t);
  std::vector<PodSetRequest> out;
  for (const auto& assigned : t.now.status().admission->pod_set_assignments) {
    const auto* asked = find_pod_set(*requests, assigned.name);
    PodSetRequest request = asked != nullptr ? *asked : PodSetRequest{};
    request.name = assigned.name;
    request.count = assigned.count;
    request.min_count.reset();
    add_updates(t.now.status(), assigned.name, request.constraints);
    out.push_back(std::move(request));
  }
  return out;
}

// Until a replacement assignment is written, the old places stay held as well: if the write fails, no other workload
// may have them.
namespace {

// The first places, for so many pods.
TopologyAssignmentPtr first_places(const TopologyAssignmentPtr& all, std::int32_t pods) {
  std::int32_t left = pods;
  for (const auto& domain : all->domains) left -= domain.count;
  if (left >= 0) return all;
  left = pods;
  auto out = std::make_shared<TopologyAssignment>();
  out->levels = all->levels;
  for (const auto& domain : all->domains) {
    const std::int32_t count = std::min(domain.count, left);
    if (count > 0) out->domains.push_back({domain.values, count});
    left -= count;
  }
  return out;
}

}  // namespace

std::vector<Holding::PodSetPlaces> WorkloadViews::places(const Tracked& t, const WorkloadStatus& status) const {
  std::vector<Holding::PodSetPlaces> out;
  if (!has_places(*status.admission)) return out;
  const Ptr<RequestedPods> requests = present_requests(t);
  for (const auto& ps : status.admission->pod_set_assignments) {
    if (!ps.topology_assignment) continue;
    const auto* asked = find_pod_set(*requests, ps.name);
    if (asked == nullptr) continue;
    const std::string flavor = facts_.registries.placed_flavor(ps);
    const std::string& unit = asked->group.empty() ? asked->name : asked->group;
    out.push_back({flavor, asked->per_pod, first_places(ps.topology_assignment, asked->count), unit});
    const auto* written = find_assignment(t.base->status, ps.name);
    if (written == nullptr || &t.base->status == &status || facts_.registries.placed_flavor(*written) != flavor)
      continue;
    if (auto rest = left_behind(written->topology_assignment, ps.topology_assignment))
      out.push_back({flavor, asked->per_pod, std::move(rest), unit});
  }
  return out;
}

std::vector<std::vector<api::Toleration>> WorkloadViews::tolerations(Tracked& t) {
  const auto& status = t.now.status();
  const RequestedPods& requested = requests(t);
  std::vector<std::vector<api::Toleration>> out;
  for (const auto& ps : status.admission->pod_set_assignments) {
    const auto* asked = find_pod_set(requested, ps.name);
    api::NodeConstraints constraints;
    if (asked != nullptr) constraints.tolerations = asked->constraints.tolerations;
    add_updates(status, ps.name, constraints);
    const auto flavor = t.flavors_then->find(facts_.registries.placed_flavor(ps));
    if (flavor != t.flavors_then->end()) {
      const auto& more = flavor->second->tolerations;
      constraints.tolerations.insert(constraints.tolerations.end(), more.begin(), more.end());
    }
    out.push_back(std::move(constraints.tolerations));
  }
  return out;
}

}  // namespace berth::engine
