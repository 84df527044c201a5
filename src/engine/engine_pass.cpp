// One pass: process changed workloads, let the scheduler decide, write.
#include <tuple>
#include <utility>

#include "base/assert.h"
#include "engine/engine_impl.h"

namespace berth::engine {

using lifecycle::State;

namespace {

// Limit of consecutive moves of one workload without an outside change. The longest chain is: checks reported,
// evicted, released, requeued, noted as pending.
constexpr int kMaxMovesAtOnce = 8;
// Decisions change workloads, which are then processed again; quota that this frees is for the next pass.
constexpr int kMaxRounds = 4;

// True when the write will reserve quota that the API does not show yet.
bool takes_quota(const Tracked& t) {
  return api::is_true(t.now.status().conditions, api::kueue::kQuotaReserved) &&
         !api::is_true(t.base->status.conditions, api::kueue::kQuotaReserved);
}

bool over(const Tracked& t) { return lifecycle::state_of(*t.base) == State::kFinished && !t.in_flight; }

}  // namespace

Effects Engine::Impl::schedule(Time now) {
  Effects out;
  scheduler.set_time(now);
  if (scheduler.names().size() > pass_facts.names_bound) renumber();
  if (!facts.synced) {
    learn(now);
    return out;
  }
  configuration.refresh();
  for (Tracked* t : workloads.due(now)) workloads.mark(*t);
  look_at_marked(now);
  end_recall();
  recall_protected();
  // Workloads that hold quota go first.
  for (Tracked* t : second_passes.take_due()) second_pass(*t, now);
  decisions.apply(scheduler.schedule(now), now);
  for (int round = 0; round < kMaxRounds && workloads.any_marked(); ++round) look_at_marked(now);
  write(now, out);
  report(now, out);
  for (auto& key : scheduler.take_usage_samples()) reports.touch_local_queue(std::move(key));
  reports.emit(out);
  finalizers.emit(facts.registries, workloads, configuration.take_changed(), out);
  emit_expired(out, now);
  emit_wake(out, now);
  return out;
}

// For a process that does not lead: makes no moves. The leader acts on what is seen here.
void Engine::Impl::learn(Time now) {
  configuration.refresh();
  configuration.take_changed();
  for (Tracked* t : workloads.take_marked()) {
    if (over(*t)) {
      workload_events.forget(*t, now);
    } else {
      feed.update(*t, now);
      census.count_held(*t);
    }
  }
  end_recall();
  scheduler.settle();
}

void Engine::Impl::look_at_marked(Time now) {
  for (Tracked* t : workloads.take_marked()) {
    step(*t, now);
    if (over(*t)) {
      workload_events.forget(*t, now);
      continue;
    }
    feed.update(*t, now);
    writes.want(*t);
  }
}

void Engine::Impl::step(Tracked& t, Time now) {
  writes.stop_awaiting(t, now);
  if (!t.await_version.empty()) return;
  for (int moves = 0; moves < kMaxMovesAtOnce; ++moves) {
    failed_nodes.watch(t);
    auto situation = views.situation(t);
    failed_nodes.look_at(t, situation, now);
    if (scheduled_pods.on()) situation.scheduling = scheduled_pods.seen(*t.now);
    auto next = lifecycle::next(*t.now, situation, now);
    t.deactivate = next.deactivate && t.base->active;
    if (!next.change) return;
    BERTH_INVARIANT(next.change->has_value());
    if (!*next.change) return;
    if ((*next.change)->move == lifecycle::Move::kNotePending) t.report_again = true;
    transitions.apply(t, std::move(**next.change));
  }
}

// Writes releases of quota before reservations: a client that reads the API in order never sees more quota reserved
// than exists.
void Engine::Impl::write(Time now, Effects& out) {
  const auto wanted = writes.take_wanted();
  for (Tracked* t : wanted) {
    census.count_held(*t);
    decisions.note_behind_others(*t, now);
  }
  for (const bool takes : {false, true}) {
    for (Tracked* t : wanted) {
      if (takes_quota(*t) == takes) writes.flush(*t, now, out);
    }
  }
}

// A workload with another write in flight is skipped; it is flushed again when that write settles.
void Engine::Impl::report(Time now, Effects& out) {
  for (auto [t, kind] = messages.take_next(now); t != nullptr; std::tie(t, kind) = messages.take_next(now)) {
    if (WorkloadWrites::busy(*t, now)) continue;
    if (const auto why = std::exchange(t->unreported_reason, std::nullopt)) {
      const State state = lifecycle::state_of(*t->now);
      if (scheduler.pending(t->id) && (state == State::kPending || state == State::kHeld))
        transitions.note_pending(*t, *why, now);
    }
    writes.flush(*t, now, out, kind);
  }
}

// A finished workload is deleted alone; a workload that Berth deactivated is deleted with its job. Repeated until it
// is gone.
void Engine::Impl::emit_expired(Effects& out, Time now) {
  for (const auto& workload : retention.take_due(now)) {
    const bool finished = lifecycle::state_of(*workload) == State::kFinished;
    out.push_back(ExpireWorkload{workload, !finished});
  }
}

void Engine::Impl::emit_wake(Effects& out, Time now) {
  auto when = workloads.earliest();
  for (const auto& next : {scheduler.next_wake(), retention.earliest()}) {
    if (next && (!when || *next < *when)) when = next;
  }
  if (messages.waiting()) {
    const Time next_message = messages.next_time(now);
    if (!when || next_message < *when) when = next_message;
  }
  wake_ups.emit(now, when, scheduler.wants_pass(), out);
}

}  // namespace berth::engine
