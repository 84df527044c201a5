// A rate limit (token bucket): a burst, and a number of events per second. Pure: the caller passes the time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace berth::http {

class Allowance {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Allowance(int burst, int per_second, Time now) : burst_(burst), per_second_(per_second), left_(burst), since_(now) {}

  // False: the limit is reached.
  bool spend(Time now) {
    const auto earned =
        std::chrono::duration_cast<std::chrono::milliseconds>(now - since_).count() * per_second_ / 1'000;
    if (earned > 0) {
      earn(earned);
      since_ = now;
    }
    if (left_ == 0) return false;
    --left_;
    return true;
  }
  void earn(std::int64_t count) { left_ = std::min<std::int64_t>(burst_, left_ + count); }

 private:
  std::int64_t burst_, per_second_, left_;
  Time since_;
};

}  // namespace berth::http
