// Limits how often somebody may try to log in: per peer address and for all together. A login that succeeds gives its
// try back, so users behind one address do not lock each other out.
#pragma once

#include <cstddef>
#include <string>

#include "base/time.h"
#include "console/budget.h"
#include "serve/expiring_cache.h"

namespace berth::console {

// Bounds.
inline constexpr BudgetRate kTriesOfAddress{10, 0.2};  // a burst, then one every 5 s
inline constexpr BudgetRate kTriesOfAll{100, 10};
inline constexpr std::size_t kMaxAddresses = 4'096;  // that are remembered

class LoginLimits {
 public:
  explicit LoginLimits(Time now) : all_(kTriesOfAll, now) {}

  // Takes a try. False: too many tries; ask nobody about the token.
  bool take(const std::string& address, Time now) {
    Budget of_address = budget(address, now);
    const bool may = of_address.take(now);
    keep(address, of_address, now);
    return may && all_.take(now);
  }
  // Whether take() would succeed.
  bool may(const std::string& address, Time now) const {
    Budget of_all = all_;
    return budget(address, now).take(now) && of_all.take(now);
  }
  void give_back(const std::string& address, Time now) {
    Budget of_address = budget(address, now);
    of_address.give_back();
    keep(address, of_address, now);
    all_.give_back();
  }

 private:
  Budget budget(const std::string& address, Time now) const {
    const Budget* known = addresses_.find(address, now);
    return known != nullptr ? *known : Budget(kTriesOfAddress, now);
  }
  void keep(const std::string& address, const Budget& budget, Time now) {
    addresses_.put(address, budget, now + kRemembered);
  }

  static constexpr Duration kRemembered = std::chrono::minutes(2);  // by then the budget is full again
  serve::ExpiringCache<std::string, Budget> addresses_{kMaxAddresses};
  Budget all_;
};

}  // namespace berth::console
