#include "engine/queue/halving.h"

#include <algorithm>
#include <array>

namespace berth::engine {

namespace {

constexpr Wide kOne = Wide{1} << 64;
constexpr int kDigits = 4;  // digits of 8 bits of the exponent that are looked up; the rest is linear

constexpr std::uint64_t high(Wide value) { return static_cast<std::uint64_t>(value >> 64); }
constexpr std::uint64_t low(Wide value) { return static_cast<std::uint64_t>(value); }

constexpr Wide square_root(Wide value) {
  Wide root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const Wide next = root | (Wide{1} << bit);
    if (next * next <= value) root = next;
  }
  return root;
}

// kPowers[d][i] is 2^-(i / 256^(d+1)), in units of 2^-64. Entry 0 of a digit is 1 and is not looked up.
using Powers = std::array<std::array<std::uint64_t, 256>, kDigits>;
constexpr Powers powers() {
  Powers out{};
  // 2^-(1/2) is the root of 1/2, 2^-(1/4) the root of that, and so on.
  Wide root = square_root(Wide{1} << 127);
  for (auto& digit : out) {
    for (std::size_t bit = 128; bit > 0; bit /= 2) {
      for (std::size_t i = bit; i < 256; i += 2 * bit) {
        for (std::size_t j = i; j < i + bit; ++j) {
          digit[j] = digit[j] == 0 ? low(root) : high(Wide{digit[j]} * root);
        }
      }
      root = square_root(root << 64);
    }
  }
  return out;
}
constexpr Powers kPowers = powers();

constexpr std::uint64_t kLn2 = 0xB17217F7D1CF79AB;  // ln 2, in units of 2^-64

// 2^-(exponent / 2^64), in units of 2^-64.
std::uint64_t power(std::uint64_t exponent) {
  // What the digits leave is below 2^-32: there 2^-x is 1 - x ln 2, with an error below 2^-66.
  const std::uint64_t rest = exponent & 0xFFFFFFFF;
  Wide out = kOne - high(Wide{rest} * kLn2);
  for (std::size_t d = 0; d < kDigits; ++d) {
    const std::size_t i = (exponent >> (56 - 8 * d)) & 0xFF;
    if (i != 0) out = (out * kPowers[d][i]) >> 64;
  }
  return low(std::min(out, kOne - 1));
}

}  // namespace

std::uint64_t faded(Duration elapsed, Duration half_life) {
  if (elapsed.count() <= 0) return 0;
  const auto time = static_cast<std::uint64_t>(elapsed.count()), half = static_cast<std::uint64_t>(half_life.count());
  const std::uint64_t halvings = time / half;
  if (halvings >= 64) return ~std::uint64_t{0};
  const std::uint64_t exponent = low((Wide{time % half} << 64) / half);
  const std::uint64_t left =
      exponent == 0 && halvings > 0 ? std::uint64_t{1} << (64 - halvings) : power(exponent) >> halvings;
  return ~std::max<std::uint64_t>(left, 1) + 1;
}

Wide part_of(Wide value, std::uint64_t part) { return Wide{high(value)} * part + high(Wide{low(value)} * part); }

Wide part_of_rounded_up(Wide value, std::uint64_t part) {
  const Wide small = Wide{low(value)} * part;
  return Wide{high(value)} * part + high(small) + (low(small) != 0 ? 1 : 0);
}

[[gnu::noinline]] Wide scaled_by_unequal(Wide value, std::uint64_t factor, std::uint64_t divisor) {
  // The product has three words of 64 bits; it is divided word by word.
  const Wide small = Wide{low(value)} * factor, large = Wide{high(value)} * factor + high(small);
  const Wide top = Wide{high(large)};
  const Wide middle = ((top % divisor) << 64) | low(large);
  const Wide bottom = ((middle % divisor) << 64) | low(small);
  if (top / divisor != 0) return ~Wide{0};
  const Wide quotient = ((middle / divisor) << 64) + bottom / divisor;
  return bottom % divisor == 0 ? quotient : sum_of(quotient, 1);
}

}  // namespace berth::engine
