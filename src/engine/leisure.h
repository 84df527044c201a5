// When messages that decide nothing may be written: why a workload still waits. Decisions go first: while they are being made,
// messages trickle; otherwise they follow at once, some at a time. A person with a few workloads never waits for a message, and
// thousands that wait for seconds only cost the API server no write each.
#pragma once

#include <chrono>

#include "base/time.h"

namespace berth::engine {

class Leisure {
 public:
  // Whether a message may be written now.
  bool may(Time now);
  // When, if nothing settles before: not before this.
  Time next(Time now);

  // Writes begin and end; of messages only after may().
  void began(bool message, Time now);
  void settled(bool message, Time now);

 private:
  static constexpr int kAtOnce = 50;     // saved up
  static constexpr int kInFlight = 16;   // messages
  static constexpr Duration kEach = std::chrono::milliseconds(100);   // one more is saved up, while decisions are made
  static constexpr Duration kQuiet = std::chrono::seconds(2);         // without a decision

  void refill(Time now);
  bool quiet(Time now) const { return decisions_ == 0 && now - decided_ >= kQuiet; }

  int saved_ = kAtOnce;
  Time refilled_{};
  int messages_ = 0, decisions_ = 0;  // in flight
  Time decided_{};
};

}  // namespace berth::engine
