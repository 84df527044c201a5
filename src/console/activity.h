// The collection `rates`: what happened to workloads, per namespace and minute.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/time.h"
#include "console/collection.h"

namespace berth::console {

inline constexpr Duration kKeptActivity = std::chrono::hours(6);
inline constexpr std::size_t kMaxRateRows = 50'000;  // of all namespaces; the oldest minutes are dropped

// Events are counted in the minute in which the workload's status says they happened, so a new process knows the last
// hours of the workloads that still exist.
class Activity {
 public:
  explicit Activity(Collection& rates) : rates_(rates) {}  // must outlive it

  void workload_changed(const std::string& key, const Json* now, Time time);  // null: deleted
  void forget_old(Time time);

 private:
  enum What { kSubmitted, kAdmittedNow, kEvictedNow, kPreemptedNow, kFinishedNow, kWhats };
  using Counts = std::array<std::int64_t, kWhats>;
  // When each event of a workload was counted last; milliseconds, 0: never.
  using Seen = std::array<std::int64_t, kWhats>;

  void count(const std::string& ns, What what, std::int64_t at, Seen& seen, Time time);
  void show(std::int64_t minute, const std::string& ns, const Counts& counts);

  Collection& rates_;
  std::map<std::string, Seen> workloads_;
  std::map<std::pair<std::int64_t, std::string>, Counts> minutes_;  // by begin (ms) and namespace
};

}  // namespace berth::console
