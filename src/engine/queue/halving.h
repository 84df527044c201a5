// Exponential decay and wide products, in fixed point.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace berth::engine {

__extension__ typedef unsigned __int128 Wide;

// The part that fades away in `elapsed`: 1 - 2^-(elapsed / half_life), in units of 2^-64. 0 when no time elapsed,
// never more than 1 - 2^-64. The error is below 2^-56. `half_life` must be positive; an `elapsed` below 0 counts as 0.
std::uint64_t faded(Duration elapsed, Duration half_life);

// value * part / 2^64, rounded down or up.
Wide part_of(Wide value, std::uint64_t part);
Wide part_of_rounded_up(Wide value, std::uint64_t part);

// value * factor / divisor, rounded up; the largest number when it is too large. `divisor` must not be 0.
Wide scaled_by_unequal(Wide value, std::uint64_t factor, std::uint64_t divisor);
inline Wide scaled(Wide value, std::uint64_t factor, std::uint64_t divisor) {
  return factor == divisor ? value : scaled_by_unequal(value, factor, divisor);
}

constexpr Wide sum_of(Wide a, Wide b) { return a + b < a ? ~Wide{0} : a + b; }          // saturates
constexpr Wide difference_of(Wide a, Wide b) { return a < b ? Wide{0} : Wide{a - b}; }  // not below 0

}  // namespace berth::engine
