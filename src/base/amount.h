// Amounts of a resource as the engine counts them: cpu in thousandths, everything else in units.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/quantity.h"

namespace berth {

// A signed 64-bit count with an unlimited value. Arithmetic saturates (as Kueue's resources.Amount). Unlimited plus
// or minus any amount is unlimited; a limited amount minus unlimited is the lowest value. There is no implicit
// conversion from integers.
class Amount {
 public:
  constexpr Amount() = default;
  static constexpr Amount of(std::int64_t v) { return Amount(v); }
  static constexpr Amount unlimited() { return Amount(kUnlimited); }

  constexpr std::int64_t count() const { return v_; }
  constexpr bool is_unlimited() const { return v_ == kUnlimited; }
  constexpr bool is_zero() const { return v_ == 0; }

  constexpr Amount operator+(Amount o) const {
    if (is_unlimited() || o.is_unlimited()) return unlimited();
    std::int64_t r = 0;
    if (__builtin_add_overflow(v_, o.v_, &r)) return Amount(v_ > 0 ? kUnlimited : kLowest);
    return Amount(r);
  }
  constexpr Amount operator-(Amount o) const {
    if (is_unlimited()) return unlimited();
    if (o.is_unlimited()) return Amount(kLowest);
    std::int64_t r = 0;
    if (__builtin_sub_overflow(v_, o.v_, &r)) return Amount(v_ > 0 ? kUnlimited : kLowest);
    return Amount(r);
  }
  constexpr Amount operator*(std::int64_t n) const {
    std::int64_t r = 0;
    if (__builtin_mul_overflow(v_, n, &r)) return Amount((v_ > 0) == (n > 0) ? kUnlimited : kLowest);
    return Amount(r);
  }
  Amount& operator+=(Amount o) { return *this = *this + o; }
  Amount& operator-=(Amount o) { return *this = *this - o; }
  constexpr std::strong_ordering operator<=>(const Amount&) const = default;

 private:
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  constexpr explicit Amount(std::int64_t v) : v_(v) {}
  std::int64_t v_ = 0;
};

constexpr Amount max(Amount a, Amount b) { return a < b ? b : a; }
constexpr Amount min(Amount a, Amount b) { return b < a ? b : a; }

// The count of `q` of a resource: milli-cpu for "cpu", else units, both rounded up.
Amount to_amount(std::string_view resource, const Quantity& q);
// The inverse. Binary suffixes for memory and storage, as Kubernetes prints them, and for whole mebibytes of anything
// else, such as the memory of parts of GPUs.
Quantity to_quantity(std::string_view resource, Amount a);
// The same as text, for messages and statuses: "1500m", "2Gi", "4".
std::string format_amount(std::string_view resource, Amount a);

}  // namespace berth
