#include "engine/explain/run_history.h"

#include <algorithm>

#include "api/meta.h"
#include "api/owners.h"
#include "base/json.h"

namespace berth::engine {
namespace {

using api::kueue::WorkloadRef;

constexpr std::size_t kMostCounted = 16'384;  // UIDs that are remembered

std::string kind_of_owner(const WorkloadRef& w) {
  const auto* owner = api::controller_of(w.meta);
  return owner == nullptr ? "" : owner->kind;
}

std::string shape_of(const WorkloadRef& w) {
  std::string text;
  for (const auto& pod_set : w.pod_sets) {
    text += pod_set.name + "=" + std::to_string(pod_set.count);
    if (!pod_set.template_) continue;
    for (const Json& container : array_at(*pod_set.template_, {"spec", "containers"})) {
      if (const Json* resources = find(container, "resources")) text += berth::to_string(*resources);
    }
  }
  return std::to_string(spread(text));
}

// The names of a workload's groups, from the narrowest to the widest.
std::array<std::string, kRunGroups> groups_of(const WorkloadRef& w) {
  const std::string queue = w.meta.ns + "/" + w.queue_name, kind = queue + "/" + kind_of_owner(w);
  return {"shape " + kind + "/" + shape_of(w), "kind " + kind, "queue " + queue, "all"};
}

}  // namespace

std::uint64_t spread(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;  // the finish of splitmix64
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

void RunHistory::note(const Event& event) {
  if (const auto* seen = std::get_if<WorkloadSeen>(&event)) return see(*seen->object);
  if (const auto* gone = std::get_if<LocalQueueGone>(&event)) arrivals_.forget_queue(gone->ns, gone->name);
}

void RunHistory::see(const WorkloadRef& w) {
  arrivals_.see(w);
  const auto* finished = api::find_condition(w.status.conditions, api::kueue::kFinished);
  const auto* admitted = api::find_condition(w.status.conditions, api::kueue::kAdmitted);
  if (finished == nullptr || !finished->status || admitted == nullptr || !admitted->status) return;
  if (finished->reason != "Succeeded" && finished->reason != "Failed") return;
  const Duration ran = finished->last_transition - admitted->last_transition;
  const std::uint64_t uid = spread(w.meta.uid);
  if (ran < Duration() || !counted_.insert(uid).second) return;
  counted_order_.push_back(uid);
  if (counted_order_.size() > kMostCounted) {
    counted_.erase(counted_order_.front());
    counted_order_.pop_front();
  }
  ++seen_;
  for (const std::string& name : groups_of(w)) {
    Group& group = groups_[name];
    group.used = seen_;
    if (group.times.size() < kMostTimes) {
      group.times.push_back(ran);
    } else {
      group.times[group.next] = ran;
      group.next = (group.next + 1) % kMostTimes;
    }
  }
  if (groups_.size() > kMostGroups) forget_old_groups();
}

void RunHistory::forget_old_groups() {
  std::vector<std::uint64_t> used;
  for (const auto& [name, group] : groups_) used.push_back(group.used);
  const auto quarter = used.begin() + static_cast<std::ptrdiff_t>(used.size() / 4);
  std::ranges::nth_element(used, quarter);
  std::erase_if(groups_, [limit = *quarter](const auto& entry) { return entry.second.used <= limit; });
}

RunHistory::Times RunHistory::times_of(const WorkloadRef& w) const {
  Times out;
  const auto names = groups_of(w);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto it = groups_.find(names[i]);
    if (it == groups_.end()) continue;
    out.group = static_cast<RunGroup>(i);
    out.name = names[i];
    out.sorted = it->second.times;
    if (out.sorted.size() >= kEnough) break;
  }
  std::ranges::sort(out.sorted);
  return out;
}

}  // namespace berth::engine
