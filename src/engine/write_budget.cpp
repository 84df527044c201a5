#include "engine/write_budget.h"

#include <algorithm>

namespace berth::engine {

void WriteBudget::refill(Time now) {
  const auto steps = (now - refilled_) / kEach;
  if (steps <= 0) return;
  for (Bucket* each : {&messages_, &first_})
    each->saved = static_cast<int>(std::min<Duration::rep>(each->size, each->saved + steps * each->each));
  refilled_ += steps * kEach;
}

bool WriteBudget::may(WriteKind kind, Time now) {
  refill(now);
  const Bucket& one = bucket(kind);
  return one.in_flight < kInFlight && (one.saved > 0 || quiet(now));
}

Time WriteBudget::next(Time now) {
  refill(now);
  const Time saved = refilled_ + kEach;
  if (messages_.in_flight >= kInFlight) return saved;  // a settled message leads to a check anyway
  return decisions_ == 0 ? std::min(saved, std::max(now, decided_ + kQuiet)) : saved;
}

void WriteBudget::began(WriteKind kind, Time now) {
  if (kind == WriteKind::kDecision) {
    ++decisions_;
    decided_ = now;
    return;
  }
  Bucket& one = bucket(kind);
  ++one.in_flight;
  one.saved = std::max(0, one.saved - 1);
}

void WriteBudget::settled(WriteKind kind, Time now) {
  if (kind != WriteKind::kDecision) {
    --bucket(kind).in_flight;
    return;
  }
  --decisions_;
  decided_ = now;
}

}  // namespace berth::engine
