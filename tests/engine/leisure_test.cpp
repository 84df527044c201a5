// Rate-limited messages: immediate when no decisions are written, otherwise slow.
#include "engine/leisure.h"

#include <gtest/gtest.h>

namespace berth::engine::leisure_test {
namespace {

using namespace std::chrono_literals;

struct Clock {
  Leisure leisure;
  Time now{1000s};

  // How many messages may be written now, when each settles immediately.
  int messages() {
    int count = 0;
    while (count < 1000 && leisure.may(WriteKind::kMessage, now)) {
      leisure.began(WriteKind::kMessage, now);
      leisure.settled(WriteKind::kMessage, now);
      ++count;
    }
    return count;
  }
  void decide() {
    leisure.began(WriteKind::kDecision, now);
    leisure.settled(WriteKind::kDecision, now);
  }
};

TEST(Leisure, WhenItIsQuietThereIsNoLimitButOfThoseInFlight) {
  Clock c;
  EXPECT_EQ(c.messages(), 1000);
  int in_flight = 0;
  while (c.leisure.may(WriteKind::kMessage, c.now)) {
    c.leisure.began(WriteKind::kMessage, c.now);
    ++in_flight;
  }
  EXPECT_EQ(in_flight, 16);
  EXPECT_GT(c.leisure.next(c.now), c.now) << "asking again at once would be in vain";
  c.leisure.settled(WriteKind::kMessage, c.now);
  EXPECT_TRUE(c.leisure.may(WriteKind::kMessage, c.now));
}

TEST(Leisure, WhileDecisionsAreMadeMessagesTrickle) {
  Clock c;
  c.decide();
  EXPECT_EQ(c.messages(), 50);
  for (int second = 0; second < 10; ++second) {
    c.now += 1s;
    c.decide();
    EXPECT_EQ(c.messages(), 10);
  }
  EXPECT_EQ(c.leisure.next(c.now), c.now + 100ms);
  c.now += 100s;
  c.decide();
  EXPECT_EQ(c.messages(), 50) << "no more are saved up";
}

TEST(Leisure, ADecisionUnderWayIsNoQuiet) {
  Clock c;
  c.leisure.began(WriteKind::kDecision, c.now);
  c.messages();
  c.now += 1min;
  EXPECT_EQ(c.messages(), 50);
  c.leisure.settled(WriteKind::kDecision, c.now);
  EXPECT_EQ(c.messages(), 0);
  c.now += 2s;
  EXPECT_EQ(c.messages(), 1000);
}

}  // namespace
}  // namespace berth::engine::leisure_test
