// The rate limit of a client: a token bucket whose rate falls when the server answers 429 and recovers slowly.
#pragma once

#include "base/time.h"

namespace berth::kube {

struct RateLimitOptions {
  double per_second = 300;  // Kueue's default since 0.19 (clientConnection.qps); 0 or less: no limit
  double burst = 500;       // clientConnection.burst; at least 1
};

class RateLimit {
 public:
  RateLimit(RateLimitOptions options, Time now);

  // Takes a token and returns how long the request must wait (zero: send now). Tokens are given in the order of
  // calls.
  Duration reserve(Time now);
  // How long until a token is free that no waiting request has reserved. Takes none: for background requests.
  Duration until_free(Time now) const;
  // The server said 429 or 503 with Retry-After: halves the rate, at most once a second and not below a twentieth of
  // the limit.
  void pushed_back(Time now);
  double per_second(Time now) const;  // the rate now: recovers by a tenth of the limit each second

 private:
  RateLimitOptions options_;
  double rate_;    // at changed_
  double tokens_;  // at updated_; negative: reserved by waiting requests
  Time updated_, changed_;
};

}  // namespace berth::kube
