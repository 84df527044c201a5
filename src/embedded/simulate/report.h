// Reports of a played scenario, as text and as JSON.
#pragma once

#include <string>

#include "base/json.h"
#include "embedded/simulate/play.h"

namespace berth::simulate {

// One line per workload (waited, evicted, finished), per flavor and resource (utilisation), and per LocalQueue and
// resource (its share), and the expectations that did not hold.
std::string to_table(const Scenario& scenario, const Played& played);
Json to_json(const Scenario& scenario, const Played& played);

// "2:30:00  language/large-model is evicted ...": the time is since the scenario's start.
std::string to_line(const Moment& moment, Time start);
std::string state_of(const Life& life);           // "Succeeded", "Failed", "Running" or "Waiting"
std::string format_since(Time when, Time start);  // "0:02:30"

}  // namespace berth::simulate
