// How Volcano's queues are opened and closed: the states of one queue, and what a queue's state does to the queues
// below it. Pure: the caller writes what is decided and comes back with what it sees then.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/volcano/types.h"
#include "volcano/queue_forest.h"

namespace berth::volcano {

// kSync: nobody wants anything; the queue, its parent or its PodGroups changed.
enum class QueueAction : std::uint8_t { kSync, kOpen, kClose };

// The state of a queue after an action while so many PodGroups, finished ones among them, name it.
//               kOpen   kClose                            kSync
//   none, Open  Open    Closed; Closing while any is left Open
//   Closing     Open    Closed; Closing while any is left Closed; Closing while any is left
//   Closed      Open    Closed                            Closed
//   Unknown     Open    Closed; Closing while any is left Unknown
api::volcano::QueueState next_state(api::volcano::QueueState now, QueueAction action, std::size_t pod_groups);

// An order that somebody gave with a Command object.
struct QueueOrder {
  std::string queue, uid;  // the uid may be empty: whatever queue has the name
  QueueAction action = QueueAction::kOpen;
};
// Nothing: the command is about something else. An error: it is about a queue, but nobody knows what it says.
Result<std::optional<QueueOrder>> order_of(const api::volcano::Command& command);

// What is to be written to a queue; what is empty stays.
struct QueueChange {
  std::string queue;
  std::optional<api::volcano::QueueState> state;  // status.state
  std::optional<bool> closed_by_parent;           // the annotation volcano.sh/closed-by-parent
  bool name_root = false;                         // spec.parent becomes root: Volcano's clients show it
  bool operator==(const QueueChange&) const = default;
};
struct QueueTask {
  std::string queue;
  QueueAction action = QueueAction::kSync;
  bool operator==(const QueueTask&) const = default;
};
struct QueueSteps {
  std::vector<QueueChange> changes;  // in this order; none when all is as it shall be
  std::vector<QueueTask> tasks;      // once these are written
  bool operator==(const QueueSteps&) const = default;
};

using PodGroupsIn = std::function<std::size_t(std::string_view queue)>;  // that name this queue itself

// Closing a parent closes its open children and marks them; it does not wait for them. Opening it opens those that are
// marked; those that somebody closed by hand stay closed. A queue below one that is closed cannot be opened: an error,
// to be tried again when that one is open. An open queue that comes to be below a closed one is closed and marked, and
// a marked one that comes to be below an open one is opened. Root is never closed.
Result<QueueSteps> carry_out(const QueueForest& forest, const QueueTask& task, const PodGroupsIn& pod_groups_in);

}  // namespace berth::volcano
