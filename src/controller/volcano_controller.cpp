#include "controller/volcano_controller.h"

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "api/resources.h"
#include "api/status.h"
#include "api/volcano/names.h"
#include "base/log.h"

namespace berth::controller {

using volcano::QueueNode;
using volcano::QueuePtr;

namespace {

constexpr const char* kQueuesRead = "queues";
constexpr const char* kGroupsRead = "podgroups";

// Whether the change can open, close or move queues.
bool moved(const QueuePtr& a, const QueuePtr& b) {
  return !a || !b || a->meta.uid != b->meta.uid || a->parent != b->parent || a->status.state != b->status.state ||
         a->meta.annotations != b->meta.annotations;
}

}  // namespace

bool is_reserved_name(std::string_view name) { return !volcano::queue_of_node(name).empty(); }

VolcanoController::VolcanoController(Shell& shell, const kube::Informer& priority_classes,
                                     std::function<void()> settled)
    : shell_(shell),
      settled_(std::move(settled)),
      queue_objects_(shell.client, shell.executor, api::kVolcanoQueues, shell.informer_options()),
      group_objects_(shell.client, shell.executor, api::kPodGroups, shell.informer_options()),
      commands_(shell.client, shell.executor, api::kVolcanoCommands, shell.informer_options()),
      tree_(shell.options.volcano.tree),
      admission_(
          std::make_shared<const volcano::Admission>(tree_.forest(), shell.options.volcano.admission,
                                                     [this](std::string_view queue) { return holders_in(queue); })),
      groups_(shell, tree_, priority_classes, [this](const std::string& queue) { queues_.changed(queue); }),
      queues_(shell, {queue_objects_, commands_, tree_, groups_}) {
  queue_objects_.on_change([this](const JsonPtr& old, const JsonPtr& now) { queue_seen(old, now); });
  queue_objects_.on_synced([this] {
    plant();
    if (started_) queues_.start();  // the queues were read later than the other caches
  });
  group_objects_.on_change([this](const JsonPtr& old, const JsonPtr& now) { groups_.group_changed(old, now); });
  commands_.on_change([this](const JsonPtr&, const JsonPtr& now) {
    if (now) queues_.command_changed(api::object_key(*now));
  });
  connect(queue_objects_, kQueuesRead);
  connect(group_objects_, kGroupsRead);
  connect(commands_, "commands");
}

void VolcanoController::connect(kube::Informer& informer, const std::string& what) {
  informer.on_list([this, what](const api::RestResponse& response) {
    const bool missing = response.code == 404, refused = response.code == 403 || response.code == 401;
    int& reported = reported_[what];
    if (std::exchange(reported, response.code) != response.code) {
      if (missing && what == kQueuesRead)
        log::info(
            "Volcano's queue API is not installed here: there are no Volcano queues until its "
            "CustomResourceDefinitions are installed");
      if (!missing && !response.ok())
        log::warn(refused ? "Volcano's objects cannot be read and are ignored"
                          : "Volcano's objects cannot be read; trying again",
                  {{"resource", what}, {"code", response.code}, {"why", std::string(api::status_message(response))}});
    }
    if (response.ok() || missing || refused) arrived(what);
  });
}

void VolcanoController::arrived(const std::string& what) {
  if (waiting_for_.erase(what) > 0 && waiting_for_.empty()) settled_();
}

void VolcanoController::read() {
  reading_ = true;
  waiting_for_ = {kQueuesRead, kGroupsRead};
  for (kube::Informer* informer : {&queue_objects_, &group_objects_, &commands_}) informer->start();
}

void VolcanoController::read_anew() {
  if (!reading_) return;
  waiting_for_.insert(kGroupsRead);
  group_objects_.read_anew([] {});
}

void VolcanoController::start() {
  started_ = true;
  groups_.start();
  if (queue_objects_.synced()) queues_.start();
}

void VolcanoController::plant() {
  if (std::exchange(planted_, true)) return;
  for (const auto& event : tree_.start()) {
    if (!std::holds_alternative<engine::ResourceFlavorSeen>(event)) {
      shell_.feed(event);
      continue;
    }
    stand_in_ = event;
    if (!has_flavor_) shell_.feed(event);
  }
}

engine::Event VolcanoController::flavor_event(engine::Event event) {
  const std::string& ours = shell_.options.volcano.tree.flavor;
  if (const auto* seen = std::get_if<engine::ResourceFlavorSeen>(&event);
      seen != nullptr && seen->object->meta.name == ours)
    has_flavor_ = true;
  const auto* gone = std::get_if<engine::ResourceFlavorGone>(&event);
  if (gone == nullptr || gone->name != ours) return event;
  has_flavor_ = false;
  return stand_in_.value_or(std::move(event));
}

api::kueue::AdmissionRules VolcanoController::rules(std::string_view group, std::string_view resource) const {
  return queue_objects_.synced() ? volcano::admission_rules(group, resource, admission_) : api::kueue::AdmissionRules();
}

std::size_t VolcanoController::holders_in(std::string_view queue) const {
  const auto status = shell_.engine().cluster_queue_status(volcano::node_name(queue));
  return status ? static_cast<std::size_t>(status->reserving) : 0;
}

void VolcanoController::feed(const volcano::QuotaTree::Events& events) {
  for (const auto& event : events) shell_.feed(event);
}

void VolcanoController::queue_seen(const JsonPtr& old, const JsonPtr& now) {
  plant();
  const std::string name = api::object_key(now ? *now : *old);
  const QueueNode* node = tree_.forest().find(name);
  const QueuePtr before = node == nullptr ? nullptr : node->object;
  QueuePtr after;
  if (now) {
    auto decoded = api::volcano::decode_queue(*now);
    if (!decoded) {
      shell_.unreadable.unreadable(*now, decoded.error().message);
      if (before && before->meta.uid != string_at(*now, {"metadata", "uid"})) feed(tree_.remove(name));
      return;
    }
    shell_.unreadable.readable(*now);
    after = std::make_shared<const api::volcano::Queue>(std::move(*decoded));
  }
  if (!now) shell_.unreadable.readable(*old);
  feed(after ? tree_.set(after) : tree_.remove(name));
  if (!moved(before, after)) {
    if (!(before->status == after->status)) queues_.status_changed(name);  // perhaps by another client
    return;
  }
  queues_.changed(name);
  look_below(name);
  // The parent may have become a leaf, or stopped being one, and only leaves take work.
  for (const QueuePtr& version : {before, after}) {
    if (!version || name == api::volcano::kRootQueue) continue;
    const std::string parent(volcano::parent_of(*version));
    queues_.usage_changed(parent);
    groups_.queue_changed(parent);
  }
}

void VolcanoController::look_below(const std::string& queue) {
  std::set<std::string> seen{queue};
  std::vector<std::string> open{queue};
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    groups_.queue_changed(name);
    const QueueNode* node = tree_.forest().find(name);
    if (node == nullptr) continue;
    for (const auto& [child_name, child] : node->children) {
      if (name == queue) queues_.changed(child_name);
      if (seen.insert(child->name).second) open.push_back(child->name);
    }
  }
}

JsonPtr VolcanoController::find(const api::GroupVersionResource& resource, const std::string& key) const {
  for (const kube::Informer* informer : {&queue_objects_, &group_objects_, &commands_}) {
    if (informer->resource() == resource) return informer->get(key);
  }
  return nullptr;
}

bool VolcanoController::take(const engine::Effect& effect) {
  return std::visit(
      [this](const auto& e) {
        using Effect = std::decay_t<decltype(e)>;
        if constexpr (std::is_same_v<Effect, engine::WriteWorkloadStatus> ||
                      std::is_same_v<Effect, engine::DeactivateWorkload> ||
                      std::is_same_v<Effect, engine::RecordEvent>) {
          return groups_.take(e);
        } else if constexpr (std::is_same_v<Effect, engine::ExpireWorkload>) {
          return e.workload->meta.ns == volcano::kGroupNamespace;  // the workload ends with its PodGroup
        } else if constexpr (std::is_same_v<Effect, engine::ClusterQueueStatusChanged>) {
          if (is_reserved_name(e.name)) queues_.usage_changed(volcano::queue_of_node(e.name));
          return is_reserved_name(e.name);
        } else if constexpr (std::is_same_v<Effect, engine::LocalQueueStatusChanged>) {
          return e.ns == volcano::kGroupNamespace;
        } else if constexpr (std::is_same_v<Effect, engine::SetFinalizer> ||
                             std::is_same_v<Effect, engine::CohortStatusChanged>) {
          return is_reserved_name(e.name);  // Queues have neither finalizers nor the status of a Cohort
        } else {
          return false;
        }
      },
      effect);
}

}  // namespace berth::controller
