#include "engine/lifecycle/state.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "engine/lifecycle/words.h"

namespace berth::engine::lifecycle {

using api::is_true;
using api::kueue::CheckState;
using api::kueue::WorkloadRef;
using api::kueue::WorkloadStatus;

namespace {

constexpr unsigned bit(State s) { return 1u << static_cast<unsigned>(s); }
constexpr unsigned kNoQuota = bit(State::kPending) | bit(State::kHeld) | bit(State::kInactive);
constexpr unsigned kHolds = bit(State::kReserved) | bit(State::kAdmitted) | bit(State::kEvicting);

struct Row {
  Move move;
  unsigned from, to;
};
constexpr std::array kTable{
    Row{Move::kNotePending, kNoQuota, kNoQuota},
    Row{Move::kReserve, bit(State::kPending), bit(State::kReserved) | bit(State::kAdmitted)},
    Row{Move::kAdmit, bit(State::kReserved), bit(State::kAdmitted)},
    Row{Move::kSyncChecks, kNoQuota | bit(State::kReserved), kNoQuota | bit(State::kReserved)},
    Row{Move::kEvict, bit(State::kReserved) | bit(State::kAdmitted), bit(State::kEvicting)},
    Row{Move::kEvict, bit(State::kInactive), bit(State::kInactive)},
    Row{Move::kRelease, bit(State::kEvicting), kNoQuota},
    Row{Move::kWithdraw, bit(State::kReserved), kNoQuota},
    Row{Move::kHoldBack, kNoQuota | bit(State::kReserved) | bit(State::kAdmitted), kNoQuota},
    Row{Move::kMarkTarget, bit(State::kReserved), bit(State::kReserved)},
    Row{Move::kMarkTarget, bit(State::kAdmitted), bit(State::kAdmitted)},
    Row{Move::kMarkTarget, bit(State::kEvicting), bit(State::kEvicting)},
    Row{Move::kMarkTarget, kNoQuota, bit(State::kHeld)},
    Row{Move::kRequeue, bit(State::kHeld), bit(State::kHeld) | bit(State::kPending)},
    Row{Move::kTidy, kNoQuota, kNoQuota},
    Row{Move::kTidy, bit(State::kEvicting), bit(State::kEvicting)},
    Row{Move::kReportPods, kNoQuota, kNoQuota},
    Row{Move::kReportPods, bit(State::kReserved), bit(State::kReserved)},
    Row{Move::kReportPods, bit(State::kAdmitted), bit(State::kAdmitted)},
    Row{Move::kReportPods, bit(State::kEvicting), bit(State::kEvicting)},
    Row{Move::kFinish, kNoQuota | kHolds, bit(State::kFinished)},
    Row{Move::kReportChecks, bit(State::kReserved), bit(State::kReserved)},
    Row{Move::kReportChecks, bit(State::kAdmitted), bit(State::kAdmitted)},
    Row{Move::kStayReserved, bit(State::kReserved), bit(State::kReserved)},
    Row{Move::kPlace, bit(State::kReserved), bit(State::kAdmitted)},
    Row{Move::kMarkNodes, bit(State::kAdmitted), bit(State::kAdmitted)},
    Row{Move::kReplaceNodes, bit(State::kAdmitted), bit(State::kAdmitted)},
    Row{Move::kSettle, kNoQuota | kHolds, kNoQuota},
    Row{Move::kSyncGates, kNoQuota, kNoQuota},
    Row{Move::kSyncGates, bit(State::kReserved), bit(State::kReserved)},
    Row{Move::kSyncGates, bit(State::kAdmitted), bit(State::kAdmitted)},
    Row{Move::kSyncGates, bit(State::kEvicting), bit(State::kEvicting)},
};

bool has_failed_check(const WorkloadStatus& status) {
  return std::ranges::any_of(status.admission_checks, [](const auto& c) {
    return c.state == CheckState::kRetry || c.state == CheckState::kRejected;
  });
}

}  // namespace

bool is_false(const api::Conditions& conditions, std::string_view type) {
  const auto* c = api::find_condition(conditions, type);
  return c != nullptr && !c->status && !c->unknown;
}

std::string_view name(State state) {
  constexpr std::array<std::string_view, 7> kNames{"Pending",  "Held",     "Inactive", "Reserved",
                                                   "Admitted", "Evicting", "Finished"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view name(Move move) {
  constexpr std::array<std::string_view, 20> kNames{
      "NotePending", "Reserve",   "Admit",        "SyncChecks", "Evict",     "Release",      "Withdraw",
      "MarkTarget",  "Requeue",   "Tidy",         "ReportPods", "Finish",    "ReportChecks", "StayReserved",
      "Place",       "MarkNodes", "ReplaceNodes", "Settle",     "SyncGates", "HoldBack"};
  return kNames[static_cast<std::size_t>(move)];
}

Hold hold_of(const WorkloadRef& w, const WorkloadStatus& status) {
  const auto& conditions = status.conditions;
  if (w.meta.deletion) return Hold::kDeleting;
  if (is_true(conditions, api::kueue::kDeactivationTarget)) return Hold::kDeactivationTarget;
  const auto gate = w.meta.annotations.find(kGatedByAnnotation);
  if (gate != w.meta.annotations.end() && !gate->second.empty()) return Hold::kGated;
  const auto* quota = api::find_condition(conditions, api::kueue::kQuotaReserved);
  if (quota != nullptr && !quota->status && quota->reason == reason::kOnHold) return Hold::kOnHold;
  if (is_true(conditions, api::kueue::kWaitingForReplacementPods)) return Hold::kReplacementPods;
  if (has_failed_check(status)) return Hold::kFailedChecks;
  if (is_false(conditions, api::kueue::kRequeued) || (status.requeue_state && status.requeue_state->requeue_at))
    return Hold::kRequeuedFalse;
  return Hold::kNone;
}

State state_of(const WorkloadRef& w, const WorkloadStatus& status) {
  const auto& conditions = status.conditions;
  if (is_true(conditions, api::kueue::kFinished)) return State::kFinished;
  if (is_true(conditions, api::kueue::kQuotaReserved)) {
    if (is_true(conditions, api::kueue::kEvicted)) return State::kEvicting;
    return is_true(conditions, api::kueue::kAdmitted) ? State::kAdmitted : State::kReserved;
  }
  if (!w.active) return State::kInactive;
  return hold_of(w, status) == Hold::kNone ? State::kPending : State::kHeld;
}

bool holds_quota(const WorkloadStatus& status) {
  return status.admission && is_true(status.conditions, api::kueue::kQuotaReserved) &&
         !is_true(status.conditions, api::kueue::kFinished);
}

bool allowed(Move move, State from, State to) {
  return std::ranges::any_of(kTable, [&](const Row& row) {
    return row.move == move && (row.from & bit(from)) != 0 && (row.to & bit(to)) != 0;
  });
}

}  // namespace berth::engine::lifecycle
