// Rate-limited messages: immediate when no decisions are written, otherwise slow.
#include "engine/write_budget.h"

#include <gtest/gtest.h>

namespace berth::engine::write_budget_test {
namespace {

using namespace std::chrono_literals;

struct Clock {
  WriteBudget write_budget;
  Time now{1000s};

  // How many messages may be written now, when each settles immediately.
  int messages() {
    int count = 0;
    while (count < 1000 && write_budget.may(WriteKind::kMessage, now)) {
      write_budget.began(WriteKind::kMessage, now);
      write_budget.settled(WriteKind::kMessage, now);
      ++count;
    }
    return count;
  }
  void decide() {
    write_budget.began(WriteKind::kDecision, now);
    write_budget.settled(WriteKind::kDecision, now);
  }
};

TEST(WriteBudget, WhenItIsQuietThereIsNoLimitButOfThoseInFlight) {
  Clock c;
  EXPECT_EQ(c.messages(), 1000);
  int in_flight = 0;
  while (c.write_budget.may(WriteKind::kMessage, c.now)) {
    c.write_budget.began(WriteKind::kMessage, c.now);
    ++in_flight;
  }
  EXPECT_EQ(in_flight, 16);
  EXPECT_GT(c.write_budget.next(c.now), c.now) << "asking again at once would be in vain";
  c.write_budget.settled(WriteKind::kMessage, c.now);
  EXPECT_TRUE(c.write_budget.may(WriteKind::kMessage, c.now));
}

TEST(WriteBudget, WhileDecisionsAreMadeMessagesTrickle) {
  Clock c;
  c.decide();
  EXPECT_EQ(c.messages(), 50);
  for (int second = 0; second < 10; ++second) {
    c.now += 1s;
    c.decide();
    EXPECT_EQ(c.messages(), 10);
  }
  EXPECT_EQ(c.write_budget.next(c.now), c.now + 100ms);
  c.now += 100s;
  c.decide();
  EXPECT_EQ(c.messages(), 50) << "no more are saved up";
}

TEST(WriteBudget, ADecisionUnderWayIsNoQuiet) {
  Clock c;
  c.write_budget.began(WriteKind::kDecision, c.now);
  c.messages();
  c.now += 1min;
  EXPECT_EQ(c.messages(), 50);
  c.write_budget.settled(WriteKind::kDecision, c.now);
  EXPECT_EQ(c.messages(), 0);
  c.now += 2s;
  EXPECT_EQ(c.messages(), 1000);
}

}  // namespace
}  // namespace berth::engine::write_budget_test
