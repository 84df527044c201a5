// What berth watch tells of a job, as facts that change one by one. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace berth::cli::queues {

struct WatchFact {
  std::string topic;  // "Queue", "Position", "Wait", "Admission", "Eviction", "Pods", "End"; at most one fact of each
  std::string text;   // one line
  bool operator==(const WatchFact&) const = default;
};
using WatchFacts = std::vector<WatchFact>;  // in the order of the output

// `workload`: of kueue.x-k8s.io. `position`: in its local queue, from 1; nullopt: it is not known.
WatchFacts facts_of(const Json& workload, std::optional<std::int64_t> position);
// Of an admitted workload. `pods`: those of its job that have not ended.
WatchFact pods_fact(const Json& workload, const JsonArray& pods, const std::vector<std::string>& waits);
// Those of `now` that are new or differ.
WatchFacts changed(const WatchFacts& before, const WatchFacts& now);

// How a finished workload ended; nullopt: it has not finished.
enum class Ended : std::uint8_t { kSucceeded, kFailed };
std::optional<Ended> end_of(const Json& workload);

}  // namespace berth::cli::queues
