// run_loop(): batches, pauses, and tasks from other threads.
#include "base/io_loop.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <string>
#include <thread>

namespace berth::io_loop_test {
namespace {

namespace asio = boost::asio;

constexpr Duration kRest = std::chrono::milliseconds(1);

TEST(RunLoop, RunsAllInTheirOrderAndEndsWhenStopped) {
  asio::io_context context;
  std::string done;
  asio::post(context, [&] {
    done += 'a';
    asio::post(context, [&] { done += 'c'; });
  });
  asio::post(context, [&] { done += 'b'; });
  asio::post(context, [&] { asio::post(context, [&] { asio::post(context, [&] { context.stop(); }); }); });
  run_loop(context, kRest);
  EXPECT_EQ(done, "abc");
  EXPECT_TRUE(context.stopped());
}

TEST(RunLoop, EndsWithoutWork) {
  asio::io_context context;
  run_loop(context, kRest);
  EXPECT_TRUE(context.stopped());
}

// Tasks arrive while the loop waits or sleeps; none is lost.
TEST(RunLoop, TakesWhatOtherThreadsPost) {
  asio::io_context context;
  const auto work = asio::make_work_guard(context);
  int seen = 0;
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) asio::post(context, [&] { ++seen; });
    asio::post(context, [&] { context.stop(); });
  });
  run_loop(context, kRest);
  other.join();
  EXPECT_EQ(seen, 1000);
}

}  // namespace
}  // namespace berth::io_loop_test
