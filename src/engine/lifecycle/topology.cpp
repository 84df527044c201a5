#include "engine/lifecycle/topology.h"

#include <algorithm>
#include <map>

#include "api/core/node_labels.h"
#include "base/planted.h"
#include "engine/lifecycle/change.h"
#include "engine/lifecycle/pods_ready.h"
#include "engine/lifecycle/words.h"

namespace berth::engine::lifecycle {

using api::kueue::DelayedTopology;
using api::kueue::PodSetAssignment;
using api::kueue::TopologyAssignment;

namespace {

using Names = std::vector<std::string>;

bool contains(const Names& names, const std::string& name) { return std::ranges::find(names, name) != names.end(); }

std::string joined(const Names& names) {
  std::string out;
  for (const auto& name : names) out.append(out.empty() ? "" : ", ").append(name);
  return out;
}

std::int64_t pods_of(const TopologyAssignment& assignment) {
  std::int64_t pods = 0;
  for (const auto& domain : assignment.domains) pods += domain.count;
  return pods;
}

bool uses_any(const TopologyAssignment& assignment, const Names& nodes) {
  return places_are_nodes(assignment) && std::ranges::any_of(assignment.domains, [&](const auto& domain) {
           return contains(nodes, domain.values.back());
         });
}

bool has_failed_place(const WorkloadStatus& status) {
  return status.admission &&
         std::ranges::any_of(status.admission->pod_set_assignments, [&](const PodSetAssignment& ps) {
           return ps.topology_assignment && uses_any(*ps.topology_assignment, status.unhealthy_nodes);
         });
}

// Whether `after` differs from `before` only in the places of pods that were on `failed` nodes.
bool replaces_only(const TopologyAssignment& before, const TopologyAssignment& after, const Names& failed) {
  if (after.levels != before.levels || uses_any(after, failed) || pods_of(after) != pods_of(before)) return false;
  std::map<Names, std::int32_t> there;
  for (const auto& domain : after.domains) there[domain.values] += domain.count;
  return std::ranges::all_of(before.domains, [&](const auto& domain) {
    if (contains(failed, domain.values.back())) return true;
    const auto it = there.find(domain.values);
    return it != there.end() && it->second >= domain.count;
  });
}

auto refused(const WorkloadRef& w, std::string_view what) {
  return fail("workload " + api::object_key(w.meta) + ": " + std::string(what));
}

}  // namespace

bool topology_is_delayed(const WorkloadStatus& status) {
  return status.admission && std::ranges::any_of(status.admission->pod_set_assignments, [](const PodSetAssignment& ps) {
           return ps.delayed_topology == DelayedTopology::kPending && !ps.topology_assignment && ps.count > 0;
         });
}

bool places_are_nodes(const TopologyAssignment& assignment) {
  return !assignment.levels.empty() && assignment.levels.back() == api::kHostnameLabel;
}

SecondPassNeed second_pass_need(const WorkloadRef& w, const Situation& s) {
  const bool leaving =
      !w.active || w.meta.deletion || api::is_true(w.status.conditions, api::kueue::kDeactivationTarget);
  if (leaving || !holds_quota(w.status) || !s.cluster_queue.exists) return SecondPassNeed::kNone;
  const State state = state_of(w);
  if (planted(Planted::kSecondPassOfEvicted) && has_failed_place(w.status)) return SecondPassNeed::kFailedNodes;
  if (state == State::kReserved && topology_is_delayed(w.status) && lists_checks(w, s.checks) &&
      all_checks_ready(w, s.checks))
    return SecondPassNeed::kDelayedPlaces;
  if (state == State::kAdmitted && has_failed_place(w.status)) return SecondPassNeed::kFailedNodes;
  return SecondPassNeed::kNone;
}

std::chrono::seconds second_pass_delay(int iteration) {
  constexpr std::chrono::seconds kLongest{30};
  constexpr int kDoublings = 5;  // 2^5 s is more than kLongest
  return std::min(std::chrono::seconds(1 << std::clamp(iteration - 1, 0, kDoublings)), kLongest);
}

Result<Change> place(const WorkloadRef& w, const Assignments& assignments, Time now) {
  WorkloadStatus status = w.status;
  if (!status.admission || status.admission->pod_set_assignments.size() != assignments.size())
    return refused(w, "places for other pod sets than it was admitted with");
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    if (!assignments[i]) continue;
    PodSetAssignment& ps = status.admission->pod_set_assignments[i];
    if (ps.topology_assignment) return refused(w, "pod set " + ps.name + " has its places already");
    if (pods_of(*assignments[i]) != ps.count)
      return refused(w, "pod set " + ps.name + " got places for another number of pods");
    ps.topology_assignment = assignments[i];
    ps.delayed_topology = DelayedTopology::kReady;
  }
  if (topology_is_delayed(status)) return refused(w, "some of its pod sets got no places");
  return close_admitted(Move::kPlace, w, std::move(status), Note::kByScheduler, now);
}

std::optional<Time> places_deadline(const WorkloadRef& w, Duration limit) {
  if (limit == Duration(0) || w.meta.deletion || state_of(w) != State::kReserved || !topology_is_delayed(w.status))
    return std::nullopt;
  const auto* reserved = api::find_condition(w.status.conditions, api::kueue::kQuotaReserved);
  Time since = reserved != nullptr ? reserved->last_transition : Time{};
  for (const auto& check : w.status.admission_checks) {
    if (check.state != api::kueue::CheckState::kReady) return std::nullopt;
    since = std::max(since, check.last_transition);
  }
  return limit > Time::max() - since ? std::nullopt : std::optional(since + limit);
}

Result<Change> places_time_out(const WorkloadRef& w, Duration limit, const WaitForPodsReady& requeuing,
                               std::string_view failure, Time now) {
  std::string text = "No places for the pods within " + format_duration(limit) +
                     " after the quota was reserved and all admission checks were ready (topology.placesTimeout)";
  if (!failure.empty()) text.append(": ").append(failure);
  text += ". Make room in the topology, ask for a coarser level, or raise the limit";
  return evict_for_later(w, {std::string(reason::kPlacesTimeout), "", std::move(text), Note::kByScheduler}, requeuing,
                         now);
}

Result<Change> mark_nodes(const WorkloadRef& w, const Names& failed, Time) {
  WorkloadStatus status = w.status;
  std::erase_if(status.unhealthy_nodes, [&](const std::string& node) { return !contains(failed, node); });
  for (const auto& node : failed) {
    if (!contains(status.unhealthy_nodes, node)) status.unhealthy_nodes.push_back(node);
  }
  return close(Move::kMarkNodes, w, std::move(status));
}

Result<Change> replace_nodes(const WorkloadRef& w, const Assignments& assignments, Time) {
  WorkloadStatus status = w.status;
  if (!status.admission || status.admission->pod_set_assignments.size() != assignments.size())
    return refused(w, "places for other pod sets than it was admitted with");
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    if (!assignments[i]) continue;
    PodSetAssignment& ps = status.admission->pod_set_assignments[i];
    if (!ps.topology_assignment || !replaces_only(*ps.topology_assignment, *assignments[i], status.unhealthy_nodes))
      return refused(w, "pod set " + ps.name + ": places on healthy nodes must not change");
    ps.topology_assignment = assignments[i];
  }
  if (has_failed_place(status)) return refused(w, "some pods keep places on failed nodes");
  status.unhealthy_nodes.clear();
  return close(Move::kReplaceNodes, w, std::move(status));
}

std::optional<Result<Change>> follow_node_failures(const WorkloadRef& w, const Names& failed, bool several, Time now) {
  auto change = mark_nodes(w, failed, now);
  if (!change || change->status.unhealthy_nodes == w.status.unhealthy_nodes) return std::nullopt;
  const Names& marked = change->status.unhealthy_nodes;
  if (marked.size() > (several ? kMaxUnhealthyNodes : 1)) {
    return evict(w,
                 {std::string(reason::kNodeFailures), "", std::string(message::kSeveralNodesFailed) + joined(marked),
                  Note::kByNodeWatch},
                 now);
  }
  return change;
}

Eviction no_replacement(const WorkloadRef& w) {
  return {std::string(reason::kNodeFailures), "",
          std::string(message::kNoReplacement) + joined(w.status.unhealthy_nodes), Note::kByScheduler};
}

}  // namespace berth::engine::lifecycle
