// A load that stands still: why, and what its user can do about it.
#pragma once

#include <cstddef>
#include <string>

#include "base/time.h"
#include "simulate/load_play.h"

namespace berth::simulate {

struct LoadStall {
  LoadAs as = LoadAs::kJobs;
  Duration quiet{};        // nothing was submitted, admitted or finished for so long
  Duration longest_run{};  // of all that were submitted
  std::size_t submitted = 0;
  std::size_t workloads = 0;  // of them that exist
  std::size_t admitted = 0, finished = 0;
  std::string reason;  // what most of those that wait say; empty: nothing
};

// One or two sentences; empty while there is nothing to worry about.
std::string stall_advice(const LoadStall& stall);

}  // namespace berth::simulate
