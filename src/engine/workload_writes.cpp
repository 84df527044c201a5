#include "engine/workload_writes.h"

#include <algorithm>
#include <chrono>
#include <utility>

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
  if (state != State::kReserved && state != State::kAdmitted) {
    t.check_reports.clear();
    t.clusters.reset();
  }
}

// The statuses differ only in words that lead to no decision: why a workload without quota waits, or whether the pods
// of a workload with quota are ready. Deadlines count from what is decided, whether or not it is written yet.
bool only_reports(const WorkloadStatus& base, const WorkloadStatus& now) {
  if (base.admission.has_value() != now.admission.has_value()) return false;
  const bool holds = base.admission.has_value();
  const auto without_words = [holds](WorkloadStatus status) {
    if (!holds) status.resource_requests.clear();
    std::erase_if(status.conditions, [holds](const api::Condition& c) {
      if (holds) return c.type == api::kueue::kPodsReady || c.type == api::kueue::kPodsScheduled;
      return !c.status && (c.type == api::kueue::kQuotaReserved || c.type == api::kueue::kAdmitted ||
                           c.type == api::kueue::kPodsReady);
    });
    return status;
  };
  return without_words(base) == without_words(now);
}

}  // namespace

WorkloadWrites::WorkloadWrites(const WorkloadWrites& other, TrackedWorkloads& workloads, Census& census,
                               Messages& messages)
    : workloads_(workloads),
      census_(census),
      messages_(messages),
      last_write_(other.last_write_),
      wanted_(workloads.same(other.wanted_)) {
  for (const auto& [write, t] : other.in_flight_)
    in_flight_.emplace_hint(in_flight_.end(), write, workloads.find(t->id));
}

void WorkloadWrites::accept(Tracked& t, const Ptr<Workload>& seen) {
  // The echo of our own write must not undo what was decided after it.
  const bool echo = t.base && t.base->meta.resource_version == seen->meta.resource_version;
  const bool decided_since = echo && t.now.differs();
  const bool is_new = !t.base;
  if (is_new || t.base->meta.generation != seen->meta.generation) t.requests.reset();
  t.base = seen;
  if (!decided_since) {
    if (is_new || t.now.status() != seen->status) t.report_again = true;
    t.now.follow(seen);
    census_.recount(t);
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
  workloads_.mark(t);
}

void WorkloadWrites::see(Tracked& t, const Ptr<Workload>& seen) {
  if (older(seen->meta.resource_version, t.base->meta.resource_version)) return;
  if (!t.in_flight) {
    accept(t, seen);
  } else if (!t.newer || older(t.newer->meta.resource_version, seen->meta.resource_version)) {
    t.newer = seen;
  }
}

Tracked* WorkloadWrites::settle(const WriteSettled& e, Time now, Effects& out) {
  const auto it = in_flight_.find(e.write);
  if (it == in_flight_.end()) return nullptr;  // its workload is gone
  Tracked& t = *it->second;
  in_flight_.erase(it);
  InFlight write = std::move(*t.in_flight);
  t.in_flight.reset();
  messages_.write_settled(write.kind, now);
  workloads_.mark(t);
  if (e.outcome != WriteSettled::Outcome::kDone) {
    // The events belong to the status, which may be written again.
    t.events.insert(t.events.begin(), write.events.begin(), write.events.end());
  }
  switch (e.outcome) {
    case WriteSettled::Outcome::kDone:
      done(t, write, e.resource_version, now, out);
      break;
    case WriteSettled::Outcome::kConflict:
      conflicted(t, now);
      break;
    case WriteSettled::Outcome::kFailed:
      failed(t, now);
      break;
    case WriteSettled::Outcome::kGone:
      return &t;
  }
  return nullptr;
}

void WorkloadWrites::forget(Tracked& t, Time now) {
  if (t.in_flight) {
    in_flight_.erase(t.in_flight->write);
    messages_.write_settled(t.in_flight->kind, now);
  }
  messages_.reported(t);
  wanted_.erase(&t);
}

void WorkloadWrites::done(Tracked& t, const InFlight& write, const std::string& version, Time now, Effects& out) {
  t.failures = 0;
  t.retry_at.reset();
  for (const auto& event : write.events) out.push_back(event);
  if (write.deactivation) {
    // The object with its new generation arrives as an event.
    await(t, version, false, now);
  } else {
    auto written = std::make_shared<Workload>(*t.base);
    written->status = write.status;
    written->meta.resource_version = version;
    auto decided = t.now.status();
    t.base = written;
    t.now.follow(written);
    if (decided != written->status) t.now.decide(std::move(decided));
    census_.recount(t);
    note_base(t);
  }
  const auto newer = std::exchange(t.newer, nullptr);
  if (newer && !older(newer->meta.resource_version, t.base->meta.resource_version)) accept(t, newer);
}

void WorkloadWrites::conflicted(Tracked& t, Time now) {
  await(t, t.base->meta.resource_version, true, now);
  const auto newer = std::exchange(t.newer, nullptr);
  if (newer) accept(t, newer);
}

void WorkloadWrites::await(Tracked& t, const std::string& version, bool newer, Time now) {
  t.await_version = version;
  t.await_newer = newer;
  t.await_until = now + kMaxAwait;
}

void WorkloadWrites::stop_awaiting(Tracked& t, Time now) {
  if (!t.await_until || *t.await_until > now) return;
  t.await_version.clear();
  t.await_until.reset();
}

void WorkloadWrites::failed(Tracked& t, Time now) {
  ++t.failures;
  auto delay = kMaxRetryDelay;
  if (t.failures < kMaxAttempts) {
    delay = std::min(std::chrono::seconds(1 << (t.failures - 1)), kMaxRetryDelay);
  } else {
    t.failures = 0;
    t.now.follow(t.base);
    census_.recount(t);
    t.events.clear();
    t.report_again = true;
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

bool WorkloadWrites::busy(const Tracked& t, Time now) {
  return t.in_flight || !t.await_version.empty() || (t.retry_at && *t.retry_at > now);
}

// A decided status that is not written may be the one of a write with an unknown outcome: the API may hold it.
bool WorkloadWrites::settled(const Tracked& t) {
  if (t.in_flight || !t.await_version.empty()) return false;
  return !t.now.differs() || only_reports(t.base->status, t.now.status());
}

void WorkloadWrites::flush(Tracked& t, Time now, Effects& out, std::optional<WriteKind> its_turn) {
  if (busy(t, now)) return;
  t.retry_at.reset();
  if (t.unreported_reason) messages_.report_later(t, now);
  const bool changed = t.now.differs();
  if (!changed && !t.deactivate) {
    t.now.follow(t.base);
    if (!t.unreported_reason) messages_.reported(t);
    for (auto& event : t.events) out.push_back(std::move(event));
    t.events.clear();
    return;
  }
  const bool message = changed && !t.deactivate && only_reports(t.base->status, t.now.status());
  if (message && !its_turn && messages_.must_wait(t, now)) return messages_.report_later(t, now);
  const WriteKind kind = !message ? WriteKind::kDecision : its_turn.value_or(Messages::kind_of(t, now));
  if (!t.unreported_reason) messages_.reported(t);
  messages_.write_began(kind, now);
  begin(t, kind, changed, out);
}

void WorkloadWrites::begin(Tracked& t, WriteKind kind, bool changed, Effects& out) {
  InFlight& write = t.in_flight.emplace();
  write.write = ++last_write_;
  write.kind = kind;
  write.events = std::exchange(t.events, {});
  in_flight_[write.write] = &t;
  if (changed) {
    write.status = t.now.status();
    out.push_back(WriteWorkloadStatus{write.write, t.base, t.now.status()});
  } else {
    t.deactivate = false;
    write.deactivation = true;
    write.status = t.base->status;
    out.push_back(DeactivateWorkload{write.write, t.base});
  }
}

}  // namespace berth::engine
