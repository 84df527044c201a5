#include "controller/volcano_groups.h"

#include <algorithm>
#include <utility>

#include "api/core/devices.h"
#include "api/resource_version.h"
#include "api/resources.h"
#include "api/status.h"
#include "api/volcano/names.h"
#include "base/log.h"
#include "base/merge_patch.h"
#include "controller/job_classes.h"
#include "volcano/group_status.h"
#include "volcano/surplus_parts.h"

namespace berth::controller {

using api::kueue::Workload;
using api::volcano::PodGroup;
using api::volcano::PodGroupPhase;
using api::volcano::PodGroupStatus;
using volcano::GroupDuty;
using volcano::Part;

namespace {

bool same_pod_sets(const Workload& a, const Workload& b) {
  return std::ranges::equal(a.pod_sets, b.pod_sets, [](const auto& x, const auto& y) {
    return x.name == y.name && x.count == y.count && json_equal(*x.template_, *y.template_);
  });
}

bool same(const Workload& a, const Workload& b) {
  return a.meta.uid == b.meta.uid && a.meta.deletion == b.meta.deletion && a.queue_name == b.queue_name &&
         a.priority == b.priority && a.active == b.active && a.status == b.status && same_pod_sets(a, b);
}

bool is_evicted(const VolcanoGroups::Reported& part) {
  return api::is_true(part->status.conditions, api::kueue::kEvicted);
}
bool holds(const VolcanoGroups::Reported& part) {
  return part && api::is_true(part->status.conditions, api::kueue::kAdmitted) && !is_evicted(part);
}

}  // namespace

VolcanoGroups::VolcanoGroups(Shell& shell, const volcano::QuotaTree& tree, const kube::Informer& priority_classes,
                             std::function<void(const std::string& queue)> queue_changed)
    : shell_(shell),
      tree_(tree),
      priority_classes_(priority_classes),
      queue_changed_(std::move(queue_changed)),
      queue_(shell.executor,
             [this](const std::string& key, WorkQueue::Finish finish) { look(key, std::move(finish)); }) {}

// --- Changes in the caches.

void VolcanoGroups::group_changed(const JsonPtr& old, const JsonPtr& now) {
  const std::string key = api::object_key(now ? *now : *old);
  if (!now) {
    shell_.unreadable.readable(*old);
    return forget(key);
  }
  const auto it = entries_.find(key);
  if (it != entries_.end() && it->second.group->meta.uid != string_at(*now, {"metadata", "uid"})) forget(key);
  auto decoded = api::volcano::decode_pod_group(*now);
  if (!decoded) {
    shell_.unreadable.unreadable(*now, decoded.error().message);
    return;
  }
  shell_.unreadable.readable(*now);
  Entry& entry = entries_[key];
  const GroupPtr before = std::exchange(entry.group, std::make_shared<const PodGroup>(std::move(*decoded)));
  const bool moved =
      !before || before->queue != entry.group->queue || before->status.phase != entry.group->status.phase;
  if (moved && before) count(*before, key, -1);
  if (moved) count(*entry.group, key, +1);
  see(key);
  if (started_) queue_.add(key);
}

void VolcanoGroups::forget(const std::string& key) {
  const auto it = entries_.find(key);
  if (it == entries_.end()) return;
  Entry entry = std::move(it->second);
  entries_.erase(it);
  count(*entry.group, key, -1);
  report(entry.minimum, std::nullopt);
  for (Reported& part : entry.surplus) report(part, std::nullopt);
  report(entry.growth, std::nullopt);
}

void VolcanoGroups::count(const PodGroup& group, const std::string& key, int by) {
  InQueue& in = in_queue_[group.queue];
  in.by_phase.at(static_cast<std::size_t>(group.status.phase)) += by;
  if (by > 0) {
    in.groups.insert(key);
  } else {
    in.groups.erase(key);
    if (in.groups.empty()) in_queue_.erase(group.queue);
  }
  queue_changed_(group.queue);
}

void VolcanoGroups::pod_changed(const JsonPtr& old, const JsonPtr& now) {
  for (const std::string& key : pods_.changed(old, now)) {
    if (!entries_.contains(key)) continue;
    see(key);
    if (started_) queue_.add(key);
  }
}

void VolcanoGroups::priorities_changed() {
  for (const auto& [key, entry] : entries_) {
    if (!entry.group->priority_class_name.empty()) see(key);
  }
}

void VolcanoGroups::queue_changed(const std::string& queue) {
  const auto it = in_queue_.find(queue);
  if (!started_ || it == in_queue_.end()) return;
  for (const std::string& key : it->second.groups) {
    if (volcano::waits(entries_.find(key)->second.group->status.phase)) queue_.add(key);
  }
}

void VolcanoGroups::start() {
  started_ = true;
  for (const auto& [key, entry] : entries_) queue_.add(key);
}

std::size_t VolcanoGroups::in(std::string_view queue) const {
  const auto it = in_queue_.find(queue);
  return it == in_queue_.end() ? 0 : it->second.groups.size();
}

VolcanoGroups::ByPhase VolcanoGroups::by_phase(std::string_view queue) const {
  const auto it = in_queue_.find(queue);
  return it == in_queue_.end() ? ByPhase{} : it->second.by_phase;
}

// --- To the engine.

bool VolcanoGroups::is_fresh(const Entry& entry) const {
  return api::version_number(entry.group->meta.resource_version) >= api::version_number(entry.written);
}

volcano::GroupContext VolcanoGroups::context_of(const std::string& key, const Entry& entry) const {
  volcano::GroupContext context;
  const std::string& priority_class = entry.group->priority_class_name;
  // A class that is gone may come back with another value; the pods keep the priority that it gave them.
  const std::int32_t known = entry.minimum ? entry.minimum->priority : 0;
  context.priority = priority_class.empty() ? 0 : class_value(priority_classes_, priority_class).value_or(known);
  context.running = pods_.running(key);
  context.bound = pods_.bound(key);
  context.devices = pods_.claims_devices(key);
  context.flavor = shell_.options.volcano.tree.flavor;
  context.now = shell_.executor.now();
  context.minimum_held = entry.minimum && entry.minimum->status.admission.has_value();
  return context;
}

void VolcanoGroups::see(const std::string& key) {
  Entry& entry = entries_.find(key)->second;
  auto minimum = volcano::minimum_of(*entry.group, context_of(key, entry));
  // Keep the engine's status; take the rest from the group. A group that another client admitted is charged as well.
  // While another process leads, only the group says what that leader decided.
  const bool let_in_by_others = minimum && minimum->status.admission && is_fresh(entry);
  if (started_ && minimum && entry.minimum && (entry.minimum->status.admission || !let_in_by_others)) {
    auto asked = std::exchange(minimum->status, entry.minimum->status).admission;
    // An admitted group is charged by what it asks for now, the same as after a restart.
    if (asked && minimum->status.admission) minimum->status.admission = std::move(asked);
    minimum->active = entry.minimum->active;
  } else if (minimum && minimum->status.admission && entry.minimum && entry.minimum->status.admission) {
    minimum->status.conditions = entry.minimum->status.conditions;  // keep the time since which it is charged
  }
  report(entry.minimum, std::move(minimum));
  see_surplus(key, entry);
  const auto gated = pods_.first_gated(key);
  std::optional<Workload> growth;
  if (gated) growth = volcano::growth_of(*entry.group, context_of(key, entry), gated->pod());
  if (growth && entry.growth && entry.growth->meta.uid == growth->meta.uid) {
    growth->status = entry.growth->status;
    growth->active = entry.growth->active;
  }
  report(entry.growth, std::move(growth));
}

// The surplus: what runs and is not covered by the present minimum.
void VolcanoGroups::see_surplus(const std::string& key, Entry& entry) {
  std::vector<volcano::SurplusPart> before;
  for (const Reported& part : entry.surplus)
    before.push_back(part ? volcano::surplus_part(*part) : volcano::SurplusPart());
  auto parts = volcano::surplus_parts(volcano::surplus_of(*entry.group, context_of(key, entry)), before);
  if (entry.surplus.size() < parts.size()) entry.surplus.resize(parts.size());
  parts.resize(entry.surplus.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] && entry.surplus[i]) parts[i]->status.conditions = entry.surplus[i]->status.conditions;
    report(entry.surplus[i], std::move(parts[i]));
  }
  while (!entry.surplus.empty() && !entry.surplus.back()) entry.surplus.pop_back();
}

void VolcanoGroups::report(Reported& reported, std::optional<Workload> now) {
  if (!now) {
    if (!reported) return;
    const Reported gone = std::exchange(reported, nullptr);
    shell_.feed(engine::WorkloadGone{std::string(volcano::kGroupNamespace), gone->meta.name, gone->meta.uid});
    return;
  }
  if (reported && same(*reported, *now)) return;
  now->meta.resource_version = std::to_string(++version_);
  const bool requests_the_same = reported && same_pod_sets(*reported, *now);
  now->meta.generation = (reported ? reported->meta.generation : 0) + (requests_the_same ? 0 : 1);
  reported = std::make_shared<const Workload>(std::move(*now));
  shell_.feed(engine::WorkloadSeen{reported});
}

// --- Effects of the engine.

VolcanoGroups::Reported* VolcanoGroups::Entry::part(const volcano::GroupRef& which) {
  if (which.part != Part::kSurplus) return which.part == Part::kMinimum ? &minimum : &growth;
  return which.index < surplus.size() ? &surplus[which.index] : nullptr;
}

VolcanoGroups::Reported* VolcanoGroups::reported_of(std::string_view workload) {
  const auto ref = volcano::group_of_workload(workload);
  const auto it = ref ? entries_.find(api::object_key(ref->ns, ref->name)) : entries_.end();
  return it == entries_.end() ? nullptr : it->second.part(*ref);
}

bool VolcanoGroups::is_reported(const Reported& workload) {
  const Reported* reported = reported_of(workload->meta.name);
  return reported != nullptr && *reported == workload;
}

bool VolcanoGroups::change(const Workload& base, std::uint64_t write, const std::function<void(Workload&)>& how) {
  if (base.meta.ns != volcano::kGroupNamespace) return false;
  engine::WriteSettled settled{write, engine::WriteSettled::Outcome::kGone, {}, {}};
  Reported seen;
  Reported* reported = reported_of(base.meta.name);
  if (reported != nullptr && *reported && (*reported)->meta.uid == base.meta.uid) {
    Workload changed = **reported;
    how(changed);
    changed.meta.resource_version = settled.resource_version = std::to_string(++version_);
    settled.outcome = engine::WriteSettled::Outcome::kDone;
    seen = *reported = std::make_shared<const Workload>(std::move(changed));
    const auto ref = volcano::group_of_workload(base.meta.name);
    if (started_) queue_.add(api::object_key(ref->ns, ref->name));
  }
  // Not inside the engine's own call. Until the posted task runs, the workload may change again or be gone.
  shell_.executor.post(lifetime_.guard([this, settled = std::move(settled), seen = std::move(seen)] {
    shell_.feed(settled);
    if (seen && is_reported(seen)) shell_.feed(engine::WorkloadSeen{seen});
  }));
  return true;
}

bool VolcanoGroups::take(const engine::WriteWorkloadStatus& effect) {
  return change(*effect.base, effect.write, [&](Workload& workload) { workload.status = effect.status; });
}

bool VolcanoGroups::take(const engine::DeactivateWorkload& effect) {
  return change(*effect.base, effect.write, [](Workload& workload) { workload.active = false; });
}

bool VolcanoGroups::take(const engine::RecordEvent& effect) {
  if (effect.ns != volcano::kGroupNamespace) return false;
  const auto ref = volcano::group_of_workload(effect.name);
  const auto it = ref ? entries_.find(api::object_key(ref->ns, ref->name)) : entries_.end();
  if (it != entries_.end()) record(*it->second.group, {effect.warning, effect.reason, effect.note, {}, {}});
  return true;
}

void VolcanoGroups::record(const PodGroup& group, kube::EventText text) {
  const std::string version =
      std::string(api::volcano::kSchedulingGroup) + "/" + std::string(api::volcano::kSchedulingVersion);
  text.by_note = true;
  shell_.events.record({version, "PodGroup", group.meta.ns, group.meta.name, group.meta.uid}, std::move(text));
}

// --- One group.

void VolcanoGroups::look(const std::string& key, WorkQueue::Finish finish) {
  const auto it = entries_.find(key);
  if (it == entries_.end() || !is_fresh(it->second)) return finish(true);  // the cache will bring our last write
  const Entry& entry = it->second;
  const auto status_of = [](const Reported& reported) { return reported ? &reported->status : nullptr; };
  const auto evicted =
      std::ranges::find_if(entry.surplus, [](const Reported& part) { return part && is_evicted(part); });
  GroupDuty duty = volcano::duty_of(*entry.group, context_of(key, entry), status_of(entry.minimum),
                                    evicted == entry.surplus.end() ? nullptr : status_of(*evicted));
  const bool ungated = !entry.group->min_resources && duty.phase == PodGroupPhase::kInqueue;
  if (ungated && !obstacle(key, entry).empty()) duty.phase = PodGroupPhase::kPending;
  const PodGroupStatus status = wanted(key, entry, duty);
  if (status != entry.group->status) return write(key, status, duty, std::move(finish));
  const bool gives_way = duty.stop_all || duty.stopped || duty.stop_surplus;
  if (!gives_way && next_may_go(key)) return let_go(key, std::move(finish));
  stop_pods(key, duty, std::move(finish));
}

std::string VolcanoGroups::obstacle(const std::string& key, const Entry& entry) const {
  return pods_.claims_devices(key) ? std::string(api::kUncountedDevices) : tree_.obstacle(entry.group->queue);
}

PodGroupStatus VolcanoGroups::wanted(const std::string& key, const Entry& entry, const GroupDuty& duty) const {
  return volcano::status_by_duty(*entry.group, duty, obstacle(key, entry),
                                 entry.minimum ? &entry.minimum->status : nullptr, to_seconds(shell_.executor.now()));
}

// Writes the phase before it deletes pods: while the phase lets the group run, deleted pods are created again.
void VolcanoGroups::write(const std::string& key, const PodGroupStatus& status, const GroupDuty& duty,
                          WorkQueue::Finish finish) {
  const PodGroup& group = *entries_.find(key)->second.group;
  Json change = make_merge_patch(api::volcano::encode_pod_group_status(group.status),
                                 api::volcano::encode_pod_group_status(status));
  if (duty.phase == PodGroupPhase::kPending || !duty.phase) {
    const auto refused =
        std::ranges::find(status.conditions, volcano::kUnschedulable, &api::volcano::PodGroupCondition::type);
    if (refused != status.conditions.end() &&
        (refused->reason == volcano::kQueueTakesNoWork || refused->reason == volcano::kMisconfigured))
      record(group, {true, std::string(volcano::kUnschedulable), refused->message, {}, {}});
  }
  shell_.writes.patch(
      Target::of(api::kPodGroups, group.meta), "", JsonObject{{"status", std::move(change)}},
      lifetime_.guard([this, key, duty, finish, uid = group.meta.uid](const api::RestResponse& response) {
        const auto it = entries_.find(key);
        if (it == entries_.end() || it->second.group->meta.uid != uid || response.code == 404) return finish(true);
        if (!response.ok()) return finish(false);
        it->second.written = string_at(response.body, {"metadata", "resourceVersion"});
        GroupDuty rest = duty;
        rest.stopped = false;  // reported once the cache shows the phase
        stop_pods(key, rest, finish);
      }));
}

// A group is ready once at least minMember pods are bound or have succeeded. The surplus is always ready: it runs.
void VolcanoGroups::report(const std::string& key, bool stopped) {
  const Entry& entry = entries_.find(key)->second;
  auto parts = entry.surplus;
  parts.insert(parts.end(), {entry.minimum, entry.growth});
  for (const Reported& part : parts) {
    if (!part || !part->status.admission) continue;
    api::kueue::JobReport report;
    const bool enough = pods_.bound(key) + entry.group->status.succeeded >= entry.group->min_member;
    report.pods_ready = enough || (part != entry.minimum && part != entry.growth);
    // The pod of the growth is still gated, so it does not run.
    report.stopped = part == entry.minimum ? stopped : part == entry.growth && is_evicted(part);
    report.workload_version = part->meta.resource_version;
    shell_.feed(engine::JobReported{std::string(volcano::kGroupNamespace), part->meta.name, std::move(report)});
  }
}

bool VolcanoGroups::next_may_go(const std::string& key) const {
  const Entry& entry = entries_.find(key)->second;
  const auto pod = pods_.first_gated(key);
  if (!pod) return false;
  if (holds(entry.growth)) return entry.growth->meta.uid.ends_with("/" + pod->meta.uid);
  return holds(entry.minimum) && volcano::is_covered(*entry.group, context_of(key, entry), pod->pod());
}

// The next pod above the minimum has its quota: remove its gate. It counts as running from now on, and the next gated
// pod may ask.
void VolcanoGroups::let_go(const std::string& key, WorkQueue::Finish finish) {
  auto pod = pods_.first_gated(key);
  Json body = JsonObject();
  ensure_path(body, {"metadata", "annotations", api::volcano::kQueueCharged}) = "true";
  ensure_path(body, {"spec", "schedulingGates"}) = std::move(pod->other_gates);
  shell_.writes.patch(Target::of(api::kPods, pod->meta), "", std::move(body),
                      lifetime_.guard([this, uid = pod->meta.uid, finish](const api::RestResponse& response) {
                        // The answer may come after the pod has ended.
                        if (response.ok() && pods_.knows(uid))
                          pod_changed(nullptr, std::make_shared<const Json>(response.body));
                        finish(response.ok() || response.code == 404);
                      }));
}

}  // namespace berth::controller
