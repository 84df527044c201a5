#include "embedded/simulate/queue_watch.h"

#include <algorithm>
#include <utility>

#include "api/owners.h"
#include "api/volcano/names.h"
#include "api/volcano/types.h"

namespace berth::simulate {
namespace {

using api::volcano::PodGroup;
using api::volcano::PodGroupPhase;

std::string list_of(const api::ResourceList& resources) {
  std::string out;
  for (const auto& [resource, amount] : resources)
    out += (out.empty() ? "" : ", ") + amount.to_string() + " " + resource;
  return out.empty() ? "nothing" : out;
}

std::string entitlement(const api::volcano::Queue& queue) {
  std::string out;
  if (!queue.deserved.empty()) out += ": deserves " + list_of(queue.deserved);
  if (!queue.capability.empty())
    out += (out.empty() ? ": " : ", ") + std::string("at most ") + list_of(queue.capability);
  return out;
}

// The PodGroup of a vcjob is shown with the name of the vcjob.
std::string who_is(const PodGroup& group) {
  const auto* owner = api::controller_of(group.meta);
  return owner == nullptr ? api::object_key(group.meta) : api::object_key(group.meta.ns, owner->name);
}

std::string step_to(PodGroupPhase phase, PodGroupPhase before) {
  const bool was_in = before == PodGroupPhase::kInqueue || before == PodGroupPhase::kRunning;
  switch (phase) {
    case PodGroupPhase::kInqueue:
      return "is let in";
    case PodGroupPhase::kPending:
      return was_in ? "has to give way and waits again" : "";
    case PodGroupPhase::kRunning:
      return "runs";
    case PodGroupPhase::kCompleted:
      return "is done";
    default:
      return "";
  }
}

std::string refusal(const PodGroup& group) {
  const auto it = std::ranges::find(group.status.conditions, std::string_view("Unschedulable"),
                                    &api::volcano::PodGroupCondition::type);
  return it == group.status.conditions.end() || !it->status ? "" : it->message;
}

}  // namespace

QueueWatch::QueueWatch(api::RestClient& client, Executor& executor)
    : executor_(executor),
      queues_(client, executor,
              {std::string(api::volcano::kSchedulingGroup), std::string(api::volcano::kSchedulingVersion), "queues"}),
      groups_(
          client, executor,
          {std::string(api::volcano::kSchedulingGroup), std::string(api::volcano::kSchedulingVersion), "podgroups"}) {
  queues_.on_change([this](const JsonPtr& old, const JsonPtr& now) { queue_changed(old, now); });
  groups_.on_change([this](const JsonPtr& old, const JsonPtr& now) { group_changed(old, now); });
}

void QueueWatch::start() {
  queues_.start();
  groups_.start();
}

void QueueWatch::report(std::string who, std::string what) {
  if (handler_) handler_({executor_.now(), std::move(who), std::move(what)});
}

void QueueWatch::queue_changed(const JsonPtr& old, const JsonPtr& now) {
  const auto queue = api::volcano::decode_queue(now ? *now : *old);
  const auto before = old ? api::volcano::decode_queue(*old) : Result<api::volcano::Queue>();
  if (!queue || !before) return;
  const std::string who = "queue " + queue->meta.name;
  if (!now) return report(who, "is deleted");
  if (queue->parent.empty() || queue->meta.name == api::volcano::kDefaultQueue) return;
  if (!old || before->parent.empty()) return report(who, "is created below " + queue->parent + entitlement(*queue));
  if (queue->parent != before->parent) report(who, "moves below " + queue->parent);
  if (queue->status.state != before->status.state && before->status.state != api::volcano::QueueState::kNone)
    report(who, "is " + std::string(name_of(queue->status.state)));
  if (queue->status.allocated != before->status.allocated) report(who, "holds " + list_of(queue->status.allocated));
}

void QueueWatch::group_changed(const JsonPtr& old, const JsonPtr& now) {
  const auto group = api::volcano::decode_pod_group(now ? *now : *old);
  const auto before = old ? api::volcano::decode_pod_group(*old) : Result<PodGroup>();
  if (!group || !before) return;
  const std::string who = who_is(*group);
  if (!now) {
    names_.erase(group->meta.uid);
    return report(who, "is gone");
  }
  if (!old)
    report(who, "asks queue " + group->queue + " for " + list_of(group->min_resources.value_or(api::ResourceList())));
  const std::string step =
      group->status.phase == before->status.phase ? "" : step_to(group->status.phase, before->status.phase);
  if (!step.empty()) report(who, step);
  names_[group->meta.uid] = who;
  if (const std::string why = refusal(*group); !why.empty() && why != refusal(*before))
    report(who, "waits: " + with_names(why, names_));
}

}  // namespace berth::simulate
