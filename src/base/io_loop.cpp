#include "base/io_loop.h"

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <thread>

namespace berth {

void run_loop(boost::asio::io_context& context, Duration rest) {
  using Clock = std::chrono::steady_clock;
  while (!context.stopped()) {
    if (context.run_one() == 0) return;
    const Clock::time_point woken = Clock::now();
    context.poll();
    if (!context.stopped()) std::this_thread::sleep_until(woken + rest);
  }
}

}  // namespace berth
