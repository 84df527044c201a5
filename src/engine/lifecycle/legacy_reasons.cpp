#include "engine/lifecycle/legacy_reasons.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "engine/lifecycle/words.h"

namespace berth::engine::lifecycle {

using api::kueue::CheckState;

namespace {

constexpr std::string_view kPending = "Pending", kWaiting = "Waiting";
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kWords{{
    {reason::kPendingEvaluation, kPending},
    {reason::kNoMatchingFlavor, kPending},
    {reason::kWaitingForQuota, kPending},
    {reason::kExceedsMaxQuota, kPending},
    {reason::kTopologyPlacementFailed, kPending},
    {reason::kWaitingForPreempted, kPending},
    {reason::kMisconfigured, reason::kInadmissible},
    {reason::kDevicesUnresolved, reason::kInadmissible},
    {reason::kSuspended, reason::kInadmissible},
    {reason::kWaitingForPodsReady, kWaiting},
}};

// The reason of Admitted=False.
std::string_view what_is_missing(const WorkloadStatus& status) {
  const bool reserved = api::is_true(status.conditions, api::kueue::kQuotaReserved);
  const bool ready =
      std::ranges::all_of(status.admission_checks, [](const auto& check) { return check.state == CheckState::kReady; });
  if (reserved) return "UnsatisfiedChecks";
  return ready ? reason::kNoReservation : std::string_view("NoReservationUnsatisfiedChecks");
}

}  // namespace

std::string_view legacy_reason(std::string_view granular) {
  const auto* found = std::ranges::find(kWords, granular, &std::pair<std::string_view, std::string_view>::first);
  return found == kWords.end() ? granular : found->second;
}

void report_legacy_reasons(Change& change, const WorkloadStatus& before) {
  auto& conditions = change.status.conditions;
  const auto rename = [](std::string& reason) { reason = std::string(legacy_reason(reason)); };
  for (api::Condition& condition : conditions) {
    if (condition.type == api::kueue::kQuotaReserved && !condition.status) rename(condition.reason);
    if (condition.type == api::kueue::kAdmitted && !condition.status) condition.reason = what_is_missing(change.status);
  }
  const auto* admitted = api::find_condition(conditions, api::kueue::kAdmitted);
  if (admitted != nullptr && !admitted->status &&
      api::find_condition(before.conditions, api::kueue::kAdmitted) == nullptr)
    api::remove_condition(conditions, api::kueue::kAdmitted);
  for (Note& note : change.notes) {
    if (note.warning) rename(note.reason);
  }
}

}  // namespace berth::engine::lifecycle
