// How Volcano's queues are opened and closed: the states of one queue, and their effect on the queues below it. Pure:
// the caller writes the result and calls again with the new objects.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/volcano/types.h"
#include "volcano/queue_forest.h"

namespace berth::volcano {

// kSync: no action was requested; the queue, its parent or its PodGroups changed.
enum class QueueAction : std::uint8_t { kSync, kOpen, kClose };

// The state of a queue after an action. `pod_groups`: the number of PodGroups that name the queue, including finished
// ones.
//               kOpen   kClose                            kSync
//   none, Open  Open    Closed; Closing while any is left Open
//   Closing     Open    Closed; Closing while any is left Closed; Closing while any is left
//   Closed      Open    Closed                            Closed
//   Unknown     Open    Closed; Closing while any is left Unknown
api::volcano::QueueState next_state(api::volcano::QueueState now, QueueAction action, std::size_t pod_groups);

// An action that a client requested with a Command object.
struct QueueOrder {
  std::string queue, uid;  // an empty uid matches any queue of that name
  QueueAction action = QueueAction::kOpen;
};
// nullopt: the command is not about a queue. Error: it is about a queue, but its action is unknown.
Result<std::optional<QueueOrder>> order_of(const api::volcano::Command& command);

// What must be written to a queue. An empty member stays unchanged.
struct QueueChange {
  std::string queue;
  std::optional<api::volcano::QueueState> state;  // status.state
  std::optional<bool> closed_by_parent;           // the annotation volcano.sh/closed-by-parent
  // Write root to spec.parent, because Volcano's clients show it.
  bool name_root = false;
  bool operator==(const QueueChange&) const = default;
};
struct QueueTask {
  std::string queue;
  QueueAction action = QueueAction::kSync;
  bool operator==(const QueueTask&) const = default;
};
struct QueueSteps {
  std::vector<QueueChange> changes;  // in this order; empty when nothing has to change
  std::vector<QueueTask> tasks;      // to be done after the changes are written
  bool operator==(const QueueSteps&) const = default;
};

using PodGroupsIn = std::function<std::size_t(std::string_view queue)>;  // that name this queue itself

// Closing a parent closes its open children and marks them; it does not wait for them. Opening it opens its marked
// children; children that a client closed stay closed. A queue below a closed queue cannot be opened: this is an
// error, and the caller tries again when the parent is open. An open queue that moves below a closed one is closed
// and marked; a marked queue that moves below an open one is opened. Root is never closed: this is an error.
Result<QueueSteps> carry_out(const QueueForest& forest, const QueueTask& task, const PodGroupsIn& pod_groups_in);

}  // namespace berth::volcano
