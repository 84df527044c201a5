// How much of each resource the workloads of a journal held and waited for over time, by ClusterQueue and namespace.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace berth::journal {

// An amount times the hours for which it was held: core-hours of cpu; byte-hours of memory and storage; of anything
// else its units times hours, such as GPU-hours.
struct UsageLine {
  std::string cluster_queue;  // the last one of each workload; empty: it is not known
  std::string ns, resource;
  double used = 0;    // while quota was held, by the sizes of the admissions
  double waited = 0;  // while quota was waited for, by the requests of the pod templates
  double lost = 0;    // the part of `used` that ended with an eviction or a deactivation
  bool operator==(const UsageLine&) const = default;
};

struct Usage {
  Time from{}, to{};                 // what is counted
  std::vector<UsageLine> lines;      // by ClusterQueue, namespace, resource; those with something else than zero
  std::size_t workloads = 0;         // that are counted
  bool truncated = false;            // there are more than are kept in memory: the oldest are not counted
  std::size_t cut = 0;               // workloads whose oldest spans are missing, since there are too many
  std::vector<std::string> damaged;  // segments that could not be read whole, and why
};

struct UsagePeriod {
  Duration since{};          // this long before the end; at least zero
  Time until = Time::max();  // later than the last record of the journal: that record is the end
};

// Error: there is no journal in the directory, or it begins after `until`.
Result<Usage> usage_of(const std::string& directory, const UsagePeriod& period);

}  // namespace berth::journal
