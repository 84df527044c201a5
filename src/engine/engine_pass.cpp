// One pass: process changed workloads, let the scheduler decide, write.
#include <algorithm>
#include <utility>

#include "api/kueue/priority_boost.h"
#include "api/meta.h"
#include "base/assert.h"
#include "engine/engine_impl.h"
#include "engine/lifecycle/legacy_reasons.h"
#include "engine/lifecycle/preemption_gates.h"
#include "engine/lifecycle/words.h"
#include "engine/version.h"

namespace berth::engine {

using api::kueue::Workload;
using api::kueue::WorkloadStatus;
using lifecycle::Hold;
using lifecycle::State;

namespace {

// Limit of consecutive moves of one workload without an outside change. The longest chain is: checks reported,
// evicted, released, requeued, noted as pending.
constexpr int kMaxMovesAtOnce = 8;
// Decisions change workloads, which are then processed again; quota that this frees is for the next pass.
constexpr int kMaxRounds = 4;
constexpr std::size_t kMaxEventNote = 1024;

std::string cut_note(std::string text) {
  if (text.size() <= kMaxEventNote) return text;
  std::size_t end = kMaxEventNote;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

// True when the write will reserve quota that the API does not show yet.
bool takes_quota(const Tracked& t) {
  return api::is_true(t.now->status.conditions, api::kueue::kQuotaReserved) &&
         !api::is_true(t.base->status.conditions, api::kueue::kQuotaReserved);
}

}  // namespace

std::string job_uid_of(const Workload& w) {
  const auto label = w.meta.labels.find(lifecycle::kJobUidLabel);
  return label == w.meta.labels.end() ? std::string() : label->second;
}

RecordEvent event_about(const Workload& w, const lifecycle::Note& note) {
  return {"Workload",
          w.meta.ns,
          w.meta.name,
          w.meta.uid,
          w.meta.resource_version,
          note.warning,
          note.reason,
          cut_note(note.text),
          std::string(note.controller)};
}

Effects Engine::Impl::schedule(Time now) {
  Effects out;
  scheduler.set_time(now);
  if (scheduler.names().size() > names_bound) renumber();
  if (!synced) {
    learn(now);
    return out;
  }
  refresh_configuration();
  for (Tracked* t : workloads.due(now)) workloads.mark(*t);
  look_at_marked(now);
  end_recall();
  recall_spared();
  second_passes(now);  // workloads that hold quota go first
  decide(now);
  for (int round = 0; round < kMaxRounds && workloads.any_marked(); ++round) look_at_marked(now);
  // Write releases of quota before reservations: a client that reads the API in order never sees more quota reserved
  // than exists.
  const auto wanted = std::exchange(to_flush, {});
  for (Tracked* t : wanted) count_held(*t);
  for (const bool takes : {false, true}) {
    for (Tracked* t : wanted) {
      if (takes_quota(*t) == takes) flush(*t, now, out);
    }
  }
  tell_at_leisure(now, out);
  for (auto& key : scheduler.take_usage_samples()) touched_local_queues.insert(std::move(key));
  emit_queue_statuses(out);
  emit_finalizers(out);
  emit_expired(out, now);
  emit_wake(out, now);
  return out;
}

// For a process that does not lead: makes no moves. The leader acts on what is seen here.
void Engine::Impl::learn(Time now) {
  refresh_configuration();
  configuration_changed = false;
  for (Tracked* t : workloads.take_marked()) {
    if (over(*t)) {
      forget(*t, now);
    } else {
      place(*t, now);
      count_held(*t);
    }
  }
  end_recall();
  scheduler.settle();
}

// By now all workloads that hold quota have taken their claims in the book of usage.
void Engine::Impl::end_recall() {
  if (std::exchange(usage_recalled, false)) scheduler.end_adoption();
}

void Engine::Impl::count_held(Tracked& t) {
  workloads.wait(t, scheduler.pending(t.id) ? t.asks : nullptr);
  const auto* holding = holding_status(t);
  if (holding == nullptr) return workloads.hold(t, nullptr);
  const HeldAmounts held{amounts_held(*holding->admission, *t.now),
                         api::is_true(holding->conditions, api::kueue::kAdmitted)};
  workloads.hold(t, &held);
}

bool Engine::Impl::over(const Tracked& t) const {
  return lifecycle::state_of(*t.base) == State::kFinished && !t.in_flight;
}

void Engine::Impl::refresh_configuration() {
  if (!configuration_changed) return;
  auto derived = std::exchange(rules_changed, false) ? registries.refresh_all() : registries.refresh(changed_queues);
  for (auto& name : derived) changed_queues.insert(std::move(name));
  for (const auto& name : std::exchange(changed_queues, {})) {
    if (const auto* queue = registries.cluster_queue(name)) {
      scheduler.set_cluster_queue(*queue, registries.activity(*queue).active, registries.delayed_flavors(*queue));
    } else {
      scheduler.remove_cluster_queue(name);
    }
    workloads.mark_cluster_queue(name);
    touched_cluster_queues.insert(name);
    const auto& local_queues = registries.local_queues_of(name);
    touched_local_queues.insert(local_queues.begin(), local_queues.end());
  }
  touch_shares();
}

void Engine::Impl::look_at_marked(Time now) {
  for (Tracked* t : workloads.take_marked()) {
    step(*t, now);
    if (over(*t)) {
      forget(*t, now);
      continue;
    }
    place(*t, now);
    to_flush.insert(t);
  }
}

void Engine::Impl::step(Tracked& t, Time now) {
  stop_awaiting(t, now);
  if (!t.await_version.empty()) return;
  for (int moves = 0; moves < kMaxMovesAtOnce; ++moves) {
    watch_nodes(t);
    auto situation = situation_of(t);
    look_at_nodes(t, situation, now);
    auto next = lifecycle::next(*t.now, situation, now);
    t.deactivate = next.deactivate && t.base->active;
    if (!next.change) return;
    BERTH_INVARIANT(next.change->has_value());
    if (!*next.change) return;
    if ((*next.change)->move == lifecycle::Move::kNotePending) t.retell = true;
    apply(t, std::move(**next.change));
  }
}

void Engine::Impl::apply(Tracked& t, lifecycle::Change change) {
  if (!options.unadmitted_observability) lifecycle::tell_legacy_reasons(change, t.now->status);
  t.now.decide(std::move(change.status));
  recount(t);
  for (const auto& note : change.notes) t.events.push_back(event_about(*t.now, note));
  if (change.move == lifecycle::Move::kReserve) t.untold_reason.reset();
  // Drop the job's report from before the reservation: it does not describe a run with this quota.
  if (change.move == lifecycle::Move::kReserve) t.report.reset();
  to_flush.insert(&t);
}

std::optional<Time> Engine::Impl::report_due(const Tracked& t) const {
  constexpr auto kFirstReports = std::chrono::minutes(1);
  if (!synced_at || t.report || t.now->meta.owners.empty()) return std::nullopt;
  const auto* admitted = api::find_condition(t.now->status.conditions, api::kueue::kAdmitted);
  if (admitted == nullptr || admitted->last_transition >= *synced_at) return std::nullopt;
  return *synced_at + kFirstReports;
}

lifecycle::Situation Engine::Impl::situation_of(const Tracked& t) const {
  lifecycle::Situation s;
  s.local_queue_name = t.now->queue_name;
  const std::string key = api::object_key(t.now->meta.ns, t.now->queue_name);
  s.local_queue = registries.view_of_local_queue(key);
  if (t.now->status.admission) {
    s.cluster_queue_name = t.now->status.admission->cluster_queue;
    s.checks = registries.required_checks(*t.now->status.admission);
  } else if (const auto* local = registries.local_queue(key)) {
    s.cluster_queue_name = local->cluster_queue;
  }
  s.cluster_queue = registries.view_of_cluster_queue(s.cluster_queue_name);
  if (!t.check_reports.empty()) s.check_reports = &t.check_reports;
  s.replace_several_nodes = options.replace_several_nodes;
  s.wait_for_pods_ready = options.wait_for_pods_ready;
  s.places_timeout = options.topology_waits.places_timeout;
  if (t.second_pass) s.places_failure = t.second_pass->failure;
  s.preemption_gates = options.preemption_gates;
  s.legacy_reasons = !options.unadmitted_observability;
  s.report_due = report_due(t);
  if (t.report) {
    s.report = &*t.report;
    s.job_stopped = t.report->stopped && !t.evicting_since.empty() && !t.report->workload_version.empty() &&
                    !older(t.report->workload_version, t.evicting_since);
  }
  return s;
}

lifecycle::Priority Engine::Impl::priority_of(const Workload& workload) const {
  const auto boost = workload.meta.annotations.empty() || !options.priority_boost
                         ? std::nullopt
                         : api::kueue::priority_boost(workload.meta);
  return {workload.priority, boost.value_or(0)};
}

const WorkloadStatus* Engine::Impl::holding_status(const Tracked& t) const {
  // Fast path: most workloads of a queue are pending and have no admission; their conditions need no look.
  if (!t.now->status.admission && !t.base->status.admission && (!t.in_flight || !t.in_flight->status.admission))
    return nullptr;
  if (lifecycle::state_of(*t.now) == State::kFinished) return nullptr;
  if (lifecycle::holds_quota(t.now->status)) return &t.now->status;
  if (t.in_flight && lifecycle::holds_quota(t.in_flight->status)) return &t.in_flight->status;
  if (lifecycle::holds_quota(t.base->status)) return &t.base->status;
  return nullptr;
}

void Engine::Impl::place(Tracked& t, Time now) {
  touch(t);
  const std::string local_key = api::object_key(t.now->meta.ns, t.now->queue_name);
  const auto* holding = holding_status(t);
  const auto* local = registries.local_queue(local_key);
  workloads.file(t, local_key,
                 holding != nullptr ? holding->admission->cluster_queue
                 : local != nullptr ? local->cluster_queue
                                    : std::string());
  touch(t);
  plan_second_pass(t, now);
  set_timer(t);

  if (holding != nullptr) {
    scheduler.hold(t.id, holding_of(t, *holding));
    return;
  }
  if (scheduler.holds(t.id)) scheduler.release(t.id);
  const bool anew = std::exchange(t.retell, false);
  if (auto pending = pending_of(t)) {
    if (scheduler.submit(t.id, *pending, anew)) say_of_this_generation(t, now);
  } else {
    scheduler.withdraw(t.id);
  }
}

// What was said about a former generation of a waiting workload is said about this one too, because it still holds.
void Engine::Impl::say_of_this_generation(Tracked& t, Time now) {
  const auto* quota = api::find_condition(t.now->status.conditions, api::kueue::kQuotaReserved);
  const bool said = quota != nullptr && !quota->status && quota->observed_generation != t.now->meta.generation;
  if (!said || t.untold_reason) return;
  t.untold_reason = lifecycle::PendingReason{quota->reason, quota->message, {}};
  tell_later(t, now);
}

void Engine::Impl::set_timer(Tracked& t) {
  if (t.await_until) return workloads.set_timer(t, t.await_until);
  auto timer =
      lifecycle::next_time(*t.now, options.wait_for_pods_ready, options.topology_waits.places_timeout, report_due(t));
  const auto second_pass = t.second_pass ? std::optional(t.second_pass->at) : std::nullopt;
  for (const auto& other : {t.retry_at, second_pass, t.node_deadline}) {
    if (other && (!timer || *other < *timer)) timer = other;
  }
  workloads.set_timer(t, timer);
}

const Asks& Engine::Impl::asks_for(Tracked& t) {
  constexpr std::size_t kKnown = 64;
  if (!t.asks || t.asks_generation != t.now->meta.generation) {
    Asks asks = asks_of(*t.now, registries, options.resources);
    const auto same = std::ranges::find_if(asks_known, [&](const Ptr<Asks>& known) { return *known == asks; });
    if (same != asks_known.end()) {
      t.asks = *same;
    } else {
      t.asks = std::make_shared<const Asks>(std::move(asks));
      asks_known.push_front(t.asks);
      if (asks_known.size() > kKnown) asks_known.pop_back();
    }
    t.asks_generation = t.now->meta.generation;
  }
  return *t.asks;
}

Holding Engine::Impl::holding_of(const Tracked& t, const WorkloadStatus& status) const {
  Holding h;
  h.cluster_queue = status.admission->cluster_queue;
  h.priority = priority_of(*t.now).effective();
  h.queued_at = queue_order_time(*t.now, options.wait_for_pods_ready);
  if (const auto* reserved = api::find_condition(status.conditions, api::kueue::kQuotaReserved))
    h.reserved_at = reserved->last_transition;
  h.amounts = amounts_held(*status.admission, *t.now);
  // A workload that is about to give its quota back, evicted or not, is the first candidate for preemption.
  h.evicted = api::is_true(t.now->status.conditions, api::kueue::kEvicted) || !lifecycle::holds_quota(t.now->status);
  h.places = places_of(t, status);
  h.local_queue = t.local_queue;
  // In whole seconds, as the API shows it: a restarted engine counts from the same time.
  const auto* admitted = api::find_condition(status.conditions, api::kueue::kAdmitted);
  if (admitted != nullptr && admitted->status) h.admitted_at = to_seconds(admitted->last_transition);
  h.pods_ready = api::is_true(t.now->status.conditions, api::kueue::kPodsReady);
  return h;
}

namespace {

// A workload that was preempted often waits before it is queued again. Otherwise two workloads that may preempt each
// other would do so endlessly (Kueue's rules allow it). The first preemptions cost no wait.
constexpr std::int32_t kFreePreemptions = 3;
constexpr std::int32_t kLongestDoubling = 9;  // 2^9 s: about eight minutes
// The wait is at most this fraction of the workload's age (1/8): a workload that is preempted now and then for a
// minute must not be kept from free quota for minutes. Waits still grow until one of the two workloads gets through.
constexpr int kPartOfAge = 8;
constexpr Duration kShortestRest = std::chrono::seconds(2);

std::optional<Time> after_preemptions(const Workload& workload) {
  const auto* evicted = api::find_condition(workload.status.conditions, api::kueue::kEvicted);
  if (evicted == nullptr || !evicted->status || evicted->reason != api::kueue::kPreempted) return std::nullopt;
  for (const auto& eviction : workload.status.evictions) {
    if (eviction.reason != api::kueue::kPreempted || eviction.count <= kFreePreemptions) continue;
    const Duration doubled = std::chrono::seconds(1 << std::min(eviction.count - kFreePreemptions, kLongestDoubling));
    const Duration age = evicted->last_transition - workload.meta.creation;
    return evicted->last_transition + std::min(doubled, std::max(kShortestRest, age / kPartOfAge));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Pending> Engine::Impl::pending_of(Tracked& t) {
  const State state = lifecycle::state_of(*t.now);
  const Hold hold = lifecycle::hold_of(*t.now);
  const bool waits_for_time = state == State::kHeld && hold == Hold::kRequeuedFalse;
  if (state != State::kPending && !waits_for_time) return std::nullopt;
  const auto* local = registries.local_queue(t.local_queue);
  if (local == nullptr || local->stop_policy != api::kueue::StopPolicy::kNone || local->meta.deletion)
    return std::nullopt;

  return pending_with(t, *local, asks_for(t));
}

Pending Engine::Impl::pending_with(const Tracked& t, const api::kueue::LocalQueue& local, const Asks& asks) const {
  Pending p;
  p.cluster_queue = local.cluster_queue;
  p.priority = priority_of(*t.now).effective();
  p.preemption_gated = options.preemption_gates && lifecycle::preemption_gated(*t.now);
  p.queued_at = queue_order_time(*t.now, options.wait_for_pods_ready);
  p.pod_sets =
      options.reclaimable_pods ? without_reclaimed(asks.pod_sets, t.now->status.reclaimable_pods) : asks.pod_sets;
  p.barrier = barrier_of(asks, t.now->meta.ns, registries.cluster_queue(p.cluster_queue), registries);
  p.local_queue = t.local_queue;
  p.on_hold = lifecycle::is_false(t.now->status.conditions, api::kueue::kRequeued);
  if (t.now->status.requeue_state) p.not_before = t.now->status.requeue_state->requeue_at;
  for (const auto& later : {t.retry_at, after_preemptions(*t.now)}) {
    if (later && (!p.not_before || *p.not_before < *later)) p.not_before = later;
  }
  return p;
}

void Engine::Impl::decide(Time now) {
  for (const auto& decision : scheduler.schedule(now)) {
    std::visit([&](const auto& d) { on_decision(d, now); }, decision);
  }
}

void Engine::Impl::on_decision(const Admit& d, Time now) {
  Tracked* t = workloads.find(d.workload);
  BERTH_INVARIANT(t != nullptr);
  if (t == nullptr) return;
  auto admission = scheduler.admission(d);
  const auto checks = registries.required_checks(admission);
  auto change = lifecycle::reserve(*t->now, std::move(admission), checks, d.considered, now);
  BERTH_INVARIANT(change.has_value());
  if (change) apply(*t, std::move(*change));
  workloads.mark(*t);
}

void Engine::Impl::on_decision(const Preempt& d, Time now) {
  Tracked* target = workloads.find(d.target);
  const Tracked* preemptor = workloads.find(d.preemptor);
  BERTH_INVARIANT(target != nullptr && preemptor != nullptr);
  if (target == nullptr || preemptor == nullptr) return;
  const std::string priorities =
      lifecycle::preemption_priorities(priority_of(*preemptor->now), priority_of(*target->now));
  auto change = lifecycle::preempt(*target->now, to_string(d.reason), d.message, priorities, now);
  BERTH_INVARIANT(change.has_value());
  if (!change) return;
  apply(*target, std::move(*change));
  const std::string queue = target->now->status.admission ? target->now->status.admission->cluster_queue : "";
  target->events.push_back(
      event_about(*preemptor->now, {false, "PreemptedWorkload",
                                    "Preempted workload " + target->key + " (UID: " + target->now->meta.uid +
                                        ") in ClusterQueue " + queue + priorities,
                                    lifecycle::Note::kByScheduler}));
  workloads.mark(*target);
}

// Written together with any other pending change of the workload, else as a rate-limited message.
void Engine::Impl::on_decision(const Wait& d, Time now) {
  Tracked* t = workloads.find(d.workload);
  BERTH_INVARIANT(t != nullptr);
  if (t == nullptr) return;
  const bool silent = !d.evaluated && !options.unadmitted_explicit_status;
  if (silent && api::find_condition(t->now->status.conditions, api::kueue::kQuotaReserved) == nullptr) return;
  lifecycle::PendingReason why{d.reason, d.message, {}, d.evaluated, d.preemption_gated};
  why.quiet = d.reason == kWaitingForPodsReady;
  if (d.preemption_gated) why.message += lifecycle::preemption_gated_text(*t->now);
  if (t->now.differs()) return note_pending(*t, std::move(why), now);
  t->untold_reason = std::move(why);
  tell_later(*t, now);
}

void Engine::Impl::note_pending(Tracked& t, lifecycle::PendingReason why, Time now) {
  if (why.announce && !why.quiet) why.requests = scheduler.resource_requests(t.id);
  if (!options.unadmitted_observability) why.reason = lifecycle::legacy_reason(why.reason);
  auto change = lifecycle::note_pending(*t.now, why, now);
  BERTH_INVARIANT(change.has_value());
  if (change) apply(t, std::move(*change));
}

}  // namespace berth::engine
