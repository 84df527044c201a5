#include "engine/queue/halving.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace berth::engine::halving_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr long double kUnit = 18446744073709551616.0L;  // 2^64
constexpr long double kBound = 1.0L / (1LL << 56);      // as promised

long double part(Duration elapsed, Duration half_life) {
  return static_cast<long double>(faded(elapsed, half_life)) / kUnit;
}
long double expected(Duration elapsed, Duration half_life) {
  return -std::expm1(-static_cast<long double>(elapsed.count()) / static_cast<long double>(half_life.count()) *
                     std::log(2.0L));
}

TEST(Halving, WholeHalfLivesAreExact) {
  EXPECT_EQ(faded(Duration(0), hours(1)), 0u);
  EXPECT_EQ(faded(seconds(-5), hours(1)), 0u);
  EXPECT_EQ(faded(hours(1), hours(1)), std::uint64_t{1} << 63);
  EXPECT_EQ(faded(hours(3), hours(1)), std::uint64_t{7} << 61);
}

TEST(Halving, NothingIsEverGoneCompletely) {
  EXPECT_EQ(faded(hours(64), hours(1)), ~std::uint64_t{0});
  EXPECT_EQ(faded(hours(1'000'000), Duration(1)), ~std::uint64_t{0});
}

TEST(Halving, StaysWithinTheBound) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const Duration half_life(1 + static_cast<std::int64_t>(random() >> (random() % 63 + 1)));
    const Duration elapsed(static_cast<std::int64_t>(random() >> (random() % 63 + 1)));
    ASSERT_LE(std::abs(part(elapsed, half_life) - expected(elapsed, half_life)), kBound)
        << elapsed.count() << " of " << half_life.count();
  }
}

TEST(Halving, MoreTimeFadesMore) {
  std::uint64_t before = 0;
  for (int i = 1; i < 100'000; ++i) {
    const std::uint64_t now = faded(std::chrono::milliseconds(i), minutes(1));
    ASSERT_GT(now, before);
    before = now;
  }
}

TEST(Halving, WideProductsAreExact) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 10'000; ++i) {
    const Wide value = random() >> 1;
    const std::uint64_t by = random();
    const Wide product = value * by;
    ASSERT_TRUE(part_of(value, by) == product >> 64);
    ASSERT_TRUE(part_of_rounded_up(value, by) == (product >> 64) + ((product << 64) != 0 ? 1 : 0));
    const std::uint64_t divisor = 1 + random() % 1'000'000'000;
    ASSERT_TRUE(scaled(value, by, divisor) == product / divisor + (product % divisor != 0 ? 1 : 0));
    ASSERT_TRUE(scaled(product, divisor, divisor) == product);
    ASSERT_TRUE(scaled(product, 3, 3 * divisor) == scaled(product, 1, divisor));
  }
  EXPECT_TRUE(scaled(~Wide{0}, 2, 1) == ~Wide{0}) << "saturates";
  EXPECT_TRUE(scaled(~Wide{0} - 1, 3, 2) == ~Wide{0});
  EXPECT_TRUE(scaled(1, 1, 1'000'000'000) == 1) << "rounded up: something is never nothing";
  EXPECT_TRUE(sum_of(~Wide{0}, 1) == ~Wide{0});
  EXPECT_TRUE(difference_of(1, 2) == 0);
}

}  // namespace
}  // namespace berth::engine::halving_test
