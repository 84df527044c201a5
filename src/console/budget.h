// A rate limit (token bucket) in the executor's time. Pure: the caller passes the time.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace berth::console {

struct BudgetRate {
  double burst = 1;       // at least 1
  double per_second = 1;  // above 0
};

class Budget {
 public:
  Budget(BudgetRate rate, Time now) : rate_(rate), left_(rate.burst), since_(now) {}

  // False: nothing is left.
  bool take(Time now) {
    if (now > since_) left_ = std::min(rate_.burst, left_ + in_seconds(now - since_) * rate_.per_second);
    since_ = std::max(since_, now);
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }
  void give_back() { left_ = std::min(rate_.burst, left_ + 1); }

 private:
  BudgetRate rate_;
  double left_;
  Time since_;
};

}  // namespace berth::console
