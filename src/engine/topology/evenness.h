// How evenly an amount is spread: Shannon entropy, without floating point.
#pragma once

#include <cstdint>
#include <span>

namespace berth::engine::topology {

// The entropy of `amounts` (each 0 or more) in units of 2^-24 bits, rounded to the nearest. Larger means more even.
// Amounts in the same proportions give the same result.
std::int64_t evenness(std::span<const std::int32_t> amounts);

}  // namespace berth::engine::topology
