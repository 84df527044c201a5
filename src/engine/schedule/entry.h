// The head of a queue in a scheduling cycle, and what could be done for it.
#pragma once

#include <optional>
#include <vector>

#include "engine/schedule/assignment.h"
#include "engine/schedule/decision.h"
#include "engine/schedule/preemption.h"

namespace berth::engine {

struct Queue;
struct Replacement;

struct Entry {
  WorkloadId workload;
  Queue* queue = nullptr;
  const Plan* plan = nullptr;  // null: a barrier prevents its evaluation
  const Shape* shape = nullptr;
  bool is_slice = false;                  // it names a slice that it replaces (KEP-77)
  const Replacement* replaces = nullptr;  // in its slot: the slice whose quota it takes over; null: none
  Assignment assignment;
  std::vector<Target> targets;
  std::optional<Time> wait_ends;      // it waits for pods that are leaving their nodes, at most until then
  std::size_t protected_victims = 0;  // there are targets, but it may not preempt them (Precedence): how many
  bool preemption_gated = false;      // there are targets, but a closed preemption gate forbids to preempt them
  std::size_t outranks = 0;           // how many entries of this cycle it preempted, itself or through others
  std::uint64_t borrowings = 0;       // the number of borrowings when it was evaluated
  // The walk over flavors continued where a previous one stopped: the workload must not be parked on such a verdict.
  bool partial_view = false;

  // It fits, or it has victims, now or on their way.
  bool promising() const {
    return assignment.mode == Mode::kFit || assignment.mode == Mode::kDeferredFit ||
           (assignment.mode == Mode::kPreempt && !targets.empty());
  }
};

// The flavors of an entry's assignment, by pod set.
std::vector<PodSetFlavors> flavors_of(const Entry& entry);

}  // namespace berth::engine
