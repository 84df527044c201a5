#include "kube/rate_limit.h"

#include <algorithm>
#include <chrono>

namespace berth::kube {
namespace {

constexpr double kRecoveryPerSecond = 0.1;  // of the limit
constexpr double kLowest = 0.05;            // of the limit
constexpr Duration kBetweenCuts = std::chrono::seconds(1);

}  // namespace

RateLimit::RateLimit(RateLimitOptions options, Time now)
    : options_(options), rate_(options.per_second), updated_(now), changed_(now - kBetweenCuts) {
  options_.burst = std::max(1.0, options_.burst);
  tokens_ = options_.burst;
}

double RateLimit::per_second(Time now) const {
  const double grown = rate_ + in_seconds(now - changed_) * kRecoveryPerSecond * options_.per_second;
  return std::min(options_.per_second, grown);
}

Duration RateLimit::reserve(Time now) {
  if (options_.per_second <= 0) return Duration::zero();
  const double rate = per_second(now);
  tokens_ = std::min(options_.burst, tokens_ + in_seconds(now - updated_) * rate) - 1;
  updated_ = now;
  if (tokens_ >= 0) return Duration::zero();
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(-tokens_ / rate));
}

Duration RateLimit::until_free(Time now) const {
  if (options_.per_second <= 0) return Duration::zero();
  const double rate = per_second(now);
  const double lacking = 1 - std::min(options_.burst, tokens_ + in_seconds(now - updated_) * rate);
  if (lacking <= 0) return Duration::zero();
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(lacking / rate));
}

void RateLimit::pushed_back(Time now) {
  if (options_.per_second <= 0 || now - changed_ < kBetweenCuts) return;
  rate_ = std::max(options_.per_second * kLowest, per_second(now) / 2);
  changed_ = now;
  tokens_ = std::min(tokens_, 1.0);  // the server would refuse a burst of saved tokens, too
  updated_ = now;
}

}  // namespace berth::kube
