// When workloads of a list are expected to start: what berth predict says, for as many as a list can wait for.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/time.h"
#include "cli/queues/session.h"
#include "cli/queues/workload_facts.h"

namespace berth::cli::queues {

inline constexpr std::size_t kMostExpectedStarts = 20;                  // workloads of one list that are asked about
inline constexpr Duration kLongestForStarts = std::chrono::seconds(2);  // no question is asked after that

// Cells of a table: a time, "after TIME" where it still waits at the end of what was played, "never" for what can never
// fit, "-" where nothing is known, "" where nothing was asked.
struct ExpectedStart {
  std::string p50, p90;
};
ExpectedStart expected_start(const Json& prediction);

// Adds to the explanation of a workload that waits when it is expected to start: "expectedStart", with "p50", "p90",
// "after", "never", "at", "summary", "restsOn" and "limit" of the prediction as far as it has them, or
// "expectedStartUnknown", why there is none. Nothing for a workload that is admitted.
void add_expected_start(Server& server, Json& explanation);
void add_expected_start(const Json& prediction, Json& explanation);
// What add_expected_start() added, as lines; "": nothing.
std::string expected_start_text(const Json& explanation);
// An item of "restsOn": what a prediction rests on, and of how many workloads.
std::string basis_text(const Json& basis);

// By namespace and name. Those that stand first in their queues are asked about; others that wait are left out, but for
// those that can never fit. When there is no answer at all, the reason goes to standard error.
std::map<std::pair<std::string, std::string>, ExpectedStart> expected_starts(const Session& session, Server& server,
                                                                             const JsonArray& workloads,
                                                                             const Positions& positions);

}  // namespace berth::cli::queues
