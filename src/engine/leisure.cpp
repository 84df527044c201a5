#include "engine/leisure.h"

#include <algorithm>

namespace berth::engine {

void Leisure::refill(Time now) {
  const auto steps = (now - refilled_) / kEach;
  if (steps <= 0) return;
  saved_ = static_cast<int>(std::min<Duration::rep>(kAtOnce, saved_ + steps));
  refilled_ += steps * kEach;
}

bool Leisure::may(Time now) {
  refill(now);
  return messages_ < kInFlight && (saved_ > 0 || quiet(now));
}

Time Leisure::next(Time now) {
  refill(now);
  const Time saved = refilled_ + kEach;
  if (messages_ >= kInFlight) return saved;  // a settled message leads to a check anyway
  return decisions_ == 0 ? std::min(saved, std::max(now, decided_ + kQuiet)) : saved;
}

void Leisure::began(bool message, Time now) {
  if (message) {
    ++messages_;
    saved_ = std::max(0, saved_ - 1);
  } else {
    ++decisions_;
    decided_ = now;
  }
}

void Leisure::settled(bool message, Time now) {
  if (message) {
    --messages_;
  } else {
    --decisions_;
    decided_ = now;
  }
}

}  // namespace berth::engine
