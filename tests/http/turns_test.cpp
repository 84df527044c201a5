#include "http/turns.h"

#include <gtest/gtest.h>

#include <vector>

#include "http/allowance.h"

namespace berth::http::turns_test {
namespace {

struct Taker final : Turns::Taker {
  void on_turn(Turns::Kind) override { ++turns; }
  int turns = 0;
};

TEST(Turns, GoToThoseWhoWaitInOrder) {
  Turns turns(2, 1);
  const auto a = std::make_shared<Taker>(), b = std::make_shared<Taker>();
  auto leaves = std::make_shared<Taker>();
  EXPECT_TRUE(turns.take(Turns::Kind::kRead, a));
  EXPECT_TRUE(turns.take(Turns::Kind::kRead, a));
  EXPECT_TRUE(turns.take(Turns::Kind::kWrite, a)) << "counted apart";
  EXPECT_FALSE(turns.take(Turns::Kind::kRead, leaves));
  EXPECT_FALSE(turns.take(Turns::Kind::kRead, b));
  EXPECT_FALSE(turns.take(Turns::Kind::kRead, a));
  leaves.reset();
  turns.give_back(Turns::Kind::kRead);
  EXPECT_EQ(b->turns, 1);
  EXPECT_EQ(a->turns, 0);
  turns.give_back(Turns::Kind::kRead);
  EXPECT_EQ(a->turns, 1);
  turns.give_back(Turns::Kind::kRead);
  EXPECT_TRUE(turns.take(Turns::Kind::kRead, b));
}

TEST(Turns, ReadingIsToGetOrHead) {
  EXPECT_EQ(Turns::kind_of("GET"), Turns::Kind::kRead);
  EXPECT_EQ(Turns::kind_of("HEAD"), Turns::Kind::kRead);
  EXPECT_EQ(Turns::kind_of("POST"), Turns::Kind::kWrite);
  EXPECT_EQ(Turns::kind_of("get"), Turns::Kind::kWrite) << "an unknown method";
}

TEST(Allowance, IsSpentAtOnceAndEarnedOverTime) {
  Allowance::Time now{std::chrono::hours(1)};
  Allowance allowance(10, 2, now);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(allowance.spend(now));
  EXPECT_FALSE(allowance.spend(now));
  for (int i = 0; i < 10; ++i) {
    now += std::chrono::milliseconds(100);  // earns a fifth of an event
    EXPECT_EQ(allowance.spend(now), i == 4 || i == 9) << i;
  }
  allowance.earn(3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(allowance.spend(now));
  EXPECT_FALSE(allowance.spend(now));
  now += std::chrono::hours(24);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(allowance.spend(now));
  EXPECT_FALSE(allowance.spend(now)) << "never more than at once";
}

}  // namespace
}  // namespace berth::http::turns_test
