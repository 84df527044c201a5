// Runs an event loop in batches: under load it wakes up seldom and handles many tasks at each wake-up.
#pragma once

#include "base/time.h"

namespace boost::asio {
class io_context;
}

namespace berth {

// Runs all ready tasks, then sleeps until `rest` has passed since it woke up. After a pause longer than `rest` the
// next task runs at once. So the loop delays a task by at most `rest`, and a busy loop wakes up at most 1 s / rest
// times a second. Returns when the context is stopped or has no work left.
void run_loop(boost::asio::io_context& context, Duration rest);

}  // namespace berth
