#include "engine/lifecycle/change.h"

#include <algorithm>
#include <limits>

#include "engine/lifecycle/words.h"

namespace berth::engine::lifecycle {

namespace {

void count_execution_time(WorkloadStatus& status, Time now) {
  const auto* admitted = api::find_condition(status.conditions, api::kueue::kAdmitted);
  if (admitted == nullptr || !admitted->status) return;
  const std::int64_t total =
      status.accumulated_past_execution_time_seconds.value_or(0) + seconds_since(admitted->last_transition, now);
  status.accumulated_past_execution_time_seconds =
      static_cast<std::int32_t>(std::min<std::int64_t>(total, std::numeric_limits<std::int32_t>::max()));
}

}  // namespace

std::string cut(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  std::size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // never inside a UTF-8 character
  return std::string(text.substr(0, end));
}

std::int64_t seconds_since(Time from, Time now) {
  if (now <= from) return 0;
  return std::chrono::floor<std::chrono::seconds>(now - from).count();
}

void set(WorkloadStatus& status, std::int64_t generation, std::string_view type, bool value, std::string_view reason,
         std::string_view message, Time now) {
  api::Condition c;
  c.type = type;
  c.status = value;
  c.reason = reason;
  c.message = cut(message, kMaxConditionMessage);
  c.last_transition = to_seconds(now);
  c.observed_generation = generation;
  api::set_condition(status.conditions, std::move(c));
}

void set(WorkloadStatus& status, const WorkloadRef& workload, std::string_view type, bool value,
         std::string_view reason, std::string_view message, Time now) {
  set(status, workload.meta.generation, type, value, reason, message, now);
}

void reset(WorkloadStatus& status, const WorkloadRef& workload, std::string_view type, Time now) {
  const auto* previous = api::find_condition(status.conditions, type);
  if (previous == nullptr || !previous->status) return;
  set(status, workload, type, false, reason::kQuotaReserved, "Previously: " + previous->message, now);
}

void unreserve(WorkloadStatus& status, const WorkloadRef& workload, std::string_view why, std::string_view message,
               Time now) {
  count_execution_time(status, now);
  status.admission.reset();
  status.unhealthy_nodes.clear();
  status.cluster_name.clear();
  status.nominated_cluster_names.clear();
  set(status, workload, api::kueue::kQuotaReserved, false, why, message, now);
  set(status, workload, api::kueue::kAdmitted, false, reason::kNoReservation, message::kNoReservation, now);
  if (api::find_condition(status.conditions, api::kueue::kPodsReady) != nullptr) wait_for_start(status, workload, now);
  if (api::is_true(status.conditions, api::kueue::kPodsScheduled))
    set(status, workload, api::kueue::kPodsScheduled, false, reason::kWaitForStart, message::kNoReservation, now);
}

void set_pods_ready(WorkloadStatus& status, const WorkloadRef& workload, bool ready, std::string_view why,
                    std::string_view message, Time now) {
  const auto* before = api::find_condition(status.conditions, api::kueue::kPodsReady);
  if (before != nullptr && before->status == ready && before->reason == why && before->message == message) return;
  set(status, workload, api::kueue::kPodsReady, ready, why, message, now);
}

void wait_for_start(WorkloadStatus& status, const WorkloadRef& workload, Time now) {
  if (workload.meta.owners.empty()) return;
  set_pods_ready(status, workload, false, reason::kWaitForStart, message::kPodsNotReady, now);
}

void keep_pods_ready(WorkloadStatus& status, const WorkloadStatus& before) {
  const auto* kept = api::find_condition(before.conditions, api::kueue::kPodsReady);
  api::remove_condition(status.conditions, api::kueue::kPodsReady);
  if (kept != nullptr) status.conditions.push_back(*kept);
}

Result<Change> close(Move move, const WorkloadRef& workload, WorkloadStatus status, std::vector<Note> notes) {
  const State from = state_of(workload);
  const State to = state_of(workload, status);
  if (!allowed(move, from, to)) {
    return fail("workload " + api::object_key(workload.meta) + ": " + std::string(name(move)) + " must not lead from " +
                std::string(name(from)) + " to " + std::string(name(to)));
  }
  return Change{move, std::move(status), std::move(notes)};
}

}  // namespace berth::engine::lifecycle
