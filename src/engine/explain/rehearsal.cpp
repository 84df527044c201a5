#include "engine/explain/rehearsal.h"

#include <algorithm>
#include <utility>

#include "api/meta.h"
#include "engine/engine_impl.h"
#include "engine/lifecycle/pods_ready.h"
#include "engine/lifecycle/state.h"

namespace berth::engine {
namespace {

using api::kueue::Workload;

// Each pass admits, evicts or releases; two workloads that preempt each other in turn would go on for ever.
constexpr int kMaxPasses = 1'000;

}  // namespace

// The writes that are in flight succeed too.
Rehearsal::Rehearsal(const Engine& original, Time now) : engine_(original.copy()), now_(now) {
  const Engine::Impl& impl = *engine_.impl_;
  impl.workloads.for_each_in_any_order([&](const Tracked& t) {
    if (!t.evicting_since.empty()) evicting_.insert(t.key);
  });
  for (const auto& [write, t] : impl.writes.in_flight()) {
    Workload changed = *t->base;
    changed.status = t->in_flight->status;
    if (t->in_flight->deactivation) changed.active = false;
    written(t->base, std::move(changed), write);
  }
}

std::vector<std::string> Rehearsal::cluster_queues_of(const Engine& engine) {
  std::vector<std::string> out;
  for (const auto& [name, queue] : engine.impl_->facts.registries.cluster_queues) out.push_back(name);
  return out;
}

std::optional<api::kueue::WorkloadRef> Rehearsal::find(std::string_view key) const {
  const Tracked* t = std::as_const(engine_.impl_->workloads).find(key);
  return t == nullptr ? std::nullopt : std::optional(*t->now);
}

std::string Rehearsal::why_it_waits(std::string_view key) const {
  const Tracked* t = std::as_const(engine_.impl_->workloads).find(key);
  if (t == nullptr) return "";
  if (t->unreported_reason) return t->unreported_reason->reason + ": " + t->unreported_reason->message;
  const auto* quota = api::find_condition(t->now->status.conditions, api::kueue::kQuotaReserved);
  return quota == nullptr || quota->status ? "" : quota->reason + ": " + quota->message;
}

std::string Rehearsal::cluster_queue_of(std::string_view key) const {
  const Tracked* t = std::as_const(engine_.impl_->workloads).find(key);
  return t == nullptr ? "" : t->cluster_queue;
}

std::string Rehearsal::cluster_queue_behind(std::string_view local_queue) const {
  const auto* queue = engine_.impl_->facts.registries.local_queue(local_queue);
  return queue == nullptr ? "" : queue->cluster_queue;
}

std::vector<Rehearsal::Held> Rehearsal::held() const {
  std::vector<Held> out;
  engine_.impl_->workloads.for_each([&](const Tracked& t) {
    if (const auto* holding = holding_status(t)) out.push_back({t.key, *t.now, holding->admission->cluster_queue});
  });
  return out;
}

bool Rehearsal::settle() {
  for (int i = 0; i < kMaxPasses; ++i) {
    again_ = false;
    if (i > 0 || answers_.empty()) perform(engine_.schedule(now_));
    const auto answers = std::exchange(answers_, {});
    for (const Event& answer : answers) feed(answer);
    const bool stopped = stop_evicted();
    if (answers.empty() && !stopped && !again_) return true;
    if (again_) feed(TimePassed{});
  }
  return false;
}

bool Rehearsal::settle_until(Time end) {
  for (int i = 0; i < kMaxPasses && settle(); ++i) {
    const auto next = next_timer();
    if (!next || *next > end) return true;
    advance(*next);
  }
  return false;
}

void Rehearsal::perform(const Effects& effects) {
  for (const Effect& effect : effects) {
    if (const auto* status = std::get_if<WriteWorkloadStatus>(&effect)) {
      Workload changed = *status->base;
      changed.status = status->status;
      const auto* evicted = api::find_condition(changed.status.conditions, api::kueue::kEvicted);
      const bool was = api::is_true(status->base->status.conditions, api::kueue::kEvicted);
      if (evicted != nullptr && evicted->status && !was && evicted->reason == api::kueue::kPreempted)
        preempted_[api::object_key(changed.meta)] = evicted->message;
      written(status->base, std::move(changed), status->write);
    } else if (const auto* off = std::get_if<DeactivateWorkload>(&effect)) {
      Workload changed = *off->base;
      changed.active = false;
      ++changed.meta.generation;
      written(off->base, std::move(changed), off->write);
    } else if (const auto* wake = std::get_if<WakeAt>(&effect)) {
      again_ = again_ || wake->when <= now_;
    }
  }
}

void Rehearsal::written(const Ptr<Workload>& base, Workload changed, std::uint64_t write) {
  changed.meta.resource_version = std::to_string(kNewest + ++versions_);
  const std::string key = api::object_key(base->meta);
  const auto state = lifecycle::state_of(changed);
  if (state == lifecycle::State::kEvicting) evicting_.insert(key);
  answers_.push_back(WriteSettled{write, WriteSettled::Outcome::kDone, changed.meta.resource_version, ""});
  const auto seen = std::make_shared<const Workload>(std::move(changed));
  const bool moved = state != lifecycle::state_of(*base);
  if (moved) moved_.push_back(seen);
  answers_.push_back(WorkloadSeen{seen});
  // Others may wait until its pods are ready.
  if (moved && state == lifecycle::State::kAdmitted &&
      lifecycle::waits_for_pods_ready(*seen, engine_.impl_->facts.options.wait_for_pods_ready)) {
    api::kueue::JobReport report;
    report.pods_ready = true;
    report.workload_version = seen->meta.resource_version;
    answers_.push_back(JobReported{seen->meta.ns, seen->meta.name, std::move(report)});
  }
}

void Rehearsal::advance(Time now) {
  now_ = std::max(now_, now);
  feed(TimePassed{});
}

std::optional<Time> Rehearsal::next_timer() const {
  auto when = engine_.impl_->workloads.earliest();
  if (const auto next = engine_.impl_->scheduler.next_wake(); next && (!when || *next < *when)) when = next;
  return when;
}

bool Rehearsal::has_topologies(const Engine& engine) { return !engine.impl_->facts.registries.topologies.empty(); }

std::vector<Ptr<Workload>> Rehearsal::workloads() const {
  std::vector<Ptr<Workload>> out;
  engine_.impl_->workloads.for_each([&](const Tracked& t) { out.push_back(t.base); });
  return out;
}

void Rehearsal::finish(const std::string& key) {
  const Tracked* t = std::as_const(engine_.impl_->workloads).find(key);
  if (t == nullptr) return;
  api::kueue::JobReport report;
  report.finished = api::kueue::JobReport::Outcome{"Succeeded", ""};
  report.workload_version = t->base->meta.resource_version;
  std::vector<Event> events{JobReported{t->base->meta.ns, t->base->meta.name, std::move(report)}};
  end_pods(key, events);
  for (const Event& event : events) feed(event);
}

void Rehearsal::change(const Event& event) {
  std::vector<Event> events;
  if (const auto* workload = std::get_if<WorkloadGone>(&event))
    end_pods(api::object_key(workload->ns, workload->name), events);
  if (const auto* node = std::get_if<NodeGone>(&event)) end_pods_on(node->name, events);
  feed(event);
  for (const Event& each : events) feed(each);
}

void Rehearsal::end_pods_on(const std::string& node, std::vector<Event>& out) const {
  for (const auto& [uid, pod] : engine_.impl_->nodes.pods()) {
    if (pod->node == node) out.push_back(PodGone{uid});
  }
}

void Rehearsal::end_pods(const std::string& key, std::vector<Event>& out) {
  if (!pods_of_) {
    pods_of_.emplace();
    for (const auto& [uid, pod] : engine_.impl_->nodes.pods()) {
      if (!pod->workload.empty()) (*pods_of_)[api::object_key(pod->ns, pod->workload)].push_back(uid);
    }
  }
  const auto pods = pods_of_->find(key);
  if (pods == pods_of_->end()) return;
  for (std::string& uid : pods->second) out.push_back(PodGone{std::move(uid)});
  pods_of_->erase(pods);
}

bool Rehearsal::stop_evicted() {
  const Engine::Impl& impl = *engine_.impl_;
  std::vector<Event> events;
  for (const std::string& key : std::exchange(evicting_, {})) {
    const Tracked* t = impl.workloads.find(key);
    if (t == nullptr || lifecycle::state_of(*t->base) != lifecycle::State::kEvicting) continue;
    api::kueue::JobReport report;
    report.stopped = true;
    report.workload_version = t->base->meta.resource_version;
    events.push_back(JobReported{t->base->meta.ns, t->base->meta.name, std::move(report)});
    end_pods(key, events);
  }
  for (const Event& event : events) feed(event);
  return !events.empty();
}

}  // namespace berth::engine
