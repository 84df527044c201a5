#include "jobs/pods/waiting.h"

#include "api/kueue/names.h"
#include "api/kueue/types.h"
#include "jobs/workload_steps.h"

namespace berth::jobs {
namespace {

using namespace api::kueue;

bool waits(const Workload& w) { return !w.meta.deletion && !finished(w) && !has_condition(w, kAdmitted); }

// The condition that says why a workload waits: for quota first, then for its checks. Null when it does not wait.
const api::Condition* what_is_missing(const Workload& w) {
  if (!waits(w)) return nullptr;
  const auto* reserved = api::find_condition(w.status.conditions, kQuotaReserved);
  if (reserved == nullptr) return nullptr;
  const auto* missing = reserved->status ? api::find_condition(w.status.conditions, kAdmitted) : reserved;
  return missing == nullptr || missing->status || missing->message.empty() ? nullptr : missing;
}

// A group that lost pods is evaluated again only when other pods have come. Until then, the former reason is out of
// date.
const api::Condition* missing_pods(const Workload& w) {
  if (!waits(w) || has_condition(w, kQuotaReserved)) return nullptr;
  const auto* pods = api::find_condition(w.status.conditions, kWaitingForReplacementPods);
  return pods != nullptr && pods->status ? pods : nullptr;
}

// Whether the condition is about a former spec, for example about the queue before.
bool is_stale(const Workload& w, const api::Condition& condition) {
  return condition.observed_generation != 0 && condition.observed_generation < w.meta.generation;
}

std::string text_of(const Workload& w, const api::Condition& missing) {
  if (w.queue_name.empty()) return "Waits for a queue: its label " + std::string(kQueueLabel) + " is not set";
  return "Waits in LocalQueue \"" + w.queue_name + "\": " + missing.message;
}

}  // namespace

std::optional<JobEvent> waiting_news(const WorkloadPtr& old, const WorkloadPtr& now) {
  if (const auto* pods = now ? missing_pods(*now) : nullptr) {
    if (old && missing_pods(*old) != nullptr) return std::nullopt;
    return JobEvent{true, pods->reason,
                    "The group waits for pods in the place of those that are gone: " + pods->message};
  }
  const auto* missing = now ? what_is_missing(*now) : nullptr;
  if (missing == nullptr) return std::nullopt;
  const auto* before = old && old->meta.uid == now->meta.uid ? what_is_missing(*old) : nullptr;
  if (before != nullptr && old->queue_name != now->queue_name) {
    if (*before == *missing) return std::nullopt;  // it was not evaluated in the other queue yet
    before = nullptr;
  }
  const bool same = before != nullptr && before->type == missing->type && before->reason == missing->reason;
  if (same && !is_stale(*old, *before)) return std::nullopt;
  return JobEvent{true, missing->reason, text_of(*now, *missing)};
}

}  // namespace berth::jobs
