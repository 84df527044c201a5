// In which state a workload is, and which moves lead from one state to another: one table for all of them.
//
// A state is never stored. It follows from the workload's spec and status, so that an engine that starts
// anew, a second leader and a test all read the same state from the same object.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "api/kueue/types.h"

namespace berth::engine::lifecycle {

enum class State : std::uint8_t {
  kPending,   // may be given quota
  kHeld,      // has no quota and waits for something other than quota: see hold_of()
  kInactive,  // spec.active is false and no quota is held
  kReserved,  // holds quota, some admission check is not ready
  kAdmitted,  // holds quota and may run
  kEvicting,  // holds quota until its job has stopped
  kFinished,  // over; holds nothing
};
std::string_view name(State state);

// Why a workload without quota stays out of the queue, although it is active.
enum class Hold : std::uint8_t {
  kNone,
  kGated,            // annotation kueue.x-k8s.io/admission-gated-by is not empty
  kRequeuedFalse,    // condition Requeued is False: waits for a back-off, a restart or a reactivation
  kOnHold,           // QuotaReserved=False with reason OnHold: its owner holds it (scaled to zero)
  kReplacementPods,  // condition WaitingForReplacementPods is True
  kFailedChecks,  // an admission check says Retry or Rejected: it starts over, or the workload is deactivated
  kDeactivationTarget,  // condition DeactivationTarget is True: spec.active becomes false next
  kDeleting,            // the object has a deletion timestamp
};
// The workload's own status, or another one that it may get.
Hold hold_of(const api::kueue::Workload& workload, const api::kueue::WorkloadStatus& status);
inline Hold hold_of(const api::kueue::Workload& workload) { return hold_of(workload, workload.status); }
State state_of(const api::kueue::Workload& workload, const api::kueue::WorkloadStatus& status);
inline State state_of(const api::kueue::Workload& workload) { return state_of(workload, workload.status); }

// Quota is held from QuotaReserved=True until it is taken back, unless the workload finished. Eviction alone
// frees nothing.
bool holds_quota(const api::kueue::WorkloadStatus& status);

// The moves. Each is one function in moves.h.
enum class Move : std::uint8_t {
  kNotePending,   // says why there is no quota yet
  kReserve,       // takes quota
  kAdmit,         // all admission checks are ready
  kSyncChecks,    // the list of admission checks follows the queue's rules
  kEvict,         // asks the job to stop; without quota there is nothing to stop
  kRelease,       // the job stopped: gives the quota back
  kWithdraw,      // gives quota back that was never used
  kMarkTarget,    // asks for spec.active=false
  kRequeue,       // may be queued again
  kTidy,          // drops marks that have served: DeactivationTarget, requeueState
  kReportPods,    // readiness and reclaimable pods
  kFinish,        // the job ended
  kReportChecks,  // what the controllers of admission checks found out
  kStayReserved,  // says what is missing to be admitted
  kPlace,         // the places that were delayed are given, and with them it is admitted
  kMarkNodes,     // which of its nodes failed
  kReplaceNodes,  // the pods that were on failed nodes have other places
  kSettle,        // another client removed the reservation or the admission, but not both: removes the other one too
  kSyncGates,     // the list of preemption gates follows the spec
};
std::string_view name(Move move);

// Whether `move` may be made in `from`, and lead to `to`.
bool allowed(Move move, State from, State to);

}  // namespace berth::engine::lifecycle
