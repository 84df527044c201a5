#include "controller/volcano_queues.h"

#include <utility>

#include "api/resources.h"
#include "api/status.h"
#include "api/volcano/names.h"
#include "base/log.h"
#include "base/merge_patch.h"

namespace berth::controller {

using api::volcano::kDefaultQueue;
using api::volcano::kRootQueue;
using api::volcano::PodGroupPhase;
using api::volcano::QueueState;
using api::volcano::QueueStatus;
using volcano::QueueAction;
using volcano::QueueNode;

namespace {

// How long usage changes of a queue are collected, since a parent counts everything below it. Volcano's scheduler
// writes as often.
constexpr Duration kStatusDelay = std::chrono::seconds(1);

std::string scheduling_version() {
  return std::string(api::volcano::kSchedulingGroup) + "/" + std::string(api::volcano::kSchedulingVersion);
}

bool always_exists(std::string_view queue) { return queue == kRootQueue || queue == kDefaultQueue; }

}  // namespace

VolcanoQueues::VolcanoQueues(Shell& shell, Volcano volcano)
    : shell_(shell),
      volcano_(volcano),
      states_(shell.executor,
              [this](const std::string& key, WorkQueue::Finish finish) { look(key, std::move(finish)); }),
      statuses_(
          shell.executor,
          [this](const std::string& key, WorkQueue::Finish finish) { write_status(key, std::move(finish)); },
          kStatusDelay, &shell.queue_status_rate),
      commands_(shell.executor,
                [this](const std::string& key, WorkQueue::Finish finish) { obey(key, std::move(finish)); }) {}

void VolcanoQueues::start() {
  started_ = true;
  for (const std::string_view queue : {kRootQueue, kDefaultQueue}) states_.add(std::string(queue));
  for (const auto& [name, node] : volcano_.tree.forest().nodes()) {
    states_.add(name);
    statuses_.add(name);
  }
  for (const auto& command : volcano_.commands.list()) {
    commands_.add(
        api::object_key(string_at(*command, {"metadata", "namespace"}), string_at(*command, {"metadata", "name"})));
  }
}

void VolcanoQueues::changed(std::string_view queue) {
  used_.erase(volcano::node_name(queue));
  if (!started_) return;
  states_.add(std::string(queue));
  statuses_.add(std::string(queue));
}

void VolcanoQueues::usage_changed(std::string_view queue) {
  used_.erase(volcano::node_name(queue));
  if (!started_) return;
  const QueueNode* node = volcano_.tree.forest().find(queue);
  // When parents form a cycle, go around it once.
  for (std::size_t steps = 0; node != nullptr && steps <= volcano_.tree.forest().size(); ++steps, node = node->parent)
    statuses_.add(node->name);
}

void VolcanoQueues::status_changed(std::string_view queue) {
  if (started_) statuses_.add(std::string(queue));
}

void VolcanoQueues::command_changed(const std::string& key) {
  if (started_) commands_.add(key);
}

// --- Opening and closing.

// At most once, as in Volcano: the process that deletes the Command carries it out.
void VolcanoQueues::obey(const std::string& key, WorkQueue::Finish finish) {
  const JsonPtr object = volcano_.commands.get(key);
  if (!object || find_path(*object, {"metadata", "deletionTimestamp"}) != nullptr) return finish(true);
  const auto command = api::volcano::decode_command(*object);
  if (!command) return finish(true);
  const auto order_given = volcano::order_of(*command);
  if (order_given && !*order_given) return finish(true);  // a Command for another controller
  shell_.writes.remove(
      Target::of(api::kVolcanoCommands, *object),
      lifetime_.guard([this, order_given, queue = command->target.name, finish](const api::RestResponse& response) {
        if (!response.ok()) return finish(response.code == 404 || response.code == 409);
        const QueueNode* node = volcano_.tree.forest().find(queue);
        if (!order_given) {
          refuse(queue, order_given.error().message);
        } else if (node == nullptr || !node->object ||
                   (!(*order_given)->uid.empty() && (*order_given)->uid != node->object->meta.uid)) {
          refuse(queue, "the queue that the Command is about does not exist any more");
        } else {
          order(queue, (*order_given)->action, true);
        }
        finish(true);
      }));
}

void VolcanoQueues::order(const std::string& queue, QueueAction action, bool by_command) {
  orders_[queue] = {action, ++orders_given_, by_command};
  states_.add(queue);
}

void VolcanoQueues::refuse(const std::string& queue, const std::string& why) {
  log::warn("a Volcano Command about a queue is not carried out", {{"queue", queue}, {"why", why}});
  const QueueNode* node = volcano_.tree.forest().find(queue);
  if (node == nullptr || !node->object) return;
  shell_.events.record({scheduling_version(), "Queue", {}, queue, node->object->meta.uid},
                       {true, "CommandRefused", why, {}, {}, true});
}

void VolcanoQueues::look(const std::string& queue, WorkQueue::Finish finish) {
  const QueueNode* node = volcano_.tree.forest().find(queue);
  if (node == nullptr || !node->object) {
    orders_.erase(queue);
    refused_.erase(queue);
    if (always_exists(queue)) return create(queue, std::move(finish));
    return finish(true);
  }
  const auto given = orders_.find(queue);
  const Order order = given == orders_.end() ? Order{} : given->second;
  auto steps = volcano::carry_out(volcano_.tree.forest(), {queue, order.action},
                                  [this](std::string_view name) { return volcano_.groups.in(name); });
  const auto carried_out = [this, queue, serial = order.serial] {
    const auto it = orders_.find(queue);
    if (it == orders_.end() || it->second.serial != serial) return;
    orders_.erase(it);
    refused_.erase(queue);
  };
  if (!steps) {
    const std::string& why = steps.error().message;
    if (order.by_command && std::exchange(refused_[queue], why) != why) refuse(queue, why);
    // An opening by a Command is retried until the parent is open. What a parent requires is found again when the
    // cache shows the parent.
    if (order.by_command && order.action == QueueAction::kOpen) return finish(false);
    carried_out();
    return finish(true);
  }
  perform(std::make_shared<volcano::QueueSteps>(std::move(*steps)), 0, [carried_out, finish](bool ok) {
    if (ok) carried_out();
    finish(ok);
  });
}

void VolcanoQueues::perform(Steps steps, std::size_t next, WorkQueue::Finish finish) {
  if (next == steps->changes.size()) {
    for (const auto& task : steps->tasks) order(task.queue, task.action, false);
    return finish(true);
  }
  write(steps->changes[next], [this, steps, next, finish](bool ok) {
    if (!ok) return finish(false);
    perform(steps, next + 1, finish);
  });
}

// The object and its status need two requests. The second uses the resourceVersion that the first returned.
void VolcanoQueues::write(const volcano::QueueChange& change, const std::function<void(bool ok)>& done) {
  const JsonPtr object = volcano_.queues.get(change.queue);
  if (!object) return done(true);
  const Target target = Target::of(api::kVolcanoQueues, *object);
  const auto write_state = lifetime_.guard([this, state = change.state, done](const Target& at) {
    if (!state) return done(true);
    shell_.writes.patch(
        at, "status", JsonObject{{"status", JsonObject{{"state", std::string(api::volcano::name_of(*state))}}}},
        lifetime_.guard([done](const api::RestResponse& response) { done(response.ok() || response.code == 404); }));
  });
  JsonObject body;
  if (change.closed_by_parent) {
    const JsonObject mark{{std::string(api::volcano::kClosedByParent), *change.closed_by_parent ? "true" : "false"}};
    body["metadata"] = JsonObject{{"annotations", mark}};
  }
  if (change.name_root) body["spec"] = JsonObject{{"parent", std::string(kRootQueue)}};
  if (body.empty()) return write_state(target);
  shell_.writes.patch(target, "", std::move(body),
                      lifetime_.guard([target, write_state, done](const api::RestResponse& response) {
                        if (!response.ok()) return done(response.code == 404);
                        Target now = target;
                        now.resource_version = string_at(response.body, {"metadata", "resourceVersion"});
                        write_state(now);
                      }));
}

void VolcanoQueues::create(const std::string& queue, WorkQueue::Finish finish) {
  JsonObject spec{{"weight", 1}, {"reclaimable", queue != kRootQueue}};
  if (queue != kRootQueue) spec["parent"] = std::string(kRootQueue);
  shell_.writes.create(api::kVolcanoQueues, {},
                       JsonObject{{"apiVersion", scheduling_version()},
                                  {"kind", "Queue"},
                                  {"metadata", JsonObject{{"name", queue}}},
                                  {"spec", std::move(spec)}},
                       lifetime_.guard([finish](const api::RestResponse& response) {
                         finish(response.ok() || api::status_reason(response) == "AlreadyExists");
                       }));
}

// --- The statuses.

// Cached, because a parent sums all queues below it whenever one of them changes.
const api::ResourceList& VolcanoQueues::used_in(std::string_view cluster_queue) {
  if (const auto it = used_.find(cluster_queue); it != used_.end()) return it->second;
  api::ResourceList& used = used_[std::string(cluster_queue)];
  const auto status = shell_.engine().cluster_queue_status(cluster_queue);
  if (!status) return used;
  for (const auto& flavor : status->reservation) {
    for (const auto& resource : flavor.resources) {
      if (resource.total > Amount()) used[resource.name] = to_quantity(resource.name, resource.total);
    }
  }
  return used;
}

QueueStatus VolcanoQueues::status_of(const std::string& queue) {
  QueueStatus out;
  out.allocated =
      volcano_.tree.allocated(queue, [this](std::string_view cluster_queue) { return used_in(cluster_queue); });
  const auto by_phase = volcano_.groups.by_phase(queue);
  const auto in = [&](PodGroupPhase phase) { return by_phase.at(static_cast<std::size_t>(phase)); };
  out.pending = in(PodGroupPhase::kNone) + in(PodGroupPhase::kPending);
  out.inqueue = in(PodGroupPhase::kInqueue);
  out.running = in(PodGroupPhase::kRunning);
  out.unknown = in(PodGroupPhase::kUnknown);
  out.completed = in(PodGroupPhase::kCompleted);
  return out;
}

void VolcanoQueues::write_status(const std::string& queue, WorkQueue::Finish finish) {
  const JsonPtr object = volcano_.queues.get(queue);
  const auto decoded = object ? api::volcano::decode_queue(*object) : Result<api::volcano::Queue>();
  if (!object || !decoded) return finish(true);
  QueueStatus present = decoded->status;
  present.state = QueueState::kNone;  // the state is written elsewhere
  const QueueStatus wanted = status_of(queue);
  if (present == wanted) return finish(true);
  Json change = make_merge_patch(api::volcano::encode_queue_status(present), api::volcano::encode_queue_status(wanted));
  shell_.writes.patch(
      Target::of(api::kVolcanoQueues, *object), "status", JsonObject{{"status", std::move(change)}},
      lifetime_.guard([finish](const api::RestResponse& response) { finish(response.ok() || response.code == 404); }));
}

}  // namespace berth::controller
