// Places in the machine room and a workload's state: who needs the second pass, what it may change, and failed nodes (KEP-2724;
// kueue.md 3.8, 4.9). Pure functions from the workload to its new status, as in moves.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/lifecycle/moves.h"
#include "engine/lifecycle/next.h"

namespace berth::engine::lifecycle {

inline constexpr std::string_view kHostnameLevel = "kubernetes.io/hostname";
// The schema's bound of status.unhealthyNodes.
inline constexpr std::size_t kMaxUnhealthyNodes = 8;

// By pod set of the admission; null: unchanged.
using Assignments = std::vector<api::kueue::TopologyAssignmentPtr>;

// Some pod set (with pods) waits for its places until the admission checks are ready.
bool topology_is_delayed(const WorkloadStatus& status);

// The lowest level of the assignment is the hostname: its places are nodes.
bool places_are_nodes(const api::kueue::TopologyAssignment& assignment);

// Why a workload needs the second pass. Only what holds quota, was not evicted, finished or deactivated and is not being deleted
// can: there is no other way in. `situation` tells the required checks; without its cluster queue nothing is known about them.
enum class SecondPassNeed : std::uint8_t {
  kNone,
  kDelayedPlaces,  // reserved, all checks Ready, places delayed
  kFailedNodes,    // admitted, and a node of its places is listed in status.unhealthyNodes
};
SecondPassNeed second_pass_need(const Workload& workload, const Situation& situation);

// How long before the n-th second pass, from 1: 1, 2, 4, ... at most 30 seconds.
std::chrono::seconds second_pass_delay(int iteration);

// The delayed places are found: delayedTopologyRequest Ready, and Admitted. An assignment that exists is never overwritten, and
// each has a place for every pod of its pod set: otherwise an error.
Result<Change> place(const Workload& workload, const Assignments& assignments, Time now);

// When a workload that has quota and ready checks will have waited for its places for too long. None: it does not wait for them, or
// the wait has no limit (0).
std::optional<Time> places_deadline(const Workload& workload, Duration limit);

// It has. It is evicted, with the time at which it may be queued again; or marked for deactivation when it came back as often as it
// may. Pauses and their number are those of `requeuing`. `failure`: what the last search for places said; may be empty.
Result<Change> places_time_out(const Workload& workload, Duration limit, const WaitForPodsReady& requeuing, std::string_view failure,
                               Time now);

// status.unhealthyNodes lists exactly `failed`: those listed before keep their order, new ones follow by name.
Result<Change> mark_nodes(const Workload& workload, const std::vector<std::string>& failed, Time now);

// The pods on the listed unhealthy nodes have other places, and the list is empty. Every other place stays as it was: otherwise an
// error.
Result<Change> replace_nodes(const Workload& workload, const Assignments& assignments, Time now);

// What follows for an admitted workload when these of its nodes failed: marks them, or evicts it when they are too many (a second
// one, unless `several` may be replaced together; or more than the schema can list). None: all is said.
std::optional<Result<Change>> follow_node_failures(const Workload& workload, const std::vector<std::string>& failed, bool several,
                                                   Time now);

// No place is left for the pods of its failed nodes.
Eviction no_replacement(const Workload& workload);

}  // namespace berth::engine::lifecycle
