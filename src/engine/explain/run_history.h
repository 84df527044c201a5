// How long workloads ran: a bounded record of finished workloads, in groups from narrow to wide, and what it says of
// the run time of another workload. And which workloads arrived lately.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "api/kueue/workload_ref.h"
#include "base/time.h"
#include "engine/events.h"
#include "engine/explain/arrivals.h"

namespace berth::engine {

// Which finished workloads a run time comes from.
enum class RunGroup : std::uint8_t {
  kShape,       // the same LocalQueue, kind of job, and pod sets with these counts and requests
  kKind,        // the same LocalQueue and kind of job
  kLocalQueue,  // the same LocalQueue
  kAll,
};
inline constexpr std::size_t kRunGroups = 4;

class RunHistory {
 public:
  static constexpr std::size_t kMostTimes = 64;      // of one group: the latest
  static constexpr std::size_t kMostGroups = 4'096;  // of all; those that were not needed for longest are forgotten
  static constexpr std::size_t kEnough = 3;          // a group with fewer gives way to a wider one that has them

  // Counts a workload that finished after it had been admitted: Succeeded or Failed, once per UID. Of all others it
  // notes that they arrived.
  void see(const api::kueue::WorkloadRef& workload);
  // What an event of the engine says about workloads and their LocalQueues. Of other events nothing is noted.
  void note(const Event& event);

  struct Times {
    RunGroup group = RunGroup::kAll;
    std::string name;              // of the group
    std::vector<Duration> sorted;  // empty: nothing is known
  };
  // Of the narrowest group with enough of them, or else of the widest.
  Times times_of(const api::kueue::WorkloadRef& workload) const;

  const ArrivalHistory& arrivals() const { return arrivals_; }

  std::size_t seen() const { return seen_; }  // workloads that were counted
  std::size_t groups() const { return groups_.size(); }

 private:
  struct Group {
    std::vector<Duration> times;  // a ring
    std::size_t next = 0;
    std::uint64_t used = 0;  // the number of the workload that was added last
  };
  void forget_old_groups();

  ArrivalHistory arrivals_;
  std::map<std::string, Group, std::less<>> groups_;
  std::unordered_set<std::uint64_t> counted_;  // hashes of UIDs; never iterated
  std::deque<std::uint64_t> counted_order_;
  std::uint64_t seen_ = 0;
};

// A number that is always the same for this text, and spread over all values.
std::uint64_t spread(std::string_view text);

}  // namespace berth::engine
