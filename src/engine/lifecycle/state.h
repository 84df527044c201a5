// The state of a workload, and the table of moves from one state to another.
//
// A state is never stored. It follows from the workload's spec and status, so an engine after a restart, a second
// leader and a test read the same state from the same object.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "api/kueue/workload_ref.h"

namespace berth::engine::lifecycle {

enum class State : std::uint8_t {
  kPending,   // may get quota
  kHeld,      // has no quota and waits for something other than quota: see hold_of()
  kInactive,  // spec.active is false and it holds no quota
  kReserved,  // holds quota; not all admission checks are ready, or places are delayed
  kAdmitted,  // holds quota and may run
  kEvicting,  // holds quota until its job has stopped
  kFinished,  // Finished=True; holds nothing
};
std::string_view name(State state);

// Why an active workload without quota is not in the queue.
enum class Hold : std::uint8_t {
  kNone,
  kGated,  // annotation kueue.x-k8s.io/admission-gated-by is not empty
  // condition Requeued is False, or requeueState.requeueAt is set: waits for a back-off, a restart or a reactivation
  kRequeuedFalse,
  kOnHold,           // QuotaReserved=False with reason OnHold: its owner holds it back (scaled to zero)
  kReplacementPods,  // condition WaitingForReplacementPods is True
  kFailedChecks,     // an admission check says Retry or Rejected: the checks are reset, or the workload is deactivated
  kDeactivationTarget,  // condition DeactivationTarget is True: spec.active becomes false next
  kDeleting,            // the object has a deletion timestamp
};
// By the workload's own status, or by the given one.
Hold hold_of(const api::kueue::WorkloadRef& workload, const api::kueue::WorkloadStatus& status);
inline Hold hold_of(const api::kueue::WorkloadRef& workload) { return hold_of(workload, workload.status); }
State state_of(const api::kueue::WorkloadRef& workload, const api::kueue::WorkloadStatus& status);
inline State state_of(const api::kueue::WorkloadRef& workload) { return state_of(workload, workload.status); }

// Whether the condition is False. An Unknown condition is neither True nor False; only other clients write it.
bool is_false(const api::Conditions& conditions, std::string_view type);

// Quota is held from QuotaReserved=True until it is released, unless the workload finished. An eviction alone frees
// nothing.
bool holds_quota(const api::kueue::WorkloadStatus& status);

// The moves. Each is one function in moves.h.
enum class Move : std::uint8_t {
  kNotePending,   // sets why there is no quota yet
  kReserve,       // takes quota
  kAdmit,         // all admission checks are ready
  kSyncChecks,    // makes the list of admission checks follow the queue's rules
  kEvict,         // asks the job to stop; without quota it completes at once
  kRelease,       // the job stopped: gives the quota back
  kWithdraw,      // gives quota back that was never used
  kMarkTarget,    // asks for spec.active=false
  kRequeue,       // may be queued again
  kTidy,          // removes fields no longer needed: DeactivationTarget, requeueState
  kReportPods,    // sets readiness and reclaimable pods
  kFinish,        // the job ended
  kReportChecks,  // results of admission check controllers
  kStayReserved,  // sets what is missing to be admitted
  kPlace,         // sets the delayed topology assignments, and admits
  kMarkNodes,     // lists the failed nodes
  kReplaceNodes,  // gives the pods of failed nodes other places
  kSettle,        // another client removed only one of reservation and admission: removes the other one
  kSyncGates,     // makes the list of preemption gates follow the spec
  kHoldBack,      // its owner holds it back: gives quota back without an eviction, and is not queued
};
std::string_view name(Move move);

// Whether the table lists `move` from state `from` to state `to`.
bool allowed(Move move, State from, State to);

}  // namespace berth::engine::lifecycle
