#include "engine/lifecycle/scheduling.h"

#include <algorithm>
#include <chrono>

#include "engine/lifecycle/change.h"
#include "engine/lifecycle/words.h"

namespace berth::engine::lifecycle {
namespace {

// PodsScheduled, if it is about the present admission; else null.
const api::Condition* present(const WorkloadStatus& status) {
  const auto* admitted = api::find_condition(status.conditions, api::kueue::kAdmitted);
  const auto* scheduled = api::find_condition(status.conditions, api::kueue::kPodsScheduled);
  if (admitted == nullptr || !admitted->status || scheduled == nullptr) return nullptr;
  const bool known = scheduled->reason == (scheduled->status ? reason::kAllScheduled : reason::kWaitForScheduling);
  return known && scheduled->last_transition > admitted->last_transition ? scheduled : nullptr;
}

void report(WorkloadStatus& status, const WorkloadRef& w, bool all, Time now) {
  const auto* before = present(status);
  if (before != nullptr && before->status == all) return;
  // Newer than the admission also when both happen in the same second.
  const Time after_admission =
      api::find_condition(status.conditions, api::kueue::kAdmitted)->last_transition + std::chrono::seconds(1);
  api::remove_condition(status.conditions, api::kueue::kPodsScheduled);
  set(status, w, api::kueue::kPodsScheduled, all, all ? reason::kAllScheduled : reason::kWaitForScheduling,
      all ? message::kPodsScheduled : message::kPodsNotScheduled, std::max(now, after_admission));
}

WorkloadStatus with_scheduling(const WorkloadRef& w, const SchedulingSeen& seen, Time now) {
  WorkloadStatus status = w.status;
  const auto* before = present(status);
  const bool over = before != nullptr && before->status;
  if (!over && (before != nullptr || seen.any)) report(status, w, seen.all, now);
  const auto* ready = api::find_condition(status.conditions, api::kueue::kPodsReady);
  if (ready == nullptr || ready->status) return status;
  if (ready->reason == reason::kWaitForStart && waits_for_nodes(status)) {
    set_pods_ready(status, w, false, reason::kWaitForScheduling, message::kPodsNotScheduled, now);
  } else if (ready->reason == reason::kWaitForScheduling && !waits_for_nodes(status)) {
    set_pods_ready(status, w, false, reason::kWaitForStart, message::kPodsNotReady, now);
  }
  return status;
}

}  // namespace

bool waits_for_nodes(const WorkloadStatus& status) {
  const auto* scheduled = present(status);
  return scheduled != nullptr && !scheduled->status;
}

Result<Change> report_scheduling(const WorkloadRef& w, const SchedulingSeen& seen, Time now) {
  return close(Move::kReportPods, w, with_scheduling(w, seen, now));
}

bool says_anything_new(const WorkloadRef& w, const SchedulingSeen& seen, Time now) {
  return with_scheduling(w, seen, now) != w.status;
}

}  // namespace berth::engine::lifecycle
