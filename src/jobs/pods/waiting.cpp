#include "jobs/pods/waiting.h"

#include "api/kueue/types.h"
#include "jobs/workload_steps.h"

namespace berth::jobs {
namespace {

using namespace api::kueue;

// The condition that says why a workload waits: for quota first, then for its checks. Null when it does not wait.
const api::Condition* what_is_missing(const Workload& w) {
  if (w.meta.deletion || finished(w) || has_condition(w, kAdmitted)) return nullptr;
  const auto* reserved = api::find_condition(w.status.conditions, kQuotaReserved);
  if (reserved == nullptr) return nullptr;
  const auto* missing = reserved->status ? api::find_condition(w.status.conditions, kAdmitted) : reserved;
  return missing == nullptr || missing->status || missing->message.empty() ? nullptr : missing;
}

}  // namespace

std::optional<JobEvent> waiting_news(const WorkloadPtr& old, const WorkloadPtr& now) {
  const auto* missing = now ? what_is_missing(*now) : nullptr;
  if (missing == nullptr) return std::nullopt;
  const auto* before = old && old->meta.uid == now->meta.uid ? what_is_missing(*old) : nullptr;
  if (before != nullptr && before->type == missing->type && before->reason == missing->reason) return std::nullopt;
  return JobEvent{true, missing->reason, "Waits in LocalQueue \"" + now->queue_name + "\": " + missing->message};
}

}  // namespace berth::jobs
