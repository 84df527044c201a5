#include "base/executor.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace berth::executor_test {
namespace {

using std::chrono::seconds;

TEST(VirtualExecutor, RunsInOrderOfTimeThenPosting) {
  VirtualExecutor executor{Time{}};
  std::string trace;
  executor.after(seconds(2), [&] { trace += 'c'; });
  executor.after(seconds(1), [&] { trace += 'a'; });
  executor.after(seconds(1), [&] { trace += 'b'; });
  executor.run_until(Time{} + seconds(5));
  EXPECT_EQ(trace, "abc");
  EXPECT_EQ(executor.now(), Time{} + seconds(5));
}

TEST(VirtualExecutor, CancelledTasksDoNotRun) {
  VirtualExecutor executor{Time{}};
  bool ran = false;
  const TimerId timer = executor.after(seconds(1), [&] { ran = true; });
  executor.cancel(timer);
  executor.run_until(Time{} + seconds(5));
  EXPECT_FALSE(ran);
}

TEST(VirtualExecutor, RunReadyIsBounded) {
  VirtualExecutor executor{Time{}};
  std::function<void()> again = [&] { executor.post(again); };
  executor.post(again);
  EXPECT_FALSE(executor.run_ready(100));
}

}  // namespace
}  // namespace berth::executor_test
