// One head of a queue in a scheduling cycle, and what could be done for it.
#pragma once

#include <optional>
#include <vector>

#include "engine/schedule/assignment.h"
#include "engine/schedule/decision.h"
#include "engine/schedule/preemption.h"

namespace berth::engine {

struct Queue;

struct Entry {
  WorkloadId workload;
  Queue* queue = nullptr;
  const Plan* plan = nullptr;  // null: a barrier stands before it
  const Shape* shape = nullptr;
  Assignment assignment;
  std::vector<Target> targets;
  std::optional<Time> patience_ends;  // it waits for pods that leave their nodes, at most so long
  bool preemption_gated = false;      // there are targets, which a closed gate forbids to touch
  std::uint64_t loans = 0;  // so many there had been when it was looked at
  // The walk over flavors went on from where a former one stopped: nobody is put to sleep on such a verdict.
  bool partial_view = false;
};

// The flavors of an entry's assignment, by pod set.
std::vector<PodSetFlavors> flavors_of(const Entry& entry);

}  // namespace berth::engine
