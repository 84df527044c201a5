// Versions of workloads: what the API holds, what it shall hold, and the writes between the two.
//
// At most one write per workload is under way. While its outcome is open, quota stays claimed if either side
// of the write holds it, so that an unknown outcome can never let two workloads use the same quota.
#include <algorithm>

#include "base/assert.h"
#include "engine/engine_impl.h"
#include "engine/version.h"

namespace berth::engine {

using api::kueue::Workload;
using lifecycle::State;

namespace {

// A write that fails is tried again after 1, 2, 4, ... seconds, at most kMaxRetryDelay; after kMaxAttempts
// the decision is dropped and the workload waits kMaxRetryDelay, so that what the API server refuses for good
// does not keep quota.
constexpr int kMaxAttempts = 5;
constexpr std::chrono::seconds kMaxRetryDelay{60};
// How long a version that must exist may take to be seen. After that the write is tried again: should it
// conflict again, nothing is lost; should there be no such version, nothing else would ever come.
constexpr std::chrono::seconds kMaxAwait{10};

// What follows from the version that the API is known to hold.
void note_base(Tracked& t) {
  const State state = lifecycle::state_of(*t.base);
  if (state != State::kEvicting) {
    t.evicting_since.clear();
  } else if (t.evicting_since.empty()) {
    t.evicting_since = t.base->meta.resource_version;
  }
  // Checks start over: what was reported is about the reservation that is gone.
  if (state != State::kReserved && state != State::kAdmitted) t.check_reports.clear();
}

}  // namespace

void Engine::Impl::accept(Tracked& t, const Ptr<Workload>& seen) {
  // The echo of our own write must not undo what was decided since.
  const bool echo = t.base && t.base->meta.resource_version == seen->meta.resource_version;
  const bool decided_since = echo && t.now.status != t.base->status;
  if (!t.base || t.base->meta.generation != seen->meta.generation) t.asks.reset();
  t.base = seen;
  if (!decided_since) {
    if (t.now.status != seen->status) t.retell = true;
    t.now = *seen;
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

void Engine::Impl::forget(Tracked& t) {
  if (t.in_flight) writes.erase(t.in_flight->write);
  touch(t);
  nodes.forget(t.id);
  scheduler.leave(t.id);
  to_flush.erase(&t);
  due_second_passes.erase(&t);
  workloads.erase(t);
}

void Engine::Impl::write_done(Tracked& t, const InFlight& done, const std::string& version, Time now,
                              Effects& out) {
  t.failures = 0;
  t.retry_at.reset();
  for (const auto& event : done.events) out.push_back(event);
  if (done.deactivation) {
    // The new generation comes with the object.
    await(t, version, false, now);
  } else {
    auto written = std::make_shared<Workload>(*t.base);
    written->status = done.status;
    written->meta.resource_version = version;
    const auto decided = std::exchange(t.now.status, {});
    t.base = written;
    t.now = *written;
    t.now.status = decided;
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
    t.now.status = t.base->status;
    t.events.clear();
    t.retell = true;
  }
  t.retry_at = now + delay;
  // Had the write happened after all, its version would be newer: then that one counts.
  const auto newer = std::exchange(t.newer, nullptr);
  if (newer && older(t.base->meta.resource_version, newer->meta.resource_version)) {
    t.retry_at.reset();
    t.failures = 0;
    accept(t, newer);
  }
}

void Engine::Impl::flush(Tracked& t, Time now, Effects& out) {
  if (t.in_flight || !t.await_version.empty() || (t.retry_at && *t.retry_at > now)) return;
  t.retry_at.reset();
  const bool changed = t.now.status != t.base->status;
  if (!changed && !t.deactivate) {
    for (auto& event : t.events) out.push_back(std::move(event));
    t.events.clear();
    return;
  }
  InFlight write;
  write.write = ++last_write;
  write.events = std::exchange(t.events, {});
  writes[write.write] = &t;
  if (changed) {
    write.status = t.now.status;
    out.push_back(WriteWorkloadStatus{write.write, t.base, t.now.status});
  } else {
    t.deactivate = false;
    write.deactivation = true;
    write.status = t.base->status;
    out.push_back(DeactivateWorkload{write.write, t.base});
  }
  t.in_flight = std::move(write);
}

}  // namespace berth::engine
