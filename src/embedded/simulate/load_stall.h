// Explains why a load makes no progress and what the user can do about it.
#pragma once

#include <cstddef>
#include <string>

#include "base/time.h"
#include "embedded/simulate/load_play.h"

namespace berth::simulate {

struct LoadStall {
  LoadAs as = LoadAs::kJobs;
  Duration quiet{};        // time since the last submission, admission or finish
  Duration longest_run{};  // the longest runtime of all kinds of the load
  std::size_t submitted = 0;
  std::size_t workloads = 0;  // Workload objects that exist for them
  std::size_t admitted = 0, finished = 0;
  std::string reason;  // the most frequent reason of waiting workloads; empty: none
};

// Returns one or two sentences; empty while there is no reason to worry.
std::string stall_advice(const LoadStall& stall);

}  // namespace berth::simulate
