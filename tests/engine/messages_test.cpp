// The order of messages that say why a workload waits, while decisions leave time for few.
#include <gmock/gmock.h>

#include <string>

#include "engine/support/build.h"
#include "engine/support/scenario.h"

namespace berth::engine::messages_test {
namespace {

using test::ClusterQueueBuilder;
using test::Scenario;
using test::WorkloadBuilder;

// One workload runs at a time, and each second it finishes and the next one starts.
struct Busy : Scenario {
  Busy() {
    give(test::flavor("f"));
    give(ClusterQueueBuilder("cq").cpu({{"f", "1"}}));
    for (const auto* name : {"a", "b", "c"}) give(test::local_queue(name, "cq"));
  }
  void crowd(int count) {
    for (int i = 0; i < count; ++i) job("a" + std::to_string(10'000 + i), "a");
    run();
  }
  void job(const std::string& name, const std::string& queue) { give(WorkloadBuilder(name, queue).pods(1, "1")); }
  void seconds(int count) {
    for (int i = 0; i < count; ++i) {
      finish("a" + std::to_string(10'000 + finished_++));
      pass(1);
    }
  }
  bool reported(const std::string& name) const { return !condition(name, "QuotaReserved").empty(); }
  int finished_ = 0;
};

TEST(Messages, AJobJustCreatedIsReportedAtOnceWhateverTheLoad) {
  Busy s;
  s.crowd(3'000);
  s.seconds(3);
  s.job("other", "b");
  s.job("mine", "a");
  s.seconds(2);
  EXPECT_TRUE(s.reported("other")) << "another queue";
  EXPECT_TRUE(s.reported("mine")) << "the queue of the three thousand";
  EXPECT_FALSE(s.reported("a12999"));
  EXPECT_LT(s.writes(), 400) << "but not everybody";
}

TEST(Messages, LocalQueuesTakeTurns) {
  Busy s;
  s.crowd(3'000);
  s.seconds(3);
  // They come together: most of them wait longer than first messages do.
  for (int i = 0; i < 100; ++i) {
    s.job("b" + std::to_string(100 + i), "b");
    s.job("c" + std::to_string(100 + i), "c");
  }
  s.seconds(30);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(s.reported("b" + std::to_string(100 + i))) << i;
    EXPECT_TRUE(s.reported("c" + std::to_string(100 + i))) << i;
  }
  EXPECT_FALSE(s.reported("a12999"));
}

// Also in copies, and when workloads that wait for their turn are gone.
TEST(Messages, EverybodyIsInformedInTheEnd) {
  Busy s;
  s.crowd(300);
  s.job("b", "b");
  s.copy();
  s.seconds(2);
  for (int i = 100; i < 200; ++i) s.remove("a" + std::to_string(10'000 + i));
  s.pass(30);
  for (int i = 200; i < 300; ++i) EXPECT_TRUE(s.reported("a" + std::to_string(10'000 + i))) << i;
  const int quiet = s.writes();
  s.pass(30);
  EXPECT_EQ(s.writes(), quiet);
}

}  // namespace
}  // namespace berth::engine::messages_test
