// Rate limit for messages: status writes that only say why a workload still waits. Decisions go first: while
// decisions are being written, messages are limited to a token bucket; otherwise only the number in flight is
// limited. So a message comes at once where few workloads wait, and thousands of workloads that wait for a few seconds
// do not cost the API server one write each. The first message about a new workload has a bucket of its own: its user
// looks at it just now.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/time.h"

namespace berth::engine {

enum class WriteKind : std::uint8_t {
  kDecision,
  kMessage,
  kFirstMessage,  // about a workload that was told nothing yet and has not waited long for it
};

class WriteBudget {
 public:
  // Returns whether a message of this kind may be written now.
  bool may(WriteKind kind, Time now);
  // The earliest time at which may() can become true, unless a write settles before.
  Time next(Time now);

  // Call when a write begins and when it settles. A message may begin only after may() returned true.
  void began(WriteKind kind, Time now);
  void settled(WriteKind kind, Time now);

 private:
  struct Bucket {
    int size = 0, each = 0;  // tokens at most, and tokens that are added per interval
    int saved = size;
    int in_flight = 0;
  };
  static constexpr int kInFlight = 16;                               // messages of one kind in flight
  static constexpr Duration kEach = std::chrono::milliseconds(100);  // the interval
  // no decision was written for this long: the buckets do not limit
  static constexpr Duration kQuiet = std::chrono::seconds(2);

  Bucket& bucket(WriteKind kind) { return kind == WriteKind::kFirstMessage ? first_ : messages_; }
  void refill(Time now);
  bool quiet(Time now) const { return decisions_ == 0 && now - decided_ >= kQuiet; }

  Bucket messages_{50, 1}, first_{20, 2};
  Time refilled_{};
  int decisions_ = 0;  // in flight
  Time decided_{};
};

}  // namespace berth::engine
