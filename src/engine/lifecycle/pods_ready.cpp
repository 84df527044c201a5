#include "engine/lifecycle/pods_ready.h"

#include <algorithm>
#include <limits>
#include <string>

#include "api/kueue/ready_times.h"
#include "engine/lifecycle/scheduling.h"
#include "engine/lifecycle/words.h"

namespace berth::engine::lifecycle {
namespace {

// The times for a workload: its own where they are allowed (KEP-4803), else those of the Configuration.
WaitForPodsReady wait_of(const WorkloadRef& w, const WaitForPodsReady& wait) {
  const auto own =
      wait.times_of_workloads && !w.meta.annotations.empty() ? api::kueue::ready_times(w.meta) : std::nullopt;
  if (!own) return wait;
  WaitForPodsReady out = wait;
  out.enabled = true;
  out.timeout = own->timeout;
  out.recovery_timeout = own->recovery;
  return out;
}

// The running timeout: its start, its length, and the cause as the API names it.
struct Awaited {
  Time since;
  Duration limit;
  std::string_view cause;
};

std::optional<Awaited> awaited(const WorkloadRef& w, const WaitForPodsReady& general) {
  const WaitForPodsReady wait = wait_of(w, general);
  const auto* admitted = api::find_condition(w.status.conditions, api::kueue::kAdmitted);
  if (!wait.enabled || w.meta.deletion || admitted == nullptr || !admitted->status || state_of(w) != State::kAdmitted)
    return std::nullopt;
  const auto* ready = api::find_condition(w.status.conditions, api::kueue::kPodsReady);
  if (ready != nullptr && ready->status) return std::nullopt;
  if (ready == nullptr || ready->reason == reason::kWaitForStart)
    return Awaited{admitted->last_transition, wait.timeout, reason::kWaitForStart};
  if (ready->reason == reason::kWaitForScheduling) {
    if (!wait.limits_scheduling()) return Awaited{admitted->last_transition, wait.timeout, reason::kWaitForStart};
    const Duration limit = waits_for_nodes(w.status) ? std::min(*wait.unscheduled_timeout, wait.timeout) : wait.timeout;
    return Awaited{admitted->last_transition, limit, reason::kWaitForScheduling};
  }
  if (ready->reason == reason::kWaitForRecovery && wait.recovery_timeout > Duration(0))
    return Awaited{ready->last_transition, wait.recovery_timeout, reason::kWaitForRecovery};
  return std::nullopt;
}

}  // namespace

bool waits_for_pods_ready(const WorkloadRef& w, const WaitForPodsReady& wait) { return wait_of(w, wait).enabled; }

std::optional<Time> pods_ready_deadline(const WorkloadRef& w, const WaitForPodsReady& wait) {
  const auto a = awaited(w, wait);
  if (!a) return std::nullopt;
  // A deadline beyond the largest Time is none.
  return a->limit > Time::max() - a->since ? std::nullopt : std::optional(a->since + a->limit);
}

std::chrono::seconds requeue_pause(std::int32_t n, const WaitForPodsReady& wait) {
  std::int64_t pause = std::min(wait.backoff_base_seconds, wait.backoff_max_seconds);
  for (std::int32_t i = 1; i < n && pause > 0 && pause < wait.backoff_max_seconds; ++i)
    pause = std::min<std::int64_t>(pause * 2, wait.backoff_max_seconds);
  return std::chrono::seconds(pause);
}

Result<Change> evict_for_later(const WorkloadRef& w, Eviction why, const WaitForPodsReady& wait, Time now) {
  const std::int32_t before = w.status.requeue_state ? w.status.requeue_state->count.value_or(0) : 0;
  if (wait.backoff_limit_count && before >= *wait.backoff_limit_count)
    return mark_target(w, reason::kRequeuingLimitExceeded, message::kRequeuingLimit, std::nullopt, now);
  const std::int32_t count = before + (before < std::numeric_limits<std::int32_t>::max() ? 1 : 0);
  why.requeue = api::kueue::RequeueState{count, to_seconds(now) + requeue_pause(count, wait)};
  return evict(w, why, now);
}

Result<Change> time_out(const WorkloadRef& w, const WaitForPodsReady& wait, Time now) {
  const auto a = awaited(w, wait);
  return evict_for_later(w,
                         {std::string(reason::kPodsReadyTimeout), std::string(a ? a->cause : reason::kWaitForStart),
                          std::string(message::kPodsReadyTimeout) + api::object_key(w.meta)},
                         wait, now);
}

}  // namespace berth::engine::lifecycle
