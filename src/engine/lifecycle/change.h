// Building blocks of the moves: setting a condition as this workload's, and closing a move against the table.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "engine/lifecycle/moves.h"

namespace berth::engine::lifecycle {

// Conditions and events are cut where Kubernetes would refuse them.
inline constexpr std::size_t kMaxConditionMessage = 32 * 1024;
std::string cut(std::string_view text, std::size_t max_bytes);

// As the API and events write it: "Pending".
std::string_view name(api::kueue::CheckState state);

// Sets a condition at `now` (whole seconds, as Kubernetes stores it), observed at the workload's generation.
void set(WorkloadStatus& status, const Workload& workload, std::string_view type, bool value,
         std::string_view reason, std::string_view message, Time now);
// A condition that is True becomes False with the reason QuotaReserved and says what it was.
void reset(WorkloadStatus& status, const Workload& workload, std::string_view type, Time now);

// QuotaReserved=False and all that goes with it: no admission, Admitted=False, the time it ran is added up.
void unreserve(WorkloadStatus& status, const Workload& workload, std::string_view reason,
               std::string_view message, Time now);

// PodsReady. One that says the same already stays as it is, generation included: the job did not look again.
void set_pods_ready(WorkloadStatus& status, const Workload& workload, bool ready, std::string_view reason,
                    std::string_view message, Time now);
// PodsReady=False/WaitForStart, for a workload whose job tells about its pods.
void wait_for_start(WorkloadStatus& status, const Workload& workload, Time now);

// The change, when the table allows the move.
Result<Change> close(Move move, const Workload& workload, WorkloadStatus status,
                     std::vector<Note> notes = {});

// The same for a move that admits: Admitted=True, and the event of it.
Result<Change> close_admitted(Move move, const Workload& workload, WorkloadStatus status, std::string_view controller, Time now);

// Seconds, rounded down; never negative.
std::int64_t seconds_since(Time from, Time now);

}  // namespace berth::engine::lifecycle
