// Topology assignments (KEP-2724) and a workload's state: which workloads need the second pass, what it may change,
// and failed nodes. Pure functions from the workload to its new status, as in moves.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/lifecycle/moves.h"
#include "engine/lifecycle/next.h"

namespace berth::engine::lifecycle {

// The schema's maximum length of status.unhealthyNodes.
inline constexpr std::size_t kMaxUnhealthyNodes = 8;

// By pod set of the admission; null: unchanged.
using Assignments = std::vector<api::kueue::TopologyAssignmentPtr>;

// Whether a pod set with pods waits for its topology assignment until the admission checks are ready.
bool topology_is_delayed(const WorkloadStatus& status);

// Whether the lowest level is the hostname, so that each place is one node.
bool places_are_nodes(const api::kueue::TopologyAssignment& assignment);

// Why a workload needs the second pass. Never for a workload that holds no quota, is evicted, finished, deactivated
// or being deleted. `situation` supplies the required checks; when its cluster queue is missing, the result is kNone.
enum class SecondPassNeed : std::uint8_t {
  kNone,
  kDelayedPlaces,  // quota reserved, all checks Ready, topology assignment delayed
  kFailedNodes,    // admitted, and a node of its assignment is listed in status.unhealthyNodes
};
SecondPassNeed second_pass_need(const WorkloadRef& workload, const Situation& situation);

// The delay before the n-th second pass, from 1: 1, 2, 4, ... at most 30 seconds.
std::chrono::seconds second_pass_delay(int iteration);

// Sets the delayed topology assignments: delayedTopologyRequest becomes Ready, and the workload is admitted. Returns
// an error if an assignment exists already, or does not place exactly the pods of its pod set, or if one is still
// missing.
Result<Change> place(const WorkloadRef& workload, const Assignments& assignments, Time now);

// When a workload with quota and Ready checks has waited too long for its topology assignment. nullopt: it does not
// wait for one, or there is no limit (0).
std::optional<Time> places_deadline(const WorkloadRef& workload, Duration limit);

// The move at that time: evicts the workload with the time at which it may be queued again, or marks it for
// deactivation when it was requeued as often as allowed. `requeuing` supplies back-off and limit. `failure`: message
// of the last search for places; may be empty.
Result<Change> places_time_out(const WorkloadRef& workload, Duration limit, const WaitForPodsReady& requeuing,
                               std::string_view failure, Time now);

// Makes status.unhealthyNodes list exactly `failed`: known ones keep their order, new ones follow in the order given.
Result<Change> mark_nodes(const WorkloadRef& workload, const std::vector<std::string>& failed, Time now);

// Moves the pods of the listed unhealthy nodes to other places and clears the list. Returns an error if pods on
// healthy nodes would move, or if pods stay on failed nodes.
Result<Change> replace_nodes(const WorkloadRef& workload, const Assignments& assignments, Time now);

// The next move of an admitted workload whose nodes `failed`: marks them, or evicts the workload when there are too
// many (more than one; with `several`, more than kMaxUnhealthyNodes). nullopt: the list already says so.
std::optional<Result<Change>> follow_node_failures(const WorkloadRef& workload, const std::vector<std::string>& failed,
                                                   bool several, Time now);

// The eviction when no replacement was found for its failed nodes.
Eviction no_replacement(const WorkloadRef& workload);

}  // namespace berth::engine::lifecycle
