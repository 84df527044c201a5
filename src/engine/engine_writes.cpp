// Versions of workloads: what the API holds, what was decided, and the writes between the two.
//
// At most one write per workload is in flight. Until it settles, quota stays claimed if the status before or after
// the write holds it: so an unknown outcome can never let two workloads use the same quota.
#include <algorithm>

#include "base/assert.h"
#include "engine/engine_impl.h"
#include "engine/version.h"

namespace berth::engine {

using api::kueue::Workload;
using api::kueue::WorkloadStatus;
using lifecycle::State;

namespace {

// A failed write is retried after 1, 2, 4, ... seconds, at most kMaxRetryDelay. After kMaxAttempts the decision is
// dropped and the workload waits kMaxRetryDelay, so that a write that the API server always refuses does not keep
// quota.
constexpr int kMaxAttempts = 5;
constexpr std::chrono::seconds kMaxRetryDelay{60};
// How long to wait for an expected version. Then the write is tried again: if the version exists, the write conflicts
// again and nothing is lost; if it does not exist, no event would ever end the wait.
constexpr std::chrono::seconds kMaxAwait{10};

// Updates what is derived from the API's version of the workload.
void note_base(Tracked& t) {
  const State state = lifecycle::state_of(*t.base);
  if (state != State::kEvicting) {
    t.evicting_since.clear();
  } else if (t.evicting_since.empty()) {
    t.evicting_since = t.base->meta.resource_version;
  }
  // Checks start over: the reports were about the reservation that is gone.
  if (state != State::kReserved && state != State::kAdmitted) t.check_reports.clear();
}

// The statuses differ only in words that lead to no decision: why a workload without quota waits, or whether the pods
// of a workload with quota are ready. Deadlines count from what is decided, whether or not it is written yet.
bool only_tells(const WorkloadStatus& base, const WorkloadStatus& now) {
  if (base.admission.has_value() != now.admission.has_value()) return false;
  const bool holds = base.admission.has_value();
  const auto without_words = [holds](WorkloadStatus status) {
    if (!holds) status.resource_requests.clear();
    std::erase_if(status.conditions, [holds](const api::Condition& c) {
      if (holds) return c.type == api::kueue::kPodsReady;
      return !c.status && (c.type == api::kueue::kQuotaReserved || c.type == api::kueue::kAdmitted ||
                           c.type == api::kueue::kPodsReady);
    });
    return status;
  };
  return without_words(base) == without_words(now);
}

}  // namespace

void Engine::Impl::accept(Tracked& t, const Ptr<Workload>& seen) {
  // The echo of our own write must not undo what was decided after it.
  const bool echo = t.base && t.base->meta.resource_version == seen->meta.resource_version;
  const bool decided_since = echo && t.now.differs();
  const bool is_new = !t.base;
  if (is_new || t.base->meta.generation != seen->meta.generation) t.asks.reset();
  t.base = seen;
  if (!decided_since) {
    if (is_new || t.now->status != seen->status) t.retell = true;
    t.now.follow(seen);
    recount(t);
    t.deactivate = false;
    t.events.clear();
  }
  note_base(t);
  const bool awaited = t.await_newer ? older(t.await_version, seen->meta.resource_version)
                                     : !older(seen->meta.resource_version, t.await_version);
  if (awaited) {
    t.await_version.clear();
    t.await_until.reset();
  }
  workloads.mark(t);
}

void Engine::Impl::forget(Tracked& t, Time now) {
  if (t.in_flight) {
    writes.erase(t.in_flight->write);
    leisure.settled(t.in_flight->message, now);
  }
  told(t);
  touch(t);
  nodes.forget(t.id);
  scheduler.leave(t.id);
  to_flush.erase(&t);
  due_second_passes.erase(&t);
  workloads.erase(t);
}

void Engine::Impl::write_done(Tracked& t, const InFlight& done, const std::string& version, Time now, Effects& out) {
  t.failures = 0;
  t.retry_at.reset();
  for (const auto& event : done.events) out.push_back(event);
  if (done.deactivation) {
    // The object with its new generation arrives as an event.
    await(t, version, false, now);
  } else {
    auto written = std::make_shared<Workload>(*t.base);
    written->status = done.status;
    written->meta.resource_version = version;
    auto decided = t.now->status;
    t.base = written;
    t.now.follow(written);
    if (decided != written->status) t.now.decide(std::move(decided));
    recount(t);
    note_base(t);
  }
  const auto newer = std::exchange(t.newer, nullptr);
  if (newer && !older(newer->meta.resource_version, t.base->meta.resource_version)) accept(t, newer);
}

void Engine::Impl::write_conflicted(Tracked& t, Time now) {
  await(t, t.base->meta.resource_version, true, now);
  const auto newer = std::exchange(t.newer, nullptr);
  if (newer) accept(t, newer);
}

void Engine::Impl::await(Tracked& t, const std::string& version, bool newer, Time now) {
  t.await_version = version;
  t.await_newer = newer;
  t.await_until = now + kMaxAwait;
}

void Engine::Impl::stop_awaiting(Tracked& t, Time now) {
  if (!t.await_until || *t.await_until > now) return;
  t.await_version.clear();
  t.await_until.reset();
}

void Engine::Impl::write_failed(Tracked& t, Time now) {
  ++t.failures;
  auto delay = kMaxRetryDelay;
  if (t.failures < kMaxAttempts) {
    delay = std::min(std::chrono::seconds(1 << (t.failures - 1)), kMaxRetryDelay);
  } else {
    t.failures = 0;
    t.now.follow(t.base);
    recount(t);
    t.events.clear();
    t.retell = true;
  }
  t.retry_at = now + delay;
  // If the write did happen, its version is newer than the base: then that version counts.
  const auto newer = std::exchange(t.newer, nullptr);
  if (newer && older(t.base->meta.resource_version, newer->meta.resource_version)) {
    t.retry_at.reset();
    t.failures = 0;
    accept(t, newer);
  }
}

bool Engine::Impl::busy(const Tracked& t, Time now) {
  return t.in_flight || !t.await_version.empty() || (t.retry_at && *t.retry_at > now);
}

// A decided status that is not written may be the one of a write with an unknown outcome: the API may hold it.
bool Engine::Impl::settled(const Tracked& t) {
  if (t.in_flight || !t.await_version.empty()) return false;
  return !t.now.differs() || only_tells(t.base->status, t.now->status);
}

void Engine::Impl::flush(Tracked& t, Time now, Effects& out, bool its_turn) {
  if (busy(t, now)) return;
  t.retry_at.reset();
  if (t.untold_reason) tell_later(t, now);
  const bool changed = t.now.differs();
  if (!changed && !t.deactivate) {
    t.now.follow(t.base);
    if (!t.untold_reason) told(t);
    for (auto& event : t.events) out.push_back(std::move(event));
    t.events.clear();
    return;
  }
  const bool message = changed && !t.deactivate && only_tells(t.base->status, t.now->status);
  if (message && !its_turn && (!untold.empty() || !leisure.may(now))) return tell_later(t, now);
  if (!t.untold_reason) told(t);
  leisure.began(message, now);
  InFlight& write = t.in_flight.emplace();
  write.write = ++last_write;
  write.message = message;
  write.events = std::exchange(t.events, {});
  writes[write.write] = &t;
  if (changed) {
    write.status = t.now->status;
    out.push_back(WriteWorkloadStatus{write.write, t.base, t.now->status});
  } else {
    t.deactivate = false;
    write.deactivation = true;
    write.status = t.base->status;
    out.push_back(DeactivateWorkload{write.write, t.base});
  }
}

void Engine::Impl::tell_later(Tracked& t, Time now) {
  if (!t.untold_since) t.untold_since = now;
  untold[{*t.untold_since, t.key}] = &t;
}

void Engine::Impl::told(Tracked& t) {
  if (t.untold_since) untold.erase({*t.untold_since, t.key});
  t.untold_since.reset();
}

// A workload with another write in flight is skipped; it is flushed again when that write settles.
void Engine::Impl::tell_at_leisure(Time now, Effects& out) {
  while (!untold.empty() && leisure.may(now)) {
    Tracked& t = *untold.begin()->second;
    told(t);
    if (busy(t, now)) continue;
    if (const auto why = std::exchange(t.untold_reason, std::nullopt)) {
      const State state = lifecycle::state_of(*t.now);
      if (scheduler.pending(t.id) && (state == State::kPending || state == State::kHeld)) note_pending(t, *why, now);
    }
    flush(t, now, out, true);
  }
}

}  // namespace berth::engine
