// What came of a scenario, for people and for machines.
#pragma once

#include <string>

#include "base/json.h"
#include "simulate/play.h"

namespace berth::simulate {

// A line per workload (waited, ran, evicted), a line per flavor and resource (utilisation), and what was not
// as expected.
std::string to_table(const Scenario& scenario, const Played& played);
Json to_json(const Scenario& scenario, const Played& played);

// "02:30:00  language/large-model  is evicted ..." since the scenario's start.
std::string to_line(const Moment& moment, Time start);
std::string format_since(Time when, Time start);  // "0:02:30"

}  // namespace berth::simulate
