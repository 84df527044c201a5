#include "volcano/group_status.h"

#include <algorithm>
#include <utility>

#include "api/core/devices.h"
#include "api/meta.h"

namespace berth::volcano {
namespace {

using api::volcano::PodGroupCondition;
using api::volcano::PodGroupPhase;
using api::volcano::PodGroupStatus;

// Adds, changes or leaves the condition.
void set(PodGroupStatus& status, PodGroupCondition condition) {
  const auto it = std::ranges::find(status.conditions, condition.type, &PodGroupCondition::type);
  if (it == status.conditions.end()) {
    status.conditions.push_back(std::move(condition));
    return;
  }
  condition.transition_id = it->transition_id;
  if (it->status == condition.status) condition.last_transition = it->last_transition;
  if (*it != condition) *it = std::move(condition);
}

}  // namespace

bool waits(PodGroupPhase phase) { return phase == PodGroupPhase::kNone || phase == PodGroupPhase::kPending; }

PodGroupStatus status_by_duty(const api::volcano::PodGroup& group, const GroupDuty& duty, const std::string& obstacle,
                              const api::kueue::WorkloadStatus* minimum, Time now) {
  PodGroupStatus status = group.status;
  if (duty.phase) status.phase = *duty.phase;
  PodGroupCondition condition;
  condition.type = kUnschedulable;
  condition.last_transition = now;
  if (!waits(status.phase)) {
    const bool let_in = duty.phase == PodGroupPhase::kInqueue;
    const bool waited =
        std::ranges::any_of(status.conditions, [](const auto& c) { return c.type == kUnschedulable && c.status; });
    condition.reason = "QuotaReserved";
    if (let_in && waited) set(status, std::move(condition));
    return status;
  }
  condition.status = true;
  condition.message = obstacle;
  condition.reason = condition.message.empty()            ? "NotEnoughResources"
                     : obstacle == api::kUncountedDevices ? kMisconfigured
                                                          : kQueueTakesNoWork;
  if (condition.message.empty() && minimum != nullptr) {
    const auto* reserved = api::find_condition(minimum->conditions, api::kueue::kQuotaReserved);
    if (reserved != nullptr && !reserved->status) condition.message = reserved->message;
  }
  if (!condition.message.empty()) set(status, std::move(condition));
  return status;
}

}  // namespace berth::volcano
