#include "engine/explain/future.h"

#include <algorithm>

#include "api/meta.h"
#include "engine/lifecycle/state.h"

namespace berth::engine {

using api::kueue::WorkloadRef;
using lifecycle::State;

std::string tree_of(const Engine& engine, const std::string& cluster_queue) {
  const auto above = engine.cohorts_above(cluster_queue);
  return above.empty() ? "queue " + cluster_queue : "cohort " + above.back();
}

Future::Stop Future::run(std::size_t& steps, Time horizon) {
  if (!begun_) {
    begun_ = true;
    for (const auto& [key, answer] : question_.waiting) {
      const std::size_t slash = key.find('/');
      if (play_.engine().pending_position(key.substr(0, slash), key.substr(slash + 1))) queued_.insert(key);
    }
    for (const auto& w : play_.workloads()) consider(*w, true);
    expect_arrivals();
    if (!settle(steps)) return Stop::kEndless;
  }
  while (open_ > 0) {
    auto next = play_.next_timer();
    if (next && *next <= play_.now()) next = play_.now() + std::chrono::seconds(1);
    if (!ends_.empty() && (!next || ends_.begin()->first < *next)) next = ends_.begin()->first;
    if (arrivals_ && !queued_.empty() && (!next || *arrivals_->next() < *next)) next = *arrivals_->next();
    if (!next) return Stop::kDone;
    if (steps == 0) return Stop::kSteps;
    if (*next > horizon) return Stop::kHorizon;
    --steps;
    end_those_due(*next, steps);
    if (arrivals_ && !queued_.empty()) arrive(*next, steps);
    if (!settle(steps)) return Stop::kEndless;
  }
  return Stop::kDone;
}

void Future::end_those_due(Time now, std::size_t& steps) {
  std::vector<std::string> due;
  while (!ends_.empty() && ends_.begin()->first <= now) {
    due.push_back(ends_.begin()->second);
    ends_.erase(ends_.begin());
  }
  play_.advance(now);
  for (const std::string& key : due) {
    running_.erase(key);
    play_.finish(key);
    if (steps > 0) --steps;
  }
}

bool Future::settle(std::size_t& steps) {
  do {
    if (!play_.settle()) return false;
    answered_ = false;
    for (const auto& w : play_.moved()) {
      consider(*w, false);
      if (steps > 0) --steps;
    }
  } while (answered_);
  return true;
}

void Future::consider(const WorkloadRef& w, bool first) {
  const std::string key = api::object_key(w.meta);
  const State state = lifecycle::state_of(w);
  if (state != State::kAdmitted) forget(key);
  if (state == State::kReserved) answer_checks(w);
  if (state == State::kAdmitted) begin(key, w, first);
}

void Future::forget(const std::string& key) {
  const auto it = running_.find(key);
  if (it != running_.end()) {
    ends_.erase({it->second, key});
    running_.erase(it);
  }
  unknown_.erase(key);
}

void Future::begin(const std::string& key, const WorkloadRef& w, bool first) {
  const auto asked = question_.waiting.find(key);
  if (!first && asked != question_.waiting.end() && !started_[asked->second]) {
    started_[asked->second] = play_.now();
    queued_.erase(key);
    --open_;
  }
  if (!api::is_true(w.status.conditions, api::kueue::kPodsReady)) {
    api::kueue::JobReport ready;
    ready.pods_ready = true;
    ready.workload_version = w.meta.resource_version;
    play_.feed(JobReported{w.meta.ns, w.meta.name, std::move(ready)});
    answered_ = true;
  }
  if ((w.status.admission && !matters(w.status.admission->cluster_queue)) || running_.contains(key)) return;
  const auto* admitted = api::find_condition(w.status.conditions, api::kueue::kAdmitted);
  const Time began = first && admitted != nullptr ? std::min(admitted->last_transition, play_.now()) : play_.now();
  const auto like = like_.find(key);
  const auto drawn = times_.draw(w, play_.now() - began, number_, like == like_.end() ? w.meta.uid : like->second);
  if (!drawn.time) {
    if (like == like_.end()) unknown_.insert(key);
    return;
  }
  if (like == like_.end()) bases_.try_emplace(key, drawn.basis);
  const Time end = std::max(play_.now(), began + *drawn.time);
  running_[key] = end;
  ends_.emplace(end, key);
}

void Future::expect_arrivals() {
  arrivals_.emplace(times_.history().arrivals(), play_.now(), number_);
  for (const std::string& queue : arrivals_->queues()) {
    const std::string cluster_queue = play_.cluster_queue_behind(queue);
    if (cluster_queue.empty() || !matters(cluster_queue)) arrivals_->drop(queue);
  }
  if (!arrivals_->next()) arrivals_.reset();
}

void Future::arrive(Time until, std::size_t& steps) {
  while (*arrivals_->next() <= until) {
    auto [workload, like] = arrivals_->take();
    like_[api::object_key(workload.meta)] = like->meta.uid;
    play_.feed(WorkloadSeen{std::make_shared<const api::kueue::Workload>(std::move(workload))});
    if (steps > 0) --steps;
  }
}

bool Future::matters(const std::string& queue) {
  if (question_.trees.empty()) return true;
  auto it = tree_of_.find(queue);
  if (it == tree_of_.end()) it = tree_of_.emplace(queue, tree_of(play_.engine(), queue)).first;
  return question_.trees.contains(it->second);
}

void Future::answer_checks(const WorkloadRef& w) {
  for (auto check : w.status.admission_checks) {
    if (check.state != api::kueue::CheckState::kPending) continue;
    check.state = api::kueue::CheckState::kReady;
    play_.feed(CheckReported{w.meta.ns, w.meta.name, std::move(check)});
    answered_ = true;
  }
}

}  // namespace berth::engine
