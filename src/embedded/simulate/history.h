// What happened to each workload and to the quota over time, for reports: recorded by the observer, summed here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/amount.h"
#include "base/time.h"

namespace berth::simulate {

using FlavorResource = std::pair<std::string, std::string>;
using Usage = std::map<FlavorResource, Amount>;

// kStopping: evicted, still holds its quota. kInactive: it may not be admitted. kGone: finished or deleted.
enum class Phase : std::uint8_t { kWaiting, kReserved, kAdmitted, kStopping, kInactive, kGone };

struct PhaseChange {
  Time when{};
  std::size_t workload = 0;  // its place in the order of submission
  Phase phase = Phase::kWaiting;
  std::string cluster_queue;  // empty: it holds no quota
  Usage usage;                // from now on
};

struct NominalChange {
  Time when{};
  Usage total;  // sum over all ClusterQueues and Cohorts, from now on
};

// In order of time.
struct History {
  // The most changes of either kind. A story has thousands; what comes after the limit is dropped.
  static constexpr std::size_t kMostChanges = 1'000'000;

  std::vector<PhaseChange> changes;
  std::vector<NominalChange> nominal;
  bool complete = true;  // false: the limit was reached

  void add(PhaseChange change);
  void add(NominalChange change);
};

// Equal parts of the time of a story. `count`: at least 1.
class Periods {
 public:
  Periods(Time start, Time end, std::size_t count);
  std::size_t count() const { return count_; }
  Time begin(std::size_t period) const;
  // Adds to each period of [from, to) the average of `amount` over that period. `averages` has count() elements.
  void add(std::vector<double>& averages, Time from, Time to, double amount) const;

 private:
  Time start_, end_;
  std::size_t count_;
};

// The interval in which a workload did not change.
struct Stay {
  std::size_t workload = 0;
  Phase phase = Phase::kWaiting;
  Time from{}, to{};
  const PhaseChange* change = nullptr;  // that began it
};
// Ordered by workload, then time. Points into the history. Those of kGone are left out.
std::vector<Stay> stays(const History& history, Time end);

// What the workloads of one LocalQueue used in a ClusterQueue.
struct QueueShare {
  std::string cluster_queue, local_queue;  // the latter as "namespace/name"
  std::string resource;
  double used_seconds = 0;  // in units times seconds, as Amount counts
  double share = 0;         // of what all its LocalQueues used of it: 0 to 1
};
// Ordered by ClusterQueue, resource, LocalQueue. `queue_of`: the LocalQueue of each workload.
std::vector<QueueShare> queue_shares(const History& history, Time end, const std::vector<std::string>& queue_of);

}  // namespace berth::simulate
