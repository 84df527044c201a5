// Time for questions: each is paid for with many times what it took, so that they leave the thread to its work.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace berth::engine {

class Allowance {
 public:
  // In the long run questions take a `price`-th of the thread's time; before that, payments for kBurst may be owed.
  static constexpr int kPrice = 20;
  static constexpr Duration kBurst = std::chrono::seconds(10);
  explicit Allowance(int price = kPrice) : price_(price) {}

  bool allows(Time now) const { return now >= next(); }
  Time next() const { return paid_until_ - kBurst; }  // the next question may be asked then
  void charge(Time now, Duration took) { paid_until_ = std::max(paid_until_, now) + price_ * took; }

 private:
  int price_;
  Time paid_until_{};
};

}  // namespace berth::engine
