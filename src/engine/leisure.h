// Rate limit for messages: status writes that only say why a workload still waits. Decisions go first: while
// decisions are being written, messages are limited to a token bucket; otherwise only the number in flight is
// limited. So a message comes at once where few workloads wait, and thousands of workloads that wait for a few seconds
// do not cost the API server one write each.
#pragma once

#include <chrono>

#include "base/time.h"

namespace berth::engine {

class Leisure {
 public:
  // Returns whether a message may be written now.
  bool may(Time now);
  // The earliest time at which may() can become true, unless a write settles before.
  Time next(Time now);

  // Call when a write begins and when it settles. A message may begin only after may() returned true.
  void began(bool message, Time now);
  void settled(bool message, Time now);

 private:
  static constexpr int kAtOnce = 50;                                 // size of the token bucket
  static constexpr int kInFlight = 16;                               // messages in flight
  static constexpr Duration kEach = std::chrono::milliseconds(100);  // one token is added per this interval
  // no decision was written for this long: the bucket does not limit
  static constexpr Duration kQuiet = std::chrono::seconds(2);

  void refill(Time now);
  bool quiet(Time now) const { return decisions_ == 0 && now - decided_ >= kQuiet; }

  int saved_ = kAtOnce;
  Time refilled_{};
  int messages_ = 0, decisions_ = 0;  // in flight
  Time decided_{};
};

}  // namespace berth::engine
