// Helpers of the moves: set conditions, and check a finished move against the table of state.h.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "engine/lifecycle/moves.h"

namespace berth::engine::lifecycle {

// Cuts at most max_bytes, never inside a UTF-8 character. Kubernetes refuses longer condition messages.
inline constexpr std::size_t kMaxConditionMessage = 32 * 1024;
std::string cut(std::string_view text, std::size_t max_bytes);

// Sets a condition at `now` (in whole seconds, as Kubernetes stores it) with this observedGeneration; 0: without one.
void set(WorkloadStatus& status, std::int64_t generation, std::string_view type, bool value, std::string_view reason,
         std::string_view message, Time now);
// The same with the workload's generation.
void set(WorkloadStatus& status, const WorkloadRef& workload, std::string_view type, bool value,
         std::string_view reason, std::string_view message, Time now);
// If the condition is True: sets it to False with reason QuotaReserved and the message "Previously: ...".
void reset(WorkloadStatus& status, const WorkloadRef& workload, std::string_view type, Time now);

// QuotaReserved=False with all consequences: removes admission and unhealthyNodes, sets Admitted=False, adds the time
// since admission to accumulatedPastExecutionTimeSeconds, and resets an existing PodsReady, and PodsScheduled=True, to
// WaitForStart.
void unreserve(WorkloadStatus& status, const WorkloadRef& workload, std::string_view reason, std::string_view message,
               Time now);

// Sets PodsReady. A condition with the same status, reason and message is left unchanged, including its
// observedGeneration.
void set_pods_ready(WorkloadStatus& status, const WorkloadRef& workload, bool ready, std::string_view reason,
                    std::string_view message, Time now);
// PodsReady=False with reason WaitForStart; only for a workload that has an owner.
void wait_for_start(WorkloadStatus& status, const WorkloadRef& workload, Time now);
// Leaves PodsReady as it is in `before`: nobody waits for pods (Configuration: waitForPodsReady).
void keep_pods_ready(WorkloadStatus& status, const WorkloadStatus& before);

// Returns the change if the table allows the move from the present state to that of `status`; otherwise an error.
Result<Change> close(Move move, const WorkloadRef& workload, WorkloadStatus status, std::vector<Note> notes = {});

// As close(), for a move that admits: also sets Admitted=True and adds the Admitted event.
Result<Change> close_admitted(Move move, const WorkloadRef& workload, WorkloadStatus status,
                              std::string_view controller, Time now);

// Seconds, rounded down; never negative.
std::int64_t seconds_since(Time from, Time now);

}  // namespace berth::engine::lifecycle
