// Entropy in fixed point.
#include "engine/topology/evenness.h"

#include <bit>

#include "engine/topology/requests.h"

namespace berth::engine::topology {

namespace {

constexpr int kFraction = 40;  // fractional bits during the computation
constexpr int kResult = 24;    // fractional bits of the result: not affected by rounding errors

// log2(value), truncated. The mantissa is squared once per bit; a factor of a power of two changes only the integer
// part.
std::int64_t log2_of(std::uint64_t value) {
  const int whole = std::bit_width(value) - 1;
  std::int64_t log = whole;
  std::uint64_t mantissa = value << (63 - whole);  // 1.0 is 2^63
  for (int i = 0; i < kFraction; ++i) {
    const unsigned __int128 square = static_cast<unsigned __int128>(mantissa) * mantissa;
    const bool two_or_more = (square >> 127) != 0;
    mantissa = static_cast<std::uint64_t>(square >> (two_or_more ? 64 : 63));
    log = log * 2 + (two_or_more ? 1 : 0);
  }
  return log;
}

}  // namespace

std::int64_t evenness(std::span<const std::int32_t> amounts) {
  std::int64_t sum = 0;
  Wide parts = 0;  // sum of amount * log2(amount)
  for (std::int32_t amount : amounts) {
    if (amount <= 0) continue;
    sum += amount;
    parts += static_cast<Wide>(amount) * log2_of(static_cast<std::uint64_t>(amount));
  }
  if (sum == 0) return 0;
  const Wide spread = static_cast<Wide>(sum) * log2_of(static_cast<std::uint64_t>(sum)) - parts;
  constexpr Wide kUnit = Wide(1) << (kFraction - kResult);
  return static_cast<std::int64_t>((spread / sum + kUnit / 2) / kUnit);
}

}  // namespace berth::engine::topology
