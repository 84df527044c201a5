#include "volcano/queue_states.h"

#include <fmt/format.h>

#include "api/volcano/names.h"

namespace berth::volcano {

using api::volcano::kClosedByParent;
using api::volcano::QueueState;

namespace {

bool is_closed(QueueState state) { return state == QueueState::kClosed || state == QueueState::kClosing; }

QueueState state_of(const QueueNode& node) {
  return node.object == nullptr ? QueueState::kNone : node.object->status.state;
}

bool is_marked(const QueueNode& node) {
  const auto& annotations = node.object->meta.annotations;
  const auto it = annotations.find(kClosedByParent);
  return it != annotations.end() && it->second == "true";
}

bool below_a_closed_one(const QueueNode& node) {
  return node.parent != nullptr && !node.parent->is_root() && is_closed(state_of(*node.parent));
}

void add(QueueSteps& steps, QueueChange change) {
  if (change != QueueChange{change.queue, {}, {}, false}) steps.changes.push_back(std::move(change));
}

QueueSteps close(const QueueNode& node, QueueChange change) {
  QueueSteps steps;
  for (const auto& [name, child] : node.children) {
    if (child == &node || is_closed(state_of(*child))) continue;
    if (!is_marked(*child)) steps.changes.push_back({.queue = child->name, .state = {}, .closed_by_parent = true});
    steps.tasks.push_back({child->name, QueueAction::kClose});
  }
  add(steps, std::move(change));
  return steps;
}

QueueSteps open(const QueueNode& node, QueueChange change) {
  QueueSteps steps;
  if (is_marked(node)) change.closed_by_parent = false;
  add(steps, std::move(change));
  for (const auto& [name, child] : node.children) {
    if (child != &node && is_marked(*child)) steps.tasks.push_back({child->name, QueueAction::kOpen});
  }
  return steps;
}

// The action for a queue whose parent is not in the state in which the queue was opened or closed.
QueueAction what_the_parent_wants(const QueueNode& node) {
  const bool closed = is_closed(state_of(node));
  if (below_a_closed_one(node)) return closed ? QueueAction::kSync : QueueAction::kClose;
  const bool parent_is_there = node.parent != nullptr && node.parent->exists();
  return closed && is_marked(node) && parent_is_there ? QueueAction::kOpen : QueueAction::kSync;
}

}  // namespace

QueueState next_state(QueueState now, QueueAction action, std::size_t pod_groups) {
  const QueueState closing = pod_groups == 0 ? QueueState::kClosed : QueueState::kClosing;
  switch (action) {
    case QueueAction::kOpen:
      return QueueState::kOpen;
    case QueueAction::kClose:
      return now == QueueState::kClosed ? QueueState::kClosed : closing;
    case QueueAction::kSync:
      break;
  }
  if (now == QueueState::kClosing) return closing;
  return now == QueueState::kNone ? QueueState::kOpen : now;
}

Result<std::optional<QueueOrder>> order_of(const api::volcano::Command& command) {
  const auto& target = command.target;
  const std::string group_version =
      std::string(api::volcano::kSchedulingGroup) + "/" + std::string(api::volcano::kSchedulingVersion);
  if (target.kind != "Queue" || target.api_version != group_version) return std::nullopt;
  QueueOrder order{target.name, target.uid, QueueAction::kOpen};
  if (command.action == "CloseQueue") {
    order.action = QueueAction::kClose;
  } else if (command.action != "OpenQueue") {
    return fail(fmt::format("Command {}: action: \"{}\" cannot be done to queue {}: it must be OpenQueue or CloseQueue",
                            api::object_key(command.meta), command.action, target.name));
  }
  return order;
}

Result<QueueSteps> carry_out(const QueueForest& forest, const QueueTask& task, const PodGroupsIn& pod_groups_in) {
  const QueueNode* node = forest.find(task.queue);
  if (node == nullptr || node->object == nullptr) return QueueSteps{};  // deleted: nothing to do
  QueueAction action = task.action;
  if (action == QueueAction::kClose && node->is_root())
    return fail("queue root cannot be closed: close the queues below it");
  if (action == QueueAction::kOpen && below_a_closed_one(*node))
    return fail(fmt::format("queue {} cannot be opened while its parent {} is {}: open queue {} first", node->name,
                            node->parent->name, name_of(state_of(*node->parent)), node->parent->name));
  const bool by_parent = action == QueueAction::kSync && what_the_parent_wants(*node) != QueueAction::kSync;
  if (by_parent) action = what_the_parent_wants(*node);

  QueueChange change{node->name, {}, {}, false};
  const QueueState now = state_of(*node), next = next_state(now, action, pod_groups_in(node->name));
  if (next != now) change.state = next;
  if (by_parent && action == QueueAction::kClose && !is_marked(*node)) change.closed_by_parent = true;
  change.name_root = !node->is_root() && node->object->parent.empty();
  if (action == QueueAction::kClose) return close(*node, std::move(change));
  if (action == QueueAction::kOpen) return open(*node, std::move(change));
  QueueSteps steps;
  add(steps, std::move(change));
  return steps;
}

}  // namespace berth::volcano
