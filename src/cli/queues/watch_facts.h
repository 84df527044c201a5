// What berth watch tells of a job, as facts that change one by one. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace berth::cli::queues {

struct WatchFact {
  // "Queue", "Position", "Wait", "Admission", "Eviction", "Pods", "Growth", "End"; at most one fact of each.
  std::string topic;
  std::string text;  // one line
  bool operator==(const WatchFact&) const = default;
};
using WatchFacts = std::vector<WatchFact>;  // in the order of the output

// `workload`: of kueue.x-k8s.io. `position`: in its local queue, from 1; nullopt: it is not known.
WatchFacts facts_of(const Json& workload, std::optional<std::int64_t> position);
// Of an admitted workload. `pods`: those of its job that have not ended.
WatchFact pods_fact(const Json& workload, const JsonArray& pods, const std::vector<std::string>& waits);
// Of the workloads of one job the one to follow: one with quota, or one that waits, or one that ended for good; the
// last of these. Null: there is none.
Json main_workload(const JsonArray& workloads);
// That one of `workloads` waits to take the place of `current`, since the elastic job grows; nullopt: none does.
std::optional<WatchFact> growth_fact(const Json& current, const JsonArray& workloads);
// Those of `now` that are new or differ.
WatchFacts changed(const WatchFacts& before, const WatchFacts& now);

// How a finished workload ended; nullopt: it has not finished.
enum class Ended : std::uint8_t { kSucceeded, kFailed };
std::optional<Ended> end_of(const Json& workload);

}  // namespace berth::cli::queues
