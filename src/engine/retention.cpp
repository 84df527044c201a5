#include "engine/retention.h"

#include "engine/lifecycle/state.h"
#include "engine/lifecycle/words.h"

namespace berth::engine {

using lifecycle::State;

namespace {

constexpr std::chrono::minutes kRetry{1};
constexpr std::string_view kDueTo = "DueTo";  // "DeactivatedDueTo...": deactivated by Berth, not by a user

std::optional<Time> after(const api::Condition* since, const std::optional<Duration>& delay) {
  if (since == nullptr || !since->status || !delay || *delay > Time::max() - since->last_transition)
    return std::nullopt;
  return since->last_transition + *delay;
}

}  // namespace

std::optional<Time> Retention::deadline(const api::kueue::Workload& w) const {
  if (w.meta.deletion) return std::nullopt;
  const State state = lifecycle::state_of(w);
  if (state == State::kFinished)
    return after(api::find_condition(w.status.conditions, api::kueue::kFinished), settings_.after_finished);
  if (state != State::kInactive) return std::nullopt;
  const auto* evicted = api::find_condition(w.status.conditions, api::kueue::kEvicted);
  if (evicted == nullptr ||
      !evicted->reason.starts_with(std::string(lifecycle::reason::kDeactivated) + std::string(kDueTo)))
    return std::nullopt;
  return after(evicted, settings_.after_deactivated_by_kueue);
}

void Retention::seen(const WorkloadPtr& workload) {
  if (!settings_.after_finished && !settings_.after_deactivated_by_kueue) return;
  const auto at = deadline(*workload);
  const std::string key = api::object_key(workload->meta);
  if (const auto it = entries_.find(key); it != entries_.end()) {
    const bool same = at && it->second.workload->meta.uid == workload->meta.uid && deadline(*it->second.workload) == at;
    if (same) {
      it->second.workload = workload;
      return;  // keep the time of the next attempt
    }
    erase(it);
  }
  if (!at) return;
  entries_.emplace(key, Entry{workload, *at});
  order_.emplace(*at, key);
}

void Retention::gone(std::string_view key, std::string_view uid) {
  const auto it = entries_.find(key);
  if (it != entries_.end() && (uid.empty() || it->second.workload->meta.uid == uid)) erase(it);
}

void Retention::erase(std::map<std::string, Entry, std::less<>>::iterator it) {
  order_.erase({it->second.at, it->first});
  entries_.erase(it);
}

std::optional<Time> Retention::earliest() const {
  if (order_.empty()) return std::nullopt;
  return order_.begin()->first;
}

std::vector<Retention::WorkloadPtr> Retention::kept() const {
  std::vector<WorkloadPtr> all;
  for (const auto& [key, entry] : entries_) all.push_back(entry.workload);
  return all;
}

std::vector<Retention::WorkloadPtr> Retention::take_due(Time now) {
  std::vector<WorkloadPtr> due;
  while (!order_.empty() && order_.begin()->first <= now) {
    const std::string key = order_.begin()->second;
    order_.erase(order_.begin());
    Entry& entry = entries_.find(key)->second;
    entry.at = now + kRetry;
    order_.emplace(entry.at, key);
    due.push_back(entry.workload);
  }
  return due;
}

}  // namespace berth::engine
