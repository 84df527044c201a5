// The collection `series`: how much of each flavor's quota was used, sampled over the last hours.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "base/time.h"
#include "console/collection.h"

namespace berth::console {

inline constexpr Duration kSampleEvery = std::chrono::seconds(10);
inline constexpr std::size_t kMaxSamples = 2'160;  // six hours

class UsageSeries {
 public:
  explicit UsageSeries(Collection& series) : series_(series) {}  // must outlive it

  void queue_changed(const std::string& key, const Json* now);  // null: deleted
  void sample(Time time);

 private:
  struct Quota {
    std::int64_t used = 0, nominal = 0;
  };
  using Quotas = std::map<std::pair<std::string, std::string>, Quota>;  // by flavor and resource

  Collection& series_;
  std::map<std::string, Quotas> queues_;
  std::deque<std::string> keys_;  // of the samples, the oldest first
};

}  // namespace berth::console
