// What the commands want to know of a workload.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/time.h"
#include "cli/queues/session.h"

namespace berth::cli::queues {

enum class WorkloadState { kPending, kQuotaReserved, kAdmitted, kFinished };
WorkloadState state_of(const Json& workload);
std::string_view to_text(WorkloadState state);  // "PENDING", ...

// Why it waits, as the controller tells; "" when it does not wait.
std::string why_it_waits(const Json& workload);

// How long it has been admitted, until it finished.
std::optional<Duration> execution_time(const Json& workload, Time now);

// The job that owns it; null when none does. With several owners (pods of a group) the first one, unless one of them
// is its controller.
const Json* owner_of(const Json& workload);

// The object has this workload: it owns it, or the label with the job's uid names it.
bool belongs_to(const Json& workload, const Json& object);

// Positions in local queues, by namespace and name of the workload. 0 is the next one.
using Positions = std::map<std::pair<std::string, std::string>, std::int64_t>;
// Asks for the positions in one local queue, and adds them. Returns why they are not known, "" when they are.
std::string add_positions(Server& server, const std::string& ns, const std::string& local_queue, Positions& positions);

}  // namespace berth::cli::queues
