#include "kube/rate_limit.h"

#include <gtest/gtest.h>

namespace berth::kube::rate_limit_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Time kStart{};

TEST(RateLimit, LetsABurstThroughAndThenPaces) {
  RateLimit limit({.per_second = 10, .burst = 3}, kStart);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limit.reserve(kStart), Duration::zero());
  EXPECT_EQ(limit.reserve(kStart), milliseconds(100));
  EXPECT_EQ(limit.reserve(kStart), milliseconds(200)) << "each waits behind those before it";
  EXPECT_EQ(limit.reserve(kStart + seconds(10)), Duration::zero());
}

TEST(RateLimit, HalvesWhenPushedBackAndRecovers) {
  RateLimit limit({.per_second = 100, .burst = 10}, kStart);
  limit.pushed_back(kStart);
  EXPECT_DOUBLE_EQ(limit.per_second(kStart), 50);
  limit.pushed_back(kStart + milliseconds(10));
  EXPECT_NEAR(limit.per_second(kStart + milliseconds(10)), 50, 0.2) << "many refusals at once are one";
  EXPECT_DOUBLE_EQ(limit.per_second(kStart + seconds(2)), 70);
  EXPECT_DOUBLE_EQ(limit.per_second(kStart + seconds(60)), 100) << "never above the limit";
  Time now = kStart + seconds(60);
  for (int i = 0; i < 100; ++i) limit.pushed_back(now += seconds(1));
  EXPECT_GE(limit.per_second(now), 5) << "never below a twentieth";
  EXPECT_EQ(limit.reserve(now), Duration::zero());
  EXPECT_GT(limit.reserve(now), Duration::zero()) << "what was saved up is gone";
}

TEST(RateLimit, CanBeOff) {
  RateLimit limit({.per_second = 0, .burst = 1}, kStart);
  limit.pushed_back(kStart);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(limit.reserve(kStart), Duration::zero());
}

}  // namespace
}  // namespace berth::kube::rate_limit_test
